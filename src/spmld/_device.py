"""Features on a device of torch, such as a GPU."""

import warnings
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from spmld._io import need


class SparseTensor:
    """A sparse matrix on a device: tensors of the matrix and of its transpose, for products with dense matrices.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> import torch
    >>> from spmld._device import SparseTensor
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
    def values(self) -> Any:
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

    def __matmul__(self, D: Any) -> Any:
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


def to_device(X: Any, device: str | None) -> Any:
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


def _to_tensor(X: Any, device: Any) -> Any:
    """Return a CSR matrix as a tensor."""
    asarray = need("torch", "torch").asarray
    starts, columns, values = (asarray(A) for A in (X.indptr.astype(np.int64), X.indices.astype(np.int64), X.data))
    return _csr_tensor(starts, columns, values, X.shape).to(device)


def _csr_tensor(starts: Any, columns: Any, values: Any, shape: tuple[int, ...]) -> Any:
    """Return a sparse tensor. Its indices are those of a valid SciPy matrix and need no check."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that the support of sparse tensors is new
        return need("torch", "torch").sparse_csr_tensor(starts, columns, values, size=shape)
