"""Recording of fits: a recorder, such as `spmld.persistence.Checkpoint`, can store finished fits and restore them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

Recorder = Callable[[Any, Callable[..., None], tuple[Any, ...]], None]
"""``recorder(estimator, fit, inputs)`` calls ``fit(*inputs)``, or sets the fitted attributes itself."""
_recorder: ContextVar[Recorder | None] = ContextVar("recorder", default=None)


@contextmanager
def recording(recorder: Recorder) -> Iterator[None]:
    """Let a recorder run all fits in the block that are made in this thread.

    Parameters
    ----------
    recorder : callable
        ``recorder(estimator, fit, inputs)`` must fit the estimator, such as by ``fit(*inputs)``. The inputs are the
        validated features, labels and entry weights, or the `BlockData` of features that are not in memory.

    Examples
    --------
    >>> from spmld import LabelPrior
    >>> from spmld.estimators.recording import recording
    >>> def count(estimator, fit, inputs):
    ...     print(type(estimator).__name__, inputs[0].shape)
    ...     fit(*inputs)
    >>> with recording(count):
    ...     model = LabelPrior().fit([[0], [1]], [[1, 0], [0, 1]])
    LabelPrior (2, 1)
    """
    token = _recorder.set(recorder)
    try:
        yield
    finally:
        _recorder.reset(token)


def run_fit(estimator: Any, fit: Callable[..., None], *inputs: Any) -> None:
    """Call `fit`, a method of the estimator, with validated inputs; through the recorder if there is one."""
    recorder = _recorder.get()
    if recorder is None:
        fit(*inputs)
    else:
        recorder(estimator, fit, inputs)
