"""Trimming: zero weights for hard entries, which are likely errors."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld._arrays import move, namespace, numpy_dtype, on_accelerator, to_numpy
from spmld.core.losses import LOSSES
from spmld.core.problem import Engine
from spmld.model_selection.samples import Samples
from spmld.pacing.groups import EntryGroups, polarity_groups
from spmld.pacing.rules import HardPacing
from spmld.pacing.schedules import QuantileSchedule

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
    if keep_fraction < 1 and on_accelerator(samples.X):
        scores, signs = move(scores, samples.X), move(signs, samples.X)
    kept = to_numpy(trim(scores, signs, keep_fraction))
    return kept if samples.labels.trusted is None else kept | samples.labels.trusted


def trim(scores: Any, signs: Any, keep_fraction: float) -> Any:
    r"""Return which entries are kept: all but the hardest of each label.

    The loss of entry (i, j) is :math:`\log(1 + e^{-Y_{ij} s_{ij}})`. Of the positives of each label, a fraction q with
    the smallest losses gets weight 1, and of its negatives a fraction 1 - 0.3 (1 - q). This is the hard self-paced rule
    with a threshold for each label and polarity.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_labels)
        Out-of-fold scores.
    signs : array of shape (n_samples, n_labels)
        Labels: 1, -1, and 0 where missing.
    keep_fraction : float
        q, in (0, 1].

    Returns
    -------
    array of bool of shape (n_samples, n_labels)
        True for entries that are kept, False for entries that are trimmed or missing.

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
    losses, index = _observed_losses(scores, signs), _observed_groups(signs)
    totals = np.zeros(2 * signs.shape[1], dtype=numpy_dtype(scores) if on_accelerator(scores) else float)
    totals = move(totals, scores)
    groups = EntryGroups((index,), totals.shape[0], Engine(), totals)
    parameters = QuantileSchedule(start=fractions, stop=fractions).parameters(0, (losses,), groups)
    (weights,) = HardPacing().weights((losses,), parameters, groups)
    return _put(signs, weights)


def _observed_losses(scores: Any, signs: Any) -> Any:
    """Return the losses of the observed entries as a column."""
    observed = signs != 0
    return LOSSES["logistic"].value(signs[observed] * 1.0, scores[observed])[:, None]


def _observed_groups(signs: Any) -> Any:
    return polarity_groups(signs).indices[0][signs != 0][:, None]


def _put(signs: Any, values: Any) -> Any:
    """Return where the values of the observed entries are not 0."""
    observed, kept = signs != 0, namespace(signs).zeros_like(signs != 0)
    kept[observed] = values[:, 0] != 0
    return kept
