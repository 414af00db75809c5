"""The correlation step: minimize tr(Z^T A Z) over matrices with unit rows, A = U H U^T."""

from dataclasses import dataclass, replace
from typing import ClassVar

from spmld._arrays import move, namespace, on_accelerator, to_numpy
from spmld.core.losses import Array
from spmld.core.problem import Problem, State
from spmld.core.terms import Objective

EXTRAPOLATION_GROWTH = 1.5
"""Factor of the length of an extrapolation after a success; after a failure, the length is halved."""
MAX_EXTRAPOLATION = 30.0
"""Maximum length of an extrapolation, from which five failures lead back to a length below 1."""


def normalize_rows(Z: Array) -> Array:
    """Scale rows to unit length; zero rows stay zero."""
    xp = namespace(Z)
    norm = xp.sqrt(xp.sum(Z * Z, axis=-1, keepdims=True))
    return Z / xp.where(norm > 0, norm, xp.ones_like(norm))


def mix(H: Array, U: Array, Z: Array, sweeps: int = 100, tol: float = 1e-6, rounding: float = 0.0) -> Array:
    """Apply the mixing method in all groups: row by row z_i <- -normalize(sum_{j != i} A_ij z_j).

    A has the rank of U, so the sum is u_i H (U^T Z) - A_ii z_i and a row costs k r, not l r. After a sweep, all rows
    are extrapolated in its direction if that lowers the trace further. Ends when a sweep lowers the trace of each
    group by less than `tol` times its first value. A row is not updated if the norm of the sum is at most `rounding`
    times its upper bound, as it may then consist of rounding errors only.
    """
    xp = namespace(U)
    G = U @ H
    diagonal = xp.sum(G * U, axis=-1)

    def product(Z: Array) -> tuple[Array, Array]:
        Q = U.T @ Z
        return Q, xp.sum(Q * (H @ Q), axis=(1, 2))

    Q, value = product(Z)
    first = value
    length = xp.ones_like(value)
    for _ in range(sweeps):
        old = Z
        before = value
        Z = _sweep(G, diagonal, U, Z, Q, rounding)
        Q, value = product(Z)
        far = normalize_rows(Z + length[:, None, None] * (Z - old))
        far_Q, far_value = product(far)
        better = far_value < value
        Z = xp.where(better[:, None, None], far, Z)
        Q = xp.where(better[:, None, None], far_Q, Q)
        value = xp.where(better, far_value, value)
        length = xp.where(better, xp.clip(EXTRAPOLATION_GROWTH * length, None, MAX_EXTRAPOLATION), length / 2)
        if xp.all(before - value <= tol * first):
            break
    return Z


def _sweep(G: Array, diagonal: Array, U: Array, Z: Array, Q: Array, rounding: float = 0.0) -> Array:
    """Update each row once, in all groups at once, with Q = U^T Z kept up to date."""
    xp = namespace(U)
    Z, Q = xp.asarray(Z, copy=True), xp.asarray(Q, copy=True)
    smallest = rounding * xp.max(xp.abs(G), axis=(1, 2)) * xp.sqrt(xp.sum(Q * Q, axis=(1, 2)))
    for i in range(U.shape[0]):
        z = Z[:, i, :]
        new = diagonal[:, i, None] * z - (G[:, i, None, :] @ Q)[:, 0, :]
        norm = xp.sqrt(xp.sum(new * new, axis=-1))
        new = xp.where((norm > smallest)[:, None], new / xp.where(norm > 0, norm, xp.ones_like(norm))[:, None], z)
        Q += U[i, None, :, None] * (new - z)[:, None, :]
        Z[:, i, :] = new
    return Z


@dataclass(frozen=True)
class UpdateZ:
    """Lower the correlation term in Z by sweeps of the mixing method."""

    sweeps: int = 5
    tol: float = 1e-6
    rounding: float = 1e-10
    models_fit: ClassVar[bool] = False

    def __call__(self, problem: Problem, objective: Objective, state: State, safe: bool = True) -> State:
        if not objective.correlation.active:
            return state
        elsewhere = on_accelerator(state.U)
        H = objective.correlation.moments(problem, state)
        U = state.U
        Z = state.Z
        # Thousands of operations on small arrays are faster on the CPU.
        H, U, Z = map(to_numpy, (H, U, Z)) if elsewhere else (H, U, Z)
        Z = mix(H, U, Z, sweeps=self.sweeps, tol=self.tol, rounding=self.rounding)
        return replace(state, Z=move(Z, state.U) if elsewhere else Z)
