"""Arrays of any library: namespaces, conversion to NumPy, devices, and slices of rows that bound memory."""

import copy
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, Self

import array_api_compat
import array_api_compat.numpy as numpy_namespace
import numpy as np
import scipy.sparse as sp

from spmld._io import need

Array = Any
"""An array of the array-API standard: NumPy or torch, on any device."""
Matrix = Any
"""An array, or a sparse matrix of SciPy or on a device."""


class SparseTensor:
    """A sparse matrix on a device: tensors of the matrix and of its transpose, for products with dense matrices.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> import torch
    >>> from spmld._arrays import SparseTensor
    >>> X = SparseTensor(sp.csr_array([[1.0, 0.0], [0.0, 2.0]]), "cpu")
    >>> (X.T @ torch.ones((2, 1), dtype=torch.float64)).tolist()
    [[1.0], [2.0]]
    """

    def __init__(self, X: Any, device: Any):
        self.shape = X.shape
        self.nnz = int(X.nnz)
        self.device = device
        self._source = X
        self._pair = _to_tensor(X.tocsr(), device), _to_tensor(X.T.tocsr(), device)

    @property
    def values(self) -> Array:
        """The nonzero values, a dense tensor."""
        return self._pair[0].values()

    @property
    def dtype(self) -> Any:
        """Type of the values."""
        return self._pair[0].dtype

    @property
    def T(self) -> "SparseTensor":
        """The transpose."""
        return self._like(self._source.T, self._pair[::-1])

    def power(self, exponent: int) -> "SparseTensor":
        """Return the matrix of powers of the values."""

        def raised(A: Any) -> Any:
            return _csr_tensor(A.crow_indices(), A.col_indices(), A.values() ** exponent, A.shape)

        return self._like(self._source, tuple(map(raised, self._pair)))

    def __matmul__(self, D: Any) -> Array:
        return self._pair[0] @ D

    def __getitem__(self, rows: slice) -> "SparseTensor":
        return SparseTensor(self._source[rows], self.device)

    def _like(self, source: Any, pair: Any) -> Self:
        other = object.__new__(type(self))
        other.shape = source.shape
        other.nnz = self.nnz
        other.device = self.device
        other._source = source
        other._pair = pair
        return other


def to_device(X: Any, device: str | None) -> Matrix:
    """Return features on a device of torch: arrays as tensors, and sparse matrices as `SparseTensor`.

    Tensors, and features without a device, are returned unchanged.
    """
    if device is None or not (isinstance(X, np.ndarray) or sp.issparse(X)):
        return X
    torch = need("torch", "torch")
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, ValueError) as error:
        reason = str(error).splitlines()[0][:200]
        raise ValueError(
            f"device must be None or an available device of torch, such as 'cuda' or 'cpu', got {device!r}: {reason}"
        ) from None
    return SparseTensor(X, device) if sp.issparse(X) else torch.asarray(X, device=device)


def _to_tensor(X: Any, device: Any) -> Array:
    """Return a CSR matrix as a tensor."""
    asarray = need("torch", "torch").asarray
    starts, columns, values = (asarray(A) for A in (X.indptr.astype(np.int64), X.indices.astype(np.int64), X.data))
    return _csr_tensor(starts, columns, values, X.shape).to(device)


def _csr_tensor(starts: Any, columns: Any, values: Any, shape: tuple[int, ...]) -> Array:
    """Return a sparse tensor. Its indices are those of a valid SciPy matrix and need no check."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that the support of sparse tensors is new
        return need("torch", "torch").sparse_csr_tensor(starts, columns, values, size=shape)


CACHE = 200_000
"""Maximum size of a slice whose temporary arrays should fit into the processor's cache."""
MEMORY = 2**22
"""Maximum size of a slice whose temporary arrays should fit into memory."""

OVERFLOW_MARGIN = 1e3
"""Factor that is left for coefficients when squares of features must not overflow."""

ROUNDING_ERROR = 1e-9
"""Tolerance for the rounding errors of fractions of counts, and of margins."""
ACCELERATOR = 2**28
"""Maximum size of a slice on an accelerator, where many small operations take longer than a large one."""


def budget(values: Any, size: int) -> int:
    """Return the maximum size of a slice of an array: `size` on the CPU, and more on an accelerator."""
    return max(size, ACCELERATOR) if on_accelerator(values) else size


def on_accelerator(values: Any) -> bool:
    """Return whether an array is on another device than the CPU."""
    values = values.values if isinstance(values, SparseTensor) else values
    return array_api_compat.is_torch_array(values) and values.device.type != "cpu"


