"""Split of samples into training, validation and test sets."""

from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing, check_random_state

from spmld._validation import indexable
from spmld.labels import read_labels
from spmld.model_selection._allocation import allocate
from spmld.model_selection._split_sizes import check_n_subsets, read_groups, train_validation_test_sizes, with_remainder


def train_validation_test_split(
    X: Any,
    Y: Any,
    *others: Any,
    sizes: tuple[float, float, float] = (0.6, 0.2, 0.2),
    mask: Any = None,
    groups: Any = None,
    random_state: int | np.random.RandomState | None = None,
) -> list[Any]:
    """Split samples into training, validation and test sets, stratified by the observed positives of every label.

    Parameters
    ----------
    X, Y, *others : array-like, DataFrame or sparse matrix
        Arrays to split. `Y` holds the labels in any form accepted by `spmld.labels.read_labels`.
    sizes : three floats in (0, 1) or three ints, default=(0.6, 0.2, 0.2)
        Fractions or numbers of samples for training, validation and testing. Remaining samples are left out.
    mask : array-like of bool of the shape of `Y`, optional
        True where a label is observed. To split the mask, pass it in `others` too.
    groups : array-like of shape (n_samples,), optional
        Samples of the same group stay in the same subset; the sizes are then approximate.
    random_state : int, RandomState or None, default=None
        Seed for the split.

    Returns
    -------
    list
        X_train, X_validation, X_test, Y_train, Y_validation, Y_test, and so on for `others`, with the types and the
        order of the samples unchanged.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.model_selection import train_validation_test_split
    >>> X, Y = np.arange(20).reshape(-1, 1), np.repeat([[1, 0], [0, 1]], 10, axis=0)
    >>> X_train, X_validation, X_test, Y_train, Y_validation, Y_test = train_validation_test_split(X, Y, random_state=0)
    >>> Y_train.sum(axis=0), Y_validation.sum(axis=0), Y_test.sum(axis=0)
    (array([6, 6]), array([2, 2]), array([2, 2]))
    """
    arrays = indexable(X, Y, *others)
    signs = read_labels(arrays[1], mask).signs
    numbers = with_remainder(train_validation_test_sizes(len(signs), sizes), len(signs))
    groups = read_groups(groups, len(signs))
    check_n_subsets("sizes", 3, signs, groups)
    subsets = allocate(signs, numbers, check_random_state(random_state), groups=groups)
    return [_safe_indexing(array, np.flatnonzero(subsets == subset)) for array in arrays for subset in range(3)]
