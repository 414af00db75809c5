"""Groups of entries, and the two ways to work on them: a function of each entry, and sums within groups.

Entries come as tuples of row blocks. What a group has of its own, such as its threshold, is an array with one number
per group; the function of an entry gets the one of its group beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from array_api_compat import array_namespace

from spmld._arrays import row_slices
from spmld.core.losses import Array
from spmld.core.problem import Engine

Blocks = Sequence[Array]
CACHE = 40_000
"""Numbers worked on at a time: few enough to stay in a processor's cache."""


class Groups(Protocol):
    """What a rule asks of groups."""

    @property
    def engine(self) -> Engine:
        """How to work on row blocks."""
        ...

    def map(self, function: Callable[..., Array], entries: Blocks, *own: Array) -> tuple[Array, ...]:
        """`function(entries, *own)` in the form of the entries; 0 for entries of no group."""
        ...

    def sum(self, function: Callable[..., tuple[Array, ...]], entries: Blocks, *own: Array) -> tuple[Array, ...]:
        """Sums within groups of each of the arrays that `function(entries, *own)` gives."""
        ...

    def ranks(self, entries: Blocks) -> tuple[Array, ...]:
        """1 for the smallest entry of each group, 2 for the next, in the form of the entries."""
        ...

    def top(self, entries: Blocks) -> float:
        """The largest entry of all groups."""
        ...

    def own(self, value: Any, entries: Blocks) -> Array:
        """One number per group, from one for all or one for each."""
        ...


@dataclass(frozen=True)
class Columns:
    """Each column is a group.

    Examples
    --------
    The losses of each column less its own threshold:

    >>> import numpy as np
    >>> from spmld.pacing.groups import Columns
    >>> losses = [np.array([[1.0, 5.0], [2.0, 6.0]])]
    >>> Columns().map(lambda L, t: L - t, losses, np.array([1.0, 5.0]))[0]
    array([[0., 0.],
           [1., 1.]])
    """

    engine: Engine = field(default_factory=Engine)

    def map(self, function: Callable[..., Array], entries: Blocks, *own: Array) -> tuple[Array, ...]:
        def of_block(L: Array) -> Array:
            xp, P = array_namespace(L), array_namespace(L).empty_like(L)
            for s in row_slices(L.shape[0], L.shape[1], CACHE):
                P[s, :] = xp.astype(function(L[s, :], *own), L.dtype, copy=False)
            return P

        return self.engine.map(of_block, entries)

    def sum(self, function: Callable[..., tuple[Array, ...]], entries: Blocks, *own: Array) -> tuple[Array, ...]:
        def of_block(L: Array) -> tuple[Array, ...]:
            xp, totals = array_namespace(L), None
            for s in row_slices(L.shape[0], L.shape[1], CACHE):
                ones = xp.ones_like(L[s, 0])
                parts = tuple(ones @ xp.astype(A, L.dtype, copy=False) for A in function(L[s, :], *own))
                totals = parts if totals is None else tuple(a + b for a, b in zip(totals, parts, strict=True))
            return totals if totals is not None else ()

        return self.engine.sum(of_block, entries)

    def ranks(self, entries: Blocks) -> tuple[Array, ...]:
        xp = array_namespace(entries[0])
        L = xp.concat(list(entries))
        order = xp.argsort(L, axis=0, stable=True)
        return split(xp.astype(xp.argsort(order, axis=0, stable=True) + 1, L.dtype), entries)

    def top(self, entries: Blocks) -> float:
        return max(self.engine.map(lambda L: float(array_namespace(L).max(L)), entries))

    def own(self, value: Any, entries: Blocks) -> Array:
        L = entries[0]
        xp = array_namespace(L)
        return xp.zeros_like(L[0, :]) + xp.asarray(value, dtype=L.dtype, device=L.device)


