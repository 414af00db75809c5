"""Cross-validation with the signatures of scikit-learn's functions, for labels with missing entries."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import model_selection
from sklearn.base import clone
from sklearn.metrics import get_scorer_names
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params

from spmld._arrays import to_numpy
from spmld._io import need
from spmld._response import select_positive
from spmld.labels import Labels, read_labels
from spmld.labels.single_class import ignore_label_warnings, warn_of_metrics
from spmld.metrics import METRICS, scorer
from spmld.model_selection.cross_fitting import make_folds
from spmld.model_selection.splitters import check_splitter

Scoring = str | Callable[..., Any] | Iterable[str] | Mapping[str, Any] | None
"""What the functions accept as `scoring`."""


def cross_validate(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    scoring: Scoring = None,
    cv: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    params: Mapping[str, Any] | None = None,
    pre_dispatch: Any = "2*n_jobs",
    return_train_score: bool = False,
    return_estimator: bool = False,
    return_indices: bool = False,
    error_score: Any = np.nan,
    mask: Any = None,
) -> dict[str, Any]:
    """Evaluate an estimator by cross-validation on the observed labels.

    This is scikit-learn's function for labels with missing entries: an integer `cv` stratifies by the observed labels,
    and `scoring` accepts the metrics of `spmld.metrics`.

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
    scoring : str, callable, list of str, dict or None, default=None
        Names of metrics of `spmld.metrics`, scorers ``(estimator, X, y)``, or a dict of these. As for all scorers,
        greater is better: losses are negated. Without missing labels, names of scikit-learn's scorers are accepted
        too. None is the method `score` of the estimator.
    cv : int, splitter, iterable of splits or None, default=None
        Folds. An integer is the number of folds of `MultilabelStratifiedKFold`, which are the same in each call; None
        is 5.
    n_jobs, verbose, pre_dispatch, return_train_score, return_estimator, return_indices, error_score
        As in `sklearn.model_selection.cross_validate`.
    params : dict, optional
        Parameters of `fit`, such as ``{"entry_weight": ...}``. Those with one row for each sample are split, too.
    mask : array-like of bool of the shape of `y`, optional
        True where a label is observed. Other entries of y are ignored.

    Returns
    -------
    dict
        "test_score", or ``"test_"`` and the name of each metric, with one value for each fold; "fit_time" and
        "score_time" in seconds; and what else was requested.

    See Also
    --------
    compare : Several estimators on the same folds, with significance tests.

    Examples
    --------
    >>> from spmld import MaskedLogistic
    >>> from spmld.datasets import make_planted
    >>> from spmld.model_selection import cross_validate
    >>> data = make_planted(n_samples=300, observed_fraction=0.5, random_state=0)
    >>> scores = cross_validate(MaskedLogistic(), data.X, data.Y, cv=3, scoring=["ranking_loss", "macro_auc"])
    >>> sorted(scores)
    ['fit_time', 'score_time', 'test_macro_auc', 'test_ranking_loss']
    >>> bool((scores["test_ranking_loss"] > -0.2).all())
    True
    """
    X, y, labels = _read(X, y, mask, params)
    warn_of_metrics(labels)
    with ignore_label_warnings():  # a label may have one class in a fold
        return model_selection.cross_validate(
            estimator,
            X,
            y,
            scoring=read_scoring(scoring, labels),
            cv=list(check_splitter(cv, len(labels.signs), 0).split(X, y, groups)),
            n_jobs=n_jobs,
            verbose=verbose,
            params=params,
            pre_dispatch=pre_dispatch,
            return_train_score=return_train_score,
            return_estimator=return_estimator,
            return_indices=return_indices,
            error_score=error_score,
        )


def cross_val_score(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    scoring: str | Callable[..., Any] | None = None,
    cv: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    params: Mapping[str, Any] | None = None,
    pre_dispatch: Any = "2*n_jobs",
    error_score: Any = np.nan,
    mask: Any = None,
) -> NDArray[np.float64]:
    """Return the score of each fold of a cross-validation on the observed labels.

    Parameters
    ----------
    estimator, X, y, groups, cv, n_jobs, verbose, params, pre_dispatch, error_score, mask
        As in `cross_validate`.
    scoring : str, callable or None, default=None
        One metric, as in `cross_validate`.

    Returns
    -------
    ndarray of shape (n_folds,)

    Examples
    --------
    >>> from spmld import MaskedLogistic
    >>> from spmld.datasets import make_planted
    >>> from spmld.model_selection import cross_val_score
    >>> data = make_planted(n_samples=300, observed_fraction=0.5, random_state=0)
    >>> bool(cross_val_score(MaskedLogistic(), data.X, data.Y, cv=3, scoring="macro_auc").mean() > 0.7)
    True
    """
    if not (scoring is None or isinstance(scoring, str) or callable(scoring)):
        raise ValueError(
            f"scoring must be one metric or scorer, got {scoring!r}. Use cross_validate for several metrics"
        )
    options = {"groups": groups, "cv": cv, "n_jobs": n_jobs, "verbose": verbose, "params": params, "mask": mask}
    options |= {"pre_dispatch": pre_dispatch, "error_score": error_score}
    return cross_validate(estimator, X, y, scoring=scoring, **options)["test_score"]


def cross_val_predict(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    cv: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    params: Mapping[str, Any] | None = None,
    pre_dispatch: Any = "2*n_jobs",
    method: str = "predict",
    mask: Any = None,
) -> Any:
    """Return out-of-fold predictions: each sample is predicted by a model that was not fitted on it.

    Parameters
    ----------
    estimator, X, y, groups, cv, n_jobs, verbose, params, pre_dispatch, mask
        As in `cross_validate`. `cv` must test each sample exactly once.
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
    X, y, labels = _read(X, y, mask, params)
    folds = make_folds(cv, X, y, random_state=0, groups=groups)
    tasks = (delayed(_fit_and_predict)(clone(estimator), X, y, labels, params, method, *fold) for fold in folds)
    outputs = Parallel(n_jobs=n_jobs, verbose=verbose, pre_dispatch=pre_dispatch)(tasks)
    order = np.argsort(np.concatenate([test for _, test in folds]))
    if hasattr(outputs[0], "iloc"):
        index = X.index if hasattr(X, "iloc") else range(len(order))
        return need("pandas").concat(outputs).iloc[order].set_axis(index)
    return np.concatenate([to_numpy(output) for output in outputs])[order]


