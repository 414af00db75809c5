"""The data of a fit in row blocks, and the variables of a fit.

All arrays with n rows are stored in blocks. Algorithms apply a function to each block (`Engine.map`), or sum it over
the blocks (`Engine.sum`); a distributed engine would replace these two operations.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np

from spmld._arrays import MEMORY, budget, namespace, row_slices
from spmld.core.entries import ALL_ENTRIES, Entries, ObservedEntries
from spmld.core.losses import Array


@dataclass(frozen=True)
class Block:
    """A block of rows of the data."""

    X: Any
    """(n, d) features, dense or scipy sparse."""
    Y: Array
    """Labels in {-1, +1}; 0 where missing. Arrays of entries have the shape (n, l) or, if only the observed entries
    are stored, (number of entries,)."""
    J: Array
    """Weight of each entry in the fit: 0 where missing, 1 or the given weight where observed."""
    group: Array
    """(n,) index of the group of each row."""
    entries: Entries = ALL_ENTRIES
    """Position of the entries."""

    @property
    def n(self) -> int:
        return int(self.group.shape[0])

    @property
    def width(self) -> int:
        """Mean number of stored entries of a row, rounded up."""
        return -(-int(math.prod(self.Y.shape)) // max(1, self.n))

    @cached_property
    def members(self) -> tuple[Array, ...]:
        """Rows of each group, up to the last group that has rows in the block."""
        xp = namespace(self.group)
        count = int(xp.max(self.group)) + 1 if self.n else 0
        return tuple(xp.nonzero(self.group == m)[0] for m in range(count))

    def part(self, s: slice) -> "Block":
        """Return the labels of some rows, without their features."""
        entries, inside = self.entries.part(s)
        return Block(None, self.Y[inside], self.J[inside], self.group[s], entries)


@dataclass(frozen=True)
class Rows:
    """The variables of the rows of one block."""

    V: Array
    """(n, k) latent labels."""
    T: Array
    """(n, k) latent labels predicted from the features, X W."""
    P: Array
    """(n, k) self-paced weights."""


@dataclass(frozen=True)
class State:
    """All variables of a fit."""

    U: Array
    """(l, k) label loadings."""
    b: Array
    """(l,) intercepts."""
    W: Array
    """(d, k) feature weights."""
    Z: Array
    """(g, l, r) correlation factors, unit rows."""
    rows: tuple[Rows, ...]


class Engine:
    """Operations on row blocks, in this process."""

    def map(self, function: Callable[..., Any], *rows: Sequence[Any]) -> tuple[Any, ...]:
        """Apply `function` to the arguments of each block."""
        return tuple(function(*args) for args in zip(*rows, strict=True))

    def sum(self, function: Callable[..., Any], *rows: Sequence[Any]) -> Any:
        """Sum an array, or each array of a tuple, over the blocks."""
        total: Any = None
        for args in zip(*rows, strict=True):
            part = function(*args)
            if total is None:
                total = part
            elif isinstance(part, tuple):
                total = tuple(a + b for a, b in zip(total, part, strict=True))
            else:
                total = total + part
        return total


@dataclass(frozen=True)
class Problem:
    """Row blocks and the sizes of the groups of samples."""

    blocks: tuple[Block, ...]
    sizes: Array
    """(g,) number of rows in each group."""
    n_labels: int
    fit_intercept: bool = True
    engine: Engine = field(default_factory=Engine)

    @property
    def n(self) -> int:
        return sum(block.n for block in self.blocks)

    def map(self, function: Callable[..., Any], *rows: Sequence[Any]) -> tuple[Any, ...]:
        """Apply `function` to each block and its arguments."""
        return self.engine.map(function, self.blocks, *rows)

    def sum(self, function: Callable[..., Any], *rows: Sequence[Any]) -> Any:
        """Sum `function` over the blocks."""
        return self.engine.sum(function, self.blocks, *rows)

    def split(self, A: Array) -> tuple[Array, ...]:
        """Split an array with all rows into row blocks."""
        return split_rows(A, [block.n for block in self.blocks])


def make_problem(
    X: Any,
    Y: Array,
    J: Array,
    group: Array,
    n_groups: int,
    *,
    dtype: Any = None,
    fit_intercept: bool = True,
    block_rows: int | None = None,
    observed_only: bool = False,
) -> Problem:
    """Split the data into blocks of at most `block_rows` rows, by default as many as the memory budget allows.

    Missing entries of Y are ignored. Y and J may have small integer and boolean types; `dtype` is the type of the
    variables, by default that of X. With `observed_only` only the observed entries are stored, in arrays of NumPy.
    """
    xp, (n, l) = namespace(Y), Y.shape
    counts = xp.stack([xp.sum(xp.astype(group == m, dtype or X.dtype)) for m in range(n_groups)])
    if observed_only:
        width = int(np.count_nonzero(J)) // n + 1
        slices = list(row_slices(n, width) if block_rows is None else row_slices(n, 1, block_rows))
        blocks = [_observed_block(X if len(slices) == 1 else X[s], Y[s, :], J[s, :], group[s]) for s in slices]
    else:
        Y = xp.where(J != 0, Y, xp.zeros_like(Y))
        slices = list(row_slices(n, l, budget(Y, MEMORY)) if block_rows is None else row_slices(n, 1, block_rows))
        blocks = [Block(X if len(slices) == 1 else X[s], Y[s, :], J[s, :], group[s]) for s in slices]
    return Problem(tuple(blocks), counts, l, fit_intercept)


def _observed_block(X: Any, Y: Array, J: Array, group: Array) -> Block:
    """Return a block that stores the observed entries only."""
    rows, columns = np.nonzero(J)
    return Block(X, Y[rows, columns], J[rows, columns], group, ObservedEntries.at(rows, columns, J.shape))


def split_rows(A: Array, sizes: Sequence[int]) -> tuple[Array, ...]:
    """Split the rows of A into blocks of the given sizes."""
    return tuple(A[end - size : end, :] for end, size in zip(accumulate(sizes), sizes, strict=True))


def set_W(problem: Problem, state: State, W: Array) -> State:
    """Replace W, and with it the predicted latent labels T = X W."""
    return replace(set_rows(state, T=problem.map(lambda block: block.X @ W)), W=W)


def set_rows(state: State, **parts: Sequence[Array]) -> State:
    """Replace V, T or P, given in row blocks."""
    names = list(parts)
    values = zip(*parts.values(), strict=True)
    rows = tuple(replace(r, **dict(zip(names, v, strict=True))) for r, v in zip(state.rows, values, strict=True))
    return replace(state, rows=rows)
