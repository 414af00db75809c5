"""How a fit goes on: a callback, a line in the log, scikit-learn's own callbacks after each round, and a warning."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from spmld.estimators._inputs import is_integer, require

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # before scikit-learn 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""

    def with_callbacks(method: Any) -> Any:
        """Nothing to end."""
        return method


__all__ = ["CallbackSupportMixin", "check_progress", "most_rounds", "rounds", "warn_of_limit"]

LOG = logging.getLogger("spmld")
Record = dict[str, Any]
_BETWEEN = ("spmld", "sklearn", "joblib")


def check_progress(estimator: Any) -> None:
    """Refuse parameters `callback` and `verbose` that are none."""
    callback, verbose = estimator.callback, estimator.verbose
    require(estimator, "callback", "None or a function of a round's record", callback is None or callable(callback))
    known = isinstance(verbose, (bool, np.bool_)) or (is_integer(verbose) and verbose >= 0)
    require(estimator, "verbose", "True, False or an integer of 0 or more", known)


def most_rounds(estimator: Any) -> int | None:
    """How many records a fit gives at most; None for an estimator without rounds."""
    if not hasattr(estimator, "callback"):
        return None
    if hasattr(estimator, "_most_rounds"):
        return int(estimator._most_rounds())
    return int(getattr(estimator, "n_warmup_iter", 0) + estimator.max_iter)


@contextmanager
def rounds(estimator: Any) -> Iterator[Callable[[Record], bool]]:
    """A function that takes the record of each round, at its end, and says whether to stop."""
    context = None
    if hasattr(estimator, "_skl_callbacks"):  # set by set_callbacks
        context = estimator._init_callback_context(max_subtasks=most_rounds(estimator))
        context.call_on_fit_task_begin(estimator=estimator)

    def report(record: Record) -> bool:
        if estimator.verbose:
            LOG.info("%s: %s", type(estimator).__name__, line(record))
        stop = estimator.callback is not None and bool(estimator.callback(record))
        if context is not None:
            task = context.subcontext(task_name="iteration").call_on_fit_task_begin(estimator=estimator)
            stop = task.call_on_fit_task_end(estimator=estimator) or stop
        return stop

    try:
        yield report
        if context is not None:
            context.call_on_fit_task_end(estimator=estimator)
    finally:
        _end(estimator)


@with_callbacks
def _end(estimator: Any) -> None:
    """Let scikit-learn's callbacks clean up, which the decorator does when a function of an estimator returns."""


def line(record: Record) -> str:
    """A record as text: its words and numbers, without what is listed for each label.

    Examples
    --------
    >>> from spmld.estimators._progress import line
    >>> line({"stage": "main", "iteration": 3, "objective": 12.34567, "mean_weight_per_label": [0.5, 0.7], "threshold": None})
    'stage main, round 3, objective 12.35'
    """
    shown = {name: value for name, value in record.items() if isinstance(value, (str, int, float, dict))}
    return ", ".join(
        f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}" for name, value in shown.items()
    )


def warn_of_limit(estimator: Any, why: str) -> None:
    """Warn that a fit ended before it was done, at the line of the user that asked for it.

    A fit may stand inside others, such as those of `SelfPacedEnsemble` or a search of scikit-learn, so that lines are counted.
    """
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in _BETWEEN:
        level, frame = level + 1, frame.f_back
    warnings.warn(f"{type(estimator).__name__}: {why}", ConvergenceWarning, stacklevel=level)
