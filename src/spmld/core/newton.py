"""Truncated Newton for linear models, for all labels at once.

Conjugate-gradient vectors have one column per label, so that the work consists of matrix products. If the problems of
the labels are independent, each label has its own step lengths and stopping.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from operator import mul

from array_api_compat import array_namespace

from spmld._arrays import CACHE, row_slices
from spmld.core.conjugate_gradient import conjugate_gradient
from spmld.core.designs import Design, Penalty
from spmld.core.losses import Array, Loss
from spmld.core.problem import Block, Problem

MIN_COLUMNS = 16
"""Minimum number of independent columns to solve together."""


@dataclass(frozen=True)
class Minimum:
    """Result of Newton's method."""

    B: Array
    steps: int
    converged: bool


def newton_minimize(
    problem: Problem,
    loss: Loss | tuple[Loss, ...],
    design: Design,
    penalty: Penalty,
    B: Array,
    *,
    offset: Array | float | tuple[Array, ...] = 0.0,
    tol: float = 1e-4,
    max_iter: int = 100,
    cg_iter: int = 200,
    over: Callable[..., Iterable[Minimum]] = map,
    reorthogonalize: bool = False,
) -> Minimum:
    """Minimize sum J o loss(Y, scores(B) + offset) + 1/2 <B, penalty(B)> from B.

    The loss can be a tuple with the loss of each row block. The offset is a number, one number per label, or a tuple
    with the array of each row block.

    Ends when the norm of the gradient is `tol` times that at B = 0. Independent columns are solved in groups whose
    scores fit into the cache; `over` maps a function over the groups. With
    `reorthogonalize` the result does not depend on the CPU, see `conjugate_gradient`.
    """
    offsets = offset if isinstance(offset, tuple) else problem.map(lambda block: offset)
    losses = loss if isinstance(loss, tuple) else problem.map(lambda block: loss)
    fit = _Fit(problem, losses, design, penalty, offsets, design.separable and penalty.separable, reorthogonalize)
    if not fit.separable:
        return _minimize_columns(fit, B, tol, max_iter, cg_iter)
    groups = list(row_slices(B.shape[1], problem.n, max(CACHE, MIN_COLUMNS * problem.n)))
    parts = list(over(lambda s: _minimize_columns(fit.columns(s).as_real(B), B[:, s], tol, max_iter, cg_iter), groups))
    joined = array_namespace(B).concat([part.B for part in parts], axis=1)
    return Minimum(joined, max(part.steps for part in parts), all(part.converged for part in parts))


def _minimize_columns(fit: "_Fit", B: Array, tol: float, max_iter: int, cg_iter: int) -> Minimum:
    """Minimize for all columns at once."""
    xp = array_namespace(B)
    goal = tol * fit.norm(fit.derivatives(0 * B, fit.scores_at_zero(B))[0]) + _tiny(B)
    active, result = xp.arange(B.shape[1], device=B.device), B
    S = fit.scores(B)
    value = fit.value(B, S)
    steps, exact, drifts = 0, True, float(xp.finfo(B.dtype).eps) > 1e-12
    while True:
        G, C = fit.derivatives(B, S)
        norm = fit.norm(G)
        going = norm > goal
        if not exact and not xp.any(going):
            # In single precision, scores accumulate rounding errors: check convergence with recomputed ones.
            S, exact = fit.scores(B), True
            value = fit.value(B, S)
            continue
        if not xp.any(going) or steps == max_iter:
            return Minimum(_put(result, active, B), steps, not xp.any(going))
        if fit.separable and not xp.all(going):
            result = _put(result, active, B)
            keep = xp.nonzero(going)[0]
            active, fit = active[keep], fit.columns(keep)
            B, G, norm, goal, value = B[:, keep], G[:, keep], norm[keep], goal[keep], value[keep]
            S, C = tuple(s[:, keep] for s in S), tuple(c[:, keep] for c in C)
        # A direction need not be more accurate than its curvature: the square root is enough for superlinear
        # convergence. The curvature of the squared loss is constant.
        forcing = goal / norm if fit.losses[0].name == "squared" else xp.sqrt(norm * tol / goal)
        direction = fit.newton_direction(B, C, G, xp.clip(forcing, 0, 0.2), cg_iter)
        B, S, value, stuck = fit.search(B, S, G, direction, value)
        goal = xp.where(stuck, xp.ones_like(goal) * xp.inf, goal)
        steps, exact = steps + 1, not drifts


