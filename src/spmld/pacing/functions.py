"""Rules of the pacing: weights in [0, 1] that minimise weighted losses plus a penalty, within groups of entries.

Each rule stands beside its penalty f: its weights minimise sum_j p_j L_j + f(p) over p in [0, 1]. An infinite lambda
gives full weights; its penalty, a constant then, counts as 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import Any

from array_api_compat import array_namespace

from spmld.core.losses import Array
from spmld.pacing.groups import Blocks, Groups


@dataclass(frozen=True)
class PacingParameters:
    """Where the pacing stands: lambda and gamma, each one number or one per group.

    Examples
    --------
    >>> from spmld.pacing.functions import PacingParameters
    >>> PacingParameters(threshold=0.5)
    PacingParameters(threshold=0.5, diversity=0.0)
    """

    threshold: Any
    diversity: Any = 0.0


def hard(losses: Blocks, parameters: PacingParameters, groups: Groups) -> tuple[Array, ...]:
    """1 for losses below lambda, else 0 (Kumar, Packer and Koller, 2010)."""
    return groups.map(lambda L, t: t > L, losses, groups.own(parameters.threshold, losses))


def hard_penalty(weights: Blocks, parameters: PacingParameters, groups: Groups) -> Array:
    """-lambda sum p."""
    return _total(groups, weights, parameters, lambda P, t: -t * P)


def linear(losses: Blocks, parameters: PacingParameters, groups: Groups) -> tuple[Array, ...]:
    """1 - L / lambda below lambda, else 0 (Jiang et al., 2014)."""

    def rule(L: Array, t: Array) -> Array:
        xp = array_namespace(L)
        return xp.where(t > L, 1 - L / xp.where(t > L, t, xp.ones_like(L)), xp.zeros_like(L))

    return groups.map(rule, losses, groups.own(parameters.threshold, losses))


def linear_penalty(weights: Blocks, parameters: PacingParameters, groups: Groups) -> Array:
    """The sum of lambda (p^2 / 2 - p)."""
    return _total(groups, weights, parameters, lambda P, t: t * (0.5 * P * P - P))


def logarithmic(losses: Blocks, parameters: PacingParameters, groups: Groups, zeta: float) -> tuple[Array, ...]:
    """log(L / c + zeta) / log zeta with c = lambda / (1 - zeta) below lambda, else 0.

    1 at a loss of 0. With lambda = 1 - zeta it is the rule of Jiang et al. (2014).
    """

    def rule(L: Array, t: Array) -> Array:
        xp = array_namespace(L)
        share = L / xp.where(t > L, t, xp.ones_like(L))
        return xp.where(t > L, xp.log(share * (1 - zeta) + zeta) / log(zeta), xp.zeros_like(L))

    return groups.map(rule, losses, groups.own(parameters.threshold, losses))


def logarithmic_penalty(weights: Blocks, parameters: PacingParameters, groups: Groups, zeta: float) -> Array:
    """With c = lambda / (1 - zeta): c sum (zeta p - zeta^p / log zeta)."""
    return _total(groups, weights, parameters, lambda P, t: t / (1 - zeta) * (zeta * P - zeta**P / log(zeta)))


def group_sparse(losses: Blocks, parameters: PacingParameters, groups: Groups) -> tuple[Array, ...]:
    """The minimiser of sum_j p_j (L_j - lambda) + gamma |p|_2 over p in [0, 1]^n, group by group.

    With a = max(lambda - L, 0) it is p = min(1, a / t) at the level t with sum min(t, a)^2 = gamma^2, and 0 when
    |a| <= gamma. In t^2 that sum is increasing, concave and piecewise linear, so Newton's method from 0 climbs to
    the root and ends on it after finitely many steps, each a sum over rows.
    """
    xp = array_namespace(losses[0])
    threshold, gamma = groups.own(parameters.threshold, losses), groups.own(parameters.diversity, losses)
    zero = xp.zeros_like(gamma)
    level, count = zero, -xp.ones_like(gamma)

    def moments(L: Array, threshold: Array, level: Array) -> tuple[Array, Array]:
        a = threshold - L
        clipped = xp.clip(a, xp.zeros_like(level), level)
        return clipped * clipped, a > level

    while True:
        (squares, count), before = groups.sum(moments, losses, threshold, level), count
        moved = (count > 0) & (count != before)
        if not xp.any(moved):  # the last step stayed on one linear piece, and so ended on the root
            break
        step = xp.clip(gamma**2 - squares, zero, None) / xp.where(count > 0, count, xp.ones_like(count))
        level = xp.where(moved, xp.sqrt(level**2 + step), level)

    def rule(L: Array, threshold: Array, level: Array, on: Array) -> Array:
        a = threshold - L
        # Above a level of 0, the hard rule, any excess counts as one.
        soft = xp.clip(a / xp.where(level > 0, level, xp.ones_like(level)), 0, 1)
        return xp.where(level > 0, soft, xp.astype(a > 0, a.dtype)) * on

    return groups.map(rule, losses, threshold, level, xp.astype(count > 0, gamma.dtype))


def group_sparse_penalty(weights: Blocks, parameters: PacingParameters, groups: Groups) -> Array:
    """-lambda sum p + gamma |p|_2."""
    return hard_penalty(weights, parameters, groups) + _norms(weights, parameters, groups)


def diverse(losses: Blocks, parameters: PacingParameters, groups: Groups) -> tuple[Array, ...]:
    """The minimiser of sum_j p_j (L_j - lambda) - gamma |p|_2, group by group (Jiang et al., 2014).

    It is concave, so its weights are 0 and 1: the i-th smallest loss of a group is taken if it is below
    lambda + gamma (sqrt(i) - sqrt(i - 1)). Every group keeps its easiest entries a little longer.
    """
    xp = array_namespace(losses[0])
    threshold, gamma = groups.own(parameters.threshold, losses), groups.own(parameters.diversity, losses)
    # The bound falls with the rank as the loss rises, so one comparison an entry finds the same as going in order.
    ranks = groups.ranks(losses)
    bonus = groups.map(lambda i, g: g * (xp.sqrt(i) - xp.sqrt(i - 1)), ranks, gamma)
    reduced = groups.engine.map(lambda L, b: L - b, losses, bonus)
    return hard(reduced, PacingParameters(threshold), groups)


def diverse_penalty(weights: Blocks, parameters: PacingParameters, groups: Groups) -> Array:
    """-lambda sum p - gamma |p|_2."""
    return hard_penalty(weights, parameters, groups) - _norms(weights, parameters, groups)


def _norms(weights: Blocks, parameters: PacingParameters, groups: Groups) -> Array:
    """The sum over groups of gamma |p|_2."""
    xp = array_namespace(weights[0])
    (squares,) = groups.sum(lambda P: (P * P,), weights)
    return xp.sum(groups.own(parameters.diversity, weights) * xp.sqrt(squares))


def _total(groups: Groups, weights: Blocks, parameters: PacingParameters, penalty: Any) -> Array:
    """The sum over all entries of a penalty with finite lambda."""
    xp = array_namespace(weights[0])
    threshold = groups.own(parameters.threshold, weights)
    finite = xp.isfinite(threshold)
    (sums,) = groups.sum(lambda P, t: (penalty(P, t),), weights, xp.where(finite, threshold, xp.zeros_like(threshold)))
    return xp.sum(xp.where(finite, sums, xp.zeros_like(sums)))


def quantiles(losses: Blocks, share: Any, groups: Groups, common: bool = False, steps: int = 40) -> Array:
    """For each group a value that `share` of its losses, and little more, do not exceed; infinite at a share of 1.

    With `common` it is one value, for the share of all entries. By bisection, whose every step is a sum over rows.
    """
    xp = array_namespace(losses[0])
    share = groups.own(share, losses)
    low, high = groups.own(0.0, losses), groups.own(groups.top(losses), losses)
    (sizes,) = groups.sum(lambda L: (xp.ones_like(L),), losses)
    # A share of 0.55 is 55 of 100, though their product in floating point is a little more.
    wanted = share * sizes * (1 - 8 * xp.finfo(share.dtype).eps)
    if common:
        wanted = xp.zeros_like(wanted) + xp.sum(wanted)
    for _ in range(steps):
        middle = (low + high) / 2
        (below,) = groups.sum(lambda L, m: (m >= L,), losses, middle)
        below = xp.zeros_like(below) + xp.sum(below) if common else below
        enough = below >= wanted
        low, high = xp.where(enough, low, middle), xp.where(enough, middle, high)
    return xp.where(share < 1, high, xp.ones_like(high) * xp.inf)


def room(losses: Blocks, threshold: Array, groups: Groups) -> Array:
    """|max(lambda - L, 0)|_2 of each group: the diversity at which `group_sparse` switches it off. 0 if infinite."""
    xp = array_namespace(losses[0])
    finite = xp.where(xp.isfinite(threshold), threshold, xp.zeros_like(threshold))
    (squares,) = groups.sum(lambda L, t: (xp.clip(t - L, 0, None) ** 2,), losses, finite)
    return xp.sqrt(squares)
