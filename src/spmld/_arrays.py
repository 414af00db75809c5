"""Arrays of any library: namespaces, conversion to NumPy, devices, and slices of rows that bound memory."""

import copy
from collections.abc import Iterator
from typing import Any

import array_api_compat
import array_api_compat.numpy as numpy_namespace
import numpy as np
import scipy.sparse as sp

CACHE = 200_000
"""Maximum size of a slice whose temporary arrays should fit into the processor's cache."""
MEMORY = 2**22
"""Maximum size of a slice whose temporary arrays should fit into memory."""

ACCELERATOR = 2**28
"""Maximum size of a slice on an accelerator, where many small operations take longer than a large one."""


def budget(values: Any, size: int) -> int:
    """Return the maximum size of a slice of an array: `size` on the CPU, and more on an accelerator."""
    return max(size, ACCELERATOR) if on_accelerator(values) else size


def on_accelerator(values: Any) -> bool:
    """Return whether an array is on another device than the CPU."""
    return array_api_compat.is_torch_array(values) and values.device.type != "cpu"


def namespace(X: Any) -> Any:
    """Return the array-API namespace of X; NumPy's for sparse matrices of SciPy."""
    # The type is tested first because fits of small labels ask for the namespace often.
    return numpy_namespace if type(X) is np.ndarray or sp.issparse(X) else array_api_compat.array_namespace(X)


def n_values(X: Any) -> int:
    """Return the number of stored values of a matrix: those of a product with a vector."""
    return int(X.nnz) if sp.issparse(X) else int(X.shape[0] * X.shape[1])


def to_numpy(values: Any) -> np.ndarray:
    """Return an array of any library as a NumPy array."""
    return values.detach().cpu().numpy() if hasattr(values, "detach") else np.asarray(values)


def features_to_numpy(X: Any) -> Any:
    """Return features for scikit-learn: sparse matrices unchanged, other arrays as NumPy arrays."""
    return X if sp.issparse(X) else to_numpy(X)


def check_sparse(X: Any, name: str = "X") -> None:
    """Raise ValueError if a sparse matrix has invalid indices, which compiled code does not check. X does not change.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from spmld._arrays import check_sparse
    >>> check_sparse(sp.csr_array(([1.0], [7], [0, 1]), shape=(1, 2)))
    Traceback (most recent call last):
    ValueError: X is a sparse matrix with invalid indices: indices must be < 2
    """
    try:
        if X.format == "coo":
            type(X)((X.data, X.coords), shape=X.shape)  # the constructor validates the coordinates
        elif hasattr(X, "check_format"):
            copy.copy(X).check_format(full_check=True)  # it may replace the arrays of the matrix
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} is a sparse matrix with invalid indices: {error}") from None


def to_dense(values: Any, name: str) -> Any:
    """Return a valid sparse matrix as a NumPy array, and anything else unchanged."""
    if not sp.issparse(values):
        return values
    check_sparse(values, name)
    return values.toarray()


def move(values: Any, X: Any) -> Any:
    """Convert a NumPy array to the library and device of X, with the same dtype. Strings and objects stay in NumPy."""
    if sp.issparse(X) or isinstance(X, np.ndarray) or values.dtype.kind in "OUS":
        return values
    return namespace(X).asarray(values, device=array_api_compat.device(X))


def numpy_dtype(X: Any) -> Any:
    """Return the NumPy dtype with the precision of X."""
    return np.float32 if X.dtype == namespace(X).float32 else np.float64


def row_slices(n_rows: int, n_columns: int, budget: int = MEMORY) -> Iterator[slice]:
    """Yield slices of rows with at most `budget` elements each, but at least one row.

    Examples
    --------
    >>> from spmld._arrays import row_slices
    >>> list(row_slices(5, 10, budget=20))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 6, None)]
    """
    step = max(1, budget // max(1, n_columns))
    return (slice(start, start + step) for start in range(0, n_rows, step))
