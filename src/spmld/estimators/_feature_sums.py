"""Sums and extreme values of features, for one row block at a time."""

from typing import Any

import scipy.sparse as sp

from spmld._arrays import move, namespace, numpy_dtype
from spmld.core.lazy_matrix import loaded


def count_nonzero(X: Any) -> int:
    """Return the number of nonzeros."""
    X = loaded(X)
    return int(X.nnz if sp.issparse(X) else namespace(X).sum(namespace(X).astype(X != 0, namespace(X).int64)))


def square(X: Any, unit: float) -> float:
    """Return |X / unit|^2."""
    X = loaded(X)
    values = (X.data if sp.issparse(X) else X) / unit
    return float(namespace(values).sum(values * values))


def column_sums(X: Any) -> Any:
    """Return the sum of each column."""
    X = dense(loaded(X))
    return namespace(X).sum(X, axis=0)


def extremes(X: Any) -> tuple[Any, Any]:
    """Return the largest values of the columns of X and of -X."""
    X = dense(loaded(X))
    return namespace(X).max(X, axis=0), -namespace(X).min(X, axis=0)


def column_squares(X: Any, center: Any, unit: Any) -> Any:
    """Return the sum of the squares of each column of (X - center) / unit."""
    X = dense(loaded(X))
    X = X - on_device(center, X)
    X /= on_device(unit, X)
    return namespace(X).sum(X**2, axis=0)


def on_device(values: Any, X: Any) -> Any:
    """Return a fitted array in the library, on the device and in the precision of X; numbers are unchanged."""
    return values if isinstance(values, float) else move(values.astype(numpy_dtype(X), copy=False), X)


def dense(X: Any) -> Any:
    """Return a dense array."""
    return X.toarray() if sp.issparse(X) else X
