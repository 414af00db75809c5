"""The correlation step: minimise tr(Z^T A Z) over matrices with unit rows, A = U H U^T."""

from __future__ import annotations

from dataclasses import replace

from array_api_compat import array_namespace

from .losses import Array
from .problem import Problem, State
from .terms import Objective


def normalise(Z: Array) -> Array:
    """Rows scaled to unit length; a zero row is left alone."""
    xp = array_namespace(Z)
    norm = xp.sqrt(xp.sum(Z * Z, axis=-1, keepdims=True))
    return Z / xp.where(norm > 0, norm, xp.ones_like(norm))


def mix(H: Array, U: Array, Z: Array, sweeps: int = 100, tol: float = 1e-6) -> Array:
    """Row by row z_i <- -normalise(sum_{j != i} A_ij z_j), for every group at once: the mixing method.

    A has the rank of U, so the sum is u_i H (U^T Z) - A_ii z_i and a row costs k r, not l r.
    Ends when a sweep lowers the trace by less than `tol` times its value.
    """
    xp = array_namespace(U)
    Z = xp.asarray(Z, copy=True)
    G = U @ H
    diagonal = xp.sum(G * U, axis=-1)
    Q = U.T @ Z
    value = xp.sum(Q * (H @ Q))
    for _ in range(sweeps):
        for i in range(U.shape[0]):
            z = Z[:, i, :]
            new = -((G[:, i : i + 1, :] @ Q)[:, 0, :] - diagonal[:, i : i + 1] * z)
            norm = xp.sqrt(xp.sum(new * new, axis=1, keepdims=True))
            new = xp.where(norm > 0, new / xp.where(norm > 0, norm, xp.ones_like(norm)), z)
            Q = Q + U[i, :, None] * (new - z)[:, None, :]
            Z[:, i, :] = new
        Q = U.T @ Z
        value, before = xp.sum(Q * (H @ Q)), value
        if before - value <= tol * before:
            break
    return Z


def update_Z(problem: Problem, objective: Objective, state: State, safe: bool = True, sweeps: int = 5) -> State:
    """The mixing method from the current factors."""
    if not objective.correlation.active:
        return state
    H = objective.correlation.moments(problem, state)
    return replace(state, Z=mix(H, state.U, state.Z, sweeps=sweeps))
