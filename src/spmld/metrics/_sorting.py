"""Sorting of scores, with ties, and counts and weights that follow from the order."""

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
    positive, negative : ndarray
        Weight of each sorted entry if it is positive or negative, else 0; 1 and 0 as bool without weights.
    first : ndarray of bool or None
        Which sorted entries are the first of a run of equal scores; None if there are no ties.
    """

    positive: NDArray[Any]
    negative: NDArray[Any]
    first: Bools | None

    @property
    def n_pairs(self) -> NDArray[Any]:
        """Number, or weight, of the pairs of a positive and a negative of each row."""
        return self.positive.sum(axis=1) * self.negative.sum(axis=1)

    def below(self, counted: NDArray[Any]) -> NDArray[Any]:
        """Return, for each sorted entry, the number, or weight, of the entries of its row with a lower score."""
        counts = np.cumsum(counted, axis=1, dtype=np.int32 if counted.dtype == bool else float) - counted
        if self.first is None:
            return counts
        # Counts increase along a row, so the running maximum repeats the count of the first of equal scores.
        return np.maximum.accumulate(np.where(self.first, counts, 0), axis=1)


def sort_rows(signs: Signs, scores: Floats, weights: Floats | None = None) -> SortedLabels:
    """Sort each row of labels, and of their weights, by its scores."""
    order = np.argsort(scores, axis=1)
    scores = np.take_along_axis(scores, order, axis=1)
    signs = np.take_along_axis(signs, order, axis=1)
    first = np.ones(scores.shape, dtype=bool)
    np.not_equal(scores[:, 1:], scores[:, :-1], out=first[:, 1:])
    ties = None if first.all() else first
    if weights is None:
        return SortedLabels(signs > 0, signs < 0, ties)
    weights = np.take_along_axis(weights, order, axis=1)
    return SortedLabels((signs > 0) * weights, (signs < 0) * weights, ties)


def count_misordered(order: SortedLabels) -> tuple[Any, Any]:
    """Count, for each row, the pairs in which a negative is not below a positive, and is strictly above it."""
    not_below = order.n_pairs - _total(order.below(order.negative), order.positive)
    if order.first is None:
        return not_below, not_below
    return not_below, _total(order.below(order.positive), order.negative)


def auc(signs: Signs, scores: Floats, weights: Floats | None = None) -> Floats:
    """Return the fraction of correctly ordered pairs of each row; a tie counts one half."""
    not_below, above = count_misordered(order := sort_rows(signs, scores, weights))
    return 1 - ratio((not_below + above) / 2, order.n_pairs)


def average_precision(signs: Signs, scores: Floats, weights: Floats | None = None) -> Floats:
    """Return the average precision of each row: the mean of the precisions at the scores of its positives."""
    order = sort_rows(signs, scores, weights)
    observed = order.positive + order.negative
    n_positive = order.positive.sum(axis=1, keepdims=True)
    n_observed = observed.sum(axis=1, keepdims=True)
    rows, columns = np.nonzero(order.positive)
    positives_above = (n_positive - order.below(order.positive))[rows, columns]
    observed_above = (n_observed - order.below(observed))[rows, columns]
    precisions = order.positive[rows, columns] * positives_above / observed_above
    return ratio(np.bincount(rows, weights=precisions, minlength=len(signs)), n_positive[:, 0])


def top_k(signs: Signs, scores: Floats, k: int) -> tuple[Bools, NDArray[np.intp]]:
    """Return which of the k highest-scored labels of each row are positive, and their columns.

    Ties are broken by column. Missing labels come last and are never positive.
    """
    # NaN is sorted last, also after an observed score of minus infinity.
    keys = np.where(signs != 0, -scores, np.nan)
    columns = lowest_columns(keys, k)
    return np.take_along_axis(signs, columns, axis=1) > 0, columns


def _total(counts: NDArray[Any], where: NDArray[Any]) -> NDArray[Any]:
    return np.multiply(counts, where).sum(axis=1, dtype=None if counts.dtype == float else np.int64)
