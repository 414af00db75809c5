"""Truncated Newton for linear models, for all labels at once.

Conjugate-gradient vectors have one column per label, so that the work consists of matrix products. If the problems of
the labels are independent, each label has its own step lengths and stopping.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from math import log2
from operator import mul
from typing import Any

import numpy as np

from spmld._arrays import CACHE, Array, budget, namespace, row_slices
from spmld.core.conjugate_gradient import conjugate_gradient
from spmld.core.label_stack import LabelStacks
from spmld.core.linear_objective import Design, LinearObjective, Penalty
from spmld.core.losses import Loss
from spmld.core.problem import Block, Problem, row_ranges

MIN_COLUMNS = 16
"""Minimum number of independent columns to solve together."""
LARGEST_WEIGHT = 1e6
"""Weights and penalties above this size, or below its inverse, are divided by their size."""
MAX_FORCING = 0.2
"""Maximum residual of a Newton direction relative to the gradient, far from the minimum."""
MIN_DIAGONAL = 1e-6
"""Added to the diagonal of the preconditioner, relative to its largest entry, because that of rare features is tiny."""
SUFFICIENT = 1e-4
"""Minimum decrease of a step relative to the decrease that the slope predicts (Armijo)."""
MAX_HALVINGS = 30
"""Maximum number of halvings of a step, after which its column does not change."""


@dataclass(frozen=True)
class Minimum:
    """Result of Newton's method."""

    B: Array
    steps: int
    converged: bool


@dataclass(frozen=True)
class Tolerances:
    """When Newton's method and its conjugate gradients end, see `newton_minimize`."""

    tol: float = 1e-4
    max_iter: int = 100
    cg_iter: int = 200
    reorthogonalize: bool = False


def newton_minimize(
    problem: Problem,
    loss: Loss,
    design: Design,
    penalty: Penalty,
    B: Array,
    *,
    offset: Array = 0.0,
    intercepts: Array | None = None,
    over: Callable[..., Iterable[Any]] = map,
    **tolerances: Any,
) -> Minimum:
    """Minimize sum J o loss(Y, scores(B) + offset) + 1/2 <B, penalty(B)> from B.

    The offset is a number, or one number for each label or entry.

    Ends when the norm of the gradient is `tol` times that at B = 0, or after `max_iter` steps of at most `cg_iter`
    conjugate gradients. With the `intercepts` of a model without features, the norm is relative to that of this model,
    for each column if columns are independent: at B = 0, the gradient of a rare label is that of its negatives, and its
    positives can be less than `tol` of it. With `reorthogonalize` the result does not depend on the CPU, see
    `conjugate_gradient`.

    Independent columns are solved in groups whose scores fit into the cache, or in stacks if only the observed entries
    are stored, or all together if the blocks are not in memory. `over` maps a function over the groups.
    """
    until = Tolerances(**tolerances)
    blocks = row_ranges(problem.counts)
    losses = tuple(loss.rows(s) for s in blocks)
    offsets = tuple(offset if np.ndim(offset) < 2 else offset[s, :] for s in blocks)
    problem, penalty = _in_range(problem, penalty, B)
    objective = LinearObjective(problem, losses, design, penalty, offsets)
    if not objective.separable or not problem.engine.in_memory:
        return minimize(objective, B, intercepts, until)
    if problem.observed_only:
        stacks = LabelStacks.of(objective)
        groups = list(stacks.groups())
        B = namespace(B).concat([B, 0 * B[:1, :]])  # a row for padded coefficients
    else:
        stacks = None
        groups = list(row_slices(B.shape[1], problem.n, budget(B, max(CACHE, MIN_COLUMNS * problem.n))))

    def solve_group(columns: Any) -> tuple[Any, Minimum]:
        if stacks is None:
            part = objective.columns(columns, B.dtype)
            index: Any = (slice(None), columns)
        else:
            part, index = stacks.select(columns, B.dtype)
        return index, minimize(part, B[index], None if intercepts is None else intercepts[columns], until)

    parts = list(over(solve_group, groups))
    joined = namespace(B).zeros_like(B)
    for index, part in parts:
        joined[index] = part.B
    joined = joined[:-1, :] if problem.observed_only else joined
    return Minimum(joined, max(part.steps for _, part in parts), all(part.converged for _, part in parts))


def _in_range(problem: Problem, penalty: Penalty, B: Array) -> tuple[Problem, Penalty]:
    """Divide huge or tiny weights and penalties by their size.

    The minimum does not change, but squares of gradients neither overflow nor vanish.
    """
    xp = namespace(B)
    mean = float(problem.sum(lambda block: xp.sum(block.J))) / problem.n
    largest = max(mean, penalty.t, penalty.g)
    if 1 / LARGEST_WEIGHT <= largest <= LARGEST_WEIGHT:
        return problem, penalty
    unit = 2.0 ** round(log2(largest))  # a power of two, so that quotients are exact
    blocks = problem.map(lambda block: replace(block, J=xp.astype(block.J, B.dtype) / unit))
    return replace(problem, blocks=blocks), replace(penalty, t=penalty.t / unit, g=penalty.g / unit)


