"""Identical samples, which must not be in the training and the test samples of a fold at the same time."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spmld._arrays import CACHE, row_slices


def hash_samples(X: Any) -> NDArray[np.uint64]:
    """Return a number for each sample that is the same for identical samples, and 0 if all features are 0.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Samples.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.model_selection.identical_samples import hash_samples
    >>> a, b, c = hash_samples(np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]]))
    >>> bool(a == c), bool(a == b)
    (True, False)
    """
    d = X.shape[1]
    # Products with random odd integers modulo 2^64; sums do not depend on the order.
    factors = np.random.default_rng(0).integers(2**63, size=d, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    if not sp.issparse(X):
        X, hashes = np.asarray(X), np.zeros(X.shape[0], dtype=np.uint64)
        for rows in row_slices(X.shape[0], d, CACHE):
            hashes[rows] = _bits(X[rows]) @ factors
        return hashes
    X = sp.csr_array(X)
    total = np.concatenate([[np.uint64(0)], np.cumsum(_bits(X.data) * factors[X.indices], dtype=np.uint64)])
    return np.asarray(total[X.indptr[1:]] - total[X.indptr[:-1]])


def group_identical(hashes: NDArray[np.uint64]) -> tuple[NDArray[np.intp], int]:
    """Return the group of each sample, the same for identical samples, and the number of repeated samples.

    Samples without features are not repeated samples.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.model_selection.identical_samples import group_identical
    >>> groups, n_repeated = group_identical(np.array([7, 0, 7, 0], dtype=np.uint64))
    >>> n_repeated, bool(groups[0] == groups[2]), bool(groups[1] == groups[3])
    (1, True, False)
    """
    _, first, groups = np.unique(hashes, return_index=True, return_inverse=True)
    groups = first[groups]
    empty = hashes == 0
    groups[empty] = np.flatnonzero(empty)
    return groups, len(groups) - len(np.unique(groups))


def identical_groups(X: Any, n_folds: int) -> tuple[NDArray[np.intp] | None, int]:
    """Return groups of identical samples for `make_folds` and the number of repeated samples.

    The groups are None if no sample is repeated, if there are fewer groups than folds, or if X is not numeric.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Samples.
    n_folds : int
        Number of folds.

    Examples
    --------
    >>> from spmld.model_selection.identical_samples import identical_groups
    >>> identical_groups([[1.0], [2.0], [1.0]], 2)[0].tolist()
    [0, 1, 0]
    """
    X = X if sp.issparse(X) else np.asarray(X)
    if X.ndim != 2 or X.dtype.kind not in "fiub" or X.shape[1] == 0:
        return None, 0
    groups, n_repeated = group_identical(hash_samples(X))
    enough = len(groups) - n_repeated >= n_folds
    return (groups if n_repeated and enough else None), n_repeated


def _bits(values: NDArray[Any]) -> NDArray[np.uint64]:
    """Return the bits of numbers as integers; those of 0 are 0."""
    values = np.ascontiguousarray(values, dtype=np.float64) + 0.0  # -0.0 becomes 0.0
    bits: NDArray[np.uint64] = values.view(np.uint64)
    # Floating-point numbers with few digits have zeros at the end, so products alone would collide.
    return bits ^ (bits >> np.uint64(31))
