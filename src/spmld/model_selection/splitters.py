"""Splitters that hold out rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import BaseCrossValidator, check_cv
from sklearn.utils import check_random_state, indexable

from spmld.labels import read_labels
from spmld.model_selection._allocation import allocate
from spmld.model_selection._sizes import count, read_groups, refuse_more_parts, two_sizes, whole_numbers, with_rest
from spmld.model_selection.entry_splits import EntryKFold

__all__ = [
    "MultilabelStratifiedKFold",
    "MultilabelStratifiedShuffleSplit",
    "RepeatedMultilabelStratifiedKFold",
    "check_splitter",
]

_Split = tuple[NDArray[np.intp], NDArray[np.intp]]


class _RowSplitter(BaseCrossValidator):
    """What the splitters share: reading the labels and the groups, and drawing one split after the other."""

    # Groups are optional, and used when they are given.
    __metadata_request__split = {"groups": True}  # noqa: RUF012 (scikit-learn reads a plain class attribute)

    n_splits: int

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[_Split]:
        """Give the rows to train on and the rows to test on, for each split.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or None
            Only its length is looked at.
        y : array-like of shape (n_samples, n_labels) or (n_samples,)
            Labels in any form of `spmld.labels.read_labels`, NaN where missing.
        groups : array-like of shape (n_samples,), optional
            Rows with the same value stay together.

        Yields
        ------
        train, test : ndarray of int
            Row numbers in rising order.
        """
        if y is None:
            raise ValueError(f"y must be given to {type(self).__name__}.split: it spreads the labels, got None")
        X, y, groups = indexable(X, y, groups)
        signs = read_labels(y, name="y").signs
        yield from self._draw(signs, read_groups(groups, len(signs)))

    @abstractmethod
    def _draw(self, signs: NDArray[np.int8], groups: NDArray[np.intp] | None) -> Iterator[_Split]:
        """Train and test rows of each split."""

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many splits there are; the arguments are not used."""
        return self.n_splits


class MultilabelStratifiedKFold(_RowSplitter):
    r"""K folds in which every label has the same share of its observed positives.

    A label with P observed positives has :math:`\lfloor P / K \rfloor` or :math:`\lceil P / K \rceil` of them in each
    fold wherever the rows allow it. Where entries are missing, the number of observed entries of each label is evened
    out as a second aim. Fold sizes differ by one row at most; with groups, as little as the groups allow.

    Parameters
    ----------
    n_splits : int
        Number of folds, at least 2.
    shuffle : bool
        Whether to take the rows in random order. If False, the folds are always the same for the same labels.
    random_state : int, RandomState or None
        Seed, used if `shuffle`.

    See Also
    --------
    spmld.model_selection._allocation.allocate : The method.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.model_selection import MultilabelStratifiedKFold
    >>> Y = np.array([[1, 0], [1, np.nan], [0, 1], [0, 1], [np.nan, 0], [0, 0]])
    >>> for train, test in MultilabelStratifiedKFold(2, random_state=0).split(Y, Y):
    ...     print(len(test), np.nansum(Y[test], axis=0))
    3 [1. 1.]
    3 [1. 1.]
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        shuffle: bool = True,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_splits = count("n_splits", n_splits, least=2)
        if not isinstance(shuffle, (bool, np.bool_)):
            raise ValueError(f"shuffle must be True or False, got {shuffle!r}")
        if not shuffle and random_state is not None:
            raise ValueError(f"random_state must be None if shuffle=False, as it has no effect, got {random_state!r}")
        self.shuffle = shuffle
        self.random_state = random_state

    def _draw(self, signs: NDArray[np.int8], groups: NDArray[np.intp] | None) -> Iterator[_Split]:
        refuse_more_parts("n_splits", self.n_splits, signs, groups)
        # Without shuffling a fixed seed serves the search for exchanges.
        rng = check_random_state(self.random_state if self.shuffle else 0)
        sizes = whole_numbers(len(signs), np.ones(self.n_splits))
        part = allocate(signs, sizes, rng, groups=groups, shuffle=self.shuffle)
        for fold in range(self.n_splits):
            yield np.flatnonzero(part != fold), np.flatnonzero(part == fold)


class RepeatedMultilabelStratifiedKFold(_RowSplitter):
    """`MultilabelStratifiedKFold`, repeated with other folds each time.

    Parameters
    ----------
    n_splits : int
        Number of folds, at least 2.
    n_repeats : int
        How often to split into folds, at least 1.
    random_state : int, RandomState or None
        Seed.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.model_selection import RepeatedMultilabelStratifiedKFold
    >>> splitter = RepeatedMultilabelStratifiedKFold(n_splits=2, n_repeats=3, random_state=0)
    >>> Y = np.eye(4)
    >>> splitter.get_n_splits(), len(list(splitter.split(Y, Y)))
    (6, 6)
    """

    def __init__(
        self, n_splits: int = 5, *, n_repeats: int = 10, random_state: int | np.random.RandomState | None = None
    ) -> None:
        self.n_splits = count("n_splits", n_splits, least=2)
        self.n_repeats = count("n_repeats", n_repeats, least=1)
        self.random_state = random_state

    def _draw(self, signs: NDArray[np.int8], groups: NDArray[np.intp] | None) -> Iterator[_Split]:
        rng = check_random_state(self.random_state)
        for _ in range(self.n_repeats):
            yield from MultilabelStratifiedKFold(self.n_splits, random_state=rng)._draw(signs, groups)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many splits there are; the arguments are not used."""
        return self.n_splits * self.n_repeats


