"""What follows the fits: callbacks, log lines, convergence warnings, and the recorder of finished fits."""

import logging
import sys
import warnings
from contextvars import ContextVar
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from spmld.core.iteration import Record, Result, Status

RECORDER: ContextVar[Any] = ContextVar("recorder", default=None)
"""The `spmld.export.Checkpoint` that runs the fits of this thread, and stores or restores them, if there is one."""
LOG = logging.getLogger("spmld")
_LIBRARIES = ("spmld", "sklearn", "joblib")


def max_iterations(estimator: Any) -> int | None:
    """Return the maximum number of records of a fit, or None for an estimator that is not iterative.

    Examples
    --------
    >>> from spmld import SPMLD, LabelPrior
    >>> from spmld.estimators.progress import max_iterations
    >>> max_iterations(SPMLD(n_warmup_iter=2, max_iter=10)), max_iterations(LabelPrior())
    (12, None)
    """
    if not hasattr(estimator, "callback"):
        return None
    if hasattr(estimator, "_max_iterations"):
        return int(estimator._max_iterations())
    return int(getattr(estimator, "n_warmup_iter", 0) + estimator.max_iter)


def report_progress(estimator: Any, record: Record) -> bool:
    """Log the record of an iteration, pass it to the callback, and return whether to stop."""
    if estimator.verbose:
        LOG.info("%s: %s", type(estimator).__name__, format_record(record))
    return estimator.callback is not None and bool(estimator.callback(record))


def format_record(record: Record) -> str:
    """Return the strings and numbers of a record as text; lists are left out.

    Examples
    --------
    >>> from spmld.estimators.progress import format_record
    >>> format_record({"stage": "main", "iteration": 3, "objective": 12.34567, "mean_weight_per_label": [0.5, 0.7]})
    'stage main, iteration 3, objective 12.35'
    """
    shown = {name: value for name, value in record.items() if isinstance(value, (str, int, float, dict))}
    return ", ".join(
        f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}" for name, value in shown.items()
    )


def set_history(estimator: Any, result: Result[Any]) -> None:
    """Set `history_` and `n_iter_`, and warn if the solver did not converge."""
    estimator.history_ = result.history
    estimator.n_iter_ = len(result.history)
    if result.status is Status.MAX_ITER:
        warn_not_converged(estimator, result.status.message(estimator.max_iter))


def warn_not_converged(estimator: Any, message: str) -> None:
    """Issue a ConvergenceWarning."""
    warn_caller(f"{type(estimator).__name__}: {message}", ConvergenceWarning)


def warn_caller(message: str, category: type[Warning]) -> None:
    """Issue a warning that points at the first line outside the libraries that called `fit`."""
    level = 2
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in _LIBRARIES:
        level += 1
        frame = frame.f_back
    warnings.warn(message, category, stacklevel=level)
