"""Recording of fits: a recorder, such as `spmld.persistence.Checkpoint`, can store finished fits and restore them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

Recorder = Callable[[Any, tuple[Any, ...]], None]
"""``recorder(estimator, inputs)`` calls ``estimator._fit(*inputs)``, or sets the fitted attributes itself."""
_recorder: ContextVar[Recorder | None] = ContextVar("recorder", default=None)


@contextmanager
def recording(recorder: Recorder) -> Iterator[None]:
    """Let a recorder run all fits in the block that are made in this thread.

    Parameters
    ----------
    recorder : callable
        ``recorder(estimator, inputs)`` must fit the estimator, such as by ``estimator._fit(*inputs)``. The inputs are
        the validated features, labels and entry weights.

    Examples
    --------
    >>> from spmld import LabelPrior
    >>> from spmld.estimators.recording import recording
    >>> def count(estimator, inputs):
    ...     print(type(estimator).__name__, inputs[0].shape)
    ...     estimator._fit(*inputs)
    >>> with recording(count):
    ...     model = LabelPrior().fit([[0], [1]], [[1, 0], [0, 1]])
    LabelPrior (2, 1)
    """
    token = _recorder.set(recorder)
    try:
        yield
    finally:
        _recorder.reset(token)


def run_fit(estimator: Any, *inputs: Any) -> None:
    """Fit an estimator to validated inputs, through the recorder if there is one."""
    recorder = _recorder.get()
    if recorder is None:
        estimator._fit(*inputs)
    else:
        recorder(estimator, inputs)
