"""MATLAB files in the layout of the paper's authors."""

from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

from spmld._io import StrPath, reading
from spmld.datasets.dataset import Dataset, join_split


def read_mat(path: StrPath) -> Dataset:
    """Read a MATLAB file with the variables ``train`` and ``test``, or a struct ``data`` of both.

    Each is a cell {features, labels} with samples in columns, as in the files of the paper's authors. Labels are -1 and
    1, or 0 and 1. The two parts become the split of the data set.

    Examples
    --------
    >>> import tempfile, numpy as np, scipy.io
    >>> from spmld.datasets import read_mat
    >>> def cell(features, labels):
    ...     pair = np.empty((1, 2), dtype=object)
    ...     pair[0, 0], pair[0, 1] = np.array(features), np.array(labels)
    ...     return pair
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = folder + "/tiny.mat"
    ...     part = cell([[0.5, 1.5, 2.5]], [[-1, 1, 1], [1, -1, -1]])
    ...     scipy.io.savemat(file, {"train": part, "test": part})
    ...     read_mat(file).Y_train
    array([[0, 1],
           [1, 0],
           [1, 0]])
    """
    with reading(path, "a MATLAB file") as file:
        content = scipy.io.loadmat(file, simplify_cells=True)
        content = content.get("data", content)
        return join_split(_part(content, "train"), _part(content, "test"), file.stem)


def _part(content: Any, part: str) -> Dataset:
    try:
        features, labels = content[part]
    except (KeyError, TypeError, ValueError, IndexError):
        raise ValueError(f"the file has no variable {part!r} with features and labels") from None
    features, labels = (values.T if sp.issparse(values) else np.atleast_2d(values).T for values in (features, labels))
    if features.shape[0] != labels.shape[0]:
        raise ValueError(f"{part} has {features.shape[0]} samples in X but {labels.shape[0]} in Y")
    return Dataset(features, labels)
