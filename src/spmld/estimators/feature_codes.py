"""Features as codes 0 to 65,535, from which trees are grown."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spmld._arrays import row_slices

N_CODES = 2**16
"""Number of intervals of equal width into which the range of a feature is divided."""
_Floats = NDArray[np.float64]
_Codes = NDArray[np.uint16]


@dataclass(frozen=True)
class FeatureCodes:
    """The interval of each value of the features; a code is a nondecreasing function of the value.

    Attributes
    ----------
    codes : ndarray or csr_array of shape (n_samples, n_features)
        Codes. If features are sparse, the differences from the codes of 0, modulo 65,536.
    of_zero : ndarray of shape (n_features,)
        Codes of 0 if features are sparse; otherwise 0.
    low, high, scale : ndarray of shape (n_features,)
        The range, and the inverse of the width of an interval, which is 0 for constant features.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.estimators.feature_codes import FeatureCodes
    >>> coded = FeatureCodes.encode(np.array([[0.0], [1.0], [3.0]], dtype=np.float32))
    >>> coded.codes.ravel()
    array([    0, 21845, 65535], dtype=uint16)
    >>> bool(1.0 <= coded.thresholds(np.array([0]), np.array([21845]))[0] < 3.0)
    True
    """

    codes: Any
    of_zero: _Codes
    low: _Floats
    high: _Floats
    scale: _Floats

    @classmethod
    def encode(cls, X: Any) -> "FeatureCodes":
        """Return the codes of features in single precision, dense or in CSR format without duplicates."""
        low, high = (_dense_row(bound) for bound in (X.min(axis=0), X.max(axis=0)))
        width = high - low
        scale = np.divide(N_CODES, width, out=np.zeros(len(width)), where=width > 0)
        of_zero = np.zeros(len(width), np.uint16)
        if sp.issparse(X):
            of_zero = _encode(np.zeros(len(width)), low, scale)
            of_values = _encode(X.data, low[X.indices], scale[X.indices]) - of_zero[X.indices]
            return cls(sp.csr_array((of_values, X.indices, X.indptr), shape=X.shape), of_zero, low, high, scale)
        codes = np.empty(X.shape, np.uint16)
        for rows in row_slices(*X.shape):
            codes[rows] = _encode(X[rows], low, scale)
        return cls(codes, of_zero, low, high, scale)

    def part(self, features: Any, rows: Any) -> _Codes:
        """Return the codes of some samples, of shape (n_selected_features, n_selected_samples)."""
        if isinstance(self.codes, np.ndarray):
            return self.codes.ravel().take(rows * self.codes.shape[1] + features[:, None])
        return self.codes[rows][:, features].toarray().T + self.of_zero[features, None]

    def thresholds(self, features: Any, codes: Any) -> _Floats:
        """Return the largest value in single precision whose code is at most the given one, which is below 65,535."""
        low, scale = self.low[features], self.scale[features]
        below, above = low, self.high[features]
        while True:  # bisection; the code of `above` is greater
            middle = (below + (above - below) / 2).astype(np.float32).astype(float)
            inside = (below < middle) & (middle < above)
            if not inside.any():
                return below
            is_below = _encode(middle, low, scale) <= codes
            below = np.where(inside & is_below, middle, below)
            above = np.where(inside & ~is_below, middle, above)


def _encode(values: Any, low: _Floats, scale: _Floats) -> _Codes:
    codes = values - low
    codes *= scale
    return np.minimum(codes, N_CODES - 1, out=codes).astype(np.uint16)


def _dense_row(bound: Any) -> _Floats:
    return np.asarray(bound.toarray() if sp.issparse(bound) else bound, dtype=float).ravel()
