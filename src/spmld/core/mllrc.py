"""ML-LRC, a reconstruction: labels completed by a low-rank map of themselves, and regressed on the features.

  1/2 |X W - Y S|^2 + a/2 sum J o (Y S - Y)^2 + t/2 |W|^2 + c |S|_*

with Y zero where unobserved, and multiplied by the weights of its entries elsewhere. The minimiser in W is the ridge
regression of Y S on X. It is linear in its target: with B the ridge regression of Y itself, it is B S. Hence one
regression is all that features are needed for, and

  1/2 <S, M S> + a/2 sum J o (Y S - Y)^2 + c |S|_*,   M = (X B - Y)^T (X B - Y) + t B^T B

is what remains, convex in S.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from array_api_compat import array_namespace

from spmld.core.linear import Features, Penalty
from spmld.core.losses import LOSSES, Array
from spmld.core.newton import minimise
from spmld.core.problem import Block, Problem
from spmld.core.steps import identity
from spmld.core.terms import square

Record = dict[str, float | int]


def targets(problem: Problem, dtype: Any) -> Problem:
    """The problem with J o Y for Y, every entry of which counts as one."""

    def filled(block: Block) -> Block:
        xp = array_namespace(block.Y)
        Y = xp.astype(block.J, dtype) * xp.astype(block.Y, dtype)
        return replace(block, Y=Y, J=xp.ones_like(block.J))

    return replace(problem, blocks=problem.map(filled))


def regression(full: Problem, t: float, start: Array, tol: float, over: Callable[..., Any] = map) -> Array:
    """B, the ridge regression of all labels, with the intercepts in its last row if there are any."""
    free = full.fit_intercept
    return minimise(full, LOSSES["squared"], Features(free), Penalty(t, free), start, tol=tol, over=over).B


def threshold(A: Array, t: float) -> tuple[Array, Array]:
    """The minimiser S of 1/2 |S - A|^2 + t |S|_*: singular values less t; and those that are left."""
    xp = array_namespace(A)
    U, s, Vh = xp.linalg.svd(A, full_matrices=False)
    s = xp.clip(s - t, 0)
    return (U * s) @ Vh, s


@dataclass(frozen=True)
class MapFit:
    """The smooth part of the objective as a function of S."""

    problem: Problem
    """With the weights J."""
    signs: tuple[Array, ...]
    """J o Y of each block."""
    M: Array
    a: float

    @classmethod
    def of(cls, problem: Problem, full: Problem, B: Array, t: float, a: float) -> MapFit:
        """The problem with its weights, the one with all entries, and its regression."""
        design, penalty = Features(full.fit_intercept), Penalty(t, full.fit_intercept)

        def moments(block: Block) -> Array:
            R = design.scores(block, B) - block.Y
            return R.T @ R

        M = full.sum(moments) + B.T @ penalty.slope(B)
        return cls(problem, full.map(lambda block: block.Y), M, a)

    def at(self, S: Array) -> tuple[Array, Array]:
        """The value and the gradient, which is affine in S."""

        def completion(block: Block, Y: Array) -> tuple[Array, Array]:
            R = Y @ S - Y
            D = block.J * R
            return array_namespace(S).sum(D * R), Y.T @ D

        size, slope = self.problem.sum(completion, self.signs)
        MS = self.M @ S
        return 0.5 * (array_namespace(S).sum(S * MS) + self.a * size), MS + self.a * slope

    def curvature(self) -> float:
        """A bound of the largest eigenvalue of the Hessian; up to (1 + a) |Y|_2^2 where the weights are 1."""
        xp = array_namespace(self.M)

        def moments(block: Block, Y: Array) -> Array:
            return Y.T @ Y

        G = self.problem.sum(moments, self.signs)
        weight = max(float(xp.max(xp.astype(block.J, G.dtype))) for block in self.problem.blocks)
        top = [float(xp.max(xp.linalg.eigvalsh(A))) for A in (self.M, G)]
        return (top[0] + self.a * weight * top[1]) * (1 + 1e-5) + float(xp.finfo(G.dtype).smallest_normal) ** 0.5


@dataclass(frozen=True)
class Point:
    """A map, the smooth part's gradient there, and the objective."""

    S: Array
    G: Array
    value: float
    rank: int


def solve(
    fit: MapFit, c: float, *, max_iter: int, tol: float, callback: Callable[[dict[str, Any]], bool] | None = None
) -> tuple[Array, list[Record], bool]:
    """Proximal gradient from S = I, with momentum as long as that lowers the objective; a plain step cannot raise it.

    Ends when a step moves S by less than `tol` times the norm of I. Returns S, the objective after each step, and
    whether it settled or was told to stop. `callback` gets the record of each step and says whether to stop.
    """
    xp, step = array_namespace(fit.M), 1 / fit.curvature()

    def proximal_step(S: Array, G: Array) -> Point:
        new, s = threshold(S - step * G, step * c)
        smooth, slope = fit.at(new)
        return Point(new, slope, float(smooth) + c * float(xp.sum(s)), int(xp.count_nonzero(s)))

    S = identity(fit.M.shape[0], fit.M)
    goal = tol * float(square(S)) ** 0.5
    smooth, slope = fit.at(S)
    last = Point(S, slope, float(smooth) + c * S.shape[0], S.shape[0])
    Z, GZ, speed = last.S, last.G, 1.0
    history: list[Record] = []
    for number in range(1, max_iter + 1):
        new = proximal_step(Z, GZ)
        if new.value > last.value and speed > 1:
            Z, speed = last.S, 1.0
            new = proximal_step(Z, last.G)
        if new.value > last.value:  # by rounding alone
            return last.S, history, True
        history.append({"step": number, "objective": new.value, "rank": new.rank})
        stop = callback is not None and callback(history[-1])
        if stop or float(square(new.S - Z)) ** 0.5 <= goal:
            return new.S, history, True
        faster = 0.5 * (1 + (1 + 4 * speed * speed) ** 0.5)
        m = (speed - 1) / faster
        # The gradient is affine in S: at Z it needs no pass over rows.
        Z, GZ = new.S + m * (new.S - last.S), new.G + m * (new.G - last.G)
        last, speed = new, faster
    return last.S, history, False
