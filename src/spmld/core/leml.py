"""LEML: linear models of all labels with one low-rank coefficient matrix, in factors.

  sum J o loss(Y, X W H^T + 1 b^T) + t/2 (|W|^2 + |H|^2)

The problem is convex in W and convex in (H, b), but not in all: half a round is Newton's method in one of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from array_api_compat import array_namespace

from spmld.core.linear import Factored, Features, Penalty
from spmld.core.losses import Array, Loss
from spmld.core.newton import minimise
from spmld.core.problem import Block, Problem
from spmld.core.terms import square

Record = dict[str, float | int | str]


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
    """The same problem with T = X W for X."""
    return replace(problem, blocks=problem.map(lambda block: replace(block, X=block.X @ W)))


def value(inner: Problem, loss: Loss, t: float, factors: Factors) -> float:
    """The objective. `inner` is the problem with T = X W for X, so that no product with X is repeated."""
    W, H, b = factors.W, factors.H, factors.b

    def fit(block: Block) -> Array:
        return array_namespace(H).sum(block.J * loss.value(block.Y, block.X @ H.T + b))

    return float(inner.sum(fit) + t / 2 * (square(W) + square(H)))


def update_W(
    problem: Problem, loss: Loss, t: float, factors: Factors, tol: float = 1e-3, max_iter: int = 5, cg_iter: int = 20
) -> Factors:
    """One problem in (d, k), by products with X and H alone. The bounds on the steps are those of the released code."""
    design = Factored(factors.H)
    result = minimise(
        problem, loss, design, Penalty(t), factors.W, offset=factors.b, tol=tol, max_iter=max_iter, cg_iter=cg_iter
    )
    return replace(factors, W=result.B)


def update_H(inner: Problem, loss: Loss, t: float, factors: Factors, tol: float = 1e-6) -> Factors:
    """One problem in k (or k + 1, with an intercept) unknowns per label. `inner` is the problem with T = X W for X."""
    xp, H, b = array_namespace(factors.H), factors.H, factors.b
    free = inner.fit_intercept
    start = xp.concat([H.T, b[None, :]]) if free else H.T
    B = minimise(inner, loss, Features(free), Penalty(t, free), start, tol=tol).B
    return replace(factors, H=B[:-1, :].T, b=B[-1, :]) if free else replace(factors, H=B.T)


def solve(
    problem: Problem,
    loss: Loss,
    t: float,
    factors: Factors,
    *,
    max_iter: int,
    tol: float | None,
    callback: Callable[[dict[str, Any]], bool] | None = None,
) -> tuple[Factors, list[Record], bool]:
    """Rounds of W, then (H, b), until one lowers the objective by less than `tol` of it.

    Returns the factors, the objective after each half of a round, and whether it settled or was told to stop. `tol`
    None runs all rounds. `callback` gets the last record of each round and says whether to stop.
    """
    # Blocks need not be solved more exactly than the whole; a run to a fine tolerance needs fine blocks.
    fine = min(1e-3, tol) if tol else 1e-3
    history: list[Record] = []
    before = float("inf")
    for number in range(1, max_iter + 1):
        factors = update_W(problem, loss, t, factors, fine)
        inner = latent(problem, factors.W)
        history.append({"iteration": number, "step": "W", "objective": value(inner, loss, t, factors)})
        factors = update_H(inner, loss, t, factors)
        now = value(inner, loss, t, factors)
        history.append({"iteration": number, "step": "H", "objective": now})
        stop = callback is not None and callback(history[-1])
        if stop or (tol is not None and before - now <= tol * now):
            return factors, history, True
        before = now
    return factors, history, False
