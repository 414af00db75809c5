"""Result of a comparison of methods."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from spmld._table import TableCell, TextTable
from spmld.metrics.registry import get_metric
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
        Values of the folds by (method, metric), for the methods that could be fitted.
    seconds : dict
        Seconds to fit and evaluate each fold, by method.
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
    seconds: dict[str, list[float]] = field(default_factory=dict)
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
        for metric in self.metrics:
            greater = get_metric(metric)[0].greater_is_better
            tests = self._tests(metric, greater)
            for method in self.methods:
                if (method, metric) not in self.values:
                    continue
                record = _summary(method, metric, self.values[method, metric], "higher" if greater else "lower")
                records.append({**record, **tests.get(method, {})})
        return records + [_summary(method, "seconds", values, "lower") for method, values in self.seconds.items()]

    def _tests(self, metric: str, greater: bool) -> dict[str, dict[str, Any]]:
        """Return the outcome of the tests against the reference, by method."""
        reference = self.values.get((self.reference, metric))
        tests: dict[str, PairedTest] = {}
        for method in self.methods:
            values = self.values.get((method, metric))
            if reference is None or values is None or method == self.reference:
                continue
            defined = [pair for pair in zip(values, reference, strict=True) if not any(map(math.isnan, pair))]
            pairs = [a for a, _ in defined], [b for _, b in defined]
            test = paired_t_test(*pairs, greater_is_better=greater, test_train_ratio=self.test_train_ratio)
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
        """Return plain types for JSON: None for NaN, and `results` instead of values and seconds."""
        return {
            "reference": self.reference,
            "methods": self.methods,
            "metrics": self.metrics,
            "n_folds": self.n_folds,
            "test_train_ratio": self.test_train_ratio,
            "failed": self.failed,
            "results": [_finite(record) for record in self.results()],
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Return the comparison that `to_dict` was called on; other keys are ignored.

        Parameters
        ----------
        content : mapping
            With the keys of `to_dict`.

        Returns
        -------
        Comparison
        """
        try:
            folds = {
                (record["method"], record["metric"]): [math.nan if v is None else float(v) for v in record["folds"]]
                for record in content["results"]
            }
            metrics, methods = list(content["metrics"]), list(content["methods"])
            sizes = int(content["n_folds"]), float(content["test_train_ratio"])
            reference, failed = content["reference"], dict(content["failed"])
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(
                "content must be the dictionary that Comparison.to_dict returns, with reference, methods, metrics, "
                f"n_folds, test_train_ratio, failed and results, got {type(error).__name__}: {error}"
            ) from None
        values = {key: value for key, value in folds.items() if key[1] != "seconds"}
        seconds = {method: value for (method, metric), value in folds.items() if metric == "seconds"}
        return cls(metrics, methods, reference, *sizes, values, seconds, failed)

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


def _finite(content: Any) -> Any:
    """Return records with None for numbers that JSON does not have."""
    if isinstance(content, dict):
        return {key: _finite(value) for key, value in content.items()}
    if isinstance(content, list):
        return [_finite(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content
