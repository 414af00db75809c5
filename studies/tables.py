"""Tables of results, and the text of their values and headings."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from spmld._table import TableCell, TextTable
from studies.config import Condition, Study
from studies.records import Records
from studies.results import Agreement, PublishedValue, StudyResult, greater_is_better, group_by
from studies.runner import choose, final_trials

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


def condition_table(values: Mapping[Condition, Mapping[str, str]], study: Study, *, labels: bool = True) -> TextTable:
    """Return a table with a row for each condition and a column for each method of a study that has a value."""
    methods = [m.name for m in study.methods if any(m.name in texts for texts in values.values())]
    rows = []
    for condition, texts in values.items():
        place = [condition.data, *([condition.labels] if labels else []), condition.observed_text]
        rows.append([*place, *(texts.get(name, "-") for name in methods)])
    return TextTable(["data", *(["labels"] if labels else []), "observed", *methods], rows)


def result_table(results: Sequence[StudyResult]) -> TextTable:
    """Return the means of each method at each observed fraction, as Tables 2 to 7 of the paper.

    It has the marks of the paper, the published values, and the differences in their standard deviations.
    """
    metrics = list(dict.fromkeys(result.metric for result in results))
    with_paper = {result.metric for result in results if result.published is not None}
    columns = ["Method", "observed"]
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
            row.append(None if result is None else TableCell(format_mean(result), result.mean, result.mark))
            if metric in with_paper:
                value = None if result is None else result.published
                row += ["", ""] if result is None or value is None else [format_mean(value), f"{result.deviation:+.1f}"]
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


def agreement_table(agreements: Sequence[Agreement]) -> TextTable:
    """Return the number of values of each method that agree with the paper, and that are better."""
    columns = ["method", "published method", "values", "within two standard deviations", "better than published"]
    return TextTable(columns, [[a.method, a.published, a.values, a.within, a.better] for a in agreements])


def version_note(study: Study, records: Records, data: Sequence[str] = ()) -> str:
    """Return the versions of the code that made the fits of a study, the latest first, with their methods.

    If a method has several versions, data sets are given for all but the most frequent one.
    """
    fits: Counter[tuple[str, str, str]] = Counter()
    totals: Counter[tuple[str, str]] = Counter()
    for trial in final_trials(study, records):
        version = records.trials.get(trial.key, {}).get("version")
        if version is not None and trial.data in (data or study.data):
            fits[trial.method, version, trial.data] += 1
            totals[trial.method, version] += 1
    main = {method: version for (method, version), _ in reversed(totals.most_common())}
    methods: dict[str, dict[str, list[str]]] = {}
    for method, version in totals:
        names = [name for other, fitted, name in fits if (other, fitted) == (method, version)]
        place = "" if version == main[method] else f" on {', '.join(names)}"
        methods.setdefault(version, {}).setdefault(place, []).append(method)
    texts = [
        f"{version} ({'; '.join(', '.join(names) + place for place, names in places.items())})"
        for version, places in sorted(methods.items(), reverse=True)
    ]
    if len(texts) == 1:
        texts = list(methods)
    return f"Code of the fits: {', '.join(texts)}." if texts else ""


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
