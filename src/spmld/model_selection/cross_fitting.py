"""Cross-fitting: scores of each sample by a model that was not fitted on it.

`CrossFit` has the folds, which `folds.py` makes, and the map that runs their fits. It is used by `cross_fit_scores` and
`nested_scores`, for `Samples`, and by `cross_fit` and `cross_val_predict`, for all that scikit-learn accepts.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params, _num_samples, has_fit_parameter

from spmld._arrays import numpy_dtype, to_numpy
from spmld._frames import is_frame
from spmld._io import need
from spmld._response import select_positive
from spmld._threads import Map
from spmld._validation import indexable
from spmld.labels import Labels, read_labels
from spmld.labels.single_class import ignore_label_warnings
from spmld.model_selection.folds import Fold, make_folds, numbered_folds
from spmld.model_selection.samples import Samples


@dataclass(frozen=True)
class CrossFit:
    """Folds of samples, and the map that runs their fits.

    Attributes
    ----------
    folds : sequence of (train, test)
        Indices of samples.
    n_samples : int
        Number of samples.
    over : callable, default=map
        Maps a function over the folds, see `spmld._threads.thread_map` and `over_jobs`.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.model_selection.cross_fitting import CrossFit
    >>> y, cross = np.array([1.0, 2.0, 3.0, 6.0]), CrossFit.of(np.array([0, 1, 0, 1]))
    >>> cross.assemble([np.full(len(test), y[train].mean()) for train, test in cross.folds])
    array([4., 2., 4., 2.])
    """

    folds: Sequence[Fold]
    n_samples: int
    over: Map = map

    @classmethod
    def of(cls, number: NDArray[np.integer[Any]], over: Map = map) -> "CrossFit":
        """Return folds given by the number of the fold that tests each sample, see `numbered_folds`."""
        return cls(numbered_folds(number), len(number), over)

    @property
    def number(self) -> NDArray[np.int16]:
        """Number of the first fold that tests each sample, -1 for samples that are not tested."""
        number = np.full(self.n_samples, -1, dtype=np.int16)
        for k in reversed(range(len(self.folds))):
            number[self.folds[k][1]] = k
        return number

    def assemble(self, parts: Iterable[Any], *, fill: float = np.nan, dtype: Any = float) -> NDArray[Any]:
        """Return the values of all samples from those of the test samples of each fold.

        The value of a sample that is tested more than once is the mean; `fill` for a sample that is not tested.
        """
        parts = list(parts)
        total = np.full((self.n_samples, *parts[0].shape[1:]), fill, dtype=dtype)
        count = np.zeros(self.n_samples, dtype=np.intp)
        for (_, test), part in zip(self.folds, parts, strict=True):
            again = count[test] > 0
            total[test] = np.where(_column(again, part), total[test] + part, part) if again.any() else part
            count[test] += 1
        return total if count.max() <= 1 else total / _column(np.maximum(count, 1), total)

    def part(self, chosen: slice) -> "CrossFit":
        """Return some of the folds."""
        return replace(self, folds=self.folds[chosen])

    def testing(self, tested: NDArray[np.bool_]) -> "CrossFit":
        """Return the folds with those of their test samples that are given by an array of bool."""
        return replace(self, folds=[(train, test[tested[test]]) for train, test in self.folds])


def _column(values: NDArray[Any], like: NDArray[Any]) -> NDArray[Any]:
    """Return a number for each sample as an array that broadcasts with others."""
    return values.reshape(-1, *[1] * (like.ndim - 1))


def over_jobs(n_jobs: int | None) -> Map:
    """Return a function like `map` that calls in `n_jobs` processes."""

    def over(function: Callable[..., Any], *values: Iterable[Any]) -> list[Any]:
        return Parallel(n_jobs=n_jobs)(delayed(function)(*arguments) for arguments in zip(*values, strict=True))

    return over


def fit_samples(estimator: Any, samples: Any) -> Any:
    """Return the estimator, fitted in place, or None if all weights are 0."""
    if samples.total_weight == 0:
        return None
    with ignore_label_warnings():  # a label may have one class in a fold
        if hasattr(estimator, "fit_samples"):
            return estimator.fit_samples(samples)
        labels = samples.labels
        options = {"trusted": labels.trusted} if has_fit_parameter(estimator, "trusted") else {}
        Y = labels.write_with_missing(None)
        return estimator.fit(samples.X, Y, entry_weight=samples.weights, **options)


def fit_folds(
    cross: CrossFit, estimators: Sequence[Any], samples: Samples, weights: Sequence[NDArray[Any]] | None = None
) -> list[Any]:
    """Return the estimator of each fold, fitted in place to its training samples; None if their weights are 0.

    `weights` has entry weights of all samples for each fold.
    """

    def fit(estimator: Any, fold: Fold, of_fold: Any) -> Any:
        weighted = samples if of_fold is None else samples.weighted(of_fold)
        return fit_samples(estimator, weighted.rows(fold[0]))

    of_folds = [None] * len(cross.folds) if weights is None else weights
    return list(cross.over(fit, estimators, cross.folds, of_folds))


def out_of_fold_scores(cross: CrossFit, models: Sequence[Any], samples: Samples) -> NDArray[Any]:
    """Return the scores of the test samples by the models of their folds, in the precision of the features.

    They are 0 without a model, and for samples that are not tested.
    """
    dtype = numpy_dtype(samples.X)
    parts = []
    for model, (_, test) in zip(models, cross.folds, strict=True):
        if model is None or len(test) == 0:
            parts.append(np.zeros((len(test), samples.shape[2]), dtype=dtype))
        else:
            # Estimators of the library need not validate the features again.
            score = model._scores if hasattr(model, "_scores") else model.decision_function
            parts.append(to_numpy(score(samples.X[test])))
    return cross.assemble(parts, fill=0.0, dtype=dtype)


def cross_fit_scores(
    cross: CrossFit, estimators: Sequence[Any], samples: Samples, weights: Sequence[NDArray[Any]] | None = None
) -> NDArray[Any]:
    """Return the out-of-fold scores of estimators, one for each fold, that are fitted in place, see `fit_folds`."""
    return out_of_fold_scores(cross, fit_folds(cross, estimators, samples, weights), samples)


def nested_scores(cross: CrossFit, estimator: Any, samples: Samples) -> list[NDArray[Any]]:
    """Return, for each fold, scores of its training samples by models fitted to neither these nor the fold.

    The model of two folds is fitted to the samples that are in the training sets of both. With two folds, no samples
    are left.
    """

    def fit(one: Fold, other: Fold) -> Any:
        common = np.intersect1d(one[0], other[0], assume_unique=True)
        return fit_samples(clone(estimator), samples.rows(common))

    pairs = list(combinations(range(len(cross.folds)), 2))
    fitted = cross.over(fit, [cross.folds[a] for a, _ in pairs], [cross.folds[b] for _, b in pairs])
    models = dict(zip(map(frozenset, pairs), fitted, strict=True))
    numbers = range(len(cross.folds))
    return [out_of_fold_scores(cross, [models.get(frozenset((a, b))) for b in numbers], samples) for a in numbers]


@dataclass(frozen=True)
class CrossFitResult:
    """Result of `cross_fit`.

    Attributes
    ----------
    estimators : list
        The fitted estimator of each fold.
    fold_scores : list of ndarray
        The scores of the test samples of each fold.
    cross : CrossFit
        The folds.

    Examples
    --------
    See `cross_fit`.
    """

    estimators: list[Any]
    fold_scores: list[NDArray[Any]]
    cross: CrossFit

    @property
    def scores(self) -> NDArray[np.float64]:
        """Out-of-fold scores in the order of the samples.

        The score of a sample that is tested more than once is the mean; it is NaN for a sample that is never tested.
        """
        return self.cross.assemble(self.fold_scores)


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
    >>> from spmld.model_selection import cross_fit, make_folds
    >>> data = make_planted(n_samples=300, random_state=0)
    >>> folds = make_folds(3, data.X, data.Y, random_state=0)
    >>> result = cross_fit(MaskedLogistic(), data.X, data.Y, folds)
    >>> bool(ranking_loss(data.Y, result.scores) < 0.2)
    True
    """
    estimators = estimator if isinstance(estimator, (list, tuple)) else [clone(estimator) for _ in folds]
    weights = entry_weight if isinstance(entry_weight, (list, tuple)) else [entry_weight] * len(folds)
    options = (
        _without_none(entry_weight=of_fold, trusted=trusted, rows=train)
        for (train, _), of_fold in zip(folds, weights, strict=True)
    )
    cross = CrossFit(folds, _num_samples(X), over_jobs(n_jobs))
    fitted, scores = _fit_and_score_folds(cross, estimators, X, Y, options, score)
    return CrossFitResult(fitted, scores, cross)


