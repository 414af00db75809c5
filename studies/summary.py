"""Summary of a study: the mean of each metric over all conditions, for each method."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spmld._table import TextTable
from studies.config import Condition, Study
from studies.plan import final_trials
from studies.records import Records
from studies.results import is_better
from studies.schema import StudyError, is_metric
from studies.tables import format_value, metric_heading

CARDINALITY = "cardinality_ratio"
"""Name of the number of predicted labels divided by the number of true labels."""


@dataclass(frozen=True)
class StudySummary:
    """Result of `summarize_methods`: means over the conditions, by method and metric; NaN if one is missing."""

    study: Study
    n_conditions: int
    means: dict[str, dict[str, float]]

    def to_dict(self) -> dict[str, Any]:
        """Return the means in plain types, None where they are undefined."""
        means = {
            method: {name: None if np.isnan(value) else value for name, value in values.items()}
            for method, values in self.means.items()
        }
        return {"study": self.study.name, "conditions": self.n_conditions, "methods": means}

    def markdown(self) -> str:
        """Return the table, with the best mean of each metric in bold."""
        metrics = list(next(iter(self.means.values()), {}))
        headings = ["predicted / true labels" if name == CARDINALITY else metric_heading(name) for name in metrics]
        rows = [[method, *(self._text(method, name) for name in metrics)] for method in self.means]
        plural = "" if self.n_conditions == 1 else "s"
        title = f"Means over {self.n_conditions} condition{plural}: {self.study.title}"
        return "\n".join([title, "", TextTable(["method", *headings], rows).to_markdown()])

    def _text(self, method: str, metric: str) -> str:
        value, text = self.means[method][metric], format_value(self.means[method][metric])
        oracles = {method.name for method in self.study.methods if method.oracle}
        if metric == CARDINALITY or np.isnan(value) or method in oracles:
            return text
        others = [values[metric] for name, values in self.means.items() if name not in oracles]
        return text if any(is_better(metric, other, value) for other in others) else f"**{text}**"


def summarize_methods(
    study: Study, records: Records, metrics: Sequence[str] = (), data: Sequence[str] = ()
) -> StudySummary:
    """Return the mean of each metric over all conditions and masks, for each method.

    Parameters
    ----------
    study : Study
        Study.
    records : Records
        Records. A mean is NaN if the metric is not recorded in a condition in which another method has it.
    metrics : sequence of str
        Recorded metrics, or "cardinality_ratio" for the number of predicted labels divided by the number of true
        labels. By default, those of the study.
    data : sequence of str
        Data sets. By default, all of them.

    Examples
    --------
    >>> import tempfile
    >>> from studies.loading import find_study, load_study
    >>> from studies.records import read_records
    >>> from studies.runner import run_study
    >>> from studies.summary import summarize_methods
    >>> study = load_study(find_study("smoke"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     outcome = run_study(study, folder + "/results.jsonl")
    ...     summary = summarize_methods(study, read_records(folder + "/results.jsonl"), ["micro_f1"])
    >>> summary.n_conditions, list(summary.means)
    (2, ['GLOCAL', 'SPMLD'])
    """
    metrics = tuple(metrics) or study.metrics
    for name in metrics:
        if name != CARDINALITY and not is_metric(name):
            raise StudyError(f"metric must be {CARDINALITY} or a recorded metric, got {name!r}")
    for name in data:
        if name not in study.data:
            raise StudyError(f"data set must be one of {', '.join(study.data)} in study {study.name}, got {name!r}")
    values: defaultdict[tuple[str, str], defaultdict[Condition, list[float]]]
    values = defaultdict(lambda: defaultdict(list))
    for trial in final_trials(study, records):
        recorded = records.metrics(trial)
        if recorded is None or trial.data not in (data or study.data):
            continue
        if recorded.get("true_cardinality"):
            recorded[CARDINALITY] = recorded["predicted_cardinality"] / recorded["true_cardinality"]
        for name in metrics:
            if not np.isnan(recorded.get(name, np.nan)):
                values[trial.method, name][trial.condition].append(recorded[name])
    conditions = {name: {place for (_, n), by in values.items() if n == name for place in by} for name in metrics}
    means = {
        method.name: {name: _mean(values[method.name, name], len(conditions[name])) for name in metrics}
        for method in study.methods
    }
    return StudySummary(study, len(set().union(*conditions.values())), means)


def _mean(values: dict[Condition, list[float]], n_conditions: int) -> float:
    """Return the mean of the means in each condition, NaN unless there are values in all of them."""
    complete = len(values) == n_conditions > 0
    return float(np.mean([np.mean(over_masks) for over_masks in values.values()])) if complete else float("nan")
