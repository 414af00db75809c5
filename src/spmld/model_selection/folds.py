"""Folds of samples, stratified by labels with missing entries, with copies of a sample in the same fold."""

from collections.abc import Iterator
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import BaseCrossValidator, check_cv
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from spmld._arrays import features_to_numpy
from spmld._validation import check_scalar_integer, indexable
from spmld.labels import Labels, read_labels
from spmld.labels.encoding import SIGNS
from spmld.model_selection._allocation import allocate, proportional_sizes, read_groups
from spmld.model_selection.samples import Samples
from spmld.model_selection.similarity import SimilarSamples, find_similar

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]
"""Indices of the training samples and of the test samples."""
MAX_STRATIFIED = 200_000
"""Maximum number of samples that are stratified together."""


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
    >>> from spmld.model_selection.folds import check_splitter
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


def make_folds(
    cv: Any, X: Any, Y: Any, *, random_state: Any = None, repeated: bool = False, groups: Any = None
) -> list[Fold]:
    """Return cross-validation folds in which every sample is tested.

    Parameters
    ----------
    cv : int, splitter, iterable of splits or None
        Number of folds of `MultilabelStratifiedKFold` (None means 5), a splitter, or the folds.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Samples.
    Y : array-like of shape (n_samples, n_labels)
        Labels, NaN where missing.
    random_state : int, RandomState or None, default=None
        Seed for the folds, if `cv` is an integer.
    repeated : bool, default=False
        Whether samples may be tested more than once.
    groups : array-like of shape (n_samples,), optional
        Samples of the same group stay in the same fold.

    Returns
    -------
    list of (train, test)
        Indices of samples.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.model_selection.folds import make_folds
    >>> folds = make_folds(2, np.zeros((4, 1)), [[0, 1], [1, 0], [0, 1], [1, 0]], random_state=0)
    >>> sorted(np.concatenate([test for _, test in folds]).tolist())
    [0, 1, 2, 3]
    """
    n_samples = _num_samples(Y)
    folds = list(check_splitter(cv, n_samples, random_state).split(X, Y, groups))
    count = np.zeros(n_samples, dtype=np.intp)
    for _, test in folds:
        count[test] += 1
    untested, retested = int((count == 0).sum()), int((count > 1).sum())
    if untested:
        raise ValueError(f"cv must test each sample, but leaves out {untested} of {n_samples}, got {cv!r}")
    if retested and not repeated:
        raise ValueError(f"cv must test each sample exactly once, but tests {retested} more than once, got {cv!r}")
    return folds


def split_samples(cv: Any, samples: Samples, seed: int, similar: str = "auto") -> tuple[list[Fold], SimilarSamples]:
    """Return the folds of samples, and which samples are similar to each other.

    Parameters
    ----------
    cv : int, splitter or iterable of splits
        As in `make_folds`.
    samples : Samples
        Samples to split.
    seed : int
        Seed for the folds.
    similar : {"auto", "together", "apart"}, default="auto"
        Whether similar samples are in the same fold, if `cv` is a number, see `find_similar`.
    """
    if isinstance(cv, Integral):
        check_splitter(cv, samples.shape[0], seed)
        found = find_similar(features_to_numpy(samples.X), samples.signs, int(cv), similar)
        number = stratify(samples.signs, np.ones(int(cv)), seed, found.groups if found.together else None)
        return numbered_folds(number), found
    folds = make_folds(cv, samples.X, Labels(samples.signs, SIGNS).write_with_missing(None))
    if any(len(np.unique(train)) < len(train) for train, _ in folds):
        raise ValueError("cv must not repeat training samples of a fold; pass entry_weight to weight samples")
    found = find_similar(features_to_numpy(samples.X), samples.signs, len(folds), "apart")
    return [(np.sort(train), np.sort(test)) for train, test in folds], found


def stratify(
    signs: NDArray[np.int8], proportions: Any, seed: int, groups: NDArray[np.intp] | None = None
) -> NDArray[np.intp]:
    """Return the number of the part of each sample, stratified by the labels, the same for those of a group.

    The sizes of the parts have the given proportions. Of many samples, consecutive parts are stratified one after the
    other. Groups are named by their first samples.
    """
    n = len(signs)
    rng = check_random_state(seed)
    number = np.zeros(n, dtype=np.intp)
    for start, stop in pairwise(np.linspace(0, n, -(-n // MAX_STRATIFIED) + 1).astype(int)):
        sizes = proportional_sizes(stop - start, proportions)
        of_part = None if groups is None else groups[start:stop]
        number[start:stop] = allocate(signs[start:stop], sizes, rng, groups=of_part)
    return number if groups is None else number[groups]


def numbered_folds(number: NDArray[np.integer[Any]]) -> list[Fold]:
    """Return folds given by the number of the fold that tests each sample, -1 for samples that none tests.

    A single fold that tests all samples is fitted on them.
    """
    numbers = np.unique(number[number >= 0])
    tests = [np.flatnonzero(number == k) for k in numbers]
    alone = len(numbers) == 1 and len(tests[0]) == len(number)
    trains = tests if alone else [np.flatnonzero(number != k) for k in numbers]
    return list(zip(trains, tests, strict=True))