@dataclass(frozen=True)
class _Fit:
    """The objective and its derivatives; one value per column if columns are independent, else one number."""

    problem: Problem
    losses: tuple[Loss, ...]
    design: Design
    penalty: Penalty
    offsets: tuple[Array | float, ...]
    separable: bool
    reorthogonalize: bool = False

    def columns(self, keep: Array | slice) -> "_Fit":
        """Return the problem of some columns."""

        def part(block: Block) -> Block:
            return Block(block.X, block.Y[:, keep], block.J[:, keep], block.group)

        offsets = tuple(offset if isinstance(offset, float) else offset[..., keep] for offset in self.offsets)
        problem = replace(self.problem, blocks=self.problem.map(part))
        losses = tuple(loss.columns(keep) for loss in self.losses)
        return replace(self, problem=problem, losses=losses, design=self.design.columns(keep), offsets=offsets)

    def as_real(self, like: Array) -> "_Fit":
        """Convert labels and weights to the type of the scores once, instead of in every product."""
        xp = array_namespace(like)

        def part(block: Block) -> Block:
            return replace(block, Y=xp.astype(block.Y, like.dtype), J=xp.astype(block.J, like.dtype))

        return replace(self, problem=replace(self.problem, blocks=self.problem.map(part)))

    def total(self, A: Array) -> Array:
        """Return column sums, or the sum of all entries if the columns are not independent."""
        return array_namespace(A).sum(A, axis=0 if self.separable else None)

    def norm(self, G: Array) -> Array:
        return array_namespace(G).sqrt(self.total(G * G))

    def scores_at_zero(self, B: Array) -> tuple[Array, ...]:
        """Return the scores at B = 0."""
        xp = array_namespace(B)

        def zeros(block: Block, offset: Array | float) -> Array:
            return xp.zeros(block.Y.shape, dtype=B.dtype, device=B.device) + offset

        return self.problem.map(zeros, self.offsets)

    def scores(self, B: Array) -> tuple[Array, ...]:
        return self.problem.map(lambda block, offset: self.design.scores(block, B) + offset, self.offsets)

    def value(self, B: Array, S: tuple[Array, ...]) -> Array:
        fit = self.problem.sum(lambda block, loss, s: self.total(block.J * loss.value(block.Y, s)), self.losses, S)
        return fit + 0.5 * self.total(B * self.penalty.slope(B))

    def derivatives(self, B: Array, S: tuple[Array, ...]) -> tuple[Array, tuple[Array, ...]]:
        """Return the gradient and the curvature in each score.

        A lower bound on the curvature keeps directions finite where all scores of a label are large.
        """

        def differentiate(block: Block, loss: Loss, s: Array) -> tuple[Array, Array]:
            slope, curvature = loss.derivatives(block.Y, s)
            return self.design.pull(block, block.J * slope), block.J * (curvature + 1e-6)

        parts = self.problem.map(differentiate, self.losses, S)
        return sum(G for G, _ in parts) + self.penalty.slope(B), tuple(C for _, C in parts)

    def newton_direction(self, B: Array, C: tuple[Array, ...], G: Array, forcing: Array, cg_iter: int) -> Array:
        """Return an approximate Newton direction, by conjugate gradient to a residual of `forcing`."""
        diagonal = self.problem.sum(self.design.squares, C) + self.penalty.diagonal(B)
        scale = 1 / (diagonal + 1e-6 * array_namespace(B).max(diagonal) + _tiny(B))

        def apply(D: Array) -> Array:
            def product(block: Block, c: Array) -> Array:
                return self.design.pull(block, c * self.design.scores(block, D))

            return self.problem.sum(product, C) + self.penalty.slope(D)

        axis = 0 if self.separable else None
        solve = partial(conjugate_gradient, apply, partial(mul, scale), -G, None, forcing, cg_iter)
        return solve(axis=axis, reorthogonalize=self.reorthogonalize)

    def search(
        self, B: Array, S: tuple[Array, ...], G: Array, D: Array, value: Array
    ) -> tuple[Array, tuple[Array, ...], Array, Array]:
        """Halve the step of each column until its objective decreases enough.

        Scores are linear in B, so no product with X is needed. Also returns which columns are stuck: their objective
        cannot decrease by more than its rounding error.
        """
        xp = array_namespace(B)
        descent = self.total(G * D)
        dS = self.problem.map(lambda block: self.design.scores(block, D))
        step = xp.ones_like(value)
        rounding = 8 * float(xp.finfo(B.dtype).eps) * xp.abs(value)
        for halvings in range(32):
            new = B + step * D
            new_S = tuple(s + step * d for s, d in zip(S, dS, strict=True))
            new_value = self.value(new, new_S)
            short = new_value > value + 1e-4 * step * descent + rounding
            if not xp.any(short):
                break
            step = xp.where(short, 0.5 * step if halvings < 30 else 0 * step, step)
        return new, new_S, new_value, step * descent >= -rounding


def _put(A: Array, columns: Array, values: Array) -> Array:
    """Return A with some columns replaced."""
    if columns.shape[0] == A.shape[1]:
        return values
    A = array_namespace(A).asarray(A, copy=True)
    A[:, columns] = values
    return A


def _tiny(A: Array) -> float:
    return float(array_namespace(A).finfo(A.dtype).smallest_normal) ** 0.5
