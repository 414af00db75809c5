"""ML-LRC, a reconstruction: labels are completed by a low-rank map and regressed on the features.

  1/2 |X W - Y S|^2 + a/2 sum J o (Y S - Y)^2 + t/2 |W|^2 + c |S|_*

with Y 0 where missing, and multiplied by the weights of its entries elsewhere. The minimizer in W is the ridge
regression of Y S on X, which is linear in its target: it is B S with B the ridge regression of Y. Hence the features
are used in one regression, and the remaining problem

  1/2 <S, M S> + a/2 sum J o (Y S - Y)^2 + c |S|_*,   M = (X B - Y)^T (X B - Y) + t B^T B

is convex in S.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

from spmld._arrays import Array, namespace
from spmld.core.iteration import Callback, Iterations, Result
from spmld.core.linear_objective import Features, Penalty
from spmld.core.losses import LOSSES
from spmld.core.newton import newton_minimize
from spmld.core.problem import Block, Problem
from spmld.core.steps import identity
from spmld.core.terms import square

EIGENVALUE_MARGIN = 1e-5
"""Margin of the bound on the curvature for rounding errors of eigenvalues in single precision."""


def targets(problem: Problem, dtype: Any) -> Problem:
    """Return the problem with J o Y in place of Y, and weight 1 for every entry."""

    def filled(block: Block) -> Block:
        xp = namespace(block.Y)
        Y = xp.astype(block.J, dtype) * xp.astype(block.Y, dtype)
        return replace(block, Y=Y, J=xp.ones_like(block.J))

    return replace(problem, blocks=problem.map(filled))


def regression(full: Problem, t: float, B: Array, tol: float) -> Array:
    """Return the ridge regression of all labels, computed from B, with intercepts in the last row if there are any."""
    free = full.fit_intercept
    return newton_minimize(full, LOSSES["squared"], Features(free), Penalty(t, free), B, tol=tol).B


def threshold(A: Array, t: float) -> tuple[Array, Array]:
    """Return the minimizer of 1/2 |S - A|^2 + t |S|_*, which has singular values reduced by t, and these values."""
    xp = namespace(A)
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
    def of(cls, problem: Problem, full: Problem, B: Array, t: float, a: float) -> Self:
        """Build the fit from the problem with weights, the problem `full` with all entries, and its regression B."""
        design = Features(full.fit_intercept)
        penalty = Penalty(t, full.fit_intercept)

        def moments(block: Block) -> Array:
            R = design.scores(block, B) - block.Y
            return R.T @ R

        M = full.sum(moments) + B.T @ penalty.slope(B)
        return cls(problem, full.map(lambda block: block.Y), M, a)

    def value_and_gradient(self, S: Array) -> tuple[Array, Array]:
        """Return the value and the gradient, which is affine in S."""

        def completion(block: Block, Y: Array) -> tuple[Array, Array]:
            R = Y @ S - Y
            D = block.J * R
            return namespace(S).sum(D * R), Y.T @ D

        size, slope = self.problem.sum(completion, self.signs)
        MS = self.M @ S
        return 0.5 * (namespace(S).sum(S * MS) + self.a * size), MS + self.a * slope

    def curvature(self) -> float:
        """Return an upper bound on the largest eigenvalue of the Hessian, at most (1 + a) |Y|_2^2 for weights 1."""
        xp = namespace(self.M)

        def moments(block: Block, Y: Array) -> Array:
            return Y.T @ Y

        G = self.problem.sum(moments, self.signs)
        engine = self.problem.engine
        blocks = self.problem.blocks
        weight = engine.sum(lambda block: float(xp.max(xp.astype(block.J, G.dtype))), blocks, combine=max)
        top = [float(xp.max(xp.linalg.eigvalsh(A))) for A in (self.M, G)]
        return (top[0] + self.a * weight * top[1]) * (1 + EIGENVALUE_MARGIN) + float(
            xp.finfo(G.dtype).smallest_normal
        ) ** 0.5


class _Point(NamedTuple):
    """A map S, with the gradient of the smooth part, the objective and the rank there."""

    S: Array
    G: Array
    value: float
    rank: int


def solve_mllrc(fit: MapFit, c: float, *, max_iter: int, tol: float, callback: Callback | None = None) -> Result[Array]:
    """Minimize by proximal gradient from S = I, with momentum as long as that lowers the objective.

    Ends when a step moves S by less than `tol` times the norm of I.
    """
    xp = namespace(fit.M)
    step = 1 / fit.curvature()

    def proximal_step(Z: Array, GZ: Array) -> _Point:
        S, s = threshold(Z - step * GZ, step * c)
        smooth, G = fit.value_and_gradient(S)
        return _Point(S, G, float(smooth) + c * float(xp.sum(s)), int(xp.count_nonzero(s)))

    S = identity(fit.M.shape[0], fit.M)
    goal = tol * float(square(S)) ** 0.5
    smooth, G = fit.value_and_gradient(S)
    last = _Point(S, G, float(smooth) + c * S.shape[0], S.shape[0])
    Z = S
    GZ = G
    speed = 1.0
    iterations = Iterations(max_iter, callback=callback)
    for _ in iterations:
        new = proximal_step(Z, GZ)
        if new.value > last.value and speed > 1:
            Z = last.S
            speed = 1.0
            new = proximal_step(Z, last.G)
        if new.value > last.value:  # a plain step cannot raise the objective, except by rounding errors
            iterations.record({"objective": last.value, "rank": last.rank}, converged=True)
            break
        converged = float(square(new.S - Z)) ** 0.5 <= goal
        faster = 0.5 * (1 + (1 + 4 * speed * speed) ** 0.5)
        m = (speed - 1) / faster
        # The gradient is affine in S: at the next Z it needs no pass over rows.
        Z = new.S + m * (new.S - last.S)
        GZ = new.G + m * (new.G - last.G)
        speed = faster
        last = new
        iterations.record({"objective": new.value, "rank": new.rank}, converged)
    return iterations.result(last.S)
