"""Operations on chunks of rows on the workers of a Dask cluster."""

import pickle  # nosec B403
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from operator import add
from typing import Any, ClassVar
from uuid import uuid4

import numpy as np

from spmld._arrays import row_slices
from spmld._io import need
from spmld.core.problem import Block, Combine, Engine, combine_parts

SMALL = 10_000
"""Size in bytes up to which a function is sent with each task."""
SLICE_BYTES = 100_000
"""Maximum size in bytes of the scores of a slice. The system allocates arrays of 128 KiB and more."""
FAN_IN = 8
"""Number of partial sums that are added in one task."""


@dataclass(frozen=True, eq=False)
class DaskEngine(Engine):
    """Applies functions to chunks on the workers where they are.

    Values of chunks are futures. A function is sent once to each worker, with the arrays that it uses. Sums are
    computed on the workers as a tree, in the order of the chunks: the result does not depend on which task ends first.
    """

    in_memory: ClassVar[bool] = False
    steps_per_pass: ClassVar[int] = 4

    client: Any = None
    """The ``distributed.Client`` of the cluster."""

    @staticmethod
    def rounded(A: Any) -> Any:
        """Return an array in single precision if its values are in the range, so that half of the bytes are sent.

        Newton's method corrects the error, because gradients are not rounded.
        """
        limits = np.finfo(np.float32)
        size = np.abs(A)
        in_range = (size == 0) | ((size >= limits.smallest_normal) & (size <= limits.max))
        return A.astype(np.float32, copy=False) if in_range.all() else A

    def map(self, function: Callable[..., Any], *rows: Sequence[Any]) -> tuple[Any, ...]:
        """Apply `function` to the arguments of each chunk."""
        return tuple(self._submit("map", _apply, [self._send(function)] * len(rows[0]), *rows))

    def sum(self, function: Callable[..., Any], *rows: Sequence[Any], combine: Combine = add) -> Any:
        """Sum an array, or each array of a tuple, over the chunks."""
        n = len(rows[0])
        parts = self._submit("part", _sum, [combine] * n, [self._send(function)] * n, *rows)
        while len(parts) > 1:
            groups = [parts[i : i + FAN_IN] for i in range(0, len(parts), FAN_IN)]
            parts = self._submit("sum", _combine, [combine] * len(groups), groups)
        return parts[0].result()

    def sliced(self, blocks: Sequence[Any]) -> tuple[Any, ...]:
        """Return blocks in slices whose temporary arrays are small.

        Workers return the memory of large ones to the system at once, and getting it again takes longer than computing.
        """
        return self.map(partial(_cut, size=SLICE_BYTES), blocks)

    def gather(self, rows: Sequence[Any]) -> tuple[Any, ...]:
        """Return the values of all chunks in the memory of the client."""
        return tuple(self.client.gather(list(rows)))

    def _submit(self, name: str, function: Callable[..., Any], *arguments: Sequence[Any]) -> list[Any]:
        """Submit one task for each set of arguments, in one graph."""
        return list(self.client.map(function, *arguments, key=f"spmld-{name}-{uuid4().hex}", pure=False))

    def _send(self, function: Callable[..., Any]) -> Any:
        """Return a function, or a future of it if it has large arrays."""
        packed = need("cloudpickle", "dask").dumps(function)
        if len(packed) <= SMALL:
            return packed
        return self.client.submit(bytes, packed, key=f"spmld-send-{uuid4().hex}", pure=False)


class Slices(tuple[Any, ...]):
    """Values for slices of the rows of a chunk, to which functions are applied one after the other."""


def _cut(block: Block, size: int) -> Slices:
    """Return slices of a block, with at least as many rows as features: adding their sums should not take longest."""
    n_rows = max(block.X.shape[1], size // (block.width * block.X.dtype.itemsize))
    return Slices(block.rows(s) for s in row_slices(len(block.group), 1, n_rows))


def _apply(packed: bytes, *arguments: Any) -> Any:
    function = pickle.loads(packed)  # nosec B301
    n = next((len(argument) for argument in arguments if isinstance(argument, Slices)), 0)
    if not n:
        return function(*arguments)
    return Slices(map(function, *(a if isinstance(a, Slices) else [a] * n for a in arguments)))


def _sum(combine: Combine, packed: bytes, *arguments: Any) -> Any:
    value = _apply(packed, *arguments)
    return _combine(combine, value) if isinstance(value, Slices) else value


def _combine(combine: Combine, parts: Sequence[Any]) -> Any:
    return reduce(lambda a, b: combine_parts(combine, a, b), parts)


def active_client() -> Any:
    """Return the active client of Dask."""
    try:
        return need("distributed", "dask").get_client()
    except ValueError:
        raise ValueError(
            "no Dask client is active; start one with distributed.Client() on this machine, or with "
            "distributed.Client(address) for a running scheduler"
        ) from None
