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
import scipy.sparse as sp
from scipy.linalg import solve_triangular

from spmld.core.linear_objective import LinearObjective
from spmld.core.losses import Array, Loss
from spmld.core.newton import Minimum, Tolerances, goals, minimize_columns, tiny
from spmld.core.problem import Block

STEP = 48
"""m at first. It is divided by 3 after an iteration that does not halve the norms of the gradients."""
STEEP = 0.05
"""Slope of the loss of an entry from which its row is always in R, if it is 4 times the mean slope of the label."""
COLUMNS = 32
"""Minimum number of labels in a group: products with X are faster, and rows are shared."""
MODEL_TOL = 0.3
"""Norm of the gradient at the minimum of a model, relative to the norm at the current B."""
MODEL_TOLERANCES = Tolerances(MODEL_TOL, max_iter=6, cg_iter=10)
"""Maximum numbers of Newton steps for a model, and of conjugate gradients in a step: the next model corrects the labels
that need more. So few conjugate gradients need no reorthogonalization."""
RIDGE = 1e-5
"""Added to the diagonal of X X^T, relative to its mean, so that it is positive definite."""
FEW_OTHERS = 0.1
"""Fraction of entries up to which a sparse product with them is faster."""
FEW_ROWS = 700
"""Number of rows up to which a model is minimized in the space of its rows."""


def minimize_rare_labels(objective: LinearObjective, B: Array, intercepts: Array | None, until: Tolerances) -> Minimum:
    """Minimize for all columns at once, by models of the objective on few rows, as described in `newton_minimize`.

    Arrays are those of NumPy. The last row of B are the intercepts.
    """
    active, result, step, before = np.arange(B.shape[1]), B.copy(), STEP, np.inf
    intercepts = B[-1] if intercepts is None else intercepts
    S = objective.scores_at_zero(B, intercepts)
    G = _gradient_at_intercepts(objective, S)
    goal = goals(objective, G, until.tol)
    for steps in range(until.max_iter + 1):
        if steps > 0 or B[:-1].any() or (B[-1] != intercepts).any():
            S = objective.scores(B)
            G = objective.derivatives(B, S)[0]
        norm = objective.norm(G)
        result[:, active] = B
        going = norm > goal
        if not going.any() or steps == until.max_iter:
            break
        step = max(1, step // 3) if (norm > 0.5 * before)[going].any() else step
        active, objective, goal, before = active[going], objective.columns(going), goal[going], norm[going]
        B, G, S = B[:, going], G[:, going], tuple(s[:, going] for s in S)
        model = _model(objective, B, S, G, step)
        if model is objective:
            part = minimize_columns(objective, B, goal, until)
            result[:, active] = part.B
            return Minimum(result, steps + part.steps, part.converged)
        B = _minimize_model(model, B, np.maximum(MODEL_TOL * before, 0.5 * goal))
    return Minimum(result, steps, not going.any())


def _gradient_at_intercepts(objective: LinearObjective, S: tuple[Array, ...]) -> Array:
    """Return the gradient at coefficients of 0, given the scores, which are then the same in all rows.

    If most entries of a column have the same weight and sign, they have the same slope. The product with X is that of a
    constant and of the few other entries.
    """

    def pull(block: Block, loss: Loss, s: Array) -> Array:
        D = block.J * loss.slope(block.Y, s)
        constant = np.max(D, axis=0)
        others = D - constant
        if not sp.issparse(block.X) or np.count_nonzero(others) > FEW_OTHERS * others.size:
            return objective.design.pull(block, D)
        G = (block.XT @ sp.csr_array(others)).toarray()
        G = G + block.XT @ np.ones(block.n, D.dtype)[:, None] * constant
        return np.concatenate([G, np.sum(D, axis=0, keepdims=True)])

    return objective.problem.sum(pull, objective.losses, S)


def _model(objective: LinearObjective, B: Array, S: tuple[Array, ...], G: Array, step: int) -> LinearObjective:
    """Return the model at B, given the scores and the gradient of all rows; the objective if it has most rows."""

    def choose(block: Block, loss: Loss, s: Array) -> tuple[Array, Array]:
        slope = np.abs(block.J * loss.slope(block.Y, s))
        steep = slope > np.maximum(STEEP * np.max(block.J, axis=0), 4 * np.mean(slope, axis=0))
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


def _minimize_model(model: LinearObjective, B: Array, goal: Array, until: Tolerances = MODEL_TOLERANCES) -> Array:
    """Return the approximate minimum of a model with one block.

    It is W = X^T A - L / t for some A. With few rows, A is computed: for the Cholesky factor H of X X^T, the model is
    that of features H with coefficients H^T A and an offset, and has a matrix of rows by rows instead of X.
    """
    (block,), t = model.problem.blocks, model.penalty.t
    if block.n > FEW_ROWS or model.linear is None:
        return minimize_columns(model, B, goal, until).B
    L, X = model.linear[:-1] / t, block.X
    K = (X @ X.T).toarray() if sp.issparse(X) else X @ X.T
    H = np.linalg.cholesky(K + (RIDGE * np.trace(K) / block.n + tiny(B)) * np.eye(block.n, dtype=K.dtype))
    offset = -(X @ L)
    start = solve_triangular(H, X @ B[:-1] - offset, lower=True)
    problem = replace(model.problem, blocks=(replace(block, X=H),), n_features=block.n)
    linear = np.concatenate([0 * start, model.linear[-1:]])
    offsets = tuple(offset + first for first in model.offsets)
    reduced = replace(model, problem=problem, offsets=offsets, linear=linear)
    C = minimize_columns(reduced, np.concatenate([start, B[-1:]]), goal, until).B
    return np.concatenate([X.T @ solve_triangular(H, C[:-1], trans=1, lower=True) - L, C[-1:]])
