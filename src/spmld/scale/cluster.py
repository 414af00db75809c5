"""Dask clusters: operations on row blocks on the workers, stored iterations, and many fits in parallel."""

import os
import pickle  # nosec B403
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any
from uuid import uuid4

from joblib import parallel_config

from spmld._io import need
from spmld.core.lazy_matrix import loaded
from spmld.core.problem import Combine, combine_parts
from spmld.scale.streaming import ReferencePickler, ReferenceUnpickler, RemoteEngine

SMALL = 10_000
"""Size in bytes up to which a function is sent with each task."""
FAN_IN = 8
"""Number of partial sums that are added in one task."""
MANIFEST = "manifest.pickle"


class DaskEngine(RemoteEngine):
    """Applies functions to blocks on the workers where they are.

    Values of blocks are futures. A function is sent once to each worker, with the arrays that it uses. Sums are
    computed on the workers as a tree, in the order of the blocks: the result does not depend on which task ends first.

    Parameters
    ----------
    client : distributed.Client
        The client of the cluster.
    """

    def __init__(self, client: Any):
        self._client = client

    def map(self, function: Callable[..., Any], *rows: Sequence[Any]) -> tuple[Any, ...]:
        """Apply `function` to the arguments of each block."""
        return tuple(self._submit(_name(function), _apply, [self._send(function)] * len(rows[0]), *rows))

    def sum(self, function: Callable[..., Any], *rows: Sequence[Any], combine: Combine = add) -> Any:
        """Sum an array, or each array of a tuple, over the blocks."""
        parts = list(self.map(function, *rows))
        while len(parts) > 1:
            groups = [parts[i : i + FAN_IN] for i in range(0, len(parts), FAN_IN)]
            parts = self._submit("sum", _combine, [combine] * len(groups), groups)
        return parts[0].result()

    def gather(self, rows: Sequence[Any]) -> tuple[Any, ...]:
        """Return the values of all blocks in the memory of the client."""
        return tuple(self._client.gather(list(rows)))

    def transform(self, function: Callable[[Any], Any], X: Sequence[Any], *, keep: bool = False) -> tuple[Any, ...]:
        """Apply a function to features, and keep the result."""
        return self.map(lambda A: function(loaded(A)), X)

    def store(self, folder: Path) -> "DirectoryStore":
        """Return a store of outer iterations in a folder that the client and the workers can write to."""
        return DirectoryStore(folder, self._client)

    def _submit(self, name: str, function: Callable[..., Any], *arguments: Sequence[Any]) -> list[Any]:
        """Submit one task for each set of arguments, in one graph."""
        return list(self._client.map(function, *arguments, key=f"spmld-{name}-{uuid4().hex}", pure=False))

    def _send(self, function: Callable[..., Any]) -> Any:
        """Return a function, or a future of it if it has large arrays."""
        packed = need("cloudpickle", "dask").dumps(function)
        if len(packed) <= SMALL:
            return packed
        return self._client.submit(bytes, packed, key=f"spmld-send-{uuid4().hex}", pure=False)


def _name(function: Any) -> str:
    """Return a name for the dashboard of Dask."""
    name = getattr(getattr(function, "func", function), "__name__", type(function).__name__)
    return name.strip("<>_") or "map"


def _apply(packed: bytes, *arguments: Any) -> Any:
    return pickle.loads(packed)(*arguments)  # nosec B301


def _combine(combine: Combine, parts: Sequence[Any]) -> Any:
    return reduce(lambda a, b: combine_parts(combine, a, b), parts)


class DirectoryStore:
    """Stores the last outer iteration of each stage in a directory.

    Each iteration is written to a new folder, which replaces the one before when it is complete. Afterwards the values
    of the blocks are those of the files: if a worker is lost, they are read again, and earlier iterations are not
    repeated.

    Parameters
    ----------
    directory : path
        Directory of one fit that the client and the workers can read and write. It is created by the first iteration.
    client : distributed.Client
        The client.
    """

    def __init__(self, directory: Path, client: Any):
        self._directory, self._client = directory.absolute(), client
        self._future = need("distributed", "dask").Future

    def load(self, stage: str | None) -> tuple[Any, list[dict[str, Any]], bool] | None:
        """Return the last state of a stage, its history, and whether it has converged."""
        folders = sorted(self._directory.glob(f"{stage or 'main'}-*"))
        complete = [folder for folder in folders if (folder / MANIFEST).exists()]
        if not complete:
            return None
        return self._read(complete[-1])

    def save(self, stage: str | None, state: Any, history: list[dict[str, Any]], converged: bool) -> Any:
        """Store the state, and return it with the values of blocks that are read from the files."""
        folder = self._directory / f"{stage or 'main'}-{len(history):06d}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        futures: list[Any] = []
        partial = folder / "partial"
        with partial.open("wb") as file:
            ReferencePickler(file, self._future, futures).dump((state, history, converged))
        paths = [str(folder / f"{i}.pickle") for i in range(len(futures))]
        self._client.gather(self._client.map(_write, futures, paths, pure=False))
        os.replace(partial, folder / MANIFEST)
        # The next iteration extrapolates from the last two, which a worker that is lost must be able to read again.
        for other in sorted(self._directory.glob(f"{stage or 'main'}-*"))[:-2]:
            shutil.rmtree(other, ignore_errors=True)
        return self._read(folder)[0]

    def _read(self, folder: Path) -> tuple[Any, list[dict[str, Any]], bool]:
        n_files = len(list(folder.glob("*.pickle"))) - 1
        futures = self._client.map(_read, [str(folder / f"{i}.pickle") for i in range(n_files)], pure=False)
        with (folder / MANIFEST).open("rb") as file:
            state, history, converged = ReferenceUnpickler(file, futures).load()
        return state, history, converged


def _write(value: Any, path: str) -> None:
    with Path(path).open("wb") as file:
        pickle.dump(value, file, protocol=5)


def _read(path: str) -> Any:
    with Path(path).open("rb") as file:
        return pickle.load(file)  # nosec B301


def active_client() -> Any:
    """Return the active client of Dask."""
    try:
        return need("distributed", "dask").get_client()
    except ValueError:
        raise ValueError(
            "no Dask client is active; start one with distributed.Client() on this machine, or with "
            "distributed.Client(address) for a running scheduler"
        ) from None


@contextmanager
def use_cluster(scheduler: Any = None) -> Iterator[Any]:
    """Run the fits of functions that accept ``n_jobs`` on a Dask cluster.

    These are `compare`, `cross_fit`, `find_label_issues`, and scikit-learn's searches. Their trials are
    independent: if a worker is lost, only the trials that were running on it are repeated.

    Parameters
    ----------
    scheduler : str or None, default=None
        Address of the scheduler, such as "tcp://10.0.0.1:8786". None uses the active client.

    Yields
    ------
    distributed.Client
        The client.

    Examples
    --------
    >>> from spmld.scale import use_cluster
    >>> with use_cluster("tcp://10.0.0.1:8786"):  # doctest: +SKIP
    ...     comparison = compare(methods, X, Y)
    """
    client = active_client() if scheduler is None else need("distributed", "dask").Client(scheduler)
    with nullcontext() if scheduler is None else client, parallel_config("dask"):
        yield client
