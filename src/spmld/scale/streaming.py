"""Operations on row blocks that are read one after the other, with variables in memory or in temporary files."""

import pickle  # nosec B403
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

from spmld._arrays import n_bytes
from spmld.core.lazy_matrix import LazyMatrix, SelectedRows, loaded
from spmld.core.problem import Engine


class RemoteEngine(Engine):
    """Base class of engines whose blocks are not in memory."""

    selects_labels: ClassVar[bool] = False
    threaded: ClassVar[bool] = False
    max_loaded: ClassVar[int | None] = 20_000
    steps_per_pass: ClassVar[int] = 4

    def in_memory(self, rows: Sequence[Any]) -> tuple[Any, ...]:
        """Return an empty tuple."""
        return ()

    def select(self, X: Sequence[Any], chosen: Sequence[Any]) -> tuple[Any, ...]:
        """Return some rows of features, which are not copied."""
        return self.map(SelectedRows, X, chosen)

    def divide(
        self, blocks: tuple[Any, ...], counts: tuple[int, ...], max_rows: int | None = None
    ) -> tuple[tuple[Any, ...], tuple[int, ...]]:
        """Return the blocks as they are."""
        return blocks, counts


class StreamEngine(RemoteEngine):
    """Applies functions to one block after the other.

    Parameters
    ----------
    memory : float
        Maximum number of bytes of the values of blocks that are kept in memory. Others are stored in temporary files.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.scale.streaming import StreamEngine
    >>> engine = StreamEngine(memory=1000)
    >>> squares = engine.map(np.square, [np.arange(200.0), np.arange(3.0)])
    >>> [value.stored for value in squares], float(engine.sum(np.sum, squares))
    ([True, False], 2646705.0)
    """

    def __init__(self, memory: float):
        self.memory, self.used = memory, 0
        self.recent: dict[str, Any] = {}
        self._directory = tempfile.TemporaryDirectory(prefix="spmld-")
        self._names = count()

    def results(self, function: Callable[..., Any], *rows: Sequence[Any]) -> Iterator[Any]:
        """Yield the results of `function` for the arguments of each block."""
        return (function(*map(_load, args)) for args in zip(*rows, strict=True))

    def map(self, function: Callable[..., Any], *rows: Sequence[Any]) -> tuple[Any, ...]:
        """Apply `function` to the arguments of each block."""
        return tuple(_Value(self, result) for result in self.results(function, *rows))

    def gather(self, rows: Sequence[Any]) -> tuple[Any, ...]:
        """Return the values of all blocks in memory."""
        return tuple(map(_load, rows))

    def transform(self, function: Callable[[Any], Any], X: Sequence[Any], *, keep: bool = False) -> tuple[Any, ...]:
        """Apply a function to features each time they are read, or once if the result is to be kept."""
        matrices = self.gather(X)
        if not keep:
            reads = [A.read if isinstance(A, LazyMatrix) else A.load for A in matrices]
            pairs = zip(reads, matrices, strict=True)
            return tuple(LazyMatrix(partial(_compose, function, read), A.shape, self.recent) for read, A in pairs)
        values = self.map(lambda A: function(loaded(A)), matrices)
        width = values[0].load().shape[1]
        stored = zip(values, matrices, strict=True)
        return tuple(LazyMatrix(value.load, (A.shape[0], width), self.recent) for value, A in stored)

    def file(self) -> Path:
        """Return the path of a new temporary file."""
        return Path(self._directory.name) / f"{next(self._names)}.pickle"

    def release(self, size: int) -> None:
        """Subtract the size of a value that is no longer used."""
        self.used -= size


class _Value:
    """The value of a block, in memory or in a file that is deleted with it."""

    def __init__(self, engine: StreamEngine, value: Any):
        size = n_bytes(value)
        self.stored = engine.used + size > engine.memory and size > 1000
        if not self.stored:
            self._value = value
            engine.used += size
            weakref.finalize(self, engine.release, size)
            return
        self._lazy: list[LazyMatrix] = []
        self._engine, self._path = engine, engine.file()
        with self._path.open("wb") as file:
            _Pickler(file, self._lazy).dump(value)
        weakref.finalize(self, self._path.unlink, missing_ok=True)

    def load(self) -> Any:
        """Return the value."""
        if not self.stored:
            return self._value
        with self._path.open("rb") as file:
            return _Unpickler(file, self._lazy).load()


def _load(value: Any) -> Any:
    return value.load() if isinstance(value, _Value) else value


def _compose(outer: Callable[[Any], Any], inner: Callable[[], Any]) -> Any:
    return outer(inner())


class _Pickler(pickle.Pickler):
    """Writes references in place of lazy matrices, whose files and functions need not be copied."""

    def __init__(self, file: Any, matrices: list[LazyMatrix]):
        super().__init__(file, protocol=5)
        self._matrices = matrices

    def persistent_id(self, value: Any) -> int | None:
        """Return the position of a matrix among all matrices."""
        if not isinstance(value, LazyMatrix):
            return None
        self._matrices.append(value)
        return len(self._matrices) - 1


class _Unpickler(pickle.Unpickler):
    """Reads what `_Pickler` has written."""

    def __init__(self, file: Any, matrices: list[LazyMatrix]):
        super().__init__(file)
        self._matrices = matrices

    def persistent_load(self, index: int) -> LazyMatrix:
        """Return the matrix at a position."""
        return self._matrices[index]
