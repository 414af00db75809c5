"""Cross-fitting: folds of the samples, and scores of each sample by a model that was not fitted on it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params, _num_samples

from spmld._arrays import to_numpy
from spmld._io import need
from spmld._response import select_positive
from spmld._validation import indexable
from spmld.labels import Labels, read_labels
from spmld.labels.single_class import ignore_label_warnings
from spmld.model_selection.splitters import Fold as Fold
from spmld.model_selection.splitters import check_splitter


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
    return to_numpy(estimator.decision_function(X))


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
    weights = entry_weight if isinstance(entry_weight, (list, tuple)) else [entry_weight] * len(folds)

    def options() -> Iterator[dict[str, Any]]:
        for (train, _), fold_weight in zip(folds, weights, strict=True):
            arrays = {"entry_weight": fold_weight, "trusted": trusted}
            yield {name: array[train] for name, array in arrays.items() if array is not None}

    fitted, scores = _fit_folds(estimators, X, Y, folds, options(), score, n_jobs)
    return CrossFitResult(fitted, scores, folds, _num_samples(X))


def _fit_folds(
    estimators: Iterable[Any],
    X: Any,
    Y: Any,
    folds: Sequence[Fold],
    options: Iterable[dict[str, Any]],
    score: Callable[[Any, Any], Any],
    n_jobs: int | None,
) -> tuple[list[Any], list[Any]]:
    """Return the fitted estimator of each fold, and the scores of its test samples."""

    def tasks() -> Iterator[Any]:
        for estimator, (train, test), fold_options in zip(estimators, folds, options, strict=True):
            training = _safe_indexing(X, train), Y[train] if isinstance(Y, Labels) else _safe_indexing(Y, train)
            yield delayed(_fit_and_score)(estimator, training, fold_options, _safe_indexing(X, test), score)

    fitted, scores = zip(*Parallel(n_jobs=n_jobs)(tasks()), strict=True)
    return list(fitted), list(scores)


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


def cross_val_predict(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    cv: Any = None,
    n_jobs: int | None = None,
    params: Mapping[str, Any] | None = None,
    method: str = "predict",
) -> Any:
    """Return out-of-fold predictions: each sample is predicted by a model that was not fitted on it.

    This is scikit-learn's function for labels with missing entries, which scikit-learn would encode as a third class.

    Parameters
    ----------
    estimator : estimator
        Any estimator, also of scikit-learn; it is cloned. It must accept NaN in `y` if labels are missing.
    X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features), or sequence of objects such as texts
        Samples. The folds of a DataFrame are DataFrames.
    y : labels in any form accepted by `spmld.labels.read_labels`
        Labels, NaN where missing.
    groups : array-like of shape (n_samples,), optional
        Samples of the same group stay in the same fold.
    cv : int, splitter, iterable of splits or None, default=None
        Folds, which must test each sample exactly once. An integer is the number of folds of
        `MultilabelStratifiedKFold`, which are the same in each call; None is 5.
    n_jobs : int or None, default=None
        Number of folds fitted in parallel.
    params : dict, optional
        Parameters of `fit`, such as ``{"entry_weight": ...}``. Those with one row for each sample are split, too.
    method : {"predict", "predict_proba", "decision_function"}, default="predict"
        Method of the estimator to call. If it returns a list with the probabilities of both classes of each label, as
        some classifiers of scikit-learn do, those of the positive class are returned.

    Returns
    -------
    ndarray of shape (n_samples, n_labels), or what the method returns for all samples
        A DataFrame with the index of X if the estimator is set to return one, see
        `spmld.estimators.MultiLabelEstimator.set_output`.

    See Also
    --------
    cross_fit : The same for given folds, with the fitted estimators.

    Examples
    --------
    >>> from spmld import MaskedLogistic
    >>> from spmld.datasets import make_planted
    >>> from spmld.metrics import ranking_loss
    >>> from spmld.model_selection import cross_val_predict
    >>> data = make_planted(n_samples=300, observed_fraction=0.5, random_state=0)
    >>> P = cross_val_predict(MaskedLogistic(), data.X, data.Y, cv=3, method="predict_proba")
    >>> P.shape, bool(ranking_loss(data.Y, P) < 0.2)
    ((300, 12), True)
    """
    X, y = indexable(X, y)
    predict = partial(_predict, method=method, classes=read_labels(y, name="y").classes)
    folds = make_folds(cv, X, y, random_state=0, groups=groups)
    options = (_check_method_params(X, dict(params or {}), indices=train) for train, _ in folds)
    _, outputs = _fit_folds([clone(estimator) for _ in folds], X, y, folds, options, predict, n_jobs)
    order = np.argsort(np.concatenate([test for _, test in folds]))
    if hasattr(outputs[0], "iloc"):
        index = X.index if hasattr(X, "iloc") else range(len(order))
        return need("pandas").concat(outputs).iloc[order].set_axis(index)
    return np.concatenate([to_numpy(output) for output in outputs])[order]


def _predict(estimator: Any, X: Any, method: str, classes: NDArray[Any]) -> Any:
    """Return the predictions, lists of scikit-learn's classifiers as one column for each label."""
    output = getattr(estimator, method)(X)
    return select_positive(output, estimator.classes_, classes) if isinstance(output, list) else output
