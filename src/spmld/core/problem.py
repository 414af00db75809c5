"""The data of a fit in blocks of rows, and the variables of a fit.

Everything with n rows lives in blocks. What the algorithms do with rows is a function of one block, followed by
nothing (`Engine.map`) or by a sum over the blocks (`Engine.sum`); another engine is another pair of these two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any

from array_api_compat import array_namespace

from spmld.core.losses import Array


@dataclass(frozen=True)
class Block:
    """Some rows of the data."""

    X: Any
    """(n, d) features, dense or scipy sparse."""
    Y: Array
    """(n, l) labels in {-1, +1}; 0 where unobserved."""
    J: Array
    """(n, l) weight of each entry in the fit: 0 where unobserved, 1 (or a chosen weight) where observed."""
    group: Array
    """(n,) number of the group of each row."""

    @property
    def n(self) -> int:
        return int(self.Y.shape[0])

    def part(self, s: slice) -> Block:
        """The labels of some rows, without their features."""
        return Block(None, self.Y[s, :], self.J[s, :], self.group[s])


@dataclass(frozen=True)
class Rows:
    """The variables that live with the rows of one block."""

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
    """The two ways to work on rows, in this process."""

    def map(self, function: Callable[..., Any], *rows: Sequence[Any]) -> tuple[Any, ...]:
        """`function` of what belongs to the rows of each block."""
        return tuple(function(*args) for args in zip(*rows, strict=True))

    def sum(self, function: Callable[..., Any], *rows: Sequence[Any]) -> Any:
        """The sum over blocks of an array, or of each array of a tuple."""
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
    """Blocks of rows and the sizes of their groups."""

    blocks: tuple[Block, ...]
    sizes: Array
    """(g,) number of rows in each group."""
    fit_intercept: bool = True
    engine: Engine = field(default_factory=Engine)

    @property
    def n(self) -> int:
        return sum(block.n for block in self.blocks)

    def map(self, function: Callable[..., Any], *rows: Sequence[Any]) -> tuple[Any, ...]:
        """`function` of each block and of what belongs to its rows."""
        return self.engine.map(function, self.blocks, *rows)

    def sum(self, function: Callable[..., Any], *rows: Sequence[Any]) -> Any:
        """The sum over blocks of `function`."""
        return self.engine.sum(function, self.blocks, *rows)

    def split(self, A: Array) -> tuple[Array, ...]:
        """The rows of each block out of an array with all rows."""
        ends = list(accumulate(block.n for block in self.blocks))
        return tuple(A[end - block.n : end, :] for end, block in zip(ends, self.blocks, strict=True))


def make_problem(
    X: Any,
    Y: Array,
    J: Array,
    group: Array,
    n_groups: int,
    *,
    dtype: Any = None,
    fit_intercept: bool = True,
    block_rows: int = 100_000,
) -> Problem:
    """Cut the data into blocks of at most `block_rows` rows. What stands in unobserved entries of Y is not read.

    Y and J may be of small integer and boolean types; `dtype` is that of the variables, X's unless given.
    """
    xp = array_namespace(Y)
    Y = xp.where(J != 0, Y, xp.zeros_like(Y))
    parts = [slice(start, start + block_rows) for start in range(0, Y.shape[0], block_rows)]
    blocks = tuple(Block(X if len(parts) == 1 else X[s], Y[s, :], J[s, :], group[s]) for s in parts)
    counts = [xp.sum(xp.astype(group == m, dtype or X.dtype)) for m in range(n_groups)]
    return Problem(blocks, xp.stack(counts), fit_intercept)


def set_W(problem: Problem, state: State, W: Array) -> State:
    """Change W, and with it the predicted latent labels T = X W."""
    products = problem.map(lambda block: block.X @ W)
    rows = tuple(replace(r, T=T) for r, T in zip(state.rows, products, strict=True))
    return replace(state, W=W, rows=rows)


def set_rows(state: State, **parts: Sequence[Array]) -> State:
    """Change V, T or P, given block by block."""
    names = list(parts)
    values = zip(*parts.values(), strict=True)
    rows = tuple(replace(r, **dict(zip(names, v, strict=True))) for r, v in zip(state.rows, values, strict=True))
    return replace(state, rows=rows)
