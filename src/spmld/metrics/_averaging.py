"""Computing metrics in blocks of rows, and averaging them where they are defined."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

from spmld._arrays import CACHE, row_slices
from spmld.metrics._inputs import Floats, Signs, weigh

Average = Any
"""A number, or an array with a value for each row or label if it is not averaged."""


def by_rows(metric: Callable[..., Any], signs: Signs, *others: NDArray[Any]) -> Floats:
    """Return the metric of each row, computed in blocks of rows."""
    out = np.empty(len(signs))
    for rows in row_slices(len(signs), signs.shape[1], CACHE):
        out[rows] = metric(*(np.ascontiguousarray(array[rows]) for array in (signs, *others)))
    return out


def by_columns(metric: Callable[..., Any], signs: Signs, *others: NDArray[Any]) -> Floats:
    """Return the metric of each column, computed in blocks of columns."""
    return by_rows(metric, signs.T, *(array.T for array in others))


def ratio(numerator: Any, denominator: Any) -> Floats:
    """Return the quotient, NaN where the denominator is 0."""
    numerator, denominator = np.broadcast_arrays(numerator, denominator)
    out = np.full(denominator.shape, np.nan)
    np.divide(numerator, denominator, out=out, where=denominator != 0)
    return out


def average_defined(values: Floats, average: str | None, name: str) -> Average:
    """Return the mean of the values that are not NaN or, if `average` is None, the values.

    Undefined cases of all metrics are handled here: they are left out.
    """
    if average is None:
        return values
    if average != "mean":
        raise ValueError(f'average must be "mean" or None, got {average!r}')
    defined = values[~np.isnan(values)]
    if defined.size == 0:
        warnings.warn(
            f"{name} is undefined for all {values.size} cases; the result is NaN", UndefinedMetricWarning, stacklevel=3
        )
        return float("nan")
    return float(defined.mean())


def average_entries(
    loss: Callable[..., Any], signs: Signs, values: NDArray[Any], entry_weight: Any, average: str | None, name: str
) -> Average:
    """Return the mean of ``loss(signs, values)`` over the observed entries or, if `average` is None, its values."""
    signs, weights = weigh(signs, entry_weight)
    if average is None:
        return np.where(signs != 0, loss(signs, values), np.nan)
    weights = (signs != 0) if weights is None else weights
    totals = by_rows(lambda s, v, w: (loss(s, v) * w).sum(axis=1), signs, values, weights)
    return average_defined(ratio(totals.sum(), weights.sum()), average, name)


def count(chosen: NDArray[np.bool_], weights: Floats | None, axis: int | None = None) -> Any:
    """Return the number of chosen entries, or the sum of their weights."""
    return np.count_nonzero(chosen, axis=axis) if weights is None else np.sum(weights, axis=axis, where=chosen)
