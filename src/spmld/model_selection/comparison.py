"""Comparison of several methods on the same folds."""

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed

from spmld._response import predict_all
from spmld._validation import indexable
from spmld.labels import Labels, read_labels
from spmld.labels.single_class import ignore_label_warnings, warn_of_metrics
from spmld.metrics.registry import get_metric
from spmld.model_selection.comparison_result import Comparison
from spmld.model_selection.splitters import check_splitter


def compare(
    estimators: Mapping[str, Any],
    X: Any,
    Y: Any,
    *,
    metrics: Sequence[str] = ("ranking_loss", "macro_auc", "micro_f1", "macro_f1"),
    reference: str | None = None,
    cv: Any = 5,
    mask: Any = None,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = None,
    callback: Callable[[str, int, int], Any] | None = None,
) -> Comparison:
    """Fit several estimators on the same folds, and test each of them against a reference.

    The tests are paired t-tests over folds, with the correction of Nadeau and Bengio for folds that share training
    samples, and Holm's correction for the number of methods; see `spmld.model_selection.statistics.paired_t_test`. An
    estimator whose fit raises ValueError, ArithmeticError or
    MemoryError is listed in `Comparison.failed`.

    Parameters
    ----------
    estimators : mapping of str to estimator
        Unfitted estimators by name; they are cloned.
    X, Y, mask, n_jobs
        As in `tune`.
    metrics : sequence of str
        Names of metrics of `spmld.metrics`. Names that end in "_at_k" stand for k = 1, 3 and 5.
    reference : str, optional
        Name of the estimator that the others are tested against. The first by default.
    cv : int, splitter or iterable of splits, default=5
        Folds. An integer is the number of folds of `MultilabelStratifiedKFold`.
    random_state : int, RandomState or None, default=None
        Seed for the folds, if `cv` is an integer.
    callback : callable, optional
        Called as ``callback(name, fold, n_folds)`` after each fit; folds count from 1.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import numpy as np
    >>> from spmld import LabelPrior, MaskedLogistic
    >>> from spmld.model_selection import compare
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> estimators = {"logistic": MaskedLogistic(), "prior": LabelPrior()}
    >>> print(compare(estimators, X, X > 0, metrics=["macro_auc"], random_state=0).results()[1]["verdict"])
    worse
    """
    reference, names = _check_reference(estimators, reference), _metric_names(metrics)
    X, Y, mask = indexable(X, Y, mask)
    labels = read_labels(Y, mask)
    warn_of_metrics(labels)
    Y = Y if mask is None else labels.write_with_missing(Y)
    folds = list(check_splitter(cv, len(labels.signs), random_state).split(X, Y))
    comparison = Comparison(names, list(estimators), reference, len(folds), _test_train_ratio(folds, len(labels.signs)))
    for method, estimator in estimators.items():
        evaluate = delayed(partial(_evaluate_fold, method, estimator, X, Y, labels, names))
        _add(comparison, method, Parallel(n_jobs, return_as="generator")(evaluate(*fold) for fold in folds), callback)
    return comparison


def _test_train_ratio(folds: Iterable[tuple[Any, Any]], n_samples: int) -> float:
    """Return the number of test samples divided by the number of training samples, of all folds together."""
    rows = np.arange(n_samples)  # splits are indices or masks
    n_train, n_test = np.sum([[rows[part].size for part in fold] for fold in folds], axis=0).tolist()
    return float(n_test / max(1, n_train))


def _add(
    comparison: Comparison,
    method: str,
    results: Iterator[tuple[dict[str, float], float]],
    callback: Callable[[str, int, int], Any] | None,
) -> None:
    """Add the results of all folds of a method to the comparison, or the error of its fit."""
    folds: list[tuple[dict[str, float], float]] = []
    while len(folds) < comparison.n_folds:
        try:
            folds.append(next(results))
        except (ValueError, ArithmeticError, MemoryError) as error:
            comparison.failed[method] = str(error)
            return
        if callback is not None:
            callback(method, len(folds), comparison.n_folds)
    for name in comparison.metrics:
        comparison.values[method, name] = [values[name] for values, _ in folds]
    comparison.seconds[method] = [seconds for _, seconds in folds]


def _check_reference(estimators: Mapping[str, Any], reference: str | None) -> str:
    if not estimators:
        raise ValueError("estimators must be a non-empty dictionary of unfitted estimators by name, got an empty one")
    if reference is not None and reference not in estimators:
        raise ValueError(f"reference must be one of the estimators, {', '.join(estimators)}, got {reference!r}")
    return next(iter(estimators)) if reference is None else reference


def _metric_names(metrics: Sequence[str]) -> list[str]:
    """Validate the names of metrics, and replace "_at_k" by k = 1, 3 and 5."""
    if isinstance(metrics, str) or not metrics:
        raise ValueError(f"metrics must be a sequence of metric names, got {metrics!r}")
    names = []
    for name in metrics:
        get_metric(name)
        at_k = name.endswith("_at_k")
        names += [f"{name.removesuffix('k')}{k}" for k in (1, 3, 5)] if at_k else [name]
    return list(dict.fromkeys(names))


def _evaluate_fold(
    method: str, estimator: Any, X: Any, Y: Any, labels: Labels, metrics: Iterable[str], train: Any, test: Any
) -> tuple[dict[str, float], float]:
    """Return the metrics of a fold, and the seconds it took to fit and evaluate it."""
    start = time.perf_counter()
    with ignore_label_warnings():
        model = clone(estimator).fit(_safe_indexing(X, train), _safe_indexing(Y, train))
    predictions = predict_all(model, _safe_indexing(X, test))
    available = {
        "scores": predictions.scores,
        "predictions": predictions.positive.astype(bool),
        "probabilities": predictions.probabilities,
    }
    labels = replace(labels, signs=labels.signs[test])
    values = {}
    for name in metrics:
        metric, options = get_metric(name)
        if available[metric.needs] is None:
            raise ValueError(f"{name} needs {metric.needs}, which {method} does not provide")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)  # undefined folds are NaN, and left out of means
            values[name] = float(metric.function(labels, available[metric.needs], **options))
    return values, time.perf_counter() - start
