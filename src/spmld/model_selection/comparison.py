"""Comparison of several methods on the same folds."""

import json
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed

from spmld._response import predict_all
from spmld._table import TableCell, TextTable
from spmld._validation import indexable
from spmld.labels import Labels, read_labels
from spmld.labels.single_class import ignore_label_warnings, warn_of_metrics
from spmld.metrics import evaluate
from spmld.metrics.registry import get_metric, names_at_k
from spmld.model_selection.folds import check_splitter
from spmld.model_selection.statistics import PairedTest, Verdict, holm_correction, paired_t_test

_LEVEL = 0.05
_CELL_MARKS = {Verdict.BETTER: "good", Verdict.WORSE: "bad", Verdict.NO_DIFFERENCE: ""}


@dataclass(frozen=True)
class Comparison:
    """Result of `compare`.

    Attributes
    ----------
    metrics : list of str
        Names of the metrics.
    methods : list of str
        Names of all methods, failed ones included.
    reference : str
        Method that the others are tested against.
    n_folds : int
        Number of folds.
    test_train_ratio : float
        Number of test samples divided by number of training samples, in all folds together.
    values : dict
        Values of the folds by (method, metric), for the methods that could be fitted. The metric "seconds" is the time
        to fit and evaluate a fold.
    failed : dict
        Error message of each method that could not be fitted.

    Examples
    --------
    >>> from spmld.model_selection import Comparison
    >>> values = {("prior", "micro_f1"): [0.2, 0.3, 0.2], ("model", "micro_f1"): [0.5, 0.6, 0.6]}
    >>> comparison = Comparison(["micro_f1"], ["prior", "model"], "prior", 3, 0.5, values)
    >>> print(comparison.to_table().to_markdown())
    | method | micro_f1 (higher) |
    | :--- | ---: |
    | prior (reference) | 0.2333 ± 0.0577 |
    | model | 0.5667 ± 0.0577 + |
    """

    metrics: list[str]
    methods: list[str]
    reference: str
    n_folds: int
    test_train_ratio: float
    values: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    def results(self) -> list[dict[str, Any]]:
        """Return one record per method and metric, and per method for the seconds.

        Returns
        -------
        list of dict
            With keys method, metric, mean, std, better ("higher" or "lower") and folds. Records of methods that are
            tested against the reference also have difference (method minus reference), p, p_corrected (Holm's
            correction for the number of methods) and verdict.
        """
        records = []
        for metric in [*self.metrics, "seconds"]:
            greater = metric != "seconds" and get_metric(metric)[0].greater_is_better
            tests = {} if metric == "seconds" else self._tests(metric, greater)
            for method in self.methods:
                if (method, metric) in self.values:
                    record = _summary(method, metric, self.values[method, metric], "higher" if greater else "lower")
                    records.append({**record, **tests.get(method, {})})
        return records

    def _tests(self, metric: str, greater: bool) -> dict[str, dict[str, Any]]:
        """Return the outcome of the tests against the reference, by method."""
        tests: dict[str, PairedTest] = {}
        for method in self.methods:
            keys = (method, metric), (self.reference, metric)
            if method == self.reference or not all(key in self.values for key in keys):
                continue
            pairs = np.array([self.values[key] for key in keys])
            defined = pairs[:, ~np.isnan(pairs).any(axis=0)]
            test = paired_t_test(*defined, greater_is_better=greater, test_train_ratio=self.test_train_ratio)
            if test is not None:
                tests[method] = test
        corrected = holm_correction([test.p for test in tests.values()]).tolist()
        return {
            method: {
                "difference": test.difference,
                "p": test.p,
                "p_corrected": p,
                "verdict": Verdict.from_test(test.difference, p, greater_is_better=greater, level=_LEVEL),
            }
            for (method, test), p in zip(tests.items(), corrected, strict=True)
        }

    def to_table(self) -> TextTable:
        """Return a table with a row per method: mean ± standard deviation, and the sign of the verdict."""
        records = {(record["method"], record["metric"]): record for record in self.results()}
        better = {metric: record["better"] for (_, metric), record in records.items()}
        columns = [name if name == "seconds" else f"{name} ({better[name]})" for name in better]
        rows = [
            [
                f"{method} (reference)" if method == self.reference else method,
                *(_cell(records.get((method, metric))) for metric in better),
            ]
            for method in self.methods
            if any(name == method for name, _ in records)
        ]
        note = (
            f"Mean ± standard deviation over {self.n_folds} folds. Against {self.reference}: "
            f"{', '.join(f'{verdict.sign} {verdict}' for verdict in Verdict)} (t-test over folds at the "
            f"{_LEVEL:.0%} significance level, corrected for their overlap and the number of methods)."
        )
        return TextTable(["method", *columns], rows, note=note)

    def to_dict(self) -> dict[str, Any]:
        """Return plain types for JSON: None for NaN, and `results` instead of values."""
        names = ("reference", "methods", "metrics", "n_folds", "test_train_ratio", "failed")
        content = {**{name: getattr(self, name) for name in names}, "results": self.results()}
        return dict(json.loads(json.dumps(content), parse_constant=lambda number: None))

    def __str__(self) -> str:
        return self.to_table().to_text()

    def _repr_html_(self) -> str:
        return self.to_table().to_html()


