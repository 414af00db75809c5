"""Matrices that are read when they are used."""

from collections.abc import Callable
from typing import Any

from spmld.core.losses import Array


class LazyMatrix:
    """The features of a row block, which are read for each product.

    The last matrix that was read is kept in `recent`, so that several products with one block read it once, and
    released before the next one is read.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.core.lazy_matrix import LazyMatrix
    >>> X = LazyMatrix(lambda: np.eye(2), (2, 2), {})
    >>> X @ np.array([[1.0], [2.0]])
    array([[1.],
           [2.]])
    """

    def __init__(self, read: Callable[[], Any], shape: tuple[int, int], recent: dict[str, Any]):
        self.read, self.shape = read, shape
        self._recent = recent

    def load(self) -> Any:
        """Return the matrix, dense or sparse."""
        if self._recent.get("matrix") is not self:
            self._recent.clear()
            self._recent.update(values=self.read(), matrix=self)
        return self._recent["values"]

    def __matmul__(self, B: Array) -> Array:
        return self.load() @ B

    @property
    def T(self) -> "_Transpose":
        """The transpose, for products."""
        return _Transpose(self)


class _Transpose:
    def __init__(self, matrix: LazyMatrix):
        self._matrix = matrix

    def __matmul__(self, B: Array) -> Array:
        return self._matrix.load().T @ B


def loaded(X: Any) -> Any:
    """Return a matrix in memory."""
    return X.load() if isinstance(X, LazyMatrix) else X
