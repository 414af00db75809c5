"""Multi-label LIBSVM files, and files of the extreme-classification repository, whose first line has the sizes."""

import re
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file

from spmld._io import StrPath, reading
from spmld.datasets.dataset import Dataset, check_sizes


def read_libsvm(path: StrPath) -> Dataset:
    r"""Read a LIBSVM or extreme-classification file.

    A line is ``label,label feature:value feature:value``; labels that are not listed are negative. If the first
    line is ``n_samples n_features n_labels``, as in the extreme-classification repository, indices start at 0 and the
    sizes are checked. Otherwise the labels are those in the file, named by their numbers, and the indices of features
    start at 1 unless there is a 0. Features are sparse.

    Examples
    --------
    >>> import tempfile
    >>> from spmld.datasets import read_dataset
    >>> with tempfile.NamedTemporaryFile("w", suffix=".svm") as file:
    ...     print("3,7 1:0.5 2:1", "7 2:2", sep="\n", file=file, flush=True)
    ...     data = read_dataset(file.name)
    >>> data.label_names, data.Y.tolist(), data.X.toarray().tolist()
    (['3', '7'], [[1, 1], [0, 1]], [[0.5, 1.0], [0.0, 2.0]])
    """
    with reading(path, "a LIBSVM file") as file:
        X, lines, n_labels = _parse(file)
        labels = np.unique([label for line in lines for label in line])
        if n_labels is not None:
            others = np.setdiff1d(labels, np.arange(n_labels))
            if others.size:
                stated = f"the first line specifies {n_labels} labels, from 0 to {n_labels - 1}"
                raise ValueError(f"{stated}, but there is a label {others.max():g}")
            labels = np.arange(n_labels)
        if not len(labels):
            raise ValueError("the file has no labels")
        check_sizes(len(lines), X.shape[1], len(labels), file.stat().st_size)
        Y = np.zeros((len(lines), len(labels)), dtype=np.int64)
        for i, line in enumerate(lines):
            Y[i, np.searchsorted(labels, line)] = 1
        names = [f"{label:g}" for label in labels] if n_labels is None else []
        return Dataset(X, Y, label_names=names, name=file.stem)


def read_libsvm_features(path: StrPath, n_features: int) -> Any:
    r"""Return the features of a LIBSVM or extreme-classification file as a sparse matrix. Labels are ignored.

    Parameters
    ----------
    path : str or path-like
        File, as in `read_libsvm`.
    n_features : int
        Number of features. Features that do not occur in a LIBSVM file are 0.

    Examples
    --------
    >>> import tempfile
    >>> from spmld.datasets.libsvm import read_libsvm_features
    >>> with tempfile.NamedTemporaryFile("w", suffix=".svm") as file:
    ...     print("3,7 1:0.5 2:1", "7 2:2", sep="\n", file=file, flush=True)
    ...     read_libsvm_features(file.name, 3).toarray().tolist()
    [[0.5, 1.0, 0.0], [0.0, 2.0, 0.0]]
    """
    with reading(path, "a LIBSVM file") as file:
        return _parse(file, n_features)[0]


def _parse(file: Path, n_features: int | None = None) -> tuple[Any, list[tuple[float, ...]], int | None]:
    """Return the features, the labels of each sample, and the number of labels, if the first line has it."""
    content = file.read_bytes()
    first, _, rest = content.partition(b"\n")
    sizes = re.fullmatch(rb"\s*(\d+)\s+(\d+)\s+(\d+)\s*", first)
    if sizes:
        n, d, l = map(int, sizes.groups())
        if n_features not in (None, d):
            raise ValueError(f"the first line specifies {d} features, expected {n_features}")
        check_sizes(n, d, l, len(rest))
        n_features = d
        # Empty lines are samples without labels and features, which load_svmlight_file would skip.
        content = b"\n".join(line if line.strip() else b" 0:0" for line in rest.removesuffix(b"\n").split(b"\n"))
    from_zero = True if sizes else "auto"
    X, lines = load_svmlight_file(BytesIO(content), n_features=n_features, multilabel=True, zero_based=from_zero)
    if not lines:
        raise ValueError("the file has no samples")
    if sizes and len(lines) != n:
        raise ValueError(f"the first line specifies {n} samples, but the file has {len(lines)}")
    return X, lines, l if sizes else None
