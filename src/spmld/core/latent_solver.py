"""Algorithm 1 of the paper: block updates of the latent-label model, with extrapolation and pacing."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from math import isfinite
from operator import attrgetter
from typing import Any, NamedTuple

from spmld._arrays import Array, namespace
from spmld.core.bisection import Columns
from spmld.core.iteration import Callback, Iterations, Record, Result
from spmld.core.problem import Block, Problem, Rows, State, row_ranges
from spmld.core.steps import EXTRAPOLATION_GROWTH, MAX_EXTRAPOLATION, BlockUpdate, UpdateU, UpdateV, UpdateW, UpdateZ
from spmld.core.terms import Correlation, Objective

EXACT: tuple[BlockUpdate, ...] = (UpdateZ(), UpdateV(), UpdateU(), UpdateW())
REDUCTION = 0.1
"""Factor by which a block update reduces the gradient of its block."""
SMALL_OBJECTIVE = 1e-3
"""An objective below this fraction of its first value has converged if it changes by `tol` times that."""
COMPLETION_TOL = 1e-6
"""Tolerance of V for given U and W, which is cheap to compute accurately."""


def exact_steps(tol: float | None, *, reproducible: bool = False) -> tuple[BlockUpdate, ...]:
    """Return the exact block updates for a fit to `tol`; None for all iterations.

    An update that reduces the gradient of its block to a tenth has achieved about 99 % of the decrease that is possible
    while the other blocks are fixed. With `reproducible` the update of W is so accurate that results do not depend on
    the CPU. Its columns solve almost the same system, for which reorthogonalization does not help: only a solution
    close to convergence does, which takes much longer.
    """
    if tol is None:
        return EXACT
    if reproducible:
        return UpdateZ(), UpdateV(tol=REDUCTION), UpdateU(), UpdateW(tol=1e-10, max_iter=500)
    return UpdateZ(tol=REDUCTION), UpdateV(tol=REDUCTION, n_kept=0), UpdateU(tol=REDUCTION), UpdateW(tol=REDUCTION)


class PacedWeights(NamedTuple):
    """Self-paced weights of an iteration."""

    weights: Any
    """Weights in [0, 1], an array or, if the losses are columns in row blocks, row blocks."""
    penalty: float
    """Penalty of the pacing rule at the weights."""
    record: Mapping[str, float | None]
    """Entries for the history: threshold and diversity."""
    ended: bool
    """Whether the schedule stays constant from now on."""


Pacing = Callable[[int, Columns], PacedWeights]
"""Maps an iteration, counted from 0, and losses to weights in row blocks."""
NO_PACING = PacedWeights((), 0.0, {"threshold": None, "diversity": None}, True)
"""Weights stay 1."""


def solve_spmld(
    problem: Problem,
    objective: Objective,
    state: State,
    steps: Sequence[BlockUpdate] = EXACT,
    *,
    pacing: Pacing | None = None,
    extrapolate: bool = True,
    tol: float | None = 1e-3,
    max_iter: int = 100,
    callback: Callback | None = None,
    stage: str = "main",
) -> Result[State]:
    """Algorithm 1 of the paper: from U, V, W and Z, update Z, V, U, W and P in turn until the objective converges.

    Without pacing, P stays 1 (GLOCAL). It has converged when an iteration changes the objective by at most `tol` times
    its value, before P changes, and the schedule of lambda and gamma has ended or all weights are 1. With `tol` None,
    all iterations are run.
    """
    iterations = Iterations(max_iter, fixed=tol is None, callback=callback, stage=stage)
    initial = objective.value(problem, state)
    value = initial
    updated = state
    length = 1.0
    for t in iterations:
        before = value
        fit: float | None = None
        for _, group in groupby(steps, key=attrgetter("models_fit")):  # lines 3 to 8: Z; V and U; W; with P fixed
            state, value, fit = guarded(tuple(group), problem, objective, state, value, fit)
        terms = objective.values(problem, state, fit)
        last = updated
        updated = state
        if extrapolate and t > 1:  # not in the paper; saves iterations
            state, terms, length = try_extrapolation(problem, objective, last, state, terms, length)
        value = sum(terms.values())
        if not isfinite(value):
            raise FloatingPointError(f"the objective became {value} in iteration {t}")
        change = abs(before - value)
        state, paced = update_P(problem, objective, state, pacing, t)  # lines 9 and 10
        value, record = _describe(problem, objective, state, paced, terms)
        small = tol is not None and change <= tol * max(abs(before), SMALL_OBJECTIVE * abs(initial))
        iterations.record(record, small and t > 1 and (paced.ended or record["mean_weight"] >= 1))
    return iterations.result(state)


def solve_V(problem: Problem, objective: Objective, U: Array, b: Array, T: Array) -> Array:
    """Return V for given U, b and T = X W, with weights 1 and without correlation: a convex problem."""
    # The penalties of U and W are constants, relative to which changes would look small.
    ridge = replace(objective.ridge, tU=0.0, tW=0.0)
    objective = replace(objective, correlation=Correlation(), ridge=ridge)
    blocks = [T[s, :] for s in row_ranges(problem.counts)]
    rows = tuple(Rows(V=part, T=part, P=namespace(part).ones_like(part)) for part in blocks)
    state = State(U=U, b=b, W=0 * T[:1, :], Z=U[None, :0, :], rows=rows)
    steps = (UpdateV(tol=REDUCTION),)
    return solve_spmld(problem, objective, state, steps, extrapolate=False, max_iter=20, tol=COMPLETION_TOL).state.V


def update_P(
    problem: Problem, objective: Objective, state: State, pacing: Pacing | None, t: int
) -> tuple[State, PacedWeights]:
    """Return the state with new P, and the weights with lambda and gamma of the schedule in iteration t."""
    if pacing is None:
        return state, NO_PACING
    losses = problem.map(lambda block, rows: objective.coupling.losses(rows.V, rows.T), state.rows)
    paced = pacing(t - 1, Columns(losses, 0 * state.U[0, :], problem.engine))
    rows = problem.map(lambda block, rows, P: replace(rows, P=P), state.rows, paced.weights)
    return replace(state, rows=rows), paced


def guarded(
    steps: Sequence[BlockUpdate],
    problem: Problem,
    objective: Objective,
    state: State,
    ceiling: float,
    fit: float | None = None,
) -> tuple[State, float, float | None]:
    """Apply steps with the close model of the fit, or with the safe model if the objective rises above `ceiling`.

    Returns the state, an upper bound on its objective, and the value of its fit, or None if that was not computed. The
    squared loss is its own model, and steps that do not model the fit cannot raise the objective, so these are not
    evaluated. Either all steps model the fit, or none does.
    """
    new = state
    for step in steps:
        new = step(problem, objective, new, False)
    if not steps[0].models_fit:
        return new, ceiling, fit
    if objective.fit.loss.quadratic:
        return new, ceiling, None
    terms = objective.values(problem, new)
    value = sum(terms.values())
    if value <= ceiling:
        return new, value, terms["fit"]
    for step in steps:
        state = step(problem, objective, state, True)
    return state, ceiling, None


def try_extrapolation(
    problem: Problem, objective: Objective, old: State, new: State, terms: dict[str, float], length: float
) -> tuple[State, dict[str, float], float]:
    """Extrapolate from `old` through `new` by `length`, if this lowers the objective, whose terms at `new` are given.

    X W is linear in W, so no product with X is needed. Returns the state, its terms, and the next length to try.
    """

    def beyond(a: Array, b: Array) -> Array:
        return b + length * (b - a)

    def beyond_rows(block: Block, q: Rows, p: Rows) -> Rows:
        return replace(q, V=beyond(p.V, q.V), T=beyond(p.T, q.T))

    rows = problem.map(beyond_rows, new.rows, old.rows)
    far = replace(new, U=beyond(old.U, new.U), b=beyond(old.b, new.b), W=beyond(old.W, new.W), rows=rows)
    far_terms = objective.values(problem, far)
    if sum(far_terms.values()) < sum(terms.values()):
        return far, far_terms, min(EXTRAPOLATION_GROWTH * length, MAX_EXTRAPOLATION)
    return new, terms, 0.5 * length


def _describe(
    problem: Problem, objective: Objective, state: State, paced: PacedWeights, terms: dict[str, float]
) -> tuple[float, Record]:
    """Return the objective without the penalty of the pacing, and the record, given the terms before P changed."""
    xp = namespace(state.U)

    def sum_block(block: Block, rows: Rows) -> tuple[Array, Array]:
        return xp.sum(rows.P, axis=0), objective.coupling.value(rows.V, rows.T, rows.P)

    sums, coupling = problem.sum(sum_block, state.rows)
    means = sums / problem.n
    terms = terms | {"coupling": float(coupling)}
    weights = {"mean_weight": float(xp.mean(means)), "mean_weight_per_component": [float(mean) for mean in means]}
    value = sum(terms.values())
    return value, {"objective": value + paced.penalty, **terms, "pacing": paced.penalty, **weights, **paced.record}
