"""The data of a fit in row blocks, the positions of its entries, and the variables of a fit.

All arrays with n rows are stored in blocks. Algorithms apply a function to each block (`Engine.map`), or sum it over
the blocks (`Engine.sum`). Where the blocks are, in memory or on other machines, is known to the engine only:
what `map` returns is passed to `map`, `sum` and `gather`, and not used otherwise.

Scores, slopes and weights of entries have the shape (n, l), or (number of observed entries,) in the order of a CSR
matrix. Everything that depends on the positions of the entries is an operation of `AllEntries` or `ObservedEntries`.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, reduce
from itertools import accumulate
from operator import add
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from spmld._arrays import CACHE, MEMORY, Array, Matrix, budget, n_bytes, namespace, row_slices
from spmld._threads import Map


class AllEntries:
    """All entries, in arrays of shape (n, l)."""

    def scores(self, V: Array, U: Array, b: Array | float = 0.0) -> Array:
        """Return V U^T + 1 b^T at the entries."""
        return V @ U.T + b

    def spread(self, b: Array) -> Array:
        """Return a number for each label as an array that broadcasts with the entries."""
        return b

    def times(self, D: Array, U: Array) -> Array:
        """Return D U."""
        return D @ U

    def transposed_times(self, D: Array, V: Array) -> Array:
        """Return D^T V."""
        return D.T @ V

    def column_sums(self, D: Array) -> Array:
        """Return D^T 1."""
        return namespace(D).sum(D, axis=0)

    def second_moments(self, D: Array) -> Array:
        """Return D^T D."""
        return D.T @ D

    def part(self, s: slice) -> tuple[Self, Any]:
        """Return the entries of some rows, and the index of these entries."""
        return self, (s, slice(None))


ALL_ENTRIES = AllEntries()


@dataclass(frozen=True)
class ObservedEntries:
    """Some entries, ordered by rows. Other entries count as 0 in sums and are never computed.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.core.problem import ObservedEntries
    >>> entries = ObservedEntries.at(np.array([0, 1]), np.array([1, 0]), (2, 2))
    >>> entries.scores(np.array([[1.0], [2.0]]), np.array([[10.0], [20.0]]))
    array([20., 20.])
    """

    columns: Array
    """Label of each entry."""
    starts: Array
    """(n + 1,) index of the first entry of each row."""
    n_labels: int

    @classmethod
    def at(cls, rows: Array, columns: Array, shape: tuple[int, int]) -> "ObservedEntries":
        """Return the entries at some positions, which are ordered by rows."""
        starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=shape[0]))])
        return cls(columns.astype(np.int32), starts.astype(np.int64), shape[1])

    @property
    def rows(self) -> Array:
        """Row of each entry."""
        return np.repeat(np.arange(len(self.starts) - 1, dtype=np.int32), np.diff(self.starts))

    def matrix(self, D: Array) -> sp.csr_array:
        """Return numbers of the entries as a sparse matrix."""
        return sp.csr_array((D, self.columns, self.starts), shape=(len(self.starts) - 1, self.n_labels))

    def scores(self, V: Array, U: Array, b: Array | float = 0.0) -> Array:
        """Return V U^T + 1 b^T at the entries, in slices that fit into the cache."""
        rows = self.rows
        scores = np.empty(len(self.columns), dtype=U.dtype)
        for s in row_slices(len(rows), U.shape[1], CACHE):
            np.einsum("ek,ek->e", V[rows[s]], U[self.columns[s]], out=scores[s])
        return scores + (b if isinstance(b, float) else self.spread(b))

    def spread(self, b: Array) -> Array:
        """Return the number of the label of each entry."""
        return b[self.columns]

    def times(self, D: Array, U: Array) -> Array:
        """Return D U."""
        return self.matrix(D) @ U

    def transposed_times(self, D: Array, V: Array) -> Array:
        """Return D^T V."""
        return self.matrix(D).T @ V

    def column_sums(self, D: Array) -> Array:
        """Return D^T 1."""
        return np.bincount(self.columns, D, self.n_labels).astype(D.dtype, copy=False)

    def second_moments(self, D: Array) -> Array:
        """Return D^T D."""
        matrix = self.matrix(D)
        return (matrix.T @ matrix).toarray()

    def part(self, s: slice) -> tuple["ObservedEntries", slice]:
        """Return the entries of some rows, and the index of these entries."""
        starts = self.starts[s.start : s.stop + 1]
        inside = slice(int(starts[0]), int(starts[-1]))
        return ObservedEntries(self.columns[inside], starts - starts[0], self.n_labels), inside


Entries = AllEntries | ObservedEntries

FEW_OBSERVED = 0.1
"""Fraction of observed entries below which updates of two factors are faster on them, see `benchmarks.observed`."""


Combine = Callable[[Any, Any], Any]


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
    def width(self) -> int:
        """Mean number of stored entries of a row, rounded up."""
        return -(-int(math.prod(self.Y.shape)) // max(1, self.group.shape[0]))

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields without cached properties, which would double the size of a stored block."""
        return {name: self.__dict__[name] for name in self.__dataclass_fields__}

    def __sizeof__(self) -> int:
        """Return the memory of the arrays, by which Dask decides when to store a block on disk."""
        return n_bytes(self)

    @cached_property
    def XT(self) -> Matrix:
        """X^T, stored because SciPy's transpose of a small matrix is slower than the product."""
        return self.X.T

    @cached_property
    def members(self) -> tuple[Array, ...]:
        """Rows of each group, up to the last group that has rows in the block."""
        xp = namespace(self.group)
        count = int(xp.max(self.group)) + 1 if self.group.shape[0] else 0
        return tuple(xp.nonzero(self.group == m)[0] for m in range(count))

    def rows(self, s: slice) -> "Block":
        """Return some rows."""
        return replace(self.part(s), X=self.X[s])

    def part(self, s: slice) -> "Block":
        """Return the labels of some rows, without their features."""
        entries, inside = self.entries.part(s)
        return Block(None, self.Y[inside], self.J[inside], self.group[s], entries)

    def parts(self, n_columns: int, size: int = 0) -> Iterator[tuple[slice, "Block"]]:
        """Yield slices of rows with their labels.

        Temporary arrays of `n_columns` columns should fit into the cache, unless results of a given size do not.
        """
        for s in row_slices(self.group.shape[0], self.width + n_columns, budget(self.Y, max(CACHE, size))):
            yield s, self.part(s)


