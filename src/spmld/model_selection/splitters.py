"""Folds of samples, stratified by labels with missing entries."""

from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import BaseCrossValidator, check_cv
from sklearn.utils import check_random_state

from spmld._validation import check_scalar_integer, indexable
from spmld.labels import read_labels
from spmld.model_selection._allocation import allocate, proportional_sizes, read_groups

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]
"""Indices of the training samples and of the test samples."""


class MultilabelStratifiedKFold(BaseCrossValidator):
    r"""K folds, each with the same fraction of the observed positives of every label.

    A label with P observed positives has :math:`\lfloor P / K \rfloor` or :math:`\lceil P / K \rceil` of them in each
    fold wherever the samples allow it. If entries are missing, the numbers of observed entries of each label are
    balanced as a secondary objective. Fold sizes differ by at most one sample or, with groups, as little as possible.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    shuffle : bool, default=True
        Whether to allocate the samples in random order. If False, the folds depend only on the data.
    random_state : int, RandomState or None, default=None
        Seed, used only if ``shuffle=True``.

    See Also
    --------
    spmld.model_selection._allocation.allocate : The algorithm.

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

    # Groups are optional, and used if they are passed.
    __metadata_request__split = {"groups": True}  # noqa: RUF012 (scikit-learn reads a plain class attribute)

    def __init__(
        self, n_splits: int = 5, *, shuffle: bool = True, random_state: int | np.random.RandomState | None = None
    ) -> None:
        self.n_splits = check_scalar_integer("n_splits", n_splits, minimum=2)
        if not isinstance(shuffle, (bool, np.bool_)):
            raise ValueError(f"shuffle must be True or False, got {shuffle!r}")
        if not shuffle and random_state is not None:
            raise ValueError(f"random_state must be None if shuffle=False, as it has no effect, got {random_state!r}")
        self.shuffle = shuffle
        self.random_state = random_state

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Fold]:
        """Yield indices of training and test samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or None
            Samples; only their number is used.
        y : array-like of shape (n_samples, n_labels) or (n_samples,)
            Labels in any form accepted by `spmld.labels.read_labels`, NaN where missing.
        groups : array-like of shape (n_samples,), optional
            Samples of the same group stay in the same fold.

        Yields
        ------
        train, test : ndarray of int
            Indices in ascending order.
        """
        if y is None:
            raise ValueError(f"y must be the labels to stratify by in {type(self).__name__}.split, got None")
        X, y, groups = indexable(X, y, groups)
        signs = read_labels(y, name="y").signs
        groups = read_groups(groups, len(signs), self.n_splits, "n_splits")
        # Exchanges between folds are random even without shuffling; the seed is then fixed.
        rng = check_random_state(self.random_state if self.shuffle else 0)
        sizes = proportional_sizes(len(signs), np.ones(self.n_splits))
        folds = allocate(signs, sizes, rng, groups=groups, shuffle=self.shuffle)
        for fold in range(self.n_splits):
            yield np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits. The arguments are ignored."""
        return self.n_splits


def check_splitter(cv: Any, n_samples: int, random_state: Any) -> Any:
    """Return a splitter for the argument `cv`.

    Parameters
    ----------
    cv : int, splitter of samples, iterable of splits or None
        An integer is the number of folds of `MultilabelStratifiedKFold`; None is 5.
    n_samples : int
        Number of samples.
    random_state : int, RandomState or None
        Seed for the folds, if `cv` is an integer or None.

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
        if int(cv) > n_samples:
            raise ValueError(f"cv must be at most the number of samples, n_samples={n_samples}, got {cv}")
        return MultilabelStratifiedKFold(int(cv), random_state=random_state)
    if isinstance(cv, (str, bool, Integral)) or not (hasattr(cv, "split") or np.iterable(cv)):
        raise ValueError(
            f"cv must be an integer of at least 2, a splitter of samples or an iterable of splits, got {cv!r}"
        )
    return check_cv(cv)
