"""The recorder of the fits in a block, such as `spmld.export.Checkpoint`.

A context variable passes it on, because the fits of pipelines and searches of scikit-learn have no argument for it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol


class Recorder(Protocol):
    """Stores finished fits."""

    def fit(self, estimator: Any, samples: Any) -> None:
        """Fit an estimator to validated samples by its method `_fit`, or restore its fitted attributes."""
        ...


_recorder: ContextVar[Recorder | None] = ContextVar("recorder", default=None)


@contextmanager
def recording(recorder: Recorder) -> Iterator[None]:
    """Let a recorder run all fits in the block that are made in this thread."""
    token = _recorder.set(recorder)
    try:
        yield
    finally:
        _recorder.reset(token)


def record_fit(estimator: Any, samples: Any) -> None:
    """Fit an estimator by the recorder of the context if there is one."""
    recorder = _recorder.get()
    if recorder is None:
        estimator._fit(samples)
    else:
        recorder.fit(estimator, samples)