def _fit_and_predict(
    estimator: Any, X: Any, y: Any, labels: Labels, params: Any, method: str, train: Any, test: Any
) -> Any:
    """Return the predictions of the test samples, lists of scikit-learn's classifiers as one column for each label."""
    fit_params = _check_method_params(X, params or {}, indices=train)
    with ignore_label_warnings():
        estimator.fit(_safe_indexing(X, train), _safe_indexing(y, train), **fit_params)
    X_test = _safe_indexing(X, test)
    output = getattr(estimator, method)(X_test)
    if isinstance(output, list):
        output = select_positive(output, estimator.classes_, labels.classes)
    return output


def _read(X: Any, y: Any, mask: Any, params: Mapping[str, Any] | None) -> tuple[Any, Any, Labels]:
    """Return samples that can be sliced, and labels with NaN where missing."""
    if any(name.rpartition("__")[2] == "mask" for name in params or {}):
        raise ValueError("params must not contain a mask, which scorers would ignore; pass mask= as an argument")
    X, y, mask = indexable(X, y, mask)
    labels = read_labels(y, mask, name="y")
    return X, y if mask is None else labels.write_with_missing(y), labels


def read_scoring(scoring: Scoring, labels: Labels) -> Any:
    """Return what scikit-learn accepts as `scoring`, with scorers of this library for its metrics."""
    if isinstance(scoring, str):
        return _read_name(scoring, labels)
    if isinstance(scoring, Mapping):
        return {name: _read_name(part, labels) if isinstance(part, str) else part for name, part in scoring.items()}
    if scoring is None or callable(scoring):
        return scoring
    names = list(scoring)
    if not names or not all(isinstance(name, str) for name in names):
        raise ValueError(f"scoring must be names of metrics, scorers or a dict of these, got {scoring!r}")
    return {name: _read_name(name, labels) for name in names}


def _read_name(name: str, labels: Labels) -> Any:
    if name not in get_scorer_names():
        return scorer(name)
    if not labels.observed.all():
        raise ValueError(
            f"scoring={name!r} is a scorer of scikit-learn, which does not accept missing labels. Use a metric of "
            f"spmld.metrics: {', '.join(METRICS)}"
        )
    return name
