"""Scaling of features so that samples have mean square norm 1, from sums over the samples.

Squares are computed in units of powers of two, so that features of any size neither overflow nor vanish.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spmld._arrays import Array, Matrix, count_nonzero, largest_value, move, namespace, numpy_dtype, to_numpy

Total = Callable[..., Any]
"""``total(function, combine=add)`` is the sum of a function of the features over all blocks of rows."""

SMALLEST_SQUARE = 1e-300
"""Squares below this value count as 0; their inverse roots would overflow in products."""


def scaled(X: Any) -> Matrix:
    """Return scaled features, see `fit_scaling`.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.core.scaling import scaled
    >>> scaled(np.array([[1.0, 30.0], [3.0, 10.0]])) * np.sqrt(2)
    array([[-1.,  1.],
           [ 1., -1.]])
    """
    return scale(X, *fit_scaling(total_of(X), X.shape[0], X))


def total_of(X: Any) -> Total:
    """Return the sums of features in memory."""
    return lambda function, **_: function(X)


def fit_scaling(total: Total, n: int, like: Any, center: bool = True) -> tuple[Any, Any]:
    """Return the means to subtract and the factors of the features.

    Features with mostly zeros have the mean 0.0 and one factor, a number; others an array of means, unless `center` is
    False, and of factors.

    Parameters
    ----------
    total : callable
        Sums over the samples.
    n : int
        Number of samples.
    like : array or sparse matrix
        An array with the features, the library, the format and the precision of the features.
    center : bool, default=True
        Whether to subtract the means of dense features. Otherwise they get equal mean squares.
    """
    d = like.shape[1]
    if total(count_nonzero) < 0.5 * n * d:
        unit = float(power_of_two(total(largest_value, combine=max), like))
        return 0.0, np.float64(inverse_root(total(partial(_square, unit=unit)) / n) / unit)
    high, low = map(to_numpy, total(_extremes, combine=np.maximum))
    mean = total(_column_sums) / n
    means: Any = to_numpy(mean) if center else 0.0
    units = power_of_two(np.maximum(high - means, low + means), like)
    squares = to_numpy(total(partial(_centered_squares, center=means, unit=units)) / n)
    # Because of rounding errors, the variance of a constant feature may be above 0.
    rounding = (n * np.finfo(squares.dtype).eps * to_numpy(mean) / units) ** 2
    factors = inverse_root(np.where(squares > rounding, squares, 0.0)) / np.sqrt(d) / units
    return means, factors.astype(squares.dtype)


def scale(X: Any, mean: Any, factor: Any) -> Matrix:
    """Return the features minus their means, times their factors."""
    if not isinstance(factor, float):
        return (dense(X) - on_device(mean, X)) * on_device(factor, X)
    if sp.issparse(X):
        # Shared indices would be sorted in place, without the values of X.
        return sp.csr_array((X.data * factor, X.indices, X.indptr), shape=X.shape, copy=True)
    return X * float(factor)


def unscale(W: Any, mean: Any, factor: Any) -> tuple[Any, Any]:
    """Return weights of the original features and offsets: ``scale(X) @ W`` equals ``X @ weights - offsets``."""
    xp = namespace(W)
    weights = W * (float(factor) if isinstance(factor, float) else on_device(factor, W)[:, None])
    means = on_device(mean, W) + xp.zeros_like(W[:, 0])
    return weights, xp.sum(weights * xp.reshape(means, (-1, 1)), axis=0)


def power_of_two(largest: Any, X: Any) -> NDArray[Any]:
    """Return powers of two close to the largest values, in the precision of X, so that squares of quotients are exact.

    Values that are 0, or whose inverse would overflow, have the unit 1.
    """
    dtype = numpy_dtype(X)
    usable = largest > 2.0**20 * np.finfo(dtype).smallest_normal
    return np.where(usable, np.ldexp(1.0, np.frexp(largest)[1]), 1.0).astype(dtype)


def inverse_root(squares: Any) -> NDArray[np.float64]:
    """Return 1 / sqrt(squares), and 0 where there is nothing to scale."""
    squares = np.asarray(squares, dtype=float)
    return np.where(squares > SMALLEST_SQUARE, 1 / np.sqrt(np.maximum(squares, SMALLEST_SQUARE)), 0.0)


def on_device(values: Any, X: Any) -> Array:
    """Return a fitted array in the library, on the device and in the precision of X; numbers are unchanged."""
    return values if isinstance(values, float) else move(values.astype(numpy_dtype(X), copy=False), X)


def dense(X: Any) -> Array:
    """Return a dense array."""
    return X.toarray() if sp.issparse(X) else X


def _square(X: Any, unit: float) -> float:
    """Return |X / unit|^2."""
    values = (X.data if sp.issparse(X) else X) / unit
    return float(namespace(values).sum(values * values))


def _column_sums(X: Any) -> Array:
    """Return the sum of each column."""
    X = dense(X)
    return namespace(X).sum(X, axis=0)


def _extremes(X: Any) -> tuple[Any, Any]:
    """Return the largest values of the columns of X and of -X."""
    X = dense(X)
    return namespace(X).max(X, axis=0), -namespace(X).min(X, axis=0)


def _centered_squares(X: Any, center: Any, unit: Any) -> Array:
    """Return the sum of the squares of each column of (X - center) / unit."""
    X = dense(X)
    X = X - on_device(center, X)
    X /= on_device(unit, X)
    return namespace(X).sum(X**2, axis=0)
