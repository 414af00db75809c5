"""Matrices that are read when they are used, and some rows of a matrix."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from spmld._arrays import n_bytes
from spmld.core.losses import Array


class Transpose:
    """The transpose of a matrix with the method `transposed_times`, for products."""

    def __init__(self, matrix: Any):
        self._matrix = matrix

    def __matmul__(self, B: Array) -> Array:
        return self._matrix.transposed_times(B)


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

    def transposed_times(self, B: Array) -> Array:
        """Return the product of the transpose with B."""
        return self.load().T @ B

    T = property(Transpose)


@dataclass(frozen=True)
class SelectedRows:
    """Some rows of a matrix. Its products are those of the whole matrix, so that the rows are not copied.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.core.lazy_matrix import SelectedRows
    >>> X = SelectedRows(np.array([[1.0], [2.0], [3.0]]), np.array([True, False, True]))
    >>> (X @ np.ones((1, 1))).ravel(), X.T @ np.ones((2, 1))
    (array([1., 3.]), array([[4.]]))
    """

    matrix: Any
    chosen: Array
    """(n,) array of bool."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of chosen rows and of columns."""
        return int(np.count_nonzero(self.chosen)), self.matrix.shape[1]

    def __sizeof__(self) -> int:
        return n_bytes(self)

    def load(self) -> Any:
        """Return a copy of the rows."""
        return loaded(self.matrix)[self.chosen]

    def __matmul__(self, B: Array) -> Array:
        return (self.matrix @ B)[self.chosen]

    def transposed_times(self, B: Array) -> Array:
        """Return the product of the transpose with B."""
        padded = np.zeros((len(self.chosen), *B.shape[1:]), dtype=B.dtype)
        padded[self.chosen] = B
        return self.matrix.T @ padded

    T = property(Transpose)


def loaded(X: Any) -> Any:
    """Return a matrix in memory."""
    return X.load() if isinstance(X, (LazyMatrix, SelectedRows)) else X