def namespace(X: Any) -> Any:
    """Return the array-API namespace of X; NumPy's for sparse matrices of SciPy."""
    # The type is tested first because fits of small labels ask for the namespace often.
    if type(X) is np.ndarray or sp.issparse(X):
        return numpy_namespace
    return array_api_compat.array_namespace(X.values if isinstance(X, SparseTensor) else X)


def is_collection(X: Any) -> bool:
    """Return whether X is a Dask array or data frame."""
    return type(X).__module__.startswith("dask") and hasattr(X, "to_delayed")


def n_values(X: Any) -> int:
    """Return the number of stored values of a matrix: those of a product with a vector."""
    return int(X.nnz) if sp.issparse(X) or isinstance(X, SparseTensor) else int(X.shape[0] * X.shape[1])


def largest_value(X: Any) -> float:
    """Return the largest absolute value of X."""
    values = X.data if sp.issparse(X) else X
    xp = namespace(values)
    return max(float(xp.max(values)), -float(xp.min(values))) if values.shape[0] else 0.0


def count_nonzero(X: Any) -> int:
    """Return the number of nonzeros; of stored values, if X is sparse."""
    xp = namespace(X)
    return int(X.nnz if sp.issparse(X) else xp.sum(xp.astype(X != 0, xp.int64)))


def check_range(largest: float, size: int, precision: Any) -> None:
    """Raise ValueError if the sum of the squares of `size` numbers may overflow; `precision` is the `finfo` of X."""
    if largest > (float(precision.max) / size) ** 0.5 / OVERFLOW_MARGIN:
        raise ValueError(
            f"X contains values too large for {precision.dtype}, got {largest:.3g}; scale the features first"
        )


def n_bytes(value: Any) -> int:
    """Return the memory of the arrays of a value.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld._arrays import n_bytes
    >>> n_bytes((np.zeros(3), 1.0))
    24
    """
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if sp.issparse(value):
        return int(value.data.nbytes + value.indices.nbytes + value.indptr.nbytes)
    if isinstance(value, (tuple, list)):
        return sum(map(n_bytes, value))
    if is_dataclass(value):
        return sum(n_bytes(getattr(value, field.name)) for field in fields(value))
    return 0


def to_numpy(values: Any) -> np.ndarray:
    """Return an array of any library as a NumPy array; bfloat16 and 8-bit floats, which NumPy lacks, as float32."""
    if not hasattr(values, "detach"):
        return np.asarray(values)
    is_short = values.dtype.is_floating_point and values.dtype.itemsize < 4
    return (values.float() if is_short else values).numpy(force=True)


def arrays_to_numpy(estimator: Any) -> Any:
    """Replace the tensors of a fitted estimator by NumPy arrays, and return it."""
    for name, value in vars(estimator).items():
        if hasattr(value, "detach"):
            setattr(estimator, name, to_numpy(value))
    return estimator


def features_to_numpy(X: Any) -> Matrix:
    """Return features for scikit-learn: sparse matrices unchanged, other arrays as NumPy arrays."""
    return X if sp.issparse(X) else to_numpy(X)


def contiguous(X: Any) -> Matrix:
    """Return X in row-major order, so that rounding errors are the same for all input formats.

    Arrays on an accelerator stay there; other arrays become those of NumPy.
    """
    if on_accelerator(X):
        return X.contiguous()
    X = features_to_numpy(X)
    return np.ascontiguousarray(X) if isinstance(X, np.ndarray) else X


def check_sparse(X: Any, name: str = "X") -> None:
    """Raise ValueError if a sparse matrix has invalid indices, which compiled code does not check. X does not change.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from spmld._arrays import check_sparse
    >>> check_sparse(sp.csr_array(([1.0], [7], [0, 1]), shape=(1, 2)))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: X is a sparse matrix with invalid indices: ... must be < 2
    """
    try:
        if X.format == "coo":
            type(X)((X.data, X.coords), shape=X.shape)  # the constructor validates the coordinates
        elif hasattr(X, "check_format"):
            copy.copy(X).check_format(full_check=True)  # it may replace the arrays of the matrix
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} is a sparse matrix with invalid indices: {error}") from None


def check_masked(values: Any, name: str = "X", advice: str = "pass X.filled(np.nan) to an imputer first") -> None:
    """Raise ValueError for a masked array with masked values, which other libraries use as data.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld._arrays import check_masked
    >>> check_masked(np.ma.array([[1.0, 2.0]], mask=[[False, True]]))
    Traceback (most recent call last):
    ValueError: X is a masked array with 1 masked values; pass X.filled(np.nan) to an imputer first
    """
    if isinstance(values, np.ma.MaskedArray) and (n_masked := int(np.ma.getmaskarray(values).sum())):
        raise ValueError(f"{name} is a masked array with {n_masked} masked values; {advice}")


