"""Trimming: zero weights for hard entries, which are likely errors."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld.core.losses import LOSSES
from spmld.model_selection.samples import Samples
from spmld.pacing import HardPacing, QuantileSchedule
from spmld.pacing.groups import gather, group_positions, polarity_index, scatter

NEGATIVE_RATIO = 0.3
"""Ratio of the trimmed fractions of negatives and positives: negatives are numerous, and few of them are wrong."""
KEEP_FRACTION = 0.9
"""Fraction of the positives to keep by default, if held-out losses allow it."""


def kept_entries(
    scores: NDArray[Any], samples: Samples, keep_fraction: float, rows: NDArray[np.intp] | None = None
) -> NDArray[np.bool_]:
    """Return which entries `trim` keeps, and verified ones; with `rows`, only entries of these samples are kept."""
    signs = samples.signs
    if rows is not None:
        signs = np.zeros_like(signs)
        signs[rows] = samples.signs[rows]
    kept = trim(scores, signs, keep_fraction)
    return kept if samples.labels.trusted is None else kept | samples.labels.trusted


def trim(scores: NDArray[Any], signs: NDArray[Any], keep_fraction: float) -> NDArray[np.bool_]:
    r"""Return which entries to keep: all but the hardest of each label.

    The loss of entry (i, j) is :math:`\log(1 + e^{-Y_{ij} s_{ij}})`. Of the positives of each label, a fraction q with
    the smallest losses is kept, and of its negatives a fraction 1 - 0.3 (1 - q). This is the hard self-paced rule with
    a threshold for each label and polarity.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_labels)
        Out-of-fold scores.
    signs : ndarray of shape (n_samples, n_labels)
        Labels -1 and +1; 0 where missing.
    keep_fraction : float
        q, in (0, 1].

    Returns
    -------
    ndarray of bool of shape (n_samples, n_labels)
        Entries to keep; False where a label is missing.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.ensemble.trimming import trim
    >>> scores = np.array([[3.0], [2.0], [1.0], [0.0], [-5.0], [-2.0]])
    >>> trim(scores, np.array([[1], [1], [1], [1], [1], [-1]]), keep_fraction=0.8).ravel()
    array([ True,  True,  True,  True, False,  True])
    """
    if keep_fraction == 1:
        return signs != 0
    fractions = (1 - NEGATIVE_RATIO * (1 - keep_fraction), keep_fraction)
    positions = group_positions(polarity_index(signs), 2 * signs.shape[1])
    losses = gather(LOSSES["logistic"].value(signs, scores), positions)
    rule = HardPacing(schedule=QuantileSchedule(start=fractions, stop=fractions))
    return scatter(rule.update(0, losses).weights, positions, signs.shape) > 0
