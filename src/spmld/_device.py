"""Features on a device of torch, such as a GPU."""

import warnings
from typing import Any, Self

import numpy as np
import scipy.sparse as sp


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
        self.shape, self.nnz, self.device = X.shape, int(X.nnz), device
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
        import torch

        def raised(A: Any) -> Any:
            parts = A.crow_indices(), A.col_indices(), A.values() ** exponent
            return _quietly(torch.sparse_csr_tensor, *parts, size=A.shape)

        return self._like(self._source, tuple(map(raised, self._pair)))

    def __matmul__(self, D: Any) -> Any:
        return self._pair[0] @ D

    def __getitem__(self, rows: slice) -> "SparseTensor":
        return SparseTensor(self._source[rows], self.device)

    def _like(self, source: Any, pair: Any) -> Self:
        other = object.__new__(type(self))
        other.shape, other.nnz, other.device = source.shape, self.nnz, self.device
        other._source, other._pair = source, pair
        return other


def to_device(X: Any, device: str | None) -> Any:
    """Return features on a device of torch: arrays as tensors, and sparse matrices as `SparseTensor`.

    Tensors, and features without a device, are returned unchanged.
    """
    if device is None or not (isinstance(X, np.ndarray) or sp.issparse(X)):
        return X
    try:
        import torch
    except ImportError:
        raise ImportError(f'device={device!r} requires torch: pip install "spmld[torch]"') from None
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
    import torch

    parts = (torch.asarray(X.indptr.astype(np.int64)), torch.asarray(X.indices.astype(np.int64)), torch.asarray(X.data))
    return _quietly(torch.sparse_csr_tensor, *parts, size=X.shape).to(device)


def _quietly(function: Any, *args: Any, **options: Any) -> Any:
    """Call a function of torch without its notes on sparse tensors. The indices are those of valid SciPy matrices."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return function(*args, **options)
