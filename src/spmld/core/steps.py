"""Exact block updates, which minimize the objective in one block of variables.

V, U and W have a quadratic model of the fit. Z minimizes tr(Z^T A Z) over matrices with unit rows, A = U H U^T.
"""

from dataclasses import dataclass, replace
from functools import partial
from operator import mul
from typing import ClassVar, Protocol

import numpy as np

from spmld._arrays import Array, column_squares, move, namespace, on_accelerator, to_numpy
from spmld.core.conjugate_gradient import conjugate_gradient
from spmld.core.problem import Block, Entries, Problem, Rows, State, set_W
from spmld.core.terms import Objective

EXTRAPOLATION_GROWTH = 1.5
"""Factor of the length of an extrapolation after a success; after a failure, the length is halved."""
MAX_EXTRAPOLATION = 30.0
"""Maximum length of an extrapolation, from which five failures lead back to a length below 1."""
SMALLEST_DIVISOR = 1e-30
"""Added to divisors that can be 0."""


class BlockUpdate(Protocol):
    """An update of one block of variables, from state to state. Tolerances are fields."""

    models_fit: ClassVar[bool]
    """Whether it minimizes a quadratic model of the fit, and therefore may raise the objective unless `safe`. After
    such a step, steps that do not model the fit must not change V, U and b."""

    def __call__(self, problem: Problem, objective: Objective, state: State, safe: bool = True) -> State:
        """Return the updated state. With `safe` the model of the fit lies above it."""
        ...


def identity(k: int, like: Array) -> Array:
    """Return the identity matrix with the type and device of an array."""
    return namespace(like).eye(k, dtype=like.dtype, device=like.device)


@dataclass(frozen=True)
class UpdateV:
    """One k x k system per row: (U^T diag(c) U + diag(a p) + tV I) dv = -gradient.

    All rows of a slice are solved together by conjugate gradient, which never forms their matrices, until the gradient
    of the model is `tol` times the initial one.
    """

    tol: float = 1e-4
    max_iter: int = 100
    n_kept: int = 4
    models_fit: ClassVar[bool] = True

    def __call__(self, problem: Problem, objective: Objective, state: State, safe: bool = True) -> State:
        U, b = state.U, state.b
        xp = namespace(U)

        def solve_rows(block: Block, rows: Rows) -> Rows:
            parts = []
            for s, part in block.parts(U.shape[1]):
                V = rows.V[s, :]
                T = rows.T[s, :]
                P = rows.P[s, :]
                G, C = objective.fit.quadratic(part, V, U, b, safe)
                D = objective.coupling.weights(P) + objective.ridge.tV
                entries = part.entries
                scale = 1 / (entries.times(C, U * U) + D)
                target = -(entries.times(G, U) + objective.coupling.slope(V, T, P) + objective.ridge.tV * V)

                def apply(A: Array, C: Array = C, D: Array = D, entries: Entries = entries) -> Array:
                    return entries.times(C * entries.scores(A, U), U) + D * A

                solve = partial(conjugate_gradient, apply, partial(mul, scale), target, None, self.tol, self.max_iter)
                parts.append(V + solve(axis=1, n_kept=self.n_kept))
            return replace(rows, V=xp.concat(parts))

        return replace(state, rows=problem.map(solve_rows, state.rows))


