"""Lower limit of the number of errors, by which other entries differ from a verified random sample.

Verified entries have correct labels. If positives are more frequent among the lowest scores of the other entries than
among those of the verified ones, the difference are false positives; if negatives are more frequent among the highest
scores, it are false negatives. The scores of all labels count together. Limits of the frequencies are those of
`spmld.noise.bounds`, and so are the fractions of the scores.
"""

import numpy as np
from numpy.typing import NDArray

from spmld.noise.bounds import CONFIDENCE, TAIL_FRACTIONS, upper_limit

_Floats = NDArray[np.float64]
_Bools = NDArray[np.bool_]

LEVEL = 1 - (1 - CONFIDENCE) / (4 * len(TAIL_FRACTIONS))
"""Confidence level of the limit of one frequency: of two groups, at two ends of the scores, in each fraction."""


def least_errors(scores: _Floats, signs: NDArray[np.int8], verified: _Bools) -> float:
    """Return a lower limit of the number of wrong entries that are not verified.

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
    >>> from spmld.audit.lower_limit import least_errors
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random((2000, 5)) < 0.2
    >>> scores = rng.normal(size=truth.shape) + 6 * truth
    >>> verified = np.repeat(rng.random((2000, 1)) < 0.2, 5, axis=1)
    >>> wrong = ~truth & ~verified & (rng.random(truth.shape) < 0.1)  # about 640 negatives are changed to positives
    >>> 300 < least_errors(scores, np.where(truth | wrong, 1, -1), verified) < 640
    True
    """
    n_observed = (signs != 0).sum(axis=0)
    n_positives = (signs > 0).sum(axis=0)
    return sum(
        _excess(sign * scores, sign * signs, verified, sizes) for sign, sizes in ((1, n_observed), (-1, n_positives))
    )


def _excess(scores: _Floats, signs: NDArray[np.int8], verified: _Bools, sizes: NDArray[np.intp]) -> float:
    """Return a lower limit of the false positives among fractions of `sizes` entries of each label, the lowest ones."""
    counts = np.zeros((4, len(TAIL_FRACTIONS)))
    for j, size in enumerate(sizes):
        observed = np.flatnonzero(signs[:, j])
        order = observed[np.argsort(scores[observed, j], kind="stable")]
        positive = signs[order, j] > 0
        checked = verified[order, j]
        groups = np.stack([positive & ~checked, ~checked, positive & checked, checked])
        sums = np.column_stack([np.zeros(4), groups.cumsum(axis=1)])
        counts += sums[:, np.ceil(TAIL_FRACTIONS * size).astype(int)]
    positives, n_others, verified_positives, n_verified = counts
    least = 1 - upper_limit(n_others - positives, n_others, LEVEL)
    most = upper_limit(verified_positives, n_verified, LEVEL)
    return max(0.0, float((n_others * (least - most)).max()))
