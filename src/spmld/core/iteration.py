"""The outer iteration of all solvers: history, timing, callback and status."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
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


@dataclass
class Iterations:
    """The numbers of the iterations of a solver, from 1, each followed by its `record`, until the status is final.

    Examples
    --------
    >>> from spmld.core.iteration import Iterations
    >>> x = 1.0
    >>> iterations = Iterations(max_iter=100)
    >>> for _ in iterations:
    ...     x = x / 2
    ...     iterations.record({"objective": x}, converged=x < 0.2)
    >>> x, iterations.status.name
    (0.125, 'CONVERGED')
    """

    max_iter: int = 100
    fixed: bool = False
    """Whether reaching `max_iter` is the intended end."""
    callback: Callback | None = None
    stage: str | None = None
    history: list[Record] = field(default_factory=list)
    status: Status = Status.MAX_ITER

    def __iter__(self) -> Iterator[int]:
        for number in range(1, self.max_iter + 1):
            self._started = perf_counter()
            yield number
            if self.status in (Status.STOPPED, Status.CONVERGED):
                return
        self.status = Status.COMPLETED if self.fixed else Status.MAX_ITER

    def record(self, entries: Record, converged: bool) -> None:
        """Add the record of an iteration to the history, and stop if the callback says so, or if it has converged."""
        heading: Record = {} if self.stage is None else {"stage": self.stage}
        heading["iteration"] = len(self.history) + 1
        self.history.append({**heading, **entries, "seconds": perf_counter() - self._started})
        if self.callback is not None and self.callback(self.history[-1]):
            self.status = Status.STOPPED
        elif converged:
            self.status = Status.CONVERGED

    def result(self, state: StateT) -> Result[StateT]:
        """Return the final state with the status and the history."""
        return Result(state, self.status, self.history)