@dataclass(frozen=True)
class Rows:
    """The variables of the rows of one block."""

    V: Array
    """(n, k) latent labels."""
    T: Array
    """(n, k) latent labels predicted from the features, X W."""
    P: Array
    """(n, k) self-paced weights."""

    def __sizeof__(self) -> int:
        return n_bytes(self)


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

    @property
    def V(self) -> Array:
        """V of all rows, if they are in memory."""
        return namespace(self.U).concat([rows.V for rows in self.rows])

    @property
    def P(self) -> Array:
        """P of all rows, if they are in memory."""
        return namespace(self.U).concat([rows.P for rows in self.rows])


@dataclass(frozen=True, eq=False)
class Engine:
    """Operations on row blocks in the memory of this process, in its thread or in a pool of threads.

    Sums do not depend on the number of threads, only on the blocks. Engines of blocks that are elsewhere override the
    methods and declare what differs.
    """

    over: Map = map
    """A function like `map`, which yields results in the order of the blocks."""

    in_memory: ClassVar[bool] = True
    """Whether the blocks are in the memory of this process, so that labels can be selected and threads be used."""
    steps_per_pass: ClassVar[int] = 1
    """Number of steps of a bisection in one pass over the blocks: several where a pass takes long."""

    @staticmethod
    def rounded(A: Array) -> Array:
        """Return directions, or sums for them, as they are sent: unchanged in memory."""
        return A

    def map(self, function: Callable[..., Any], *rows: Sequence[Any]) -> tuple[Any, ...]:
        """Apply `function` to the arguments of each block."""
        return tuple(self.over(function, *rows))

    def sum(self, function: Callable[..., Any], *rows: Sequence[Any], combine: Combine = add) -> Any:
        """Sum an array, or each array of a tuple, over the blocks, or combine them by another associative function."""
        return reduce(partial(combine_parts, combine), self.over(function, *rows))

    def sliced(self, blocks: Sequence[Any]) -> tuple[Any, ...]:
        """Return blocks whose values are not paired with arrays in memory: unchanged, or in slices of rows."""
        return tuple(blocks)

    def gather(self, rows: Sequence[Any]) -> tuple[Any, ...]:
        """Return the values of all blocks in the memory of this process."""
        return tuple(rows)


