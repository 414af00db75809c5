"""Trimming: zero weights for hard entries, which are likely errors."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld._arrays import namespace
from spmld.core.losses import LOSSES
from spmld.core.problem import Engine
from spmld.labels import read_labels
from spmld.pacing.groups import EntryGroups, polarity_groups
from spmld.pacing.rules import HardPacing
from spmld.pacing.schedules import QuantileSchedule

NEGATIVE_RATIO = 0.3
"""Ratio of the trimmed fractions of negatives and positives: negatives are numerous, and few of them are wrong."""
KEEP_FRACTION = 0.9
"""Fraction of the positives to keep by default, if held-out losses allow it."""


def trim(scores: NDArray[np.float64], Y: Any, keep_fraction: float) -> NDArray[np.float64]:
    r"""Return weights that are 0 for the hardest entries of each label.

    The loss of entry (i, j) is :math:`\log(1 + e^{-Y_{ij} s_{ij}})`. Of the positives of each label, a fraction q with
    the smallest losses gets weight 1, and of its negatives a fraction 1 - 0.3 (1 - q). This is the hard self-paced rule
    with a threshold for each label and polarity.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_labels)
        Out-of-fold scores.
    Y : labels in any form accepted by `spmld.labels.read_labels`
        Labels of the samples.
    keep_fraction : float
        q, in (0, 1].

    Returns
    -------
    ndarray of shape (n_samples, n_labels)
        1 for entries that are kept, 0 for entries that are trimmed or missing.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.ensemble.trimming import trim
    >>> scores = np.array([[3.0], [2.0], [1.0], [0.0], [-5.0], [-2.0]])
    >>> trim(scores, [[1], [1], [1], [1], [1], [0]], keep_fraction=0.8).ravel()
    array([1., 1., 1., 1., 0., 1.])
    """
    signs = read_labels(Y).signs
    (kept,) = trim_blocks(Engine(), (scores,), (signs,), np.zeros(2 * signs.shape[1]), keep_fraction)
    return np.asarray(kept, dtype=float)


def trim_blocks(
    engine: Engine, scores: Sequence[Any], signs: Sequence[Any], totals: Any, keep_fraction: float
) -> tuple[Any, ...]:
    """Return where the weights of `trim` are 1, for scores and signs in row blocks, known to the engine.

    `totals` has the shape (2 * n_labels,), and the library and the device of the blocks.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.core.problem import Engine
    >>> from spmld.ensemble.trimming import trim_blocks
    >>> scores, signs = [np.array([[3.0], [-5.0]]), np.array([[1.0]])], [np.array([[1], [1]]), np.array([[1]])]
    >>> [kept.ravel().tolist() for kept in trim_blocks(Engine(), scores, signs, np.zeros(2), 0.6)]
    [[True, False], [True]]
    """
    if keep_fraction == 1:
        return engine.map(lambda S: S != 0, signs)
    fractions = (1 - NEGATIVE_RATIO * (1 - keep_fraction), keep_fraction)
    losses, indices = engine.map(_observed_losses, scores, signs), engine.map(_observed_groups, signs)
    groups = EntryGroups(indices, totals.shape[0], engine, totals)
    parameters = QuantileSchedule(start=fractions, stop=fractions).parameters(0, losses, groups)
    return engine.map(_put, signs, HardPacing().weights(losses, parameters, groups))


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
