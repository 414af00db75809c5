"""The correlation step: minimize tr(Z^T A Z) over matrices with unit rows, A = U H U^T."""

from dataclasses import dataclass, replace
from typing import ClassVar

from array_api_compat import array_namespace

from spmld.core.losses import Array
from spmld.core.problem import Problem, State
from spmld.core.terms import Objective


def normalize_rows(Z: Array) -> Array:
    """Scale rows to unit length; zero rows stay zero."""
    xp = array_namespace(Z)
    norm = xp.sqrt(xp.sum(Z * Z, axis=-1, keepdims=True))
    return Z / xp.where(norm > 0, norm, xp.ones_like(norm))


def mix(H: Array, U: Array, Z: Array, sweeps: int = 100, tol: float = 1e-6, rounding: float = 0.0) -> Array:
    """Apply the mixing method in each group: row by row z_i <- -normalize(sum_{j != i} A_ij z_j).

    A has the rank of U, so the sum is u_i H (U^T Z) - A_ii z_i and a row costs k r, not l r. After a sweep, all rows
    are extrapolated in its direction if that lowers the trace further. Ends when a sweep lowers the trace by less than
    `tol` times its first value. A row is not updated if the norm of the sum is at most `rounding` times its upper
    bound, as it may then consist of rounding errors only.
    """
    xp = array_namespace(U)
    return xp.stack([_mix_group(H[m, :, :], U, Z[m, :, :], sweeps, tol, rounding) for m in range(Z.shape[0])])


def _mix_group(H: Array, U: Array, Z: Array, sweeps: int, tol: float, rounding: float) -> Array:
    xp = array_namespace(U)
    G = U @ H
    diagonal = [float(a) for a in xp.sum(G * U, axis=1)]

    def product(Z: Array) -> tuple[Array, float]:
        Q = U.T @ Z
        return Q, float(xp.sum(Q * (H @ Q)))

    Q, value = product(Z)
    first, length = value, 1.0
    for _ in range(sweeps):
        old, before = Z, value
        Z = _sweep(G, diagonal, U, Z, Q, rounding)
        Q, value = product(Z)
        far = normalize_rows(Z + length * (Z - old))
        far_Q, far_value = product(far)
        if far_value < value:
            Z, Q, value, length = far, far_Q, far_value, min(1.5 * length, 30.0)
        else:
            length /= 2
        if before - value <= tol * first:
            break
    return Z


def _sweep(G: Array, diagonal: list[float], U: Array, Z: Array, Q: Array, rounding: float = 0.0) -> Array:
    """Update each row once, with Q = U^T Z kept up to date."""
    xp = array_namespace(U)
    Z, Q = xp.asarray(Z, copy=True), xp.asarray(Q, copy=True)
    columns = U[:, :, None]
    smallest = rounding * float(xp.max(xp.abs(G))) * float(xp.sqrt(xp.sum(Q * Q)))
    for i, a in enumerate(diagonal):
        z = Z[i, :]
        new = a * z - G[i, :] @ Q
        norm = float(new @ new) ** 0.5
        if norm > smallest:
            new = new / norm
            Q += columns[i, :, :] * (new - z)
            Z[i, :] = new
    return Z


@dataclass(frozen=True)
class UpdateZ:
    """Lower the correlation term in Z by sweeps of the mixing method."""

    sweeps: int = 5
    rounding: float = 0.0
    models_fit: ClassVar[bool] = False

    def __call__(self, problem: Problem, objective: Objective, state: State, safe: bool = True) -> State:
        if not objective.correlation.active:
            return state
        H = objective.correlation.moments(problem, state)
        return replace(state, Z=mix(H, state.U, state.Z, sweeps=self.sweeps, rounding=self.rounding))
