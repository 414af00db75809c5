"""Held-out samples and held-out entries."""

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing, check_random_state

from spmld._arrays import ROUNDING_ERROR
from spmld._validation import indexable
from spmld.labels import Labels, read_labels
from spmld.model_selection._allocation import allocate, proportional_sizes, read_groups


def stratified_split(
    X: Any,
    Y: Any,
    *others: Any,
    sizes: Sequence[float] = (0.6, 0.2, 0.2),
    mask: Any = None,
    groups: Any = None,
    random_state: int | np.random.RandomState | None = None,
) -> list[Any]:
    """Split samples into subsets, stratified by the observed positives of every label.

    Parameters
    ----------
    X, Y, *others : array-like, DataFrame or sparse matrix
        Arrays to split. `Y` holds the labels in any form accepted by `spmld.labels.read_labels`.
    sizes : sequence of floats in (0, 1) or of ints, default=(0.6, 0.2, 0.2)
        Fractions or numbers of samples of at least two subsets, by default for training, validation and testing.
        Remaining samples are left out.
    mask : array-like of bool of the shape of `Y`, optional
        True where a label is observed. To split the mask, pass it in `others` too.
    groups : array-like of shape (n_samples,), optional
        Samples of the same group stay in the same subset; the sizes are then approximate.
    random_state : int, RandomState or None, default=None
        Seed for the split.

    Returns
    -------
    list
        The subsets of X, then those of Y, and so on for `others`, with the types and the order of the samples
        unchanged.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.model_selection import stratified_split
    >>> X, Y = np.arange(20).reshape(-1, 1), np.repeat([[1, 0], [0, 1]], 10, axis=0)
    >>> X_train, X_test, Y_train, Y_test = stratified_split(X, Y, sizes=(0.8, 0.2), random_state=0)
    >>> Y_train.sum(axis=0), Y_test.sum(axis=0)
    (array([8, 8]), array([2, 2]))
    """
    arrays = indexable(X, Y, *others)
    signs = read_labels(arrays[1], mask).signs
    numbers = _subset_sizes(len(signs), sizes)
    groups = read_groups(groups, len(signs), len(sizes), "sizes")
    subsets = allocate(signs, numbers, check_random_state(random_state), groups=groups)
    return [_safe_indexing(array, np.flatnonzero(subsets == i)) for array in arrays for i in range(len(sizes))]


def _subset_sizes(n_samples: int, sizes: Any) -> NDArray[np.intp]:
    """Return the numbers of samples of the subsets, and of the remaining samples if there are any."""
    values = list(sizes) if np.iterable(sizes) else []
    whole = all(isinstance(value, Integral) and not isinstance(value, bool) for value in values)
    fractions = all(isinstance(value, Real) and not isinstance(value, Integral) for value in values)
    total = n_samples if whole else 1
    if len(values) < 2 or not (whole or fractions) or min(values) <= 0 or sum(values) > total + ROUNDING_ERROR:
        raise ValueError(
            f"sizes must be at least two floats in (0, 1) that sum to at most 1, or positive integers that sum to at "
            f"most the {n_samples} samples, got {sizes!r}"
        )
    numbers = proportional_sizes(n_samples, [*values, max(0, total - sum(values))])
    if numbers[:-1].min() < 1:
        raise ValueError(f"sizes must each select at least one sample, got {sizes!r}, that is, {numbers[:-1].tolist()}")
    return numbers[numbers > 0]


def hold_out_entries(
    Y: Any, test_size: float = 0.2, *, mask: Any = None, random_state: int | np.random.RandomState | None = None
) -> tuple[Any, NDArray[np.bool_]]:
    """Hold out the same fraction of the observed positives and of the observed negatives of each label.

    Parameters
    ----------
    Y : labels in any form accepted by `spmld.labels.read_labels`
        Labels, NaN where missing.
    test_size : float in (0, 1), default=0.2
        Fraction to hold out. Of m entries of one sign of one label, `test_size` m are held out, randomly rounded so
        that the fraction holds over all labels. At least one of them is kept, so that no label loses its only positive.
    mask : array-like of bool of the shape of `Y`, optional
        True where a label is observed. Other entries of Y are ignored.
    random_state : int, RandomState or None, default=None
        Seed for the split.

    Returns
    -------
    Y_train : ndarray or DataFrame of float
        Labels, NaN where missing or held out.
    held_out : ndarray of bool, of the shape of `Y`
        True where an observed entry is held out.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.model_selection import hold_out_entries
    >>> Y = np.repeat([[1, 0], [0, 1]], 10, axis=0)
    >>> Y_train, held_out = hold_out_entries(Y, test_size=0.2, random_state=0)
    >>> np.nansum(Y_train, axis=0), held_out.sum(axis=0)
    (array([8., 8.]), array([4, 4]))
    """
    if isinstance(test_size, bool) or not isinstance(test_size, Real) or not 0 < test_size < 1:
        raise ValueError(f"test_size must be a float in (0, 1), got {test_size!r}")
    labels = read_labels(Y, mask)
    rng = check_random_state(random_state)
    entries, starts = _by_sign_and_label(labels, rng)
    # Systematic sampling: an entry is selected whenever the cumulative fraction passes an integer.
    total = np.floor(np.arange(len(entries) + 1) * test_size + rng.uniform())
    selected = np.diff(total) > 0
    complete = np.logical_and.reduceat(selected, starts)
    selected[starts[complete]] = False
    held_out = np.zeros(labels.signs.shape, dtype=bool)
    held_out.flat[entries[selected]] = True
    Y_train = labels.write_with_missing(Y, np.where(held_out, 0, labels.signs))
    return Y_train, held_out[:, 0] if labels.one_dimensional else held_out


def _by_sign_and_label(labels: Labels, rng: np.random.RandomState) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return flat indices of the observed entries, in runs of one sign of one label, and the start of each run."""
    samples, columns = np.nonzero(labels.signs)
    n_labels = labels.signs.shape[1]
    run = n_labels * (labels.signs[samples, columns] > 0) + rng.permutation(n_labels)[columns]
    order = np.lexsort((rng.uniform(size=len(samples)), run))
    return (samples * n_labels + columns)[order], np.flatnonzero(np.diff(run[order], prepend=-1))
