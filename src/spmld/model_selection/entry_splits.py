"""Splits that hold out observed entries of Y instead of rows, for when rows are scarce."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from spmld.labels import Labels, read_labels
from spmld.model_selection._sizes import count

__all__ = ["EntryKFold", "hold_out_entries"]


class EntryKFold:
    r"""K folds of the observed entries of Y: each is held out once, while every row stays in training.

    The P observed positives of a label are spread over the folds, :math:`\lfloor P / K \rfloor` or
    :math:`\lceil P / K \rceil` in each, and so are its observed negatives, and the positives of all labels together.
    scikit-learn's searches hold out rows and cannot use it; `spmld.model_selection.tune` takes it as `cv`.

    Parameters
    ----------
    n_splits : int
        Number of folds, at least 2.
    random_state : int, RandomState or None
        Seed.

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
        self.n_splits = count("n_splits", n_splits, least=2)
        self.random_state = random_state

    def __repr__(self) -> str:
        return f"EntryKFold(n_splits={self.n_splits}, random_state={self.random_state})"

    def split(self, Y: Any, mask: Any = None) -> Iterator[tuple[Any, NDArray[np.bool_]]]:
        """Give the labels to train on and the entries held out, for each fold.

        Parameters
        ----------
        Y : labels in any form of `spmld.labels.read_labels`
            NaN where missing.
        mask : array-like of bool of the same shape, optional
            True where a label is observed.

        Yields
        ------
        Y_train : ndarray or DataFrame of float
            The labels, NaN where missing or held out.
        held_out : ndarray of bool, of the shape of `Y`
            True where an observed entry is held out.
        """
        labels = read_labels(Y, mask)
        rng = check_random_state(self.random_state)
        places = _by_sign_and_label(labels, rng)[0]
        if self.n_splits > len(places):
            raise ValueError(
                f"n_splits asks for {self.n_splits} folds, but Y has {len(places)} observed entries: "
                f"at most {len(places)} are accepted"
            )
        # Dealt out in turn, every stretch of neighbours is spread evenly: each sign of each label, and all positives.
        fold = rng.permutation(self.n_splits)[np.arange(len(places)) % self.n_splits]
        for number in range(self.n_splits):
            yield _without(Y, labels, places[fold == number])


def hold_out_entries(
    Y: Any,
    test_size: float = 0.2,
    *,
    mask: Any = None,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[Any, NDArray[np.bool_]]:
    """Hold out a test_size of the observed entries, the same of the positives and of the negatives of each label.

    Parameters
    ----------
    Y : labels in any form of `spmld.labels.read_labels`
        NaN where missing.
    test_size : float in (0, 1)
        Share to hold out. Of m entries of one sign of one label, `test_size` m are held out, rounded down or up by chance
        so that the test_size holds over all; but one always stays, so that no label loses its only positive.
    mask : array-like of bool of the shape of `Y`, optional
        True where a label is observed.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    Y_train : ndarray or DataFrame of float
        The labels, NaN where missing or held out.
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
    places, starts = _by_sign_and_label(labels, rng)
    # Systematic sampling: one is taken each time the running total of the shares passes a whole number.
    total = np.floor(np.arange(len(places) + 1) * test_size + rng.uniform())
    taken = np.diff(total) > 0
    lost = np.logical_and.reduceat(taken, starts)
    taken[starts[lost]] = False
    return _without(Y, labels, places[taken])


def _by_sign_and_label(labels: Labels, rng: np.random.RandomState) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Flat places of the observed entries, in runs of one sign of one label; and where each run starts.

    The positives of all labels are neighbours, the labels in random order: were each label's negatives in between,
    dealing out in turn could give the only positives of many labels to the same fold.
    """
    rows, columns = np.nonzero(labels.signs)
    n_labels = labels.signs.shape[1]
    run = n_labels * (labels.signs[rows, columns] > 0) + rng.permutation(n_labels)[columns]
    order = np.lexsort((rng.uniform(size=len(rows)), run))
    return (rows * n_labels + columns)[order], np.flatnonzero(np.diff(run[order], prepend=-1))


def _without(Y: Any, labels: Labels, places: NDArray[np.intp]) -> tuple[Any, NDArray[np.bool_]]:
    held_out = np.zeros(labels.signs.shape, dtype=bool)
    held_out.flat[places] = True
    Y_train = labels.write_with_missing(Y, np.where(held_out, 0, labels.signs))
    return Y_train, held_out[:, 0] if labels.one_dimensional else held_out