def goals(objective: LinearObjective, G: Array, tol: float) -> Array:
    """Return the norms at which to stop independent columns, given the gradient of a model without features.

    They are infinite for columns without a minimum, which do not change: those with one sign only, if intercepts are
    not penalized.
    """
    xp = namespace(G)
    goal = tol * objective.norm(G) + tiny(G)
    if not objective.penalty.intercept or objective.losses[0].quadratic:
        return goal

    def count(block: Block) -> tuple[Array, Array]:
        return xp.sum(block.J * (block.Y > 0), axis=0), xp.sum(block.J * (block.Y < 0), axis=0)

    positives, negatives = objective.problem.sum(count)
    return xp.where((positives > 0) & (negatives > 0), goal, xp.ones_like(goal) * xp.inf)


def minimize(objective: LinearObjective, B: Array, intercepts: Array | None, until: Tolerances) -> Minimum:
    """Minimize for all columns at once, as described in `newton_minimize`."""
    xp = namespace(B)
    G = objective.derivatives(0 * B, objective.scores_at_zero(B, 0.0 if intercepts is None else intercepts))[0]
    alone = intercepts is not None and objective.separable
    goal = goals(objective, G, until.tol) if alone else until.tol * objective.norm(G) + tiny(B)
    active = xp.arange(B.shape[1], device=B.device)
    result = B
    S = objective.scores(B)
    value = objective.value(B, S)
    eps = float(xp.finfo(B.dtype).eps)
    steps = 0
    exact = True
    drifts = xp.finfo(B.dtype).bits < 64
    while True:
        G, C = objective.derivatives(B, S)
        norm = objective.norm(G)
        going = norm > goal
        if not exact and not xp.any(going):
            # In single precision, scores accumulate rounding errors: check convergence with recomputed ones.
            S = objective.scores(B)
            exact = True
            value = objective.value(B, S)
            continue
        if not xp.any(going) or steps == until.max_iter:
            return Minimum(_put(result, active, B), steps, not xp.any(going))
        if objective.separable and not xp.all(going):
            result = _put(result, active, B)
            keep = xp.nonzero(going)[0]
            active = active[keep]
            objective = objective.columns(keep, B.dtype)
            B = B[:, keep]
            G = G[:, keep]
            norm = norm[keep]
            goal = goal[keep]
            value = value[keep]
            S, C = (objective.problem.engine.map(lambda A, keep=keep: A[:, keep], rows) for rows in (S, C))
        # A direction need not be more accurate than its curvature: the square root is enough for superlinear
        # convergence. The curvature of a quadratic loss is constant.
        quadratic = objective.losses[0].quadratic
        forcing = xp.clip(goal / norm if quadratic else xp.sqrt(norm * until.tol / goal), eps, MAX_FORCING)
        diagonal = objective.diagonal(B, C)
        axis = 0 if objective.separable else None
        scale = 1 / (diagonal + MIN_DIAGONAL * xp.max(diagonal, axis=axis) + tiny(B))
        apply = partial(objective.hessian_product, C)
        solve = partial(conjugate_gradient, apply, partial(mul, scale), -G, None, forcing, until.cg_iter)
        direction = solve(axis=axis, n_kept=until.cg_iter if until.reorthogonalize else 0)
        direction = objective.rounded(direction)
        B, S, value, stuck = _search(objective, B, S, G, direction, value)
        goal = xp.where(stuck, xp.ones_like(goal) * xp.inf, goal)
        steps += 1
        exact = not drifts


def _search(
    objective: LinearObjective, B: Array, S: tuple[Array, ...], G: Array, D: Array, value: Array
) -> tuple[Array, tuple[Array, ...], Array, Array]:
    """Halve the step of each column until its objective decreases enough.

    Scores are linear in B, so no product with X is needed. Also returns which columns are stuck: their objective
    cannot decrease by more than its rounding error.
    """
    xp = namespace(B)
    D = xp.where(xp.isfinite(D), D, 0 * G)
    descent = objective.total(G * D)
    dS = objective.problem.map(lambda block: objective.design.scores(block, D))
    step = xp.ones_like(value)
    rounding = 8 * float(xp.finfo(B.dtype).eps) * xp.abs(value)
    for halvings in range(MAX_HALVINGS + 2):
        new = B + step * D
        new_S = objective.problem.engine.map(lambda s, d, step=step: s + step * d, S, dS)
        new_value = objective.value(new, new_S)
        short = ~(new_value <= value + SUFFICIENT * step * descent + rounding)  # also if it is NaN
        if not xp.any(short):
            break
        step = xp.where(short, 0.5 * step if halvings < MAX_HALVINGS else 0 * step, step)
    return new, new_S, new_value, step * descent >= -rounding


def _put(A: Array, columns: Array, values: Array) -> Array:
    """Return A with some columns replaced."""
    if columns.shape[0] == A.shape[1]:
        return values
    A = namespace(A).asarray(A, copy=True)
    A[:, columns] = values
    return A


def tiny(A: Array) -> float:
    """Return a number whose square is still normal."""
    return float(namespace(A).finfo(A.dtype).smallest_normal) ** 0.5
