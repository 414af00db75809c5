"""Tables of results, and the text of their values and headings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from spmld._table import TableCell, TextTable
from spmld.studies.config import Corruption
from spmld.studies.published import PublishedValue
from spmld.studies.results import StudyResult, greater_is_better

__all__ = [
    "evaluation_phrase",
    "file_suffix",
    "format_mean",
    "format_value",
    "long_table",
    "metric_heading",
    "result_table",
    "short_name",
    "tables_of",
]

_SHORT_NAMES = {
    "ranking_loss": "Rkl",
    "sample_auc": "AUC",
    "coverage": "COV",
    "macro_auc": "macro AUC",
    "micro_auc": "micro AUC",
    "macro_f1": "macro F1",
    "micro_f1": "micro F1",
    "sample_f1": "sample F1",
    "label_ranking_average_precision": "AP",
    "micro_average_precision": "micro AP",
}


def evaluation_phrase(evaluated_on: str) -> str:
    """Return the suffix of a heading; empty for results on the test set.

    Examples
    --------
    >>> from spmld.studies.tables import evaluation_phrase
    >>> "Ranks" + evaluation_phrase("missing")
    'Ranks on missing labels'
    """
    return {"test": "", "missing": " on missing labels", "audit": " of finding label errors"}[evaluated_on]


def file_suffix(evaluated_on: str) -> str:
    """Return the suffix of file names; empty for results on the test set."""
    return "" if evaluated_on == "test" else f"_{evaluated_on}"


def short_name(metric: str) -> str:
    """Return the short name of a metric."""
    return _SHORT_NAMES.get(metric, metric)


def metric_heading(metric: str) -> str:
    """Return the short name of a metric with an arrow in its better direction."""
    return f"{short_name(metric)} {'↑' if greater_is_better(metric) else '↓'}"


def format_value(value: float, std: bool = False) -> str:
    """Return a value with three decimals as in the paper, four for standard deviations and values below 0.1."""
    if np.isnan(value):
        return "-"
    return f"{value:.4f}" if std or abs(value) < 0.1 else f"{value:.3f}"


def format_mean(result: StudyResult | PublishedValue) -> str:
    """Return mean ± standard deviation."""
    return format_value(result.mean) + ("" if np.isnan(result.std) else f" ± {format_value(result.std, std=True)}")


def tables_of(results: Sequence[StudyResult]) -> dict[tuple[str, Corruption], list[StudyResult]]:
    """Group results by data set and corruption: one table each."""
    groups: dict[tuple[str, Corruption], list[StudyResult]] = {}
    for result in results:
        groups.setdefault((result.condition.data, result.condition.corruption), []).append(result)
    return groups


def result_table(results: Sequence[StudyResult]) -> TextTable:
    """Return one of Tables 2 to 7: each metric, the published value, and the difference in its deviations."""
    metrics = list(dict.fromkeys(result.metric for result in results))
    with_paper = {result.metric for result in results if result.published is not None}
    columns = ["Method", "observed"]
    for metric in metrics:
        columns += [metric_heading(metric), *(["paper", "dev."] if metric in with_paper else [])]
    place = {(result.method.name, result.condition.observed, result.metric): result for result in results}
    names = list(dict.fromkeys(result.method.name for result in results))
    rows = []
    for name, observed in sorted({key[:2] for key in place}, key=lambda key: (names.index(key[0]), key[1])):
        row: list[Any] = [name, f"{observed:.0%}"]
        for metric in metrics:
            result = place.get((name, observed, metric))
            paper = None if result is None else result.published
            row.append(None if result is None else TableCell(format_mean(result), result.mean, result.mark))
            if metric in with_paper:
                row += ["", ""] if result is None or paper is None else [format_mean(paper), f"{result.deviation:+.1f}"]
        rows.append(row)
    return TextTable(columns, rows)


def long_table(results: Sequence[StudyResult]) -> TextTable:
    """Return a table with one row per result and all digits."""
    columns = ["data", "observed", "corruption", "method", "metric", "mean", "std", "masks", "mark"]
    columns += ["p", "difference", "effect", "paper_mean", "paper_std", "deviation"]
    rows = []
    for result in results:
        condition, test, paper = result.condition, result.test, result.published
        row: list[Any] = [condition.data, condition.observed, str(condition.corruption), result.method.name]
        row += [result.metric, result.mean, result.std, len(result.values), result.mark]
        row += [test.p, test.difference, test.effect] if test else [""] * 3
        row += [paper.mean, paper.std, result.deviation] if paper else [""] * 3
        rows.append(row)
    return TextTable(columns, rows)
