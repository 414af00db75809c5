r"""Bounds of the number of wrong labels, for any noise that depends on the true label only.

Such noise changes certain entries as often as uncertain ones. Sort the observed entries of each label by their
out-of-fold scores.

- False positives. Among the lowest fraction q of the entries, at least the fraction :math:`\alpha_j` is observed as
  positive, for any true labels. Beside N observed negatives, at most about :math:`N \alpha / (1 - \alpha)` of the
  observed positives are false.
- False negatives. Among the highest entries, q times as many as there are positives, at least the fraction
  :math:`\beta_j` is observed as negative. Of P observed positives, at most about :math:`P \beta / (1 - \beta)` more are
  missing.

Both hold for q = 1/2, 1/4, ...; the smallest upper confidence limit counts. The limits are those of Clopper and Pearson
(1934). They hold for any scores, and are narrower for scores that predict the labels better.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

_Floats = NDArray[np.float64]

CONFIDENCE = 0.95
"""Confidence level of the smallest limit; that of each one is higher."""
TAIL_FRACTIONS = 0.5 ** np.arange(1, 6)
"""Fractions q of the entries with the lowest or the highest scores."""


class ErrorBounds(NamedTuple):
    """Upper bounds of the numbers of errors.

    Attributes
    ----------
    false_positives, false_negatives : ndarray of shape (n_labels,)
        Bounds of each label.
    total_false_positives, total_false_negatives : float
        Bounds of all labels together, which are lower than the sums.

    Examples
    --------
    See `bound_errors`.
    """

    false_positives: _Floats
    false_negatives: _Floats
    total_false_positives: float
    total_false_negatives: float


def bound_errors(scores: _Floats, signs: NDArray[np.int8]) -> ErrorBounds:
    """Return upper bounds of the numbers of false positives and false negatives.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_labels)
        Out-of-fold scores.
    signs : ndarray of shape (n_samples, n_labels)
        Observed labels: 1, -1, and 0 where missing.

    Returns
    -------
    ErrorBounds

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.noise.bounds import bound_errors
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random((2000, 5)) < 0.2
    >>> scores = rng.normal(size=truth.shape) + 6 * truth
    >>> noisy = truth & (rng.random(truth.shape) < 0.9)  # about 200 positives are dropped
    >>> bounds = bound_errors(scores, np.where(noisy, 1, -1))
    >>> bounds.total_false_positives < 20, 200 < bounds.total_false_negatives < 300
    (True, True)
    """
    counts = np.stack([_extreme_counts(scores[:, j], signs[:, j]) for j in range(signs.shape[1])])
    n_observed, n_positives = (signs != 0).sum(axis=0), (signs > 0).sum(axis=0)
    labels = _bounds(counts, n_observed, n_positives)
    total = _bounds(counts.sum(axis=0, keepdims=True), n_observed.sum(keepdims=True), n_positives.sum(keepdims=True))
    return ErrorBounds(*labels, *(float(bound[0]) for bound in total))


def upper_limit(k: _Floats | int, m: _Floats | int, confidence: float = CONFIDENCE) -> _Floats:
    """Return the upper confidence limit of a fraction, given k successes in m trials.

    Examples
    --------
    >>> from spmld.noise.bounds import upper_limit
    >>> float(upper_limit(0, 50).round(3))
    0.058
    """
    k, m = np.asarray(k, dtype=float), np.asarray(m, dtype=float)
    return np.where(k >= m, 1.0, betaincinv(k + 1, np.maximum(m - k, 0.5), confidence))


def _extreme_counts(scores: _Floats, signs: NDArray[np.int8]) -> _Floats:
    """Return, for each fraction, positives among the lowest scores, their number, negatives among the highest, theirs.

    Of equal scores at the edge, each counts in part.
    """
    observed = np.flatnonzero(signs)
    order = observed[np.argsort(scores[observed], kind="stable")]
    sorted_scores = scores[order]
    positive = signs[order] > 0
    n = len(order)
    n_positives = int(positive.sum())
    low = np.ceil(TAIL_FRACTIONS * n).astype(int)
    high = np.ceil(TAIL_FRACTIONS * n_positives).astype(int)
    low_positives = [_count_first(sorted_scores, positive, m) for m in low]
    high_negatives = [_count_first(-sorted_scores[::-1], ~positive[::-1], m) for m in high]
    return np.array([low_positives, low, high_negatives, high]).T


def _count_first(scores: _Floats, chosen: NDArray[np.bool_], m: int) -> float:
    """Return the number of chosen entries among the first m, in expectation over the order of equal scores."""
    if m == 0:
        return 0.0
    start = np.searchsorted(scores, scores[m - 1], "left")
    stop = np.searchsorted(scores, scores[m - 1], "right")
    return float(chosen[:start].sum() + chosen[start:stop].mean() * (m - start))


def _bounds(counts: _Floats, n_observed: NDArray[np.intp], n_positives: NDArray[np.intp]) -> tuple[_Floats, _Floats]:
    """Return the bounds of rows of counts."""
    low_positives, n_low, high_negatives, n_high = np.moveaxis(counts, -1, 0)
    level = 1 - (1 - CONFIDENCE) / len(TAIL_FRACTIONS)
    alpha = upper_limit(low_positives, n_low, level).min(axis=1)
    beta = np.minimum(upper_limit(high_negatives, n_high, level).min(axis=1), 1 - 1e-9)
    n_negatives = n_observed - n_positives
    odds = alpha / np.maximum(1 - alpha, 1e-9)
    false_positives = np.where(alpha < 1, np.minimum(n_negatives * odds, n_positives), n_positives)
    return false_positives, np.minimum(n_positives * beta / (1 - beta), n_negatives)
