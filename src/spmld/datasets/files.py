"""Readers of data files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
from sklearn.utils import Bunch

__all__ = ["find_file", "read_mat"]


def find_file(name: str) -> Path:
    """A file below the folder that the environment variable ``SPMLD_DATA`` names.

    Parameters
    ----------
    name : str
        File name; case does not matter.

    Returns
    -------
    Path

    Raises
    ------
    FileNotFoundError
        If the variable is not set, or no file below the folder has this name.
    """
    folder = os.environ.get("SPMLD_DATA")
    if not folder:
        raise FileNotFoundError(f"{name}: set the environment variable SPMLD_DATA to a folder that holds it")
    found = sorted(path for path in Path(folder).rglob("*") if path.name.lower() == name.lower() and path.is_file())
    if not found:
        raise FileNotFoundError(f"{name} is not below SPMLD_DATA={folder}")
    return found[0]


def read_mat(path: str | os.PathLike[str]) -> Bunch:
    """Read a MATLAB file with the variables ``train`` and ``test``, or a struct ``data`` of both.

    Each is a cell {features, labels} with samples in columns, as in the files of the paper's authors.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    Bunch
        ``X_train``, ``Y_train``, ``X_test``, ``Y_test``: samples in rows, features float, labels 0 and 1.

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
    if not Path(path).is_file():
        raise FileNotFoundError(f"there is no file {path}")
    try:
        content = scipy.io.loadmat(path, simplify_cells=True)
    except (
        Exception
    ) as error:  # scipy raises many kinds, from ValueError to zlib.error, for a file that is not MATLAB's
        raise ValueError(f"{path} cannot be read as a MATLAB file: {error}") from error
    content = content.get("data", content)
    parts: dict[str, Any] = {}
    for part in ("train", "test"):
        try:
            features, labels = content[part]
        except (KeyError, TypeError, ValueError, IndexError):
            raise ValueError(f"{path} has no variable {part!r} with features and labels") from None
        features, labels = np.atleast_2d(features).T, np.atleast_2d(labels).T
        if len(features) != len(labels):
            raise ValueError(f"{path}: {part} has {len(features)} samples but {len(labels)} rows of labels")
        parts[f"X_{part}"] = np.ascontiguousarray(features, dtype=float)
        parts[f"Y_{part}"] = np.ascontiguousarray(labels > 0).astype(np.int64)
    return Bunch(**parts)
