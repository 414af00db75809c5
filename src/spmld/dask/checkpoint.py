"""Iterations of a fit on a cluster: the client stores small arrays, and the workers the values of their blocks."""

import os
import pickle  # nosec B403
import shutil
from pathlib import Path
from typing import Any

from spmld._io import need
from spmld.estimators.references import ReferencePickler, ReferenceUnpickler

MANIFEST = "manifest.pickle"


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
