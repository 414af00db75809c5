"""Splits that hold out observed entries of Y instead of samples."""

from collections.abc import Iterator
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from spmld._validation import check_scalar_integer
from spmld.labels import Labels, read_labels


class EntryKFold:
    r"""K folds of the observed entries of Y. Each entry is held out once, and no sample is held out.

    Each fold has :math:`\lfloor P / K \rfloor` or :math:`\lceil P / K \rceil` of the P observed positives of a label,
    and similarly for its observed negatives and for all positives. `spmld.model_selection.tune` accepts it
    as `cv`; scikit-learn's searches hold out samples and do not.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    random_state : int, RandomState or None, default=None
        Seed for the folds.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.model_selection import EntryKFold
    >>> Y = np.repeat([[1, 0], [0, 1]], 5, axis=0)
    >>> for Y_train, held_out in EntryKFold(5, random_state=0).split(Y):
    ...     print(np.isnan(Y_train).sum(axis=0), Y[held_out].sum())
    [2 2] 2
    [2 2] 2
    [2 2] 2
    [2 2] 2
    [2 2] 2
    """

    def __init__(self, n_splits: int = 5, *, random_state: int | np.random.RandomState | None = None) -> None:
        self.n_splits = check_scalar_integer("n_splits", n_splits, minimum=2)
        self.random_state = random_state

    def __repr__(self) -> str:
        return f"EntryKFold(n_splits={self.n_splits}, random_state={self.random_state})"

    def split(self, Y: Any, mask: Any = None) -> Iterator[tuple[Any, NDArray[np.bool_]]]:
        """Yield training labels and held-out entries.

        Parameters
        ----------
        Y, mask
            As in `hold_out_entries`.

        Yields
        ------
        Y_train, held_out
            As returned by `hold_out_entries`.
        """
        labels = read_labels(Y, mask)
        rng = check_random_state(self.random_state)
        entries = _by_sign_and_label(labels, rng)[0]
        if self.n_splits > len(entries):
            raise ValueError(
                f"n_splits must be at most the number of observed entries of Y, {len(entries)}, got {self.n_splits}"
            )
        # Cyclic allocation balances every run of consecutive entries: each sign of each label, and all positives.
        folds = rng.permutation(self.n_splits)[np.arange(len(entries)) % self.n_splits]
        for fold in range(self.n_splits):
            yield _hold_out(Y, labels, entries[folds == fold])


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
    return _hold_out(Y, labels, entries[selected])


def _by_sign_and_label(labels: Labels, rng: np.random.RandomState) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return flat indices of the observed entries, in runs of one sign of one label, and the start of each run.

    The positives of all labels are consecutive, with the labels in random order. With the negatives of each label in
    between, cyclic allocation could put the only positives of many labels into the same fold.
    """
    samples, columns = np.nonzero(labels.signs)
    n_labels = labels.signs.shape[1]
    run = n_labels * (labels.signs[samples, columns] > 0) + rng.permutation(n_labels)[columns]
    order = np.lexsort((rng.uniform(size=len(samples)), run))
    return (samples * n_labels + columns)[order], np.flatnonzero(np.diff(run[order], prepend=-1))


def _hold_out(Y: Any, labels: Labels, entries: NDArray[np.intp]) -> tuple[Any, NDArray[np.bool_]]:
    held_out = np.zeros(labels.signs.shape, dtype=bool)
    held_out.flat[entries] = True
    Y_train = labels.write_with_missing(Y, np.where(held_out, 0, labels.signs))
    return Y_train, held_out[:, 0] if labels.one_dimensional else held_out