@dataclass(frozen=True)
class UpdateU:
    """Loadings and intercepts together: one system per label, coupled over the labels by the correlation term.

    With q = k + 1 columns (V, 1): (sum_j c_j v_j v_j^T + tU I) du = -gradient, no penalty on the intercept.
    The coupled system is solved by conjugate gradient. Because the rows of Z have unit length, its diagonal blocks
    are known. They are the preconditioner and, without correlation, the system itself.
    """

    tol: float = 1e-6
    max_iter: int = 100
    models_fit: ClassVar[bool] = True

    def __call__(self, problem: Problem, objective: Objective, state: State, safe: bool = True) -> State:
        U, b = state.U, state.b
        correlation = objective.correlation
        xp = namespace(U)
        l, k = U.shape
        q = k + int(problem.fit_intercept)
        current = xp.concat([U, b[:, None]], axis=1)[:, :q]
        # The systems are symmetric: half of their entries are computed.
        upper = np.triu_indices(q)
        position = np.zeros((q, q), dtype=np.intp)
        position[upper] = position.T[upper] = np.arange(len(upper[0]))
        position = xp.asarray(position.ravel(), device=U.device)
        i, j = (xp.asarray(index, device=U.device) for index in upper)

        def sum_block(block: Block, rows: Rows) -> tuple[Array, Array]:
            A = 0.0
            gradient = 0.0
            for s, part in block.parts(i.shape[0], l * i.shape[0]):
                V = rows.V[s, :]
                G, C = objective.fit.quadratic(part, V, U, b, safe)
                V1 = xp.concat([V, xp.ones_like(V[:, :1])], axis=1)[:, :q]
                columns = xp.stack([V1[:, m] for m in range(q)])  # contiguous, which makes the selection faster
                pairs = xp.take(columns, i, axis=0) * xp.take(columns, j, axis=0)
                A = A + part.entries.transposed_times(C, pairs.T)
                gradient = gradient + part.entries.transposed_times(G, V1)
            return A, gradient

        A, gradient = problem.sum(sum_block, state.rows)
        A = xp.take(A, position, axis=1)
        penalty = objective.ridge.tU * xp.ones_like(U)
        if problem.fit_intercept:
            missing = xp.astype(A[:, -1:] == 0, U.dtype)  # keeps the intercept of a label without observed entries at 0
            penalty = xp.concat([penalty, missing], axis=1)
        A = xp.reshape(A, (l, q, q)) + penalty[:, :, None] * identity(q, U)
        gradient = gradient + penalty * current
        if correlation.active:
            E = identity(q, U)[:, :k]  # pads with zeros: intercepts are not part of the correlation term
            H = E @ (correlation.moments(problem, state) @ E.T)
            gradient = gradient + correlation.gradient_U(H, current, state.Z)
            inverse = xp.linalg.inv(A + xp.sum(H, axis=0))

            def apply(S: Array) -> Array:
                return (A @ S[:, :, None])[:, :, 0] + correlation.gradient_U(H, S, state.Z)

            def precondition(R: Array) -> Array:
                return (inverse @ R[:, :, None])[:, :, 0]

            S = current + conjugate_gradient(apply, precondition, -gradient, None, self.tol, self.max_iter)
        else:
            S = current - xp.linalg.solve(A, gradient[:, :, None])[:, :, 0]
        return replace(state, U=S[:, :k], b=S[:, k] if problem.fit_intercept else b)


@dataclass(frozen=True)
class UpdateW:
    """A system on (d, k), X^T (a P o X D + X D N_m) + tW D = -gradient, by conjugate gradient for the change D of W.

    One iteration costs one product with X and one with X^T, for any number of groups; X may be sparse.
    """

    tol: float = 1e-3
    max_iter: int = 100
    models_fit: ClassVar[bool] = False

    def __call__(self, problem: Problem, objective: Objective, state: State, safe: bool = True) -> State:
        correlation = objective.correlation
        coupling = objective.coupling
        N = correlation.couplings(problem, state.U, state.Z) if correlation.active else None
        curvature = objective.ridge.curvature_W(state.W)

        def apply(D: Array) -> Array:
            # On an accelerator, products with a tall matrix are faster in column-major order.
            direction = D.T.contiguous().T if on_accelerator(D) else D

            def product(block: Block, rows: Rows) -> Array:
                T = block.X @ direction
                slope = coupling.weights(rows.P) * T
                if N is not None:
                    slope = slope + correlation.gradient_T(block, replace(rows, T=T), N)
                return block.XT @ slope

            return problem.sum(product, state.rows) + curvature * D

        def right_side(block: Block, rows: Rows) -> tuple[Array, Array]:
            slope = coupling.slope(rows.V, rows.T, rows.P)
            if N is not None:
                slope = slope - correlation.gradient_T(block, rows, N)
            return block.XT @ slope, column_squares(block.X, coupling.weights(rows.P))

        target, squares = problem.sum(right_side, state.rows)
        target = target - curvature * state.W
        # Without coupling, correlation and penalty, W is arbitrary; the divisor must still not be 0.
        scale = 1 / (squares + curvature + SMALLEST_DIVISOR)
        D = conjugate_gradient(apply, partial(mul, scale), target, None, self.tol, self.max_iter)
        return set_W(problem, state, state.W + D)


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
