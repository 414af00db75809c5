"""The loop: rounds of block updates, a leap along their common direction, and the pacing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from math import isfinite
from time import perf_counter
from typing import Any, Protocol

from array_api_compat import array_namespace

from spmld.core.correlation import update_Z
from spmld.core.losses import Array
from spmld.core.problem import Problem, State, set_rows
from spmld.core.steps import Step, update_U, update_V, update_W
from spmld.core.terms import Objective
from spmld.pacing.functions import PacingParameters
from spmld.pacing.groups import Blocks, Columns, Groups

EXACT: tuple[Step, ...] = (update_Z, update_V, update_U, update_W)
MODELLED: tuple[Step, ...] = (update_V, update_U)


def exact_steps(tol: float | None) -> tuple[Step, ...]:
    """The exact steps, their linear systems solved as closely as a fit to `tol` asks for.

    The energy of a conjugate-gradient iterate is off by about the square of its residual.
    """
    if tol is None:
        return EXACT
    residual = max(0.03 * tol**0.5, 1e-12)
    return update_Z, partial(update_V, tol=residual / 10), update_U, partial(update_W, tol=residual)


class PacingRule(Protocol):
    """What the loop asks of a pacing."""

    def parameters(self, round: int, losses: Blocks, groups: Groups) -> PacingParameters:
        """Threshold and diversity of a round."""
        ...

    def weights(self, losses: Blocks, parameters: PacingParameters, groups: Groups) -> tuple[Array, ...]:
        """The weights for given losses."""
        ...

    def penalty(self, weights: Blocks, parameters: PacingParameters, groups: Groups) -> Array:
        """The term the weights are the minimiser of, together with the weighted losses."""
        ...

    def has_ended(self, round: int) -> bool:
        """Whether later rounds are of the same parameters."""
        ...


class Status(Enum):
    """How a fit ended, with what to tell the user."""

    CONVERGED = "the updates of a round changed the objective by less than tol"
    ROUNDS = "ran the rounds asked for, tol is None"
    STOPPED = "the callback asked to stop"
    LIMIT = "max_iter rounds were not enough for the objective to settle: raise max_iter or tol"


@dataclass(frozen=True)
class Result:
    """Where a fit ended, how, and how it got there."""

    state: State
    status: Status
    history: list[dict[str, Any]]


def solve(
    problem: Problem,
    objective: Objective,
    state: State,
    steps: Sequence[Step] = EXACT,
    *,
    pacing: PacingRule | None = None,
    leap: bool = True,
    max_iter: int = 100,
    tol: float | None = 1e-3,
    callback: Callable[[dict[str, Any]], bool] | None = None,
) -> Result:
    """Run rounds of `steps`, and of the pacing, until the objective settles.

    It has settled when the updates of a round, before the pacing changes the weights, change it by less than `tol` of its
    value, and the schedule of the pacing has ended or all weights are 1. `callback` gets the record of each round and
    says whether to stop.
    """
    history: list[dict[str, Any]] = []
    groups = Columns(problem.engine)
    status = Status.ROUNDS if tol is None else Status.LIMIT
    value = first = objective.value(problem, state)
    length = 1.0
    for round in range(max_iter):
        started = perf_counter()
        before, old = value, state
        for step in steps:
            state, value = guarded(step, problem, objective, state, value)
        value = objective.value(problem, state)
        if leap and round > 0:
            state, value, length = try_leap(problem, objective, old, state, value, length)
        if not isfinite(value):
            raise FloatingPointError(f"the objective became {value} in round {round + 1}")
        change = abs(before - value)
        parameters, penalty = None, 0.0
        if pacing is not None:
            losses = problem.map(lambda block, rows: objective.coupling.losses(rows.V, rows.T), state.rows)
            parameters = pacing.parameters(round, losses, groups)
            state = set_rows(state, P=pacing.weights(losses, parameters, groups))
            penalty = float(pacing.penalty([r.P for r in state.rows], parameters, groups))
        terms = objective.values(problem, state)
        value = sum(terms.values())
        history.append(
            {
                "iteration": round + 1,
                "objective": value + penalty,
                **terms,
                "pacing": penalty,
                **_weights_in_use(problem, state),
                **_describe(parameters),
                "seconds": perf_counter() - started,
            }
        )
        if callback is not None and callback(history[-1]):
            status = Status.STOPPED
            break
        settled = pacing is None or pacing.has_ended(round) or history[-1]["mean_weight"] >= 1
        # An objective that falls to almost nothing of its first value has settled too.
        if tol is not None and round > 0 and settled and change <= tol * max(abs(before), 1e-3 * abs(first)):
            status = Status.CONVERGED
            break
    return Result(state, status, history)


def guarded(step: Step, problem: Problem, objective: Objective, state: State, ceiling: float) -> tuple[State, float]:
    """The step with the close model of the fit; with the safe one should it take the objective above `ceiling`.

    Returns the state and a bound on its objective. The squared loss is its own model, and steps that do not touch the
    fit need none: there is nothing to look at.
    """
    new = step(problem, objective, state, False)
    if objective.fit.exact or getattr(step, "func", step) not in MODELLED:
        return new, ceiling
    value = objective.value(problem, new)
    if value <= ceiling:
        return new, value
    return step(problem, objective, state, True), ceiling


def try_leap(
    problem: Problem, objective: Objective, old: State, new: State, value: float, length: float
) -> tuple[State, float, float]:
    """Go on from `new` by `length` times the way from `old`, if that takes the objective below `value`.

    X W is linear in W, so a leap costs no product with X. Returns the state, its value, and the length to try next.
    """

    def on(a: Array, b: Array) -> Array:
        return b + length * (b - a)

    rows = tuple(replace(q, V=on(p.V, q.V), T=on(p.T, q.T)) for p, q in zip(old.rows, new.rows, strict=True))
    far = replace(new, U=on(old.U, new.U), b=on(old.b, new.b), W=on(old.W, new.W), rows=rows)
    far_value = objective.value(problem, far)
    if far_value < value:
        return far, far_value, min(1.5 * length, 30.0)
    return new, value, 0.5 * length


def _weights_in_use(problem: Problem, state: State) -> dict[str, Any]:
    xp = array_namespace(state.U)
    share = problem.sum(lambda block, rows: xp.sum(rows.P, axis=0), state.rows) / problem.n
    return {"mean_weight": float(xp.mean(share)), "mean_weight_per_component": [float(s) for s in share]}


def _describe(parameters: PacingParameters | None) -> dict[str, float | None]:
    """Threshold and diversity; their means over the columns where each has its own."""
    if parameters is None:
        return {"threshold": None, "diversity": None}

    def mean(value: Any) -> float:
        return float(value.mean()) if hasattr(value, "mean") else float(value)

    return {"threshold": mean(parameters.threshold), "diversity": mean(parameters.diversity)}