def _without_none(rows: Any, **arrays: Any) -> dict[str, Any]:
    """Return some rows of arrays by name, without those that are None."""
    return {name: array[rows] for name, array in arrays.items() if array is not None}


def _fit_and_score_folds(
    cross: CrossFit,
    estimators: Iterable[Any],
    X: Any,
    Y: Any,
    options: Iterable[dict[str, Any]],
    score: Callable[[Any, Any], Any],
) -> tuple[list[Any], list[Any]]:
    """Return the fitted estimator of each fold, and the scores of its test samples."""
    # The samples of a fold are selected when its fit starts, so that those of all folds are not in memory.
    features = (_safe_indexing(X, train) for train, _ in cross.folds)
    labels = (Y[train] if isinstance(Y, Labels) else _safe_indexing(Y, train) for train, _ in cross.folds)
    tested = (_safe_indexing(X, test) for _, test in cross.folds)
    results = cross.over(partial(_fit_and_score, score), estimators, features, labels, options, tested)
    fitted, scores = zip(*results, strict=True)
    return list(fitted), list(scores)


def _fit_and_score(
    score: Callable[[Any, Any], Any], estimator: Any, X: Any, Y: Any, options: dict[str, Any], X_test: Any
) -> tuple[Any, Any]:
    weights = options.get("entry_weight")
    if weights is not None and not weights.any():
        return estimator, np.zeros((_num_samples(X_test), *weights.shape[1:]))
    with ignore_label_warnings():  # a label may have one class in a fold
        estimator.fit(X, Y, **options)
    return estimator, score(estimator, X_test)


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
    cross = CrossFit(folds, _num_samples(X), over_jobs(n_jobs))
    _, outputs = _fit_and_score_folds(cross, [clone(estimator) for _ in folds], X, y, options, predict)
    order = np.argsort(np.concatenate([test for _, test in folds]))
    if is_frame(outputs[0]) and not hasattr(outputs[0], "iloc"):
        return need("polars", extra=None).concat(outputs)[order]
    if is_frame(outputs[0]):
        index = X.index if hasattr(X, "iloc") else range(len(order))
        return need("pandas").concat(outputs).iloc[order].set_axis(index)
    return np.concatenate([to_numpy(output) for output in outputs])[order]


def _predict(estimator: Any, X: Any, method: str, classes: NDArray[Any]) -> Any:
    """Return the predictions, lists of scikit-learn's classifiers as one column for each label."""
    output = getattr(estimator, method)(X)
    return select_positive(output, estimator.classes_, classes) if isinstance(output, list) else output
