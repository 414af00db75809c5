"""A split of rows for training, validation and testing."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing, check_random_state, indexable

from spmld.labels import read_labels
from spmld.model_selection._allocation import allocate
from spmld.model_selection._sizes import read_groups, refuse_more_parts, three_sizes, with_rest

__all__ = ["train_validation_test_split"]


def train_validation_test_split(
    X: Any,
    Y: Any,
    *others: Any,
    sizes: tuple[float, float, float] = (0.6, 0.2, 0.2),
    mask: Any = None,
    groups: Any = None,
    random_state: int | np.random.RandomState | None = None,
) -> list[Any]:
    """Split rows in three, with the observed positives of every label in proportion.

    Parameters
    ----------
    X, Y, *others : array-like, DataFrame or sparse matrix
        What to split. `Y` holds the labels in any form of `spmld.labels.read_labels`.
    sizes : three floats in (0, 1) or three ints
        Shares or numbers of rows for training, validation and testing. If they leave rows over, these are in none.
    mask : array-like of bool of the shape of `Y`, optional
        True where a label is observed. Give it among `others` as well to have it split.
    groups : array-like of shape (n_samples,), optional
        Rows with the same value stay together; the sizes are then kept as well as the groups allow.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    list
        X_train, X_validation, X_test, Y_train, Y_validation, Y_test, and so on for `others`, each of the type given;
        rows keep their order.

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
    rows = three_sizes(len(signs), sizes)
    groups = read_groups(groups, len(signs))
    refuse_more_parts("sizes", 3, signs, groups)
    part = allocate(signs, with_rest(rows, len(signs)), check_random_state(random_state), groups=groups)
    return [_safe_indexing(array, np.flatnonzero(part == f)) for array in arrays for f in range(3)]
