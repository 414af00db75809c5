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

There may be no error at all: the features may not show why certain entries differ. Verified entries, whose labels are
correct, do. By how many more positives there are among the lowest scores of the other entries, and negatives among the
highest, at least so many of these are wrong.
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
    counts = _extreme_counts(scores, signs, signs != 0)
    n_observed, n_positives = (signs != 0).sum(axis=0), (signs > 0).sum(axis=0)
    labels = _bounds(counts, n_observed, n_positives)
    total = _bounds(counts.sum(axis=0, keepdims=True), n_observed.sum(keepdims=True), n_positives.sum(keepdims=True))
    return ErrorBounds(*labels, *(float(bound[0]) for bound in total))


def least_errors(scores: _Floats, signs: NDArray[np.int8], verified: NDArray[np.bool_]) -> float:
    """Return a lower limit of the number of wrong entries that are not verified; 0 without verified entries.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_labels)
        Out-of-fold scores.
    signs : ndarray of shape (n_samples, n_labels)
        Observed labels: 1, -1, and 0 where missing.
    verified : ndarray of bool of shape (n_samples, n_labels)
        Entries with verified labels, a random sample.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.noise.bounds import least_errors
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random((2000, 5)) < 0.2
    >>> scores = rng.normal(size=truth.shape) + 6 * truth
    >>> verified = np.repeat(rng.random((2000, 1)) < 0.2, 5, axis=1)
    >>> wrong = ~truth & ~verified & (rng.random(truth.shape) < 0.1)  # about 640 negatives are changed to positives
    >>> 300 < least_errors(scores, np.where(truth | wrong, 1, -1), verified) < 640
    True
    """
    sides = [_extreme_counts(scores, signs, chosen).sum(axis=0).T for chosen in (~verified, verified)]
    level = 1 - (1 - CONFIDENCE) / (4 * len(TAIL_FRACTIONS))  # two groups, two ends of the scores
    least = 0.0
    for part in (slice(2), slice(2, None)):
        (wrong, n_others), (correct, n_verified) = (side[part] for side in sides)
        fraction = 1 - upper_limit(n_others - wrong, n_others, level) - upper_limit(correct, n_verified, level)
        least += max(0.0, float((n_others * fraction).max()))
    return least


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


def _extreme_counts(scores: _Floats, signs: NDArray[np.int8], chosen: NDArray[np.bool_]) -> _Floats:
    """Return counts of chosen entries at both ends of the scores, of shape (n_labels, n_fractions, 4).

    They are positives among the lowest scores, their number, negatives among the highest scores, and their number.
    """
    counts = []
    for score, sign, counted in zip(scores.T, signs.T, chosen.T, strict=True):
        observed = np.flatnonzero(sign)
        order = observed[np.argsort(score[observed], kind="stable")]
        positive = sign[order] > 0
        low = np.ceil(TAIL_FRACTIONS * len(order)).astype(int)
        high = np.ceil(TAIL_FRACTIONS * positive.sum()).astype(int)
        lowest = _count_first(score[order], np.stack([positive & counted[order], counted[order]]), low)
        last = order[::-1]
        highest = _count_first(-score[last], np.stack([~positive[::-1] & counted[last], counted[last]]), high)
        counts.append(np.vstack([lowest, highest]).T)
    return np.array(counts)


def _count_first(scores: _Floats, chosen: NDArray[np.bool_], sizes: NDArray[np.intp]) -> _Floats:
    """Return how many entries of each kind are among the first ones, in expectation over the order of equal scores."""
    scores = np.append(scores, np.inf)  # there may be no entry
    sums = np.pad(chosen, [(0, 0), (1, 1)]).cumsum(axis=1)
    edges = scores[np.maximum(sizes, 1) - 1]
    start, stop = (np.searchsorted(scores, edges, side) for side in ("left", "right"))
    share = (sizes - start) / (stop - start)
    return np.where(sizes == 0, 0.0, sums[:, start] + share * (sums[:, stop] - sums[:, start]))


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
