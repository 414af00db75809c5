"""Groups of entries: functions of each entry, and sums, ranks and maxima within groups.

Entries come as sequences of row blocks. A quantity of the groups, such as their thresholds, is an array with one number
per group; a function of the entries receives it spread over the entries of the group.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial, reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld._arrays import CACHE, budget, namespace, row_slices
from spmld.core.losses import Array
from spmld.core.problem import Engine, combine_parts, split_rows

Blocks = Sequence[Array]


@dataclass(frozen=True)
class ColumnGroups:
    """Groups given by the columns.

    Examples
    --------
    Subtract a threshold from each column:

    >>> import numpy as np
    >>> from spmld.pacing import ColumnGroups
    >>> losses = [np.array([[1.0, 5.0], [2.0, 6.0]])]
    >>> ColumnGroups().map(lambda L, t: L - t, losses, np.array([1.0, 5.0]))[0]
    array([[0., 0.],
           [1., 1.]])
    """

    engine: Engine = field(default_factory=Engine)
    example: Array = None
    """An array with one number per group; required if the blocks are not in memory."""

    def map(self, function: Callable[..., Array], entries: Blocks, *values: Array) -> tuple[Array, ...]:
        """Return `function(entries, *values)` in the shape of the entries; 0 for entries outside all groups."""

        def map_block(L: Array) -> Array:
            xp, P = namespace(L), namespace(L).empty_like(L)
            for s in row_slices(L.shape[0], L.shape[1], budget(L, CACHE)):
                P[s, :] = xp.astype(function(L[s, :], *values), L.dtype, copy=False)
            return P

        return self.engine.map(map_block, entries)

    def sum(self, function: Callable[..., tuple[Array, ...]], entries: Blocks, *values: Array) -> tuple[Array, ...]:
        """Return the sums within groups of each array that `function(entries, *values)` returns."""

        def sum_slice(L: Array) -> tuple[Array, ...]:
            xp, ones = namespace(L), namespace(L).ones_like(L[:, 0])
            return tuple(ones @ xp.astype(A, L.dtype, copy=False) for A in function(L, *values))

        return self.engine.sum(partial(_sum_slices, sum_slice), entries)

    def ranks(self, entries: Blocks) -> tuple[Array, ...]:
        """Return the rank of each entry within its group, 1 for the smallest."""
        blocks = self.engine.gather(entries)
        xp = namespace(blocks[0])
        L = xp.concat(list(blocks))
        order = xp.argsort(L, axis=0, stable=True)
        ranks = xp.astype(xp.argsort(order, axis=0, stable=True) + 1, L.dtype)
        return split_rows(ranks, [block.shape[0] for block in blocks])

    def max(self, entries: Blocks) -> float:
        """Return the largest entry over all groups."""
        return float(self.engine.sum(lambda L: float(namespace(L).max(L)), entries, combine=max))

    def per_group(self, value: Any, entries: Blocks) -> Array:
        """Return one number per group, from a scalar or from one number per group."""
        one = self.example if self.example is not None else entries[0][0, :]
        xp = namespace(one)
        return xp.zeros_like(one) + xp.asarray(value, dtype=one.dtype, device=one.device)


@dataclass(frozen=True)
class EntryGroups:
    """Groups given by an index for each entry. Entries with index `count` belong to no group.

    Examples
    --------
    Two groups, and one entry outside them:

    >>> import numpy as np
    >>> from spmld.pacing.groups import EntryGroups
    >>> groups = EntryGroups((np.array([[0, 1], [0, 2]]),), 2)
    >>> groups.map(lambda L, t: L - t, [np.array([[1.0, 5.0], [2.0, 6.0]])], np.array([1.0, 5.0]))[0]
    array([[0., 0.],
           [1., 0.]])
    """

    indices: Blocks
    count: int
    engine: Engine = field(default_factory=Engine)
    example: Array = None
    """An array with one number per group; required if the blocks are not in memory."""

    def map(self, function: Callable[..., Array], entries: Blocks, *values: Array) -> tuple[Array, ...]:
        count = self.count

        def map_block(L: Array, index: Array) -> Array:
            xp = namespace(L)
            result = xp.astype(function(L, *(_spread(a, index) for a in values)), L.dtype)
            return xp.where(index < count, result, xp.zeros_like(result))

        return self.engine.map(map_block, entries, self.indices)

    def sum(self, function: Callable[..., tuple[Array, ...]], entries: Blocks, *values: Array) -> tuple[Array, ...]:
        count = self.count

        def sum_slice(L: Array, index: Array) -> tuple[Array, ...]:
            results = function(L, *(_spread(a, index) for a in values))
            return tuple(_totals(A, index, L, count) for A in results)

        return self.engine.sum(partial(_sum_slices, sum_slice), entries, self.indices)

    def ranks(self, entries: Blocks) -> tuple[Array, ...]:
        xp = namespace(entries[0])
        L = xp.concat([xp.reshape(block, (-1,)) for block in entries])
        index = xp.concat([xp.reshape(block, (-1,)) for block in self.indices])
        by_loss = xp.argsort(L, stable=True)
        order = by_loss[xp.argsort(index[by_loss], stable=True)]
        sizes = xp.bincount(index, minlength=self.count + 1)
        first = xp.cumulative_sum(sizes) - sizes
        position = xp.argsort(order, stable=True)
        ranks = xp.astype(position - first[index] + 1, L.dtype)
        return split_rows(xp.reshape(ranks, (-1, entries[0].shape[1])), [block.shape[0] for block in entries])

    def max(self, entries: Blocks) -> float:
        def largest(L: Array) -> float:
            return float(namespace(L).max(L)) if L.shape[0] else 0.0

        return float(self.engine.sum(largest, self.map(lambda L: L, entries), combine=max))

    def per_group(self, value: Any, entries: Blocks) -> Array:
        like = self.example if self.example is not None else entries[0]
        xp, kind = namespace(like), {"dtype": like.dtype, "device": like.device}
        return xp.zeros(self.count, **kind) + xp.asarray(value, **kind)


def _sum_slices(function: Callable[..., tuple[Array, ...]], *arrays: Array) -> tuple[Array, ...]:
    """Return the sums of arrays that a function returns for slices of rows, whose temporary arrays fit into a cache."""
    n, k = arrays[0].shape
    slices = list(row_slices(n, k, budget(arrays[0], CACHE))) or [slice(None)]
    return reduce(partial(combine_parts, add), (function(*(A[s, :] for A in arrays)) for s in slices))


def _spread(values: Array, index: Array) -> Array:
    """Return the value of the group of each entry, 1 outside all groups."""
    xp = namespace(values)
    return xp.concat([values, xp.ones_like(values[:1])])[index]


def _totals(values: Array, index: Array, like: Array, count: int) -> Array:
    """Return the sums of the values within groups."""
    xp = namespace(like)
    flat = xp.reshape(xp.astype(values, like.dtype, copy=False), (-1,))
    sums = xp.bincount(xp.reshape(index, (-1,)), weights=flat, minlength=count + 1)
    return xp.astype(sums[:count], like.dtype)


Groups = ColumnGroups | EntryGroups


def polarity_groups(signs: Array) -> EntryGroups:
    """Return the groups of negatives and positives of each label, in this order.

    Parameters
    ----------
    signs : array of shape (n_samples, n_labels)
        Labels -1 and +1; entries that are 0 belong to no group.

    Returns
    -------
    EntryGroups

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.pacing.groups import polarity_groups
    >>> polarity_groups(np.array([[-1, 1], [1, 0]])).indices[0]
    array([[0, 3],
           [1, 4]])
    """
    xp, count = namespace(signs), 2 * signs.shape[1]
    index = xp.arange(0, count, 2, device=signs.device) + xp.astype(signs > 0, xp.int64)
    return EntryGroups((xp.where(signs != 0, index, xp.full_like(index, count)),), count)


def keep_easiest(weights: NDArray[Any], losses: NDArray[Any], groups: Any) -> NDArray[Any]:
    """Return weights that are 1 for the easiest entry of each of the `EntryGroups` whose weights sum to less than 1."""
    (sums,) = groups.sum(lambda P: (P,), (weights,))
    (index,) = groups.indices
    (ranks,) = groups.ranks((losses,))
    lacking = np.append(sums < 1, False)[index]
    return np.where(lacking & (ranks == 1), 1.0, weights)