class MultilabelStratifiedShuffleSplit(_RowSplitter):
    """Random splits into train and test rows that share the observed positives of every label in proportion.

    Parameters
    ----------
    n_splits : int
        How often to split, at least 1.
    test_size, train_size : float in (0, 1), int or None
        Share or number of rows. None is what the other leaves; if both are None, the test rows are a tenth. With
        groups the sizes are kept as well as the groups allow.
    random_state : int, RandomState or None
        Seed.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.model_selection import MultilabelStratifiedShuffleSplit
    >>> Y = np.repeat([[1, 0], [0, 1]], 10, axis=0)
    >>> for train, test in MultilabelStratifiedShuffleSplit(2, test_size=0.2, random_state=0).split(Y, Y):
    ...     print(Y[train].sum(axis=0), Y[test].sum(axis=0))
    [8 8] [2 2]
    [8 8] [2 2]
    """

    def __init__(
        self,
        n_splits: int = 10,
        *,
        test_size: float | None = None,
        train_size: float | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_splits = count("n_splits", n_splits, least=1)
        self.test_size = test_size
        self.train_size = train_size
        self.random_state = random_state

    def _draw(self, signs: NDArray[np.int8], groups: NDArray[np.intp] | None) -> Iterator[_Split]:
        n = len(signs)
        sizes = two_sizes(n, self.train_size, self.test_size)
        refuse_more_parts("train_size and test_size", 2, signs, groups)
        rng = check_random_state(self.random_state)
        for _ in range(self.n_splits):
            part = allocate(signs, with_rest(sizes, n), rng, groups=groups)
            yield np.flatnonzero(part == 0), np.flatnonzero(part == 1)


def check_splitter(cv: Any, n: int, random_state: Any, *, other: str = "") -> Any:
    """A splitter of n rows from the argument `cv`: a number of folds (None is 5), a splitter, or splits.

    Parameters
    ----------
    cv : int, splitter of rows, iterable of splits or None
        What was given.
    n : int
        Number of rows.
    random_state : int, RandomState or None
        Seed of the folds, if `cv` is a number.
    other : str
        What else is accepted for `cv`, for the refusal.

    Returns
    -------
    splitter

    Examples
    --------
    >>> from spmld.model_selection.splitters import check_splitter
    >>> check_splitter(3, 10, 0)
    MultilabelStratifiedKFold(n_splits=3, random_state=0, shuffle=True)
    """
    cv = 5 if cv is None else cv
    if isinstance(cv, Integral) and not isinstance(cv, bool) and int(cv) >= 2:
        if int(cv) > n:
            raise ValueError(f"cv asks for {cv} folds, but X has n_samples={n}: at most {n} are accepted")
        return MultilabelStratifiedKFold(int(cv), random_state=random_state)
    if isinstance(cv, (str, bool, Integral, EntryKFold)) or not (hasattr(cv, "split") or np.iterable(cv)):
        raise ValueError(
            f"cv must be an integer of at least 2, a splitter of samples or an iterable of splits{other}, got {cv!r}"
        )
    return check_cv(cv)
