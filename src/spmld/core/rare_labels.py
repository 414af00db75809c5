"""Minimization for rare labels, in which few rows stand for all.

The solution of a rare label depends mostly on its positives and on the few negatives that resemble them. Each iteration
evaluates the gradient on all rows, and then minimizes a model of the objective,

  sum_{i in R} r_i sum_j J_ij loss(Y_ij, F_ij) + 1/2 <B, penalty(B)> + <L, B>,

where R are the rows with a positive or with a loss of large slope, with r_i = 1, and every m-th of the other rows, with
r_i = m. L is such that its gradient is exact at the current B. The solution is a fixed point, and the fewer rows R has,
the more iterations are needed (Shamir, Srebro, Zhang. Communication-Efficient Distributed Optimization using an
Approximate Newton-type Method. ICML 2014).
"""

from dataclasses import replace

import numpy as np

from spmld.core.linear_objective import LinearObjective
from spmld.core.losses import Array, Loss
from spmld.core.newton import Minimum, Tolerances, minimize_columns, tiny
from spmld.core.problem import Block

STEP = 16
"""m at first. It is divided by 4 after an iteration that does not halve the norms of the gradients."""
STEEP = 0.05
"""Slope of the loss of an entry from which its row is always in R."""
MODEL_TOL = 0.3
"""Norm of the gradient at the minimum of a model, relative to the norm at the current B."""
INTERCEPT_TOL = 100
"""Norm of the gradient at the end relative to that of the intercepts alone, in units of `tol`."""


def minimize_rare_labels(objective: LinearObjective, B: Array, until: Tolerances) -> Minimum:
    """Minimize for all columns at once, by models of the objective on few rows. Arrays are those of NumPy.

    The last row of B are the intercepts. Ends when the norm of the gradient is 100 `tol` times the norm for these
    intercepts alone. The norm at B = 0 is no measure for rare labels, because it is that of the negatives.
    """
    active, result, step, before = np.arange(B.shape[1]), B.copy(), STEP, np.inf
    intercepts = np.concatenate([0 * B[:-1], B[-1:]])
    S = tuple(s + B[-1] for s in objective.scores_at_zero(B))
    G = objective.derivatives(intercepts, S)[0]
    goal = INTERCEPT_TOL * until.tol * objective.norm(G) + tiny(B)
    for steps in range(until.max_iter + 1):
        if steps > 0 or B[:-1].any():
            S = objective.scores(B)
            G = objective.derivatives(B, S)[0]
        norm = objective.norm(G)
        result[:, active] = B
        going = norm > goal
        if not going.any() or steps == until.max_iter:
            break
        step = max(1, step // 4) if (norm > 0.5 * before)[going].any() else step
        active, objective, goal, before = active[going], objective.columns(going), goal[going], norm[going]
        B, G, S = B[:, going], G[:, going], tuple(s[:, going] for s in S)
        model = _model(objective, B, S, G, step)
        if model is objective:
            part = minimize_columns(objective, B, goal, until)
            result[:, active] = part.B
            return Minimum(result, steps + part.steps, part.converged)
        B = minimize_columns(model, B, np.maximum(MODEL_TOL * before, 0.5 * goal), replace(until, tol=MODEL_TOL)).B
    return Minimum(result, steps, not going.any())


def _model(objective: LinearObjective, B: Array, S: tuple[Array, ...], G: Array, step: int) -> LinearObjective:
    """Return the model at B, given the scores and the gradient of all rows; the objective if it has most rows."""

    def choose(block: Block, loss: Loss, s: Array) -> tuple[Array, Array]:
        steep = np.abs(block.J * loss.slope(block.Y, s)) > STEEP
        chosen = (steep | (block.Y > 0)).any(axis=1)
        others = np.flatnonzero(~chosen)
        factors = chosen.astype(B.dtype)
        factors[others[::step]] = len(others) / max(1, len(others[::step]))
        rows = np.flatnonzero(factors)
        return rows, factors[rows]

    choices = objective.problem.map(choose, objective.losses, S)
    if sum(len(rows) for rows, _ in choices) > 0.5 * objective.problem.n:
        return objective
    model = objective.rows(choices)
    at_rows = tuple(s[rows] for s, (rows, _) in zip(S, choices, strict=True))
    return replace(model, linear=G - model.derivatives(B, at_rows)[0])
