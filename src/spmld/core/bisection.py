"""Columns of losses, as an array or in row blocks: sums over the rows, and the levels and quantiles found with them.

Missing losses are NaN.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

from spmld._arrays import CACHE, Array, budget, namespace, row_slices
from spmld.core.problem import Engine, row_ranges

ColumnFunction = Callable[..., tuple[Array, ...]]


@dataclass(frozen=True)
class Columns:
    """Columns in row blocks, known to the engine."""

    blocks: Sequence[Any]
    zeros: Array
    """A zero for each column."""
    engine: Engine = field(default_factory=Engine)

    @classmethod
    def of(cls, values: Any) -> "Columns":
        """Return the columns of an array, in blocks whose temporary arrays fit into a cache; columns unchanged."""
        if isinstance(values, Columns):
            return values
        zeros = namespace(values).zeros(values.shape[1:], dtype=values.dtype, device=values.device)
        slices = row_slices(values.shape[0], prod(zeros.shape), budget(values, CACHE))
        return cls(tuple(values[s, ...] for s in slices) or (values,), zeros)

    def sum(self, function: ColumnFunction, *values: Array) -> tuple[Array, ...]:
        """Return the column sums of each array that `function(rows, *values)` returns."""

        def sum_rows(rows: Array) -> tuple[Array, ...]:
            ones = namespace(rows).ones(rows.shape[0], dtype=rows.dtype, device=rows.device)
            return tuple(ones @ namespace(rows).astype(A, rows.dtype, copy=False) for A in function(rows, *values))

        return self.engine.sum(sum_rows, self.blocks)

    def array(self) -> Array:
        """Return the columns as one array in memory."""
        return namespace(self.zeros).concat(self.engine.gather(self.blocks))

    def split(self, values: Array) -> tuple[Any, ...]:
        """Return the rows of an array in blocks, which are where the columns are."""
        counts = self.engine.gather(self.engine.map(len, self.blocks))
        parts = [values[s, :] for s in row_ranges(counts)]
        return self.engine.map(lambda _, part: part, self.blocks, parts)

    def map(self, function: Callable[..., Array], *values: Array) -> "Columns":
        """Return the columns of `function(rows, *values)`."""
        return replace(self, blocks=self.engine.map(lambda rows: function(rows, *values), self.blocks))


def find_level(slack: Columns, diversity: Array) -> Array:
    """Return the level t of each column with ``sum min(slack, t)^2 = diversity^2``; infinity if no level is so high.

    In t^2 the sum is increasing, concave and piecewise linear, so Newton's method from 0 reaches the root after
    finitely many steps, which are sums over rows. At the lowest level, ``min(slack, t) / t`` is 1 for any slack.
    """
    level = slack.zeros
    xp = namespace(level)
    lowest = level + xp.finfo(level.dtype).smallest_normal
    if not xp.any(diversity > 0):
        return lowest
    count = level - 1
    while True:
        before = count
        squares, count = slack.sum(_capped_moments, level)
        moved = (count > 0) & (count != before)
        if not xp.any(moved):  # the last step stayed on one linear piece, so it ended at the root
            return xp.where(count > 0, xp.maximum(level, lowest), xp.inf)
        step = xp.clip(diversity**2 - squares, 0, None) / xp.where(count > 0, count, 1)
        level = xp.where(moved, xp.sqrt(level**2 + step), level)


def find_quantiles(losses: Columns, fraction: Array, common: bool = False, n_steps: int = 40) -> Array:
    """Return the smallest value that at least `fraction` of the losses in each column do not exceed.

    It is infinite at a fraction of 1. With `common` it is one value, for the fraction of all losses. It is computed by
    bisection, in which every step is a sum over rows. If blocks are not in memory, each pass over them divides the
    interval into 16 parts, which are four steps.
    """
    low = losses.zeros
    xp = namespace(low)
    if xp.all(fraction >= 1):
        return low + xp.inf
    width = low + losses.engine.sum(_largest, losses.blocks, combine=max)
    (sizes,) = losses.sum(_not_above, low + xp.inf)
    # 0.55 of 100 losses are 55 losses, although the floating-point product is slightly larger.
    wanted = fraction * sizes * (1 - 8 * xp.finfo(low.dtype).eps)
    if common:
        wanted = low + xp.sum(wanted)
    depth = losses.engine.steps_per_pass
    for _ in range(0, n_steps, depth):
        width = width / 2**depth
        points = [low + i * width for i in range(1, 2**depth)]
        for below in losses.sum(_not_above, *points):
            too_few = (xp.sum(below) if common else below) < wanted
            low = low + width * xp.astype(too_few, low.dtype)
    return xp.where(fraction < 1, low + width, xp.inf)


def per_column(value: Any, like: Array) -> Array:
    """Return a number, or one number for each column, as an array of the type of another one."""
    return namespace(like).asarray(value, dtype=like.dtype, device=like.device)


def slack_below(losses: Array, threshold: Array) -> Array:
    """Return ``max(threshold - losses, 0)``, 0 for missing losses."""
    return namespace(losses).where(losses < threshold, threshold - losses, 0)


def norms(columns: Columns) -> Array:
    """Return the Euclidean norm of each column."""
    (squares,) = columns.sum(_squares)
    return namespace(squares).sqrt(squares)


def _capped_moments(slack: Array, level: Array) -> tuple[Array, Array]:
    capped = namespace(slack).minimum(slack, level)
    return capped * capped, slack > level


def _squares(values: Array) -> tuple[Array, ...]:
    xp = namespace(values)
    return (xp.where(xp.isnan(values), 0, values * values),)


def _not_above(losses: Array, *points: Array) -> tuple[Array, ...]:
    return tuple(losses <= point for point in points)


def _largest(losses: Array) -> float:
    xp = namespace(losses)
    return float(xp.max(xp.where(xp.isnan(losses), 0, losses)))