def combine_parts(combine: Combine, a: Any, b: Any) -> Any:
    """Combine two arrays, or each array of two tuples."""
    return tuple(map(combine, a, b)) if isinstance(a, tuple) else combine(a, b)


@dataclass(frozen=True)
class Problem:
    """Row blocks and the sizes of the groups of samples."""

    blocks: tuple[Block, ...]
    sizes: Array
    """(g,) number of rows in each group."""
    counts: tuple[int, ...]
    """Number of rows in each block."""
    n_features: int
    n_labels: int
    fit_intercept: bool = True
    engine: Engine = field(default_factory=Engine)
    observed_only: bool = False
    """Whether only the observed entries are stored."""

    @property
    def n(self) -> int:
        return sum(self.counts)

    def __getstate__(self) -> dict[str, Any]:
        """Return the problem without blocks: it is part of functions of blocks that are sent to where these are."""
        return {**self.__dict__, "blocks": (), "engine": Engine()}

    def map(self, function: Callable[..., Any], *rows: Sequence[Any]) -> tuple[Any, ...]:
        """Apply `function` to each block and its arguments."""
        return self.engine.map(function, self.blocks, *rows)

    def sum(self, function: Callable[..., Any], *rows: Sequence[Any]) -> Any:
        """Sum `function` over the blocks."""
        return self.engine.sum(function, self.blocks, *rows)


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
    n_threads: int = 1,
    over: Map = map,
) -> Problem:
    """Return data in memory as a problem with blocks of at most `block_rows` rows, by default as the memory allows.

    There are at least as many blocks as threads, in which `over` calls a function. Missing entries of Y are ignored.
    Y and J may have small integer and boolean types; `dtype` is the type of the variables, by default that of X. With
    `observed_only` only the observed entries are stored, in arrays of NumPy.
    """
    xp = namespace(Y)
    Y = Y if observed_only else xp.where(J != 0, Y, xp.zeros_like(Y))
    block = (observed_block if observed_only else Block)(X, Y, J, group)
    rows = block_rows or max(1, budget(Y, MEMORY) // max(1, block.width))
    n = group.shape[0]
    slices = list(row_slices(n, 1, min(rows, -(-n // n_threads))))
    blocks = (block,) if len(slices) == 1 else tuple(block.rows(s) for s in slices)
    counts = tuple(part.group.shape[0] for part in blocks)
    sizes = group_sizes(group, n_groups, dtype or X.dtype)
    engine = Engine(over)
    return Problem(blocks, sizes, counts, X.shape[1], Y.shape[1], fit_intercept, engine, observed_only)


def group_sizes(group: Array, n_groups: int, dtype: Any) -> Array:
    """Return the number of rows in each group."""
    xp = namespace(group)
    return xp.stack([xp.sum(xp.astype(group == m, dtype)) for m in range(n_groups)])


def observed_block(X: Any, Y: Array, J: Array, group: Array) -> Block:
    """Return a block that stores the observed entries only."""
    rows, columns = np.nonzero(J)
    return Block(X, Y[rows, columns], J[rows, columns], group, ObservedEntries.at(rows, columns, J.shape))


def row_ranges(sizes: Sequence[int]) -> list[slice]:
    """Return the rows of blocks of the given sizes."""
    return [slice(end - size, end) for end, size in zip(accumulate(sizes), sizes, strict=True)]


def set_W(problem: Problem, state: State, W: Array) -> State:
    """Replace W, and with it the predicted latent labels T = X W."""
    return replace(state, W=W, rows=problem.map(lambda block, rows: replace(rows, T=block.X @ W), state.rows))


def set_rows(state: State, **parts: Sequence[Array]) -> State:
    """Replace V, T or P, given in row blocks in memory."""
    rows = []
    for r, values in zip(state.rows, zip(*parts.values(), strict=True), strict=True):
        rows.append(replace(r, **dict(zip(parts, values, strict=True))))
    return replace(state, rows=tuple(rows))
