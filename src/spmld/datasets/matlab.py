"""MATLAB files in the layouts of the paper's authors and of partial multi-label learning."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from spmld._io import StrPath, reading
from spmld.datasets.dataset import Dataset, check_sizes, join_split
from spmld.datasets.mat_process import load_variables


def read_mat(path: StrPath, *, labels: str = "partial_labels") -> Dataset:
    """Read a MATLAB file in one of two layouts.

    The files of the paper's authors have the variables ``train`` and ``test``, or a struct ``data`` of both. Each is a
    cell {features, labels} with samples in columns. Labels are -1 and 1, or 0 and 1. The two parts become the split of
    the data set.

    Files of partial multi-label learning have the variables ``data``, of shape (n_samples, n_features), and
    ``partial_labels`` and ``target``, of shape (n_labels, n_samples): the candidate labels, some of them wrong, and the
    true labels. Features with mostly zeros become sparse.

    Damaged files can crash SciPy's reader. Therefore the file is read in another process, with limits on its time and,
    on Unix, on its memory; this takes about 0.3 s more.

    Parameters
    ----------
    path : str or path-like
        File to read.
    labels : {"partial_labels", "target"}, default="partial_labels"
        Labels to read from a file of partial multi-label learning.

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
        content, size = load_variables(file), file.stat().st_size
        if "partial_labels" in content or "target" in content:
            return _candidate_data(content, labels, file.stem, size)
        content = content.get("data", content)
        return join_split(_part(content, "train", size), _part(content, "test", size), file.stem)


def _candidate_data(content: Any, labels: str, name: str, size: int) -> Dataset:
    if labels not in ("partial_labels", "target"):
        raise ValueError(f'labels must be "partial_labels" or "target", got {labels!r}')
    if missing := [variable for variable in ("data", labels) if variable not in content]:
        raise ValueError(f"the file has no variable {missing[0]!r}")
    X, Y = content["data"], content[labels]
    X, Y = (values if sp.issparse(values) else np.atleast_2d(values) for values in (X, Y))
    if X.shape[0] != Y.shape[1]:
        raise ValueError(f"data has {X.shape[0]} samples but {labels} has {Y.shape[1]}")
    check_sizes(X.shape[0], X.shape[1], Y.shape[0], size)
    if not sp.issparse(X) and np.count_nonzero(X) < 0.1 * X.size:
        X = sp.csr_array(X)
    return Dataset(X, Y.T, name=name)


def _part(content: Any, part: str, size: int) -> Dataset:
    try:
        features, labels = content[part]
    except (KeyError, TypeError, ValueError, IndexError):
        raise ValueError(f"the file has no variable {part!r} with features and labels") from None
    features, labels = (values.T if sp.issparse(values) else np.atleast_2d(values).T for values in (features, labels))
    if features.shape[0] != labels.shape[0]:
        raise ValueError(f"{part} has {features.shape[0]} samples in X but {labels.shape[0]} in Y")
    check_sizes(features.shape[0], features.shape[1], labels.shape[1], size)
    return Dataset(features, labels)
