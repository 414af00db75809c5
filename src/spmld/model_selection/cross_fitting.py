"""Cross-fitting: folds of the samples, and scores of each sample by a model that was not fitted on it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_samples

from spmld._arrays import to_numpy
from spmld.labels import Labels
from spmld.labels.single_class import ignore_label_warnings
from spmld.model_selection.splitters import check_splitter

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]
"""Indices of the training samples and of the test samples."""


@dataclass(frozen=True)
class CrossFitResult:
    """Result of `cross_fit`.

    Attributes
    ----------
    estimators : list
        The fitted estimator of each fold.
    fold_scores : list of ndarray
        The scores of the test samples of each fold.
    folds : sequence of (train, test)
        The folds.
    n_samples : int
        Number of samples.

    Examples
    --------
    See `cross_fit`.
    """

    estimators: list[Any]
    fold_scores: list[NDArray[Any]]
    folds: Sequence[Fold]
    n_samples: int

    @property
    def scores(self) -> NDArray[np.float64]:
        """Out-of-fold scores in the order of the samples.

        The score of a sample that is tested more than once is the mean; it is NaN for a sample that is never tested.
        """
        total = np.zeros((self.n_samples, *self.fold_scores[0].shape[1:]))
        count = np.zeros(self.n_samples, dtype=np.intp)
        for (_, test), scores in zip(self.folds, self.fold_scores, strict=True):
            total[test] = scores + total[test] if count[test].any() else scores
            count[test] += 1
        total[count == 0] = np.nan
        return total if count.max() == 1 else total / np.maximum(count, 1).reshape(-1, *[1] * (total.ndim - 1))


def decision_scores(estimator: Any, X: Any) -> NDArray[Any]:
    """Return ``estimator.decision_function(X)`` as an array."""
    scores = estimator.decision_function(X)
    return to_numpy(scores)


def cross_fit(
    estimator: Any | Sequence[Any],
    X: Any,
    Y: Any,
    folds: Sequence[Fold],
    *,
    entry_weight: NDArray[Any] | Sequence[NDArray[Any]] | None = None,
    trusted: NDArray[np.bool_] | None = None,
    score: Callable[[Any, Any], NDArray[Any]] = decision_scores,
    n_jobs: int | None = None,
) -> CrossFitResult:
    """Fit an estimator on the training samples of each fold, and score its test samples.

    Parameters
    ----------
    estimator : estimator, or list with one estimator for each fold
        A single estimator is cloned for each fold. Estimators of a list are fitted in place, so that those with
        ``warm_start=True`` start from their last fit.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Samples.
    Y : array-like or Labels of shape (n_samples, n_labels)
        Labels, NaN where missing. Estimators of this library also accept labels of type `spmld.labels.Labels`.
    folds : sequence of (train, test)
        Indices of samples, see `make_folds`.
    entry_weight : ndarray of shape (n_samples, n_labels), or list with one for each fold, optional
        Weights of the entries, passed to ``fit``. A fold whose training entries all have weight 0 is not fitted; the
        scores of its test samples are 0.
    trusted : ndarray of bool of shape (n_samples, n_labels), optional
        Verified entries, passed to ``fit`` if given.
    score : callable, default=decision_scores
        ``score(fitted, X_test)`` returns the scores of the test samples, by default those of ``decision_function``.
    n_jobs : int or None, default=None
        Number of folds fitted in parallel.

    Returns
    -------
    CrossFitResult
        With the out-of-fold ``scores`` and the fitted ``estimators``.

    Examples
    --------
    >>> from spmld import MaskedLogistic
    >>> from spmld.datasets import make_planted
    >>> from spmld.metrics import ranking_loss
    >>> from spmld.model_selection.cross_fitting import cross_fit, make_folds
    >>> data = make_planted(n_samples=300, random_state=0)
    >>> folds = make_folds(3, data.X, data.Y, random_state=0)
    >>> result = cross_fit(MaskedLogistic(), data.X, data.Y, folds)
    >>> bool(ranking_loss(data.Y, result.scores) < 0.2)
    True
    """
    estimators = estimator if isinstance(estimator, (list, tuple)) else [clone(estimator) for _ in folds]

    def tasks() -> Iterator[Any]:
        weights = entry_weight if isinstance(entry_weight, (list, tuple)) else [entry_weight] * len(folds)
        for fold_estimator, (train, test), fold_weight in zip(estimators, folds, weights, strict=True):
            arrays = {"entry_weight": fold_weight, "trusted": trusted}
            options = {name: array[train] for name, array in arrays.items() if array is not None}
            training = _safe_indexing(X, train), Y[train] if isinstance(Y, Labels) else _safe_indexing(Y, train)
            yield delayed(_fit_and_score)(fold_estimator, training, options, _safe_indexing(X, test), score)

    results = Parallel(n_jobs=n_jobs)(tasks())
    fitted, scores = [estimator for estimator, _ in results], [scores for _, scores in results]
    return CrossFitResult(fitted, scores, folds, _num_samples(X))


def _fit_and_score(
    estimator: Any, training: tuple[Any, Any], options: dict[str, Any], X_test: Any, score: Callable[[Any, Any], Any]
) -> tuple[Any, Any]:
    weights = options.get("entry_weight")
    if weights is not None and not weights.any():
        return estimator, np.zeros((_num_samples(X_test), *weights.shape[1:]))
    with ignore_label_warnings():  # a label may have one class in a fold
        estimator.fit(*training, **options)
    return estimator, score(estimator, X_test)


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
    >>> from spmld.model_selection.cross_fitting import make_folds
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
