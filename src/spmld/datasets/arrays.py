"""NumPy's ``.npz``: everything a data set holds, the split and sparse features too."""

from __future__ import annotations

import os
import zipfile

import numpy as np
import scipy.sparse as sp

from spmld._io import reading, writing
from spmld.datasets.dataset import Dataset

__all__ = ["read_npz", "write_npz"]

_SPARSE = ("data", "indices", "indptr", "shape")


def read_npz(path: str | os.PathLike[str]) -> Dataset:
    """Read what `write_npz` has written, or any ``.npz`` file with the arrays ``X`` and ``Y``.

    Parameters
    ----------
    path : str or path
        The file. Nothing in it is executed.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from spmld.datasets import read_npz
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(folder + "/tiny.npz", X=[[0.5], [0.1]], Y=[[1, 0], [1, np.nan]])
    ...     read_npz(folder + "/tiny.npz")
    Dataset 'tiny': 2 samples, 1 dense feature, 2 labels, 25.0% of the labels missing
    """
    with reading(path, "a NumPy archive") as file:
        if not zipfile.is_zipfile(file):
            raise ValueError("it is not one, or its end is missing")
        with np.load(file, allow_pickle=False) as arrays:
            content = dict(arrays)
        if all(f"X_{part}" in content for part in _SPARSE):
            data, indices, indptr, shape = (content[f"X_{part}"] for part in _SPARSE)
            content["X"] = sp.csr_array((data, indices, indptr), shape=tuple(shape))
        absent = [part for part in ("X", "Y") if part not in content]
        if absent:
            raise ValueError(f"it has no array {absent[0]!r}, only {', '.join(sorted(content)) or 'none'}")
        features, labels = (content.get(f"{what}_names", np.array([])).tolist() for what in ("feature", "label"))
        name = str(content.get("name", file.stem))
        split = {part: content.get(part) for part in ("train", "test")}
        return Dataset(content["X"], content["Y"], features, labels, name, **split)


def write_npz(data: Dataset, path: str | os.PathLike[str]) -> None:
    """Write a NumPy archive, compressed.

    Parameters
    ----------
    data : Dataset
        What to write.
    path : str or path
        The file, which is complete or absent.

    Examples
    --------
    >>> import tempfile
    >>> from spmld.datasets import Dataset, read_npz, write_npz
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_npz(Dataset([[0.5], [0.1]], [[1, 0], [1, 1]], name="tiny", train=[0], test=[1]), folder + "/file.npz")
    ...     read_npz(folder + "/file.npz")
    Dataset 'tiny': 2 samples (1 train, 1 test), 1 dense feature, 2 labels
    """
    content = {"Y": data.Y, "name": np.array(data.name)}
    content |= {f"{what}_names": np.array(getattr(data, f"{what}_names")) for what in ("feature", "label")}
    if data.train is not None:
        content |= {"train": data.train, "test": data.test}
    if sp.issparse(data.X):
        content |= {f"X_{part}": np.asarray(getattr(data.X, part)) for part in _SPARSE}
    else:
        content["X"] = data.X
    with writing(path) as part, part.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **content)
