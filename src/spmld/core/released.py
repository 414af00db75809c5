"""The pacing step of the released code, for the paper's numbers."""

from __future__ import annotations

from array_api_compat import array_namespace

from spmld.core.losses import Array
from spmld.pacing.functions import PacingParameters
from spmld.pacing.groups import Blocks, Columns, Groups, split


def released(losses: Blocks, parameters: PacingParameters, groups: Groups) -> tuple[Array, ...]:
    """What the released code does for `group_sparse`: losses scaled to [0, 1], then `released_weights`."""
    if not isinstance(groups, Columns):
        raise ValueError("the released rule has columns for groups, as in SPMLD, and no other")
    xp = array_namespace(losses[0])
    low = min(groups.engine.map(lambda L: float(xp.min(L)), losses))
    high = max(groups.engine.map(lambda L: float(xp.max(L)), losses))
    span = high - low if high > low else 1.0
    L = xp.concat([(L - low) / span for L in losses])
    columns = [
        released_weights(L[:, i], float(parameters.threshold), float(parameters.diversity)) for i in range(L.shape[1])
    ]
    P = xp.stack(columns, axis=1)
    return split(P, losses)


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
