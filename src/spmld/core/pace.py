"""The pace step: weights in [0, 1] for losses L, one column per latent label (or any other group of entries).

Losses and weights come as tuples of row blocks, and an engine maps and sums over them, as everywhere in the core.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from array_api_compat import array_namespace

from spmld.core.losses import Array
from spmld.core.problem import Engine, chunks

Blocks = Sequence[Array]
CACHE = 100_000
"""Numbers worked on at a time: few enough to stay in a processor's cache."""


@dataclass(frozen=True)
class Age:
    """Where the pace stands: lambda and gamma, each one number or one per column."""

    threshold: Any
    diversity: Any = 0.0


def _per_column(value: Any, L: Array) -> Array:
    xp = array_namespace(L)
    return xp.zeros_like(L[0, :]) + xp.asarray(value, dtype=L.dtype, device=L.device)


def group_sparse(losses: Blocks, age: Age, engine: Engine) -> tuple[Array, ...]:
    """The minimiser of sum_j p_j (L_j - lambda) + gamma |p|_2 over p in [0, 1]^n, column by column.

    With a = max(lambda - L, 0) it is p = min(1, a / t) at the level t with sum min(t, a)^2 = gamma^2, and 0 when
    |a| <= gamma. In t^2 that sum is increasing, concave and piecewise linear, so Newton's method from 0 climbs to
    the root and ends on it after finitely many steps, each a sum over rows.
    """
    xp = array_namespace(losses[0])
    threshold, gamma = _per_column(age.threshold, losses[0]), _per_column(age.diversity, losses[0])
    zero = xp.zeros_like(gamma)
    level, count = zero, -xp.ones_like(gamma)
    while True:

        def moments(L: Array, level: Array = level) -> tuple[Array, Array]:
            squares, count = 0.0, 0.0
            for s in chunks(L.shape[0], L.shape[1], CACHE):
                a = threshold - L[s, :]
                clipped, ones = xp.clip(a, zero, level), xp.ones_like(a[:, 0])
                squares = squares + ones @ (clipped * clipped)
                count = count + ones @ xp.astype(a > level, a.dtype)
            return squares, count

        (squares, count), before = engine.sum(moments, losses), count
        moved = (count > 0) & (count != before)
        if not xp.any(moved):  # the last step stayed on one linear piece, and so ended on the root
            break
        step = xp.clip(gamma**2 - squares, zero, None) / xp.where(count > 0, count, xp.ones_like(count))
        level = xp.where(moved, xp.sqrt(level**2 + step), level)
    hard, on = level == 0, xp.astype(count > 0, gamma.dtype)
    scale, one = xp.where(hard, xp.ones_like(level), level), xp.ones_like(level)

    def weights(L: Array) -> Array:
        P = xp.empty_like(L)
        for s in chunks(L.shape[0], L.shape[1], CACHE):
            a = threshold - L[s, :]
            # Above a level of 0, the hard rule, any excess counts as one.
            P[s, :] = xp.where(hard, xp.astype(a > 0, a.dtype), xp.clip(a / scale, zero, one)) * on
        return P

    return engine.map(weights, losses)


def group_sparse_penalty(weights: Blocks, age: Age, engine: Engine) -> Array:
    """-lambda sum P + gamma sum_i |P[:, i]|_2."""
    xp = array_namespace(weights[0])
    threshold, gamma = _per_column(age.threshold, weights[0]), _per_column(age.diversity, weights[0])
    total, squares = engine.sum(lambda P: (xp.sum(P, axis=0), xp.sum(P * P, axis=0)), weights)
    return xp.sum(gamma * xp.sqrt(squares) - threshold * total)


def released(losses: Blocks, age: Age, engine: Engine) -> tuple[Array, ...]:
    """What the released code does for `group_sparse`: losses scaled to [0, 1], then `released_weights`."""
    xp = array_namespace(losses[0])
    low = min(engine.map(lambda L: float(xp.min(L)), losses))
    high = max(engine.map(lambda L: float(xp.max(L)), losses))
    span = high - low if high > low else 1.0
    L = xp.concat([(L - low) / span for L in losses])
    columns = [released_weights(L[:, i], float(age.threshold), float(age.diversity)) for i in range(L.shape[1])]
    P = xp.stack(columns, axis=1)
    edges = [0]
    for block in losses:
        edges.append(edges[-1] + block.shape[0])
    return tuple(P[start:stop, :] for start, stop in pairwise(edges))


def released_weights(L: Array, threshold: float, gamma: float) -> Array:
    """The released rule for one column: its two sums are frozen at the first index, its argmin sees padding zeros."""
    xp = array_namespace(L)
    n = L.shape[0]
    order = xp.argsort(L)
    l = L[order]
    at = xp.arange(1, n + 1, device=L.device)
    reached = int(xp.sum(xp.astype(l < threshold, at.dtype)))
    k1 = reached + 1 if reached < n else n
    s = max(1, int(xp.sum(xp.astype(l <= threshold - gamma, at.dtype))))
    a = threshold - l[1 : k1 - 1]
    r, q = float(xp.sum(a * a)), float(xp.sum(a))

    def c(k: int) -> float:
        gap = gamma**2 - r
        if gap != 0:
            return float((k / gap) ** 0.5) if gap > 0 else 0.0
        return 1 / (threshold - float(l[k])) if gamma**2 < q and k < n else 0.0

    c1 = c(1)
    k = xp.astype(at, l.dtype)
    h = xp.cumulative_sum(l) - threshold * (k + c1 * q) + gamma * xp.sqrt(k + r * c1**2)
    h = xp.where((at >= s) & (at < k1), h, xp.zeros_like(h))
    k0 = int(xp.argmin(h)) + 1
    p = xp.where(at < k1, c(k0) * (threshold - l), xp.zeros_like(l))
    p = xp.where(at <= k0, xp.ones_like(l), p)
    return p[xp.argsort(order)]


def quantiles(losses: Blocks, share: float, engine: Engine, steps: int = 40) -> Array:
    """For each column a value that `share` of its losses, and little more, do not exceed: the largest at a share of 1.

    By bisection, whose every step is a sum over rows.
    """
    xp = array_namespace(losses[0])
    highs = engine.map(lambda L: xp.max(L, axis=0), losses)
    high = xp.max(xp.stack(list(highs)), axis=0)
    low = xp.zeros_like(high)
    n = sum(engine.map(lambda L: L.shape[0], losses))
    for _ in range(steps if share < 1 else 0):
        middle = (low + high) / 2
        below = engine.sum(lambda L, m=middle: xp.ones_like(L[:, 0]) @ xp.astype(m >= L, L.dtype), losses)
        enough = below >= share * n
        low, high = xp.where(enough, low, middle), xp.where(enough, middle, high)
    return high


def room(losses: Blocks, threshold: Array, engine: Engine) -> Array:
    """|max(lambda - L, 0)|_2 of each column: the diversity at which `group_sparse` switches it off."""
    xp = array_namespace(losses[0])
    return xp.sqrt(engine.sum(lambda L: xp.sum(_positive(threshold - L) ** 2, axis=0), losses))


def _positive(a: Array) -> Array:
    return array_namespace(a).clip(a, 0)
