"""NumPy archives ``.npz``, which store all of a data set, including the split, trusted entries and sparse features."""

import zipfile

import numpy as np
import scipy.sparse as sp

from spmld._io import StrPath, reading, writing
from spmld.datasets.dataset import Dataset, check_sizes

_SPARSE = ("data", "indices", "indptr", "shape")


def read_npz(path: StrPath) -> Dataset:
    """Read a file written by `write_npz`, or any ``.npz`` file with arrays ``X`` and ``Y``, without pickled objects.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from spmld.datasets import read_dataset
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(folder + "/tiny.npz", X=[[0.5], [0.1]], Y=[[1, 0], [1, np.nan]])
    ...     read_dataset(folder + "/tiny.npz")
    Dataset 'tiny': 2 samples, 1 dense feature, 2 labels, 25.0% of the labels missing
    """
    with reading(path, "a NumPy archive") as file:
        if not zipfile.is_zipfile(file):
            raise ValueError("the file is truncated or not a zip archive")
        with np.load(file, allow_pickle=False) as arrays:
            content = dict(arrays)
        if all(f"X_{part}" in content for part in _SPARSE):
            data, indices, indptr, shape = (content[f"X_{part}"] for part in _SPARSE)
            check_sizes(0, int(shape[-1]), 0, file.stat().st_size)
            content["X"] = sp.csr_array((data, indices, indptr), shape=tuple(shape))
        absent = [part for part in ("X", "Y") if part not in content]
        if absent:
            hint = "write features and labels with spmld.datasets.write_dataset(Dataset(X, Y), path)"
            names = ", ".join(sorted(content)) or "none"
            raise ValueError(f"the file has no array {absent[0]!r}; it has {names}; {hint}")
        features, labels = (content.get(names, np.array([])).tolist() for names in ("feature_names", "label_names"))
        name = str(content.get("name", file.stem))
        optional = {part: content.get(part) for part in ("train", "test", "trusted")}
        return Dataset(content["X"], content["Y"], features, labels, name, **optional)


def write_npz(data: Dataset, path: StrPath) -> None:
    """Write a compressed NumPy archive; see `write_dataset`.

    Examples
    --------
    >>> import tempfile
    >>> from spmld.datasets import Dataset, read_dataset, write_dataset
    >>> data = Dataset([[0.5], [0.1]], [[1, 0], [1, 1]], name="tiny", train=[0], test=[1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_dataset(data, folder + "/file.npz")
    ...     read_dataset(folder + "/file.npz")
    Dataset 'tiny': 2 samples (1 train, 1 test), 1 dense feature, 2 labels
    """
    names = {"feature_names": np.array(data.feature_names), "label_names": np.array(data.label_names)}
    content = {"Y": data.Y, "name": np.array(data.name), **names}
    if data.train is not None:
        content |= {"train": data.train, "test": data.test}
    if data.trusted is not None:
        content["trusted"] = data.trusted
    if sp.issparse(data.X):
        content |= {f"X_{part}": np.asarray(getattr(data.X, part)) for part in _SPARSE}
    else:
        content["X"] = data.X
    with writing(path) as part, part.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **content)
