"""Numbers, sizes and groups as arguments: what is accepted, and what they come to in rows."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

__all__ = [
    "count",
    "read_groups",
    "refuse_more_parts",
    "three_sizes",
    "two_sizes",
    "whole_numbers",
    "with_rest",
]


def whole_numbers(total: int, shares: Any) -> NDArray[np.intp]:
    """Whole numbers that sum to `total`, each less than one from its share of it.

    Examples
    --------
    >>> from spmld.model_selection._sizes import whole_numbers
    >>> whole_numbers(11, [0.5, 0.25, 0.25])
    array([5, 3, 3])
    """
    wanted = total * np.asarray(shares, dtype=float) / np.sum(shares)
    numbers: NDArray[np.intp] = np.floor(wanted + 1e-9).astype(np.intp)
    numbers[np.argsort(numbers - wanted, kind="stable")[: total - numbers.sum()]] += 1
    return numbers


def count(name: str, value: Any, *, least: int) -> int:
    """`value` if it is a whole number of at least `least`."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral) or int(value) < least:
        raise ValueError(f"{name} must be an integer of at least {least}, got {value!r}")
    return int(value)


def read_groups(groups: Any, n: int) -> NDArray[np.intp] | None:
    """Groups as numbers from 0."""
    if groups is None:
        return None
    values = column_or_1d(groups)
    if len(values) != n:
        raise ValueError(f"groups must have one entry for each of the {n} rows, got {len(values)}")
    return np.unique(values, return_inverse=True)[1]


def refuse_more_parts(name: str, parts: int, signs: NDArray[np.int8], groups: NDArray[np.intp] | None) -> None:
    """Refuse more parts than there are rows or groups."""
    units, what = (len(signs), "rows") if groups is None else (int(groups.max()) + 1, "groups")
    if parts > units:
        raise ValueError(f"{name} asks for {parts} parts, but there are {units} {what}: at most {units} are accepted")


def two_sizes(n: int, train: Any, test: Any) -> NDArray[np.intp]:
    """Rows to train on and to test on; as in scikit-learn a share is rounded down for the first, up for the second."""
    if train is None and test is None:
        test = 0.1
    n_test = 0 if test is None else _rows("test_size", test, n, math.ceil)
    n_train = n - n_test if train is None else _rows("train_size", train, n, math.floor)
    n_test = n - n_train if test is None else n_test
    given = f"got train_size={train!r} and test_size={test!r}"
    if n_train + n_test > n:
        raise ValueError(f"train_size and test_size must not ask for more than the {n} rows together, {given}")
    if min(n_train, n_test) < 1:
        raise ValueError(
            f"train_size and test_size must leave at least one row each, {given}, which makes {n_train} and {n_test} "
            f"of the {n} rows"
        )
    return np.array([n_train, n_test], dtype=np.intp)


def _rows(name: str, value: Any, n: int, rounding: Any) -> int:
    if isinstance(value, Integral) and not isinstance(value, bool) and 0 < int(value) < n:
        return int(value)
    if isinstance(value, Real) and not isinstance(value, Integral) and 0 < float(value) < 1:
        return int(rounding(round(float(value) * n, 9)))
    raise ValueError(f"{name} must be a float in (0, 1), an integer from 1 to {n - 1} or None, got {value!r}")


def three_sizes(n: int, sizes: Any) -> NDArray[np.intp]:
    """Rows to train on, to validate on and to test on."""
    refusal = (
        f"sizes must be three floats in (0, 1) that sum to at most 1, or three positive integers that sum to at most "
        f"the {n} rows, got {sizes!r}"
    )
    values = list(sizes) if np.iterable(sizes) else []
    if len(values) != 3 or not all(isinstance(v, Real) and not isinstance(v, bool) and float(v) > 0 for v in values):
        raise ValueError(refusal)
    if all(isinstance(v, Integral) for v in values) and sum(values) <= n:
        return np.array(values, dtype=np.intp)
    if any(isinstance(v, Integral) for v in values) or sum(values) > 1 + 1e-9:
        raise ValueError(refusal)
    rows = whole_numbers(n, [*values, max(0.0, 1 - sum(values))])[:3]
    if rows.min() < 1:
        raise ValueError(f"sizes must leave at least one row for each part, got {sizes!r}, which makes {rows.tolist()}")
    return rows


def with_rest(rows: NDArray[np.intp], n: int) -> NDArray[np.intp]:
    """The rows that are in no part, as a part of their own at the end."""
    rest = n - rows.sum()
    return np.append(rows, rest) if rest else rows
