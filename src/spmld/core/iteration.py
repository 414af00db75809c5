"""The outer iteration of all solvers: history, timing, callback and status."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from time import perf_counter
from typing import Any, Generic, TypeVar

StateT = TypeVar("StateT")
Record = dict[str, Any]
Callback = Callable[[Record], bool]
"""Called with the record of each iteration; returns whether to stop."""


class Status(Enum):
    """Reason why a solver stopped, with a message for the user."""

    CONVERGED = "The solver converged."
    COMPLETED = "All {max_iter} iterations were run, as requested by tol=None."
    STOPPED = "The callback stopped the solver."
    MAX_ITER = (
        "The maximum number of iterations (max_iter={max_iter}) was reached before convergence; "
        "increase max_iter or tol"
    )

    def message(self, max_iter: int) -> str:
        """Return the message."""
        return str(self.value).format(max_iter=max_iter)


@dataclass(frozen=True)
class Result(Generic[StateT]):
    """Final state of a solver, its status, and one record per iteration."""

    state: StateT
    status: Status
    history: list[Record]


def iterate(
    update: Callable[[int, StateT], tuple[StateT, Record, bool]],
    state: StateT,
    *,
    max_iter: int = 100,
    fixed: bool = False,
    callback: Callback | None = None,
    stage: str | None = None,
) -> Result[StateT]:
    """Apply `update` until it reports convergence, the callback returns True, or `max_iter` is reached.

    `update(number, state)` returns the new state, the entries of the record, and whether the solver has converged.
    Numbers count from 1. With `fixed`, reaching `max_iter` is the intended end.
    """
    history: list[Record] = []
    for number in range(1, max_iter + 1):
        started = perf_counter()
        state, entries, converged = update(number, state)
        heading = {"iteration": number} if stage is None else {"stage": stage, "iteration": number}
        history.append({**heading, **entries, "seconds": perf_counter() - started})
        if callback is not None and callback(history[-1]):
            return Result(state, Status.STOPPED, history)
        if converged:
            return Result(state, Status.CONVERGED, history)
    return Result(state, Status.COMPLETED if fixed else Status.MAX_ITER, history)
