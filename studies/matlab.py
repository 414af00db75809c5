"""MATLAB files in the layouts of the paper's authors and of partial multi-label learning."""

from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

from spmld._io import StrPath, reading
from spmld.datasets import Dataset, join_split


def read_mat(path: StrPath, *, labels: str = "partial_labels") -> Dataset:
    """Read a MATLAB file in one of two layouts. SciPy's reader can crash on damaged files: read only files you trust.

    The files of the paper's authors have the variables ``train`` and ``test``, or a struct ``data`` of both. Each is a
    cell {features, labels} with samples in columns. Labels are -1 and 1, or 0 and 1. The two parts become the split of
    the data set.

    Files of partial multi-label learning have the variables ``data``, of shape (n_samples, n_features), and
    ``partial_labels`` and ``target``, of shape (n_labels, n_samples): the candidate labels, some of them wrong, and the
    true labels. Features with mostly zeros become sparse.

    Parameters
    ----------
    path : str or path-like
        File to read.
    labels : {"partial_labels", "target"}, default="partial_labels"
        Labels to read from a file of partial multi-label learning.
    """
    with reading(path, "a MATLAB file") as file:
        content = scipy.io.loadmat(file, appendmat=False, simplify_cells=True)
        if labels in content:
            return _candidate_data(content["data"], content[labels], file.stem)
        content = content.get("data", content)
        return join_split(_part(content["train"]), _part(content["test"]), file.stem)


def _candidate_data(X: Any, Y: Any, name: str) -> Dataset:
    X, Y = (values if sp.issparse(values) else np.atleast_2d(values) for values in (X, Y))
    if not sp.issparse(X) and np.count_nonzero(X) < 0.1 * X.size:
        X = sp.csr_array(X)
    return Dataset(X, Y.T, name=name)


def _part(cell: Any) -> Dataset:
    features, labels = (values.T if sp.issparse(values) else np.atleast_2d(values).T for values in cell)
    return Dataset(features, labels)
