"""Tables of results, and the text of their values and headings."""

import json
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from spmld._table import TableCell, TextTable
from spmld.model_selection.statistics import Verdict
from spmld.studies.config import Condition, Corruption, Study
from spmld.studies.plan import choose
from spmld.studies.published import PublishedValue
from spmld.studies.records import Records
from spmld.studies.results import Agreement, StudyResult, greater_is_better, group_by

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
    "subset_accuracy": "subset accuracy",
    "hamming_loss": "Hamming loss",
    "log_loss": "log loss",
    "brier_score": "Brier score",
    "expected_calibration_error": "ECE",
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
    return group_by(results, lambda result: (result.condition.data, result.condition.corruption))


def condition_table(values: Mapping[Condition, Mapping[str, str]], study: Study, *, labels: bool = True) -> TextTable:
    """Return a table with a row for each condition and a column for each method of a study that has a value."""
    methods = [m.name for m in study.methods if any(m.name in texts for texts in values.values())]
    rows = []
    for condition, texts in values.items():
        place = [condition.data, *([condition.labels] if labels else []), condition.observed_text]
        rows.append([*place, *(texts.get(name, "-") for name in methods)])
    return TextTable(["data", *(["labels"] if labels else []), "observed", *methods], rows)


def result_table(results: Sequence[StudyResult], *, paper: bool = True, title: str = "") -> TextTable:
    """Return the means of each method at each observed fraction.

    With `paper` it is one of Tables 2 to 7: marks as in the paper, published values and differences in their
    deviations. Without, cells have the sign and the color of the test against the reference.
    """
    metrics = list(dict.fromkeys(result.metric for result in results))
    with_paper = {result.metric for result in results if paper and result.published is not None}
    columns = ["Method" if paper else "method", "observed"]
    for metric in metrics:
        columns += [metric_heading(metric), *(["paper", "dev."] if metric in with_paper else [])]
    names = list(dict.fromkeys(result.method.name for result in results))
    rows = []
    for (name, condition), group in sorted(
        group_by(results, lambda result: (result.method.name, result.condition)).items(),
        key=lambda item: (names.index(item[0][0]), item[0][1].hiding, item[0][1].observed),
    ):
        by_metric = {result.metric: result for result in group}
        row: list[Any] = [name, TableCell(condition.observed_text, condition.observed)]
        for metric in metrics:
            result = by_metric.get(metric)
            row.append(None if result is None else _result_cell(result, paper))
            if metric in with_paper:
                value = None if result is None else result.published
                row += ["", ""] if result is None or value is None else [format_mean(value), f"{result.deviation:+.1f}"]
        rows.append(row)
    return TextTable(columns, rows, title)


def _result_cell(result: StudyResult, paper: bool) -> TableCell:
    if paper:
        return TableCell(format_mean(result), result.mean, result.mark)
    if result.test is None:
        return TableCell(format_mean(result), result.mean)
    verdict = result.test.verdict
    mark = {Verdict.BETTER: "good", Verdict.WORSE: "bad", Verdict.NO_DIFFERENCE: ""}[verdict]
    return TableCell(f"{format_mean(result)} {verdict.sign}", result.mean, mark)


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


def agreement_table(agreements: Sequence[Agreement]) -> TextTable:
    """Return the number of values of each method that agree with the paper, and that are better."""
    columns = ["method", "published method", "values", "within two standard deviations", "better than published"]
    return TextTable(columns, [[a.method, a.published, a.values, a.within, a.better] for a in agreements], "Agreement")


def choice_table(studies: Sequence[Study], records: Records) -> TextTable:
    """Return all settings of all parameter searches with their held-out scores, and which were chosen."""
    rows = []
    for study in studies:
        for condition, method in product(study.conditions, study.methods):
            choice = choose(study, condition, method, records)
            for setting, score in choice.scores:
                place = [study.name, condition.data, condition.observed, str(condition.corruption), method.name]
                rows.append([*place, json.dumps(setting), score, int(setting == choice.params)])
    columns = ["study", "data", "observed", "corruption", "method", "setting", "held-out score", "chosen"]
    return TextTable(columns, rows)
