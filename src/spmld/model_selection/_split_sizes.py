"""Validation of the sizes of subsets and of groups of samples."""

import math
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d


def proportional_sizes(total: int, proportions: Any) -> NDArray[np.intp]:
    """Return integers that sum to `total` and differ by less than one from the proportions.

    Examples
    --------
    >>> from spmld.model_selection._split_sizes import proportional_sizes
    >>> proportional_sizes(11, [0.5, 0.25, 0.25])
    array([5, 3, 3])
    """
    exact = total * np.asarray(proportions, dtype=float) / np.sum(proportions)
    sizes: NDArray[np.intp] = np.floor(exact + 1e-9).astype(np.intp)
    sizes[np.argsort(sizes - exact, kind="stable")[: total - sizes.sum()]] += 1
    return sizes


def read_groups(groups: Any, n_samples: int) -> NDArray[np.intp] | None:
    """Return groups as integers, starting at 0."""
    if groups is None:
        return None
    values = column_or_1d(groups)
    if len(values) != n_samples:
        raise ValueError(f"groups must have one entry for each of the {n_samples} samples, got {len(values)}")
    return np.unique(values, return_inverse=True)[1]


def check_n_subsets(name: str, n_subsets: int, signs: NDArray[np.int8], groups: NDArray[np.intp] | None) -> None:
    """Raise ValueError if there are more subsets than samples or groups."""
    available, units = (len(signs), "samples") if groups is None else (int(groups.max()) + 1, "groups")
    if n_subsets > available:
        raise ValueError(f"{name} must define at most {available} subsets, the number of {units}, got {n_subsets}")


def train_test_sizes(n_samples: int, train_size: Any, test_size: Any) -> NDArray[np.intp]:
    """Return the numbers of training and test samples, rounded down and up, respectively, as in scikit-learn.

    Unlike in scikit-learn, 0.07 * 100 is 7 and not rounded up to 8.
    """
    if train_size is None and test_size is None:
        test_size = 0.1
    n_test = 0 if test_size is None else _size("test_size", test_size, n_samples, math.ceil)
    n_train = n_samples - n_test if train_size is None else _size("train_size", train_size, n_samples, math.floor)
    n_test = n_samples - n_train if test_size is None else n_test
    values = f"got train_size={train_size!r} and test_size={test_size!r}"
    if n_train + n_test > n_samples:
        raise ValueError(f"train_size and test_size must sum to at most the {n_samples} samples, {values}")
    if min(n_train, n_test) < 1:
        raise ValueError(
            f"train_size and test_size must each select at least one sample, {values}, that "
            f"is, {n_train} and {n_test} of the {n_samples} samples"
        )
    return np.array([n_train, n_test], dtype=np.intp)


def _size(name: str, value: Any, n_samples: int, rounding: Any) -> int:
    if isinstance(value, Integral) and not isinstance(value, bool) and 0 < int(value) < n_samples:
        return int(value)
    if isinstance(value, Real) and not isinstance(value, Integral) and 0 < float(value) < 1:
        return int(rounding(round(float(value) * n_samples, 9)))
    raise ValueError(f"{name} must be a float in (0, 1), an integer from 1 to {n_samples - 1} or None, got {value!r}")


def train_validation_test_sizes(n_samples: int, sizes: Any) -> NDArray[np.intp]:
    """Return the numbers of training, validation and test samples."""
    message = (
        f"sizes must be three floats in (0, 1) that sum to at most 1, or three positive integers that sum to at most "
        f"the {n_samples} samples, got {sizes!r}"
    )
    values = list(sizes) if np.iterable(sizes) else []
    if len(values) != 3 or not all(isinstance(v, Real) and not isinstance(v, bool) and float(v) > 0 for v in values):
        raise ValueError(message)
    if all(isinstance(v, Integral) for v in values) and sum(values) <= n_samples:
        return np.array(values, dtype=np.intp)
    if any(isinstance(v, Integral) for v in values) or sum(values) > 1 + 1e-9:
        raise ValueError(message)
    numbers = proportional_sizes(n_samples, [*values, max(0.0, 1 - sum(values))])[:3]
    if numbers.min() < 1:
        raise ValueError(
            f"sizes must each select at least one sample, got {sizes!r}, that is, {numbers.tolist()} samples"
        )
    return numbers


def with_remainder(sizes: NDArray[np.intp], n_samples: int) -> NDArray[np.intp]:
    """Return the sizes, followed by the number of remaining samples if there are any."""
    remainder = n_samples - sizes.sum()
    return np.append(sizes, remainder) if remainder else sizes
