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


RECORDER: ContextVar[Recorder | None] = ContextVar("recorder", default=None)
"""The recorder that runs the fits of this thread, if there is one."""


@contextmanager
def recording(recorder: Recorder) -> Iterator[None]:
    """Let a recorder run all fits in the block that are made in this thread."""
    token = RECORDER.set(recorder)
    try:
        yield
    finally:
        RECORDER.reset(token)