def _summary(method: str, metric: str, values: Sequence[float], better: str) -> dict[str, Any]:
    defined = [value for value in values if not math.isnan(value)]
    mean = float(np.mean(defined)) if defined else math.nan
    std = float(np.std(defined, ddof=1)) if len(defined) > 1 else math.nan
    return {"method": method, "metric": metric, "mean": mean, "std": std, "better": better, "folds": list(values)}


def _cell(record: dict[str, Any] | None) -> TableCell:
    if record is None or math.isnan(record["mean"]):
        return TableCell("-")
    std = "" if math.isnan(record["std"]) else f" ± {record['std']:.4f}"
    verdict = record.get("verdict")
    sign, mark = ("", "") if verdict is None else (f" {verdict.sign}", _CELL_MARKS[verdict])
    return TableCell(f"{record['mean']:.4f}{std}{sign}", record["mean"], mark)


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
    estimator whose fit raises ValueError, ArithmeticError or MemoryError is listed in `Comparison.failed`.

    Parameters
    ----------
    estimators : mapping of str to estimator
        Unfitted estimators by name; they are cloned.
    X, Y : array-like of shape (n_samples, n_features) and (n_samples, n_labels)
        Samples, and their labels in any form accepted by `spmld.labels.read_labels`.
    metrics : sequence of str
        Names of metrics of `spmld.metrics`. Names that end in "_at_k" stand for k = 1, 3 and 5.
    reference : str, optional
        Name of the estimator that the others are tested against. The first by default.
    cv : int, splitter or iterable of splits, default=5
        Folds. An integer is the number of folds of `MultilabelStratifiedKFold`.
    mask : array-like of bool of the shape of `Y`, optional
        True where a label is observed.
    n_jobs : int or None, default=None
        Number of folds fitted in parallel.
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
    reference = _check_reference(estimators, reference)
    names = _metric_names(metrics)
    X, Y, mask = indexable(X, Y, mask)
    labels = read_labels(Y, mask)
    warn_of_metrics(labels)
    Y = Y if mask is None else labels.write_with_missing(Y)
    folds = list(check_splitter(cv, len(labels.signs), random_state).split(X, Y))
    comparison = Comparison(names, list(estimators), reference, len(folds), _test_train_ratio(folds, len(labels.signs)))
    for method, estimator in estimators.items():
        task = delayed(partial(_evaluate_fold, estimator, X, Y, labels, names))
        _add(comparison, method, Parallel(n_jobs, return_as="generator")(task(*fold) for fold in folds), callback)
    return comparison


def _test_train_ratio(folds: Iterable[tuple[Any, Any]], n_samples: int) -> float:
    """Return the number of test samples divided by the number of training samples, of all folds together."""
    rows = np.arange(n_samples)  # splits are indices or masks
    n_train, n_test = np.sum([[rows[part].size for part in fold] for fold in folds], axis=0).tolist()
    return float(n_test / max(1, n_train))


def _add(
    comparison: Comparison,
    method: str,
    results: Iterator[dict[str, float]],
    callback: Callable[[str, int, int], Any] | None,
) -> None:
    """Add the results of all folds of a method to the comparison, or the error of its fit."""
    folds: list[dict[str, float]] = []
    while len(folds) < comparison.n_folds:
        try:
            folds.append(next(results))
        except (ValueError, ArithmeticError, MemoryError) as error:
            comparison.failed[method] = str(error)
            return
        if callback is not None:
            callback(method, len(folds), comparison.n_folds)
    for name in folds[0]:
        comparison.values[method, name] = [values[name] for values in folds]


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
    for name in metrics:
        get_metric(name)
    return list(dict.fromkeys(name for metric in metrics for name in names_at_k(metric)))


def _evaluate_fold(
    estimator: Any, X: Any, Y: Any, labels: Labels, metrics: Iterable[str], train: Any, test: Any
) -> dict[str, float]:
    """Return the metrics of a fold, and the seconds it took to fit and evaluate it."""
    start = time.perf_counter()
    with ignore_label_warnings():
        model = clone(estimator).fit(_safe_indexing(X, train), _safe_indexing(Y, train))
    predicted = predict_all(model, _safe_indexing(X, test))
    labels = replace(labels, signs=labels.signs[test])
    arrays = predicted.scores, predicted.positive.astype(bool), predicted.probabilities
    return {**evaluate(labels, *arrays, metrics=metrics), "seconds": time.perf_counter() - start}