def check_tensor(values: Any, name: str) -> None:
    """Raise ValueError for a torch tensor that cannot be read as an array of real numbers.

    Examples
    --------
    >>> import torch
    >>> from spmld._arrays import check_tensor
    >>> check_tensor(torch.eye(2) + 1j, "X")
    Traceback (most recent call last):
    ValueError: Complex data not supported: X is a torch tensor of torch.complex64; pass its real part, X.real
    """
    if not array_api_compat.is_torch_array(values):
        return
    tensor = f"{name} is a torch tensor"
    if values.is_nested:
        raise ValueError(f"{name} must be rectangular, got a nested torch tensor")
    if "strided" not in str(values.layout):
        layout = f"got layout {values.layout}; use a SciPy sparse matrix instead"
        raise ValueError(f"a torch tensor {name} must be dense, {layout}")
    if values.is_meta:
        raise ValueError(f"{tensor} on the device 'meta', which has no values; pass a tensor on another device")
    if getattr(values, "is_quantized", False):  # deprecated in torch
        raise ValueError(f"{tensor} of {values.dtype}; pass {name}.dequantize()")
    if values.dtype.is_complex:
        raise ValueError(f"Complex data not supported: {tensor} of {values.dtype}; pass its real part, {name}.real")


def to_dense(values: Any, name: str) -> Array:
    """Return a valid sparse matrix as a NumPy array, and anything else that can be read unchanged."""
    if not sp.issparse(values):
        check_tensor(values, name)
        return values
    check_sparse(values, name)
    return values.toarray()


def move(values: Any, X: Any) -> Array:
    """Convert a NumPy array to the library and device of X, with the same dtype. Strings and objects stay in NumPy."""
    if sp.issparse(X) or isinstance(X, np.ndarray) or values.dtype.kind in "OUS":
        return values
    return namespace(X).asarray(values, device=X.device)


def numpy_dtype(X: Any) -> np.dtype[Any]:
    """Return the NumPy dtype with the precision of X."""
    return np.dtype(np.float32 if X.dtype == namespace(X).float32 else np.float64)


def in_precision(X: Any, dtype: str | None) -> Matrix:
    """Return X in the precision "float32" or "float64", or unchanged if it is None.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld._arrays import in_precision
    >>> in_precision(np.ones(2), "float32").dtype
    dtype('float32')
    """
    if dtype is None or numpy_dtype(X) == dtype:
        return X
    return X.astype(dtype) if sp.issparse(X) else namespace(X).astype(X, getattr(namespace(X), dtype))


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


def column_squares(X: Any, C: Any) -> Array:
    """Return (X o X)^T C: the diagonal of X^T diag(c_i) X for each column of C. A dense X is squared in slices."""
    if sp.issparse(X):  # `power` would copy the indices
        return type(X)((X.data**2, X.indices, X.indptr), shape=X.shape).T @ C
    if hasattr(X, "power"):
        return X.power(2).T @ C
    slices = row_slices(max(1, X.shape[0]), X.shape[1], budget(X, MEMORY))
    return sum((X[s, :] * X[s, :]).T @ C[s, :] for s in slices)


def lowest_columns(keys: np.ndarray, k: int) -> np.ndarray:
    """Return the columns of the k lowest values of each row, lowest first. NaN is highest; ties are broken by column.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld._arrays import lowest_columns
    >>> lowest_columns(np.array([[2.0, 1.0, np.nan, 1.0]]), 3)
    array([[1, 3, 0]])
    """
    k = min(k, keys.shape[1])
    columns = np.sort(np.argpartition(keys, k - 1, axis=1)[:, :k], axis=1)
    chosen = np.take_along_axis(keys, columns, axis=1)
    # If values that were not chosen tie with the k-th lowest one, the choice was arbitrary: sort these rows.
    last = chosen.max(axis=1, keepdims=True)
    tied = (keys == last).sum(axis=1) > (chosen == last).sum(axis=1)
    columns[tied] = np.argsort(keys[tied], axis=1, kind="stable")[:, :k]
    order = np.argsort(np.take_along_axis(keys, columns, axis=1), axis=1, kind="stable")
    return np.take_along_axis(columns, order, axis=1)


def join_rows(parts: Sequence[Any]) -> Matrix:
    """Return the rows of arrays or of sparse matrices as one.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld._arrays import join_rows
    >>> join_rows([np.array([5, 6]), np.array([7])])
    array([5, 6, 7])
    """
    if len(parts) == 1:
        return parts[0]
    return sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.concatenate(parts)
