r"""Expected gain of decisions: the expected number of labels that they correct.

The *current value* of an entry is the observed label, or the most probable value if the label is missing. A review
changes it with the probability

.. math:: g = |c - p|,

where c is the current value, 0 or 1, and p is the probability that the label is truly positive. This is the expected
number of labels that one decision corrects. For an observed label it is the error probability of the audit, for a
missing label min(p, 1 - p), so that entries of both kinds can be compared.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld.audit import LabelIssues


def expected_gain(probability: Any, given: Any) -> NDArray[np.float64]:
    """Return the expected number of labels that one decision corrects.

    Parameters
    ----------
    probability : array-like
        Probability that each label is truly positive.
    given : array-like of the same shape
        Observed labels, 1 or 0, NaN where missing. A missing label has its most probable value.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.review import expected_gain
    >>> expected_gain([0.75, 0.75, 0.75], [1, 0, np.nan])
    array([0.25, 0.75, 0.25])
    """
    p, y = np.asarray(probability, dtype=float), np.asarray(given, dtype=float)
    return np.where(np.isnan(y), np.minimum(p, 1 - p), np.abs(np.nan_to_num(y) - p))


def true_probability(issues: LabelIssues, probabilities: Any = None) -> NDArray[np.float64]:
    """Return the probability that each entry is truly positive.

    Parameters
    ----------
    issues : LabelIssues
        Result of the audit, which determines the probability of observed entries.
    probabilities : array-like of shape (n_samples, n_labels), optional
        Probabilities of missing entries. By default, the out-of-fold probabilities of the audit.

    Returns
    -------
    ndarray of shape (n_samples, n_labels)

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.audit import find_label_issues
    >>> from spmld.review import true_probability
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(200, 3)), rng.integers(2, size=(200, 4))
    >>> issues = find_label_issues(None, X, Y, random_state=0)
    >>> bool(np.allclose(np.abs(Y - true_probability(issues)), issues.error_probability))
    True
    """
    missing = issues.probabilities if probabilities is None else np.asarray(probabilities, dtype=float)
    if missing.shape != issues.signs.shape:
        raise ValueError(f"probabilities must have the shape of the labels, {issues.signs.shape}, got {missing.shape}")
    error = issues.error_probability
    return np.select([issues.signs > 0, issues.signs < 0], [1 - error, error], missing)


def rank_samples(probability: Any, given: Any) -> list[tuple[int, float, int]]:
    """Rank samples by the expected gain of labeling them: the sum of the gains of their missing entries.

    Parameters
    ----------
    probability : array-like of shape (n_samples, n_labels)
        Probability that each label is truly positive.
    given : array-like of shape (n_samples, n_labels)
        Observed labels, 1 or 0, NaN where missing.

    Returns
    -------
    list of (int, float, int)
        Index, expected gain and number of missing labels of each sample with missing labels, in descending order of
        the gain.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.review import rank_samples
    >>> rank_samples([[0.9, 0.5], [0.6, 0.4], [0.5, 0.5]], [[1, np.nan], [np.nan, np.nan], [1, 0]])
    [(1, 0.8, 2), (0, 0.5, 1)]
    """
    missing = np.isnan(np.asarray(given, dtype=float))
    gain = np.where(missing, expected_gain(probability, given), 0.0).sum(axis=1)
    candidates = np.flatnonzero(missing.any(axis=1))
    order = candidates[np.argsort(-gain[candidates], kind="stable")]
    return list(zip(order.tolist(), gain[order].tolist(), missing.sum(axis=1)[order].tolist(), strict=True))
