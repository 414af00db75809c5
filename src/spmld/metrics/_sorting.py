"""Sorting of scores, with ties, and counts and weights that follow from the order."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld._arrays import lowest_columns
from spmld.metrics._averaging import ratio
from spmld.metrics._inputs import Floats, Signs

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class SortedLabels:
    """Labels of each row, sorted by ascending score. Missing labels have a position but are not counted.

    Attributes
    ----------
    positive, negative : ndarray of bool
        Which sorted entries are positive and which are negative; missing ones are neither.
    first : ndarray of bool or None
        Which sorted entries are the first of a run of equal scores; None if there are no ties.
    """

    positive: Bools
    negative: Bools
    first: Bools | None

    @property
    def n_pairs(self) -> Any:
        """Number of pairs of a positive and a negative of each row."""
        return self.positive.sum(axis=1) * self.negative.sum(axis=1)

    def below(self, counted: Bools) -> NDArray[np.int32]:
        """Return, for each sorted entry, the number of counted entries of its row with a strictly lower score."""
        counts = np.cumsum(counted, axis=1, dtype=np.int32) - counted
        if self.first is None:
            return counts
        # Counts increase along a row, so the running maximum repeats the count of the first of equal scores.
        return np.maximum.accumulate(np.where(self.first, counts, 0), axis=1)


def sort_rows(signs: Signs, scores: Floats) -> SortedLabels:
    """Sort each row of labels by its scores."""
    order = np.argsort(scores, axis=1)
    scores = np.take_along_axis(scores, order, axis=1)
    signs = np.take_along_axis(signs, order, axis=1)
    first = np.ones(scores.shape, dtype=bool)
    np.not_equal(scores[:, 1:], scores[:, :-1], out=first[:, 1:])
    return SortedLabels(signs > 0, signs < 0, None if first.all() else first)


def count_misordered(order: SortedLabels) -> tuple[Any, Any]:
    """Count, for each row, the pairs in which a negative is not below a positive, and is strictly above it."""
    not_below = order.n_pairs - _total(order.below(order.negative), order.positive)
    if order.first is None:
        return not_below, not_below
    return not_below, _total(order.below(order.positive), order.negative)


def average_precision(signs: Signs, scores: Floats) -> Floats:
    """Return the average precision of each row: the mean of the precisions at the scores of its positives."""
    order = sort_rows(signs, scores)
    observed = order.positive | order.negative
    n_positive = order.positive.sum(axis=1, keepdims=True)
    n_observed = observed.sum(axis=1, keepdims=True)
    rows, columns = np.nonzero(order.positive)
    positives_above = (n_positive - order.below(order.positive))[rows, columns]
    observed_above = (n_observed - order.below(observed))[rows, columns]
    total = np.bincount(rows, weights=positives_above / observed_above, minlength=len(signs))
    return ratio(total, n_positive[:, 0])


def top_k(signs: Signs, scores: Floats, k: int) -> tuple[Bools, NDArray[np.intp]]:
    """Return which of the k highest-scored labels of each row are positive, and their columns.

    Ties are broken by column. Missing labels come last and are never positive.
    """
    # NaN is sorted last, also after an observed score of minus infinity.
    keys = np.where(signs != 0, -scores, np.nan)
    columns = lowest_columns(keys, k)
    return np.take_along_axis(signs, columns, axis=1) > 0, columns


def _total(counts: NDArray[np.int32], where: Bools) -> Any:
    return np.multiply(counts, where).sum(axis=1, dtype=np.int64)


def of_columns(metric: Callable[..., Floats], *arrays: Any) -> Floats:
    """Return the metric of each column."""
    return np.array([float(metric(*columns)) for columns in zip(*(array.T for array in arrays), strict=True)])


def weighted_auc(signs: Signs, scores: Floats, weights: Floats) -> Floats:
    """Return the weight of correctly ordered pairs divided by that of all pairs; a tie counts one half."""
    positive, negative = signs > 0, signs < 0
    own, others = weights[positive], (scores[negative], weights[negative])
    below = sum(_weight_before(*others, scores[positive], side) for side in ("left", "right"))
    return ratio(own @ below / 2, own.sum() * weights[negative].sum())


def weighted_average_precision(signs: Signs, scores: Floats, weights: Floats) -> Floats:
    """Return the weighted mean, over the positives, of the weighted precision at their scores."""
    positive, observed = signs > 0, signs != 0
    keys, own = -scores[positive], weights[positive]
    hits = _weight_before(keys, own, keys, "right")
    return ratio(own @ (hits / _weight_before(-scores[observed], weights[observed], keys, "right")), own.sum())


def _weight_before(keys: Floats, weights: Floats, at: Floats, side: Any) -> Floats:
    """Return the weight of the keys that are below (left), or not above (right), each of the given values."""
    order = np.argsort(keys)
    return np.append(0.0, np.cumsum(weights[order]))[np.searchsorted(keys[order], at, side)]