@dataclass(frozen=True)
class Members:
    """Each entry says the number of its group. Entries whose number is `count` are in none.

    Examples
    --------
    Two groups, and one entry that belongs to none:

    >>> import numpy as np
    >>> from spmld.pacing.groups import Members
    >>> groups = Members((np.array([[0, 1], [0, 2]]),), 2)
    >>> groups.map(lambda L, t: L - t, [np.array([[1.0, 5.0], [2.0, 6.0]])], np.array([1.0, 5.0]))[0]
    array([[0., 0.],
           [1., 0.]])
    """

    numbers: Blocks
    count: int
    engine: Engine = field(default_factory=Engine)

    def map(self, function: Callable[..., Array], entries: Blocks, *own: Array) -> tuple[Array, ...]:
        def of_block(L: Array, number: Array) -> Array:
            xp = array_namespace(L)
            values = xp.astype(function(L, *(self._spread(a, number) for a in own)), L.dtype)
            return xp.where(number < self.count, values, xp.zeros_like(values))

        return self.engine.map(of_block, entries, self.numbers)

    def sum(self, function: Callable[..., tuple[Array, ...]], entries: Blocks, *own: Array) -> tuple[Array, ...]:
        def of_block(L: Array, number: Array) -> tuple[Array, ...]:
            values = function(L, *(self._spread(a, number) for a in own))
            return tuple(self._totals(A, number, L) for A in values)

        return self.engine.sum(of_block, entries, self.numbers)

    def ranks(self, entries: Blocks) -> tuple[Array, ...]:
        xp = array_namespace(entries[0])
        L = xp.concat([xp.reshape(block, (-1,)) for block in entries])
        number = xp.concat([xp.reshape(block, (-1,)) for block in self.numbers])
        by_loss = xp.argsort(L, stable=True)
        order = by_loss[xp.argsort(number[by_loss], stable=True)]
        sizes = xp.bincount(number, minlength=self.count + 1)
        first = xp.cumulative_sum(sizes) - sizes
        place = xp.argsort(order, stable=True)
        ranks = xp.astype(place - first[number] + 1, L.dtype)
        return split(xp.reshape(ranks, (-1, entries[0].shape[1])), entries)

    def top(self, entries: Blocks) -> float:
        members = self.map(lambda L: L, entries)
        return max(self.engine.map(lambda L: float(array_namespace(L).max(L)), members))

    def own(self, value: Any, entries: Blocks) -> Array:
        L = entries[0]
        xp = array_namespace(L)
        return xp.zeros(self.count, dtype=L.dtype, device=L.device) + xp.asarray(value, dtype=L.dtype, device=L.device)

    def _spread(self, own: Array, number: Array) -> Array:
        xp = array_namespace(own)
        return xp.concat([own, xp.ones_like(own[:1])])[number]

    def _totals(self, values: Array, number: Array, like: Array) -> Array:
        xp = array_namespace(like)
        flat = xp.reshape(xp.astype(values, like.dtype, copy=False), (-1,))
        sums = xp.bincount(xp.reshape(number, (-1,)), weights=flat, minlength=self.count + 1)
        return xp.astype(sums[: self.count], like.dtype)


def in_turn(values: Sequence[float], groups: Groups, entries: Blocks) -> Array:
    """One number per group: the values over and over."""
    count = groups.own(0.0, entries).shape[0]
    return groups.own([values[i % len(values)] for i in range(count)], entries)


def split(A: Array, blocks: Blocks) -> tuple[Array, ...]:
    """Rows of A, as many at a time as the blocks have."""
    edges = [0]
    for block in blocks:
        edges.append(edges[-1] + block.shape[0])
    return tuple(A[start:stop, :] for start, stop in pairwise(edges))


def polarity_groups(signs: Any) -> Members:
    """Return two groups for each label, its negatives and its positives.

    Parameters
    ----------
    signs : ndarray of shape (n_samples, n_labels)
        Labels: 1, -1, and 0 where missing. Missing entries belong to no group.

    Returns
    -------
    Members
        Group 2 j holds the negatives of label j, group 2 j + 1 its positives.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.pacing.groups import polarity_groups
    >>> polarity_groups(np.array([[1, -1], [0, 1]])).numbers[0]
    array([[1, 2],
           [4, 3]])
    """
    count = 2 * signs.shape[1]
    numbers = 2 * np.arange(signs.shape[1]) + (signs > 0)
    return Members((np.where(signs != 0, numbers, count),), count)
