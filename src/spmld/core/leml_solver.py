"""LEML: linear models of all labels with one low-rank coefficient matrix, in factors.

  sum J o loss(Y, X W H^T + 1 b^T) + t/2 (|W|^2 + |H|^2)

The problem is convex in W and in (H, b), but not jointly. An iteration is Newton's method in W, then in (H, b).
"""

from dataclasses import dataclass, replace
from math import inf
from typing import Any

from spmld._arrays import Array, namespace
from spmld.core.iteration import Callback, Iterations, Result
from spmld.core.linear_objective import Factored, Features, Penalty
from spmld.core.losses import Loss
from spmld.core.newton import newton_minimize
from spmld.core.problem import Block, Problem
from spmld.core.terms import square

BLOCK_TOL = 1e-3
"""Tolerance of a block, which need not be solved more accurately than the whole problem unless that has less."""


@dataclass(frozen=True)
class Factors:
    """The variables of a fit."""

    W: Array
    """(d, k) feature weights."""
    H: Array
    """(l, k) label factors."""
    b: Array
    """(l,) intercepts."""


def latent(problem: Problem, W: Array) -> Problem:
    """Return the problem with T = X W in place of X."""
    return replace(problem, blocks=problem.map(lambda block: replace(block, X=block.X @ W)))


def value(inner: Problem, loss: Loss, t: float, factors: Factors) -> float:
    """Return the objective. `inner` is the problem with T = X W in place of X, so that no product is repeated."""
    H = factors.H

    def fit(block: Block) -> Array:
        return namespace(H).sum(block.J * loss.value(block.Y, block.entries.scores(block.X, H, factors.b)))

    return float(inner.sum(fit) + t / 2 * (square(factors.W) + square(H)))


def update_W(
    problem: Problem,
    loss: Loss,
    t: float,
    factors: Factors,
    tol: float = BLOCK_TOL,
    max_iter: int = 5,
    cg_iter: int = 20,
) -> Factors:
    """Minimize in W: one problem in (d, k). The maximum numbers of steps are those of the released code of LEML."""
    # Truncated steps depend on rounding errors, and with them on the row blocks, unless they are reorthogonalized.
    options: Any = {"offset": factors.b, "reorthogonalize": True, "tol": tol, "max_iter": max_iter, "cg_iter": cg_iter}
    return replace(factors, W=newton_minimize(problem, loss, Factored(factors.H), Penalty(t), factors.W, **options).B)


def update_H(inner: Problem, loss: Loss, t: float, factors: Factors, tol: float = 1e-6) -> Factors:
    """Minimize in (H, b): one problem in k or k + 1 variables per label. `inner` is as in `value`."""
    xp = namespace(factors.H)
    H = factors.H
    b = factors.b
    free = inner.fit_intercept
    B = xp.concat([H.T, b[None, :]]) if free else H.T
    B = newton_minimize(inner, loss, Features(free), Penalty(t, free), B, tol=tol, reorthogonalize=True).B
    return replace(factors, H=B[:-1, :].T, b=B[-1, :]) if free else replace(factors, H=B.T)


def solve_leml(
    problem: Problem,
    loss: Loss,
    t: float,
    factors: Factors,
    *,
    max_iter: int,
    tol: float | None,
    callback: Callback | None = None,
) -> Result[Factors]:
    """Alternate W and (H, b) until an iteration lowers the objective by less than `tol` times its value.

    With `tol` None, all iterations are run.
    """
    block_tol = min(BLOCK_TOL, tol) if tol else BLOCK_TOL

    iterations = Iterations(max_iter, fixed=tol is None, callback=callback)
    objective = inf
    for _ in iterations:
        before = objective
        factors = update_W(problem, loss, t, factors, block_tol)
        inner = latent(problem, factors.W)
        after_W = value(inner, loss, t, factors)
        factors = update_H(inner, loss, t, factors)
        objective = value(inner, loss, t, factors)
        converged = tol is not None and before - objective <= tol * objective
        iterations.record({"objective": objective, "objective_after_W": after_W}, converged)
    return iterations.result(factors)
