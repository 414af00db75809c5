"""The exact block updates: each is the minimiser of the objective (of its quadratic majoriser) in one block."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from array_api_compat import array_namespace

from .losses import Array
from .problem import Block, Problem, Rows, State, chunks, set_rows, set_W
from .terms import Objective


def conjugate_gradient(
    apply: Callable[[Array], Array],
    precondition: Callable[[Array], Array],
    target: Array,
    start: Array,
    tol: float,
    max_iter: int,
) -> Array:
    """Solve apply(x) = target for a positive definite operator, to a residual of `tol` times the target's norm."""
    xp = array_namespace(target)
    x, r = start, target - apply(start)
    z = precondition(r)
    p, rz = z, xp.sum(r * z)
    goal = tol**2 * xp.sum(target * precondition(target))
    for _ in range(max_iter):
        if rz <= goal:
            break
        Ap = apply(p)
        step = rz / xp.sum(p * Ap)
        x, r = x + step * p, r - step * Ap
        z = precondition(r)
        rz, before = xp.sum(r * z), rz
        p = z + (rz / before) * p
    return x


def outer(A: Array) -> Array:
    """(n, k k): the products a_i a_j of each row."""
    return array_namespace(A).reshape(A[:, :, None] * A[:, None, :], (A.shape[0], -1))


def solve_each(A: Array, B: Array) -> Array:
    """x_i = A_i^-1 b_i for a stack of small positive definite matrices and the rows of B."""
    return array_namespace(A).linalg.solve(A, B[:, :, None])[:, :, 0]


def update_V(problem: Problem, objective: Objective, state: State) -> State:
    """One k x k system per row: (U^T diag(c) U + diag(a p) + tV I) v = U^T (c o (r - b)) + a p o t."""
    U, b = state.U, state.b
    xp = array_namespace(U)
    k = U.shape[1]
    UU, tV = outer(U), objective.ridge.tV * xp.eye(k, dtype=U.dtype, device=U.device)

    def solve_rows(block: Block, rows: Rows) -> Array:
        parts = []
        for s in chunks(block.n, k * k):
            part = Block(None, block.Y[s, :], block.J[s, :], None)
            C, R = objective.fit.quadratic(part, rows.V[s, :], U, b)
            w = objective.coupling.weights(rows.P[s, :])
            A = xp.reshape(C @ UU, (-1, k, k)) + w[:, :, None] * xp.eye(k, dtype=U.dtype, device=U.device) + tV
            parts.append(solve_each(A, (C * (R - b)) @ U + w * rows.T[s, :]))
        return xp.concat(parts)

    return set_rows(state, V=problem.map(solve_rows, state.rows))


def update_U(problem: Problem, objective: Objective, state: State, tol: float = 1e-6, max_iter: int = 50) -> State:
    """Loadings and intercepts together: a k + 1 system per label, coupled over the labels by the correlation term.

    The coupled system is solved by conjugate gradient. Rows of Z have unit length, so that its diagonal blocks are
    known, and they are the preconditioner; without correlation they are the system.
    """
    U, b, Z = state.U, state.b, state.Z
    xp = array_namespace(U)
    l, k = U.shape
    q = k + int(problem.fit_intercept)

    def normal_equations(block: Block, rows: Rows) -> tuple[Array, Array]:
        A, B = 0.0, 0.0
        for s in chunks(block.n, q * q):
            part = Block(None, block.Y[s, :], block.J[s, :], None)
            V = rows.V[s, :]
            C, R = objective.fit.quadratic(part, V, U, b)
            if problem.fit_intercept:
                V = xp.concat([V, xp.ones_like(V[:, :1])], axis=1)
            A, B = A + C.T @ outer(V), B + (C * R).T @ V
        return A, B

    A, B = problem.sum(normal_equations, state.rows)
    A = xp.reshape(A, (l, q, q)) + _ridge_with_intercept(problem, objective, state, A)
    if not objective.correlation.active:
        return _split(problem, state, solve_each(A, B))

    H = objective.correlation.moments(problem, state)
    H = _pad(H, q)
    inverse = xp.linalg.inv(A + xp.sum(H, axis=0))

    def apply(S: Array) -> Array:
        return (A @ S[:, :, None])[:, :, 0] + objective.correlation.gradient_U(H, S, Z)

    start = xp.concat([U, b[:, None]], axis=1)[:, :q]
    S = conjugate_gradient(apply, lambda r: (inverse @ r[:, :, None])[:, :, 0], B, start, tol, max_iter)
    return _split(problem, state, S)


def _ridge_with_intercept(problem: Problem, objective: Objective, state: State, A: Array) -> Array:
    """The diagonal of the penalty: tU on loadings; on an intercept nothing, or 1 where a label was never observed."""
    xp = array_namespace(A)
    l, k = state.U.shape
    D = objective.ridge.tU * xp.ones((l, k), dtype=A.dtype, device=A.device)
    if problem.fit_intercept:
        seen = A[:, -1:]
        D = xp.concat([D, xp.astype(seen == 0, A.dtype)], axis=1)
    return D[:, :, None] * xp.eye(D.shape[1], dtype=A.dtype, device=A.device)


def _pad(H: Array, q: int) -> Array:
    """H with zero rows and columns up to q: intercepts take no part in the correlation term."""
    xp = array_namespace(H)
    g, k, _ = H.shape
    if q == k:
        return H
    H = xp.concat([H, xp.zeros((g, 1, k), dtype=H.dtype, device=H.device)], axis=1)
    return xp.concat([H, xp.zeros((g, q, 1), dtype=H.dtype, device=H.device)], axis=2)


def _split(problem: Problem, state: State, S: Array) -> State:
    if problem.fit_intercept:
        return replace(state, U=S[:, :-1], b=S[:, -1])
    return replace(state, U=S)


def update_W(problem: Problem, objective: Objective, state: State, tol: float = 1e-4, max_iter: int = 50) -> State:
    """A system on (d, k), X^T (a P o X W + X W N_m) + tW W = a X^T (P o V), by conjugate gradient.

    One iteration costs one product with X and one with X^T, whatever the number of groups; X may be sparse.
    """
    xp = array_namespace(state.U)
    correlation, tW = objective.correlation, objective.ridge.tW
    N = correlation.couplings(problem, state.U, state.Z) if correlation.active else None

    def product(block: Block, rows: Rows, D: Array) -> Array:
        T = block.X @ D
        slope = objective.coupling.weights(rows.P) * T
        if N is not None:
            slope = slope + correlation.gradient_T(block, T, rows.P, N)
        return block.X.T @ slope

    def apply(D: Array) -> Array:
        return problem.sum(lambda block, rows: product(block, rows, D), state.rows) + tW * D

    def right_side(block: Block, rows: Rows) -> Array:
        return block.X.T @ (objective.coupling.weights(rows.P) * rows.V)

    def diagonal(block: Block, rows: Rows) -> Array:
        w = objective.coupling.weights(rows.P)
        return _squares(block.X).T @ w

    target = problem.sum(right_side, state.rows)
    scale = 1 / (problem.sum(diagonal, state.rows) + tW)
    W = conjugate_gradient(apply, lambda r: scale * r, target, state.W, tol, max_iter)
    return set_W(problem, state, W)


def _squares(X: Any) -> Any:
    return X.power(2) if hasattr(X, "power") else X * X
