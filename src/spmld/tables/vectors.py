"""Columns of vectors: lists of numbers, or JSON texts of them, and .npy files with a row for each sample."""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld._io import StrPath, reading
from spmld.tables.numbers import is_missing_word


def to_vectors(column: Any, size: int | None = None) -> NDArray[np.float64]:
    """Return a column of vectors as an array; the rows of missing vectors are NaN.

    Examples
    --------
    >>> import pandas as pd
    >>> from spmld.tables.vectors import to_vectors
    >>> to_vectors(pd.Series([[1, 2], "[3, 4]", None]))
    array([[ 1.,  2.],
           [ 3.,  4.],
           [nan, nan]])
    """
    vectors = [_to_vector(value, column.name) for value in column]
    sizes = {vector.size for vector in vectors if vector is not None} | ({size} if size else set())
    if len(sizes) != 1:
        got = f"lengths {' and '.join(map(str, sorted(sizes)[:3]))}" if sizes else "no vector"
        raise ValueError(f"column {column.name!r} must have vectors of one length, got {got}")
    (size,) = sizes
    missing = np.full(size, np.nan)
    return np.array([missing if vector is None else vector for vector in vectors]).reshape(len(vectors), size)


def _to_vector(value: Any, name: Any) -> NDArray[np.float64] | None:
    """Return a value of a column as a vector, None if it is missing."""
    if is_missing_word(value) or (isinstance(value, float) and np.isnan(value)):
        return None
    try:
        vector = np.asarray(json.loads(value) if isinstance(value, str) else value, dtype=float)
    except (TypeError, ValueError):
        vector = np.empty(())
    if vector.ndim != 1 or vector.size == 0 or not np.isfinite(vector).all():
        shown = str(value)[:80]
        raise ValueError(f"column {name!r} must have vectors, such as [0.5, 0.1], of finite numbers, got {shown!r}")
    return vector


def read_vectors(path: StrPath) -> NDArray[Any]:
    """Return the array in a .npy file, memory-mapped, or raise a ValueError if it is not a matrix of numbers.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from spmld.tables.vectors import read_vectors
    >>> with tempfile.NamedTemporaryFile(suffix=".npy") as file:
    ...     np.save(file.name, [[1.0, 2.0]])
    ...     read_vectors(file.name).shape
    (1, 2)
    """
    with reading(path, "a .npy file") as file:
        vectors = np.load(file, mmap_mode="r", allow_pickle=False)
    if not isinstance(vectors, np.ndarray) or vectors.ndim != 2 or vectors.dtype.kind not in "fiu":
        raise ValueError(f"{path} must be a .npy file with a matrix of numbers, one row for each sample")
    return vectors
