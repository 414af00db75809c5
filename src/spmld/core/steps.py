"""The exact block updates: each minimises the objective, with the fit's quadratic model, in one block of variables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from operator import mul

from array_api_compat import array_namespace

from spmld._arrays import row_slices
from spmld.core.conjugate_gradient import conjugate_gradient
from spmld.core.linear import column_squares
from spmld.core.losses import Array
from spmld.core.problem import Block, Problem, Rows, State, set_rows, set_W
from spmld.core.terms import Objective

Step = Callable[[Problem, Objective, State, bool], State]
"""A block update, from state to state. The flag asks for a fit model that cannot raise the objective."""


def identity(k: int, like: Array) -> Array:
    """The unit matrix in the type and on the device of an array."""
    return array_namespace(like).eye(k, dtype=like.dtype, device=like.device)


def outer(A: Array) -> Array:
    """(n, k k): the products a_i a_j of each row."""
    return array_namespace(A).reshape(A[:, :, None] * A[:, None, :], (A.shape[0], -1))


def solve_each(A: Array, B: Array) -> Array:
    """x_i = A_i^-1 b_i for a stack of small positive definite matrices and the rows of B."""
    return array_namespace(A).linalg.solve(A, B[:, :, None])[:, :, 0]


def update_V(
    problem: Problem, objective: Objective, state: State, safe: bool = True, tol: float = 1e-4, max_iter: int = 100
) -> State:
    """One k x k system per row: (U^T diag(c) U + diag(a p) + tV I) v = U^T (c o (r - b)) + a p o t.

    All rows of a chunk are solved together by conjugate gradient, which never forms their matrices.
    """
    U, b = state.U, state.b
    xp = array_namespace(U)

    def solve_rows(block: Block, rows: Rows) -> Array:
        parts = []
        for s in row_slices(block.n, U.shape[0] + U.shape[1]):
            V, T, P = rows.V[s, :], rows.T[s, :], rows.P[s, :]
            C, R = objective.fit.quadratic(block.part(s), V, U, b, safe)
            w = objective.coupling.weights(P)
            D = w + objective.ridge.tV
            scale = 1 / (C @ (U * U) + D)
            target = (C * (R - b)) @ U + w * T

            def apply(A: Array, C: Array = C, D: Array = D) -> Array:
                return (C * (A @ U.T)) @ U + D * A

            parts.append(conjugate_gradient(apply, partial(mul, scale), target, V, tol, max_iter, axis=1))
        return xp.concat(parts)

    return set_rows(state, V=problem.map(solve_rows, state.rows))


def update_U(
    problem: Problem, objective: Objective, state: State, safe: bool = True, tol: float = 1e-6, max_iter: int = 100
) -> State:
    """Loadings and intercepts together: one system per label, coupled over the labels by the correlation term.

    With q = k + 1 columns (V, 1): (sum_j c_j v_j v_j^T + tU I) u = sum_j c_j r_j v_j, no penalty on the intercept.
    The coupled system is solved by conjugate gradient. Rows of Z have unit length, so its diagonal blocks are
    known: they are the preconditioner, and without correlation they are the system.
    """
    U, b = state.U, state.b
    xp = array_namespace(U)
    (l, k), q = U.shape, U.shape[1] + int(problem.fit_intercept)

    def normal_equations(block: Block, rows: Rows) -> tuple[Array, Array]:
        A, B = 0.0, 0.0
        for s in row_slices(block.n, max(q * q, l)):
            V = rows.V[s, :]
            C, R = objective.fit.quadratic(block.part(s), V, U, b, safe)
            V1 = xp.concat([V, xp.ones_like(V[:, :1])], axis=1)[:, :q]
            R = R if problem.fit_intercept else R - b
            A, B = A + C.T @ outer(V1), B + (C * R).T @ V1
        return A, B

    A, B = problem.sum(normal_equations, state.rows)
    penalty = objective.ridge.tU * xp.ones_like(U)
    if problem.fit_intercept:
        unseen = xp.astype(A[:, -1:] == 0, U.dtype)  # keeps the intercept of a label without observed entries at 0
        penalty = xp.concat([penalty, unseen], axis=1)
    A = xp.reshape(A, (l, q, q)) + penalty[:, :, None] * identity(q, U)
    if objective.correlation.active:
        H = _pad(objective.correlation.moments(problem, state), q)
        inverse = xp.linalg.inv(A + xp.sum(H, axis=0))

        def apply(S: Array) -> Array:
            return (A @ S[:, :, None])[:, :, 0] + objective.correlation.gradient_U(H, S, state.Z)

        start = xp.concat([U, b[:, None]], axis=1)[:, :q]
        S = conjugate_gradient(apply, lambda r: (inverse @ r[:, :, None])[:, :, 0], B, start, tol, max_iter)
    else:
        S = solve_each(A, B)
    return replace(state, U=S[:, :k], b=S[:, k] if problem.fit_intercept else b)


def _pad(H: Array, q: int) -> Array:
    """H with zeros up to (g, q, q): intercepts take no part in the correlation term."""
    xp = array_namespace(H)
    k = H.shape[1]
    E = identity(q, H)[:, :k]
    return E @ (H @ xp.matrix_transpose(E))


def update_W(
    problem: Problem, objective: Objective, state: State, safe: bool = True, tol: float = 1e-3, max_iter: int = 100
) -> State:
    """A system on (d, k), X^T (a P o X W + X W N_m) + tW W = a X^T (P o V), by conjugate gradient from W.

    One iteration costs one product with X and one with X^T, whatever the number of groups; X may be sparse.
    """
    correlation = objective.correlation
    N = correlation.couplings(problem, state.U, state.Z) if correlation.active else None
    # Row norms have no finite curvature at zero, where a fit starts. This floor lets rows leave it; below it the step
    # is that of smoothed norms, which may raise the penalty itself by up to tW / 2 times the floor a row.
    curvature = objective.ridge.curvature_W(state.W, floor=1e-3)

    def apply(D: Array) -> Array:
        def product(block: Block, rows: Rows) -> Array:
            T = block.X @ D
            slope = objective.coupling.weights(rows.P) * T
            if N is not None:
                slope = slope + correlation.gradient_T(block, T, rows.P, N)
            return block.X.T @ slope

        return problem.sum(product, state.rows) + curvature * D

    def right_side(block: Block, rows: Rows) -> tuple[Array, Array]:
        w = objective.coupling.weights(rows.P)
        return block.X.T @ (w * rows.V), column_squares(block.X, w)

    target, squares = problem.sum(right_side, state.rows)
    # Without coupling, correlation and penalty W does not matter, and what it would be divided by must not be 0.
    scale = 1 / (squares + curvature + 1e-30)
    W = conjugate_gradient(apply, partial(mul, scale), target, state.W, tol, max_iter)
    return set_W(problem, state, W)
