"""Scores of each row in order, with ties: one sort, then running counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld.metrics._base import Floats, Signs, ratio

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Order:
    """Rows of labels sorted by ascending score.

    Unobserved entries keep their place in the order, but are counted nowhere.

    Attributes
    ----------
    positive, negative : ndarray of bool
        Which sorted entries are positive and which are negative; the unobserved ones are neither.
    first : ndarray of bool or None
        Which sorted entries begin a run of equal scores; None if no two scores of a row are equal.
    """

    positive: Bools
    negative: Bools
    first: Bools | None

    def below(self, counted: Bools) -> NDArray[np.int32]:
        """For each sorted entry, how many of the counted ones in its row have a strictly lower score."""
        counts = np.cumsum(counted, axis=1, dtype=np.int32) - counted
        if self.first is None:
            return counts
        # Counts grow along a row, so a running maximum carries the count at the first of equals to all of them.
        return np.maximum.accumulate(np.where(self.first, counts, 0), axis=1)


def sort_rows(signs: Signs, scores: Floats) -> Order:
    """Sort each row of labels by its scores."""
    order = np.argsort(scores, axis=1)
    scores = np.take_along_axis(scores, order, axis=1)
    signs = np.take_along_axis(signs, order, axis=1)
    first = np.ones(scores.shape, dtype=bool)
    np.not_equal(scores[:, 1:], scores[:, :-1], out=first[:, 1:])
    return Order(signs > 0, signs < 0, None if first.all() else first)


def misordered(order: Order) -> tuple[Any, Any]:
    """Pairs of a positive and a negative of each row: with the negative not below, and with it strictly above."""
    pairs = order.positive.sum(axis=1) * order.negative.sum(axis=1)
    not_below = pairs - _total(order.below(order.negative), order.positive)
    if order.first is None:
        return not_below, not_below
    return not_below, _total(order.below(order.positive), order.negative)


def average_precision(signs: Signs, scores: Floats) -> Floats:
    """Average precision of each row: at each positive, the share of positives among what scores as much or more."""
    order = sort_rows(signs, scores)
    observed = order.positive | order.negative
    n_positive = order.positive.sum(axis=1, keepdims=True)
    n_observed = observed.sum(axis=1, keepdims=True)
    rows, columns = np.nonzero(order.positive)
    found = (n_positive - order.below(order.positive))[rows, columns]
    listed = (n_observed - order.below(observed))[rows, columns]
    total = np.bincount(rows, weights=found / listed, minlength=len(signs))
    return ratio(total, n_positive[:, 0])


def top(signs: Signs, scores: Floats, k: int) -> tuple[Bools, NDArray[np.intp]]:
    """Which of the k highest scores of each row belong to positives, and their columns.

    Equal scores go by column. Unobserved entries come after all others and are never positive.
    """
    # NaN sorts behind everything, also behind an observed score of minus infinity.
    keys = np.where(signs != 0, -scores, np.nan)
    k = min(k, keys.shape[1])
    columns = np.sort(np.argpartition(keys, k - 1, axis=1)[:, :k], axis=1)
    chosen = np.take_along_axis(keys, columns, axis=1)
    # Where the k-th highest score also stands outside the chosen, the partition chose at will: those rows are sorted.
    last = chosen.max(axis=1, keepdims=True)
    tied = (keys == last).sum(axis=1) > (chosen == last).sum(axis=1)
    columns[tied] = np.argsort(keys[tied], axis=1, kind="stable")[:, :k]
    order = np.argsort(np.take_along_axis(keys, columns, axis=1), axis=1, kind="stable")
    columns = np.take_along_axis(columns, order, axis=1)
    return np.take_along_axis(signs, columns, axis=1) > 0, columns


def _total(counts: NDArray[np.int32], where: Bools) -> Any:
    return np.multiply(counts, where).sum(axis=1, dtype=np.int64)
