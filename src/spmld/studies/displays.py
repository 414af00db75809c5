"""Displays of recorded results: radar charts, critical-difference diagrams and surfaces of two parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from spmld.model_selection.statistics import friedman_test
from spmld.plotting import CriticalDifferenceDisplay, RadarDisplay, SurfaceDisplay
from spmld.plotting.style import metric_label
from spmld.studies.config import Condition, Method, Study
from spmld.studies.plan import final_trials
from spmld.studies.records import Records
from spmld.studies.results import StudyResult, greater_is_better
from spmld.studies.tables import metric_heading

__all__ = ["Ranking", "Surface", "radar_displays", "rankings", "surfaces"]

# Our objective is half of the paper's equation 8, and so are lambda and gamma of the preset.
_PAPER_UNITS = {"spmld.SPMLD.paper": 2.0}
_SYMBOLS = {"threshold": r"$\lambda$", "diversity": r"$\gamma$"}


def radar_displays(
    results: Sequence[StudyResult], records: Records, reference: str | None
) -> dict[Condition, RadarDisplay]:
    """Return a radar chart for each condition, of the methods that have all metrics.

    Coverage is divided by the number of labels, as in the paper.
    """
    labels = {name: metric_label(name) for name in dict.fromkeys(result.metric for result in results)}
    if "coverage" in labels:
        labels["coverage"] = "coverage / labels"
    panels: dict[Condition, dict[str, dict[str, float]]] = {}
    for result in results:
        scale = records.data[result.condition.data]["labels"] if result.metric == "coverage" else 1
        values = panels.setdefault(result.condition, {}).setdefault(result.method.name, {})
        values[labels[result.metric]] = result.mean / scale
    lower = [label for name, label in labels.items() if not greater_is_better(name)]
    displays = {}
    for condition, panel in panels.items():
        complete = {method: values for method, values in panel.items() if len(values) == len(labels)}
        if complete:
            highlight = reference if reference in complete else None
            displays[condition] = RadarDisplay(complete, lower, highlight, str(condition))
    return displays


@dataclass(frozen=True)
class Ranking:
    """Mean ranks of methods over data sets, by one metric at one observed fraction."""

    metric: str
    observed: float
    display: CriticalDifferenceDisplay


def rankings(results: Sequence[StudyResult], reference: str | None) -> list[Ranking]:
    """Rank the methods that have results on all data sets, without corrupted labels, by each metric and fraction.

    At least two data sets and three methods are required.
    """
    clean = [result for result in results if result.condition.corruption.kind == "none"]
    metrics = dict.fromkeys(result.metric for result in clean)
    ranked = []
    for metric, observed in product(metrics, sorted({result.condition.observed for result in clean})):
        means = {
            (r.condition.data, r.method.name): r.mean
            for r in clean
            if (r.metric, r.condition.observed) == (metric, observed)
        }
        data = list(dict.fromkeys(name for name, _ in means))
        methods = [m for m in dict.fromkeys(m for _, m in means) if all((name, m) in means for name in data)]
        if len(data) < 2 or len(methods) < 3:
            continue
        values = [[means[name, method] for method in methods] for name in data]
        ranks = friedman_test(values, greater_is_better=greater_is_better(metric))
        highlight = reference if reference in methods else None
        title = f"{metric_heading(metric)}, {observed:.0%} observed"
        ranked.append(Ranking(metric, observed, CriticalDifferenceDisplay(ranks, methods, highlight, title)))
    return ranked


@dataclass(frozen=True)
class Surface:
    """Metric of a method over the two parameters of its sweep, in one condition."""

    method: Method
    condition: Condition
    metric: str
    display: SurfaceDisplay


def surfaces(study: Study, records: Records) -> list[Surface]:
    """Return the recorded surfaces of all methods with a sweep of two parameters: means over the masks."""
    found = []
    for method in study.methods:
        if len(method.sweep) != 2:
            continue
        unit = _PAPER_UNITS.get(method.estimator, 1.0)
        rows, columns = ([unit * value for value in values] for values in method.sweep.values())
        row_name, column_name = (_SYMBOLS.get(name := path.rsplit("__", 1)[-1], name) for path in method.sweep)
        means = _sweep_means(study, method, records)
        for condition, metric in product(study.conditions, study.metrics):
            if (condition, metric) in means:
                title = f"{condition}: {metric_heading(metric)}"
                display = SurfaceDisplay(means[condition, metric], rows, columns, row_name, column_name, title)
                found.append(Surface(method, condition, metric, display))
    return found


def _sweep_means(study: Study, method: Method, records: Records) -> dict[tuple[Condition, str], NDArray[np.float64]]:
    """Return means over masks of shape (n_rows, n_columns), NaN where all trials failed, by condition and metric."""
    (first, row_values), (second, column_values) = method.sweep.items()
    values: dict[tuple[Condition, str], dict[tuple[int, int], list[float]]] = {}
    for trial in final_trials(study, records):
        metrics = records.metrics(trial)
        if trial.method != method.name or metrics is None:
            continue
        place = row_values.index(trial.params[first]), column_values.index(trial.params[second])
        for metric in study.metrics:
            places = values.setdefault((trial.condition, metric), {})
            places.setdefault(place, []).append(metrics.get(metric, np.nan))
    means = {}
    for key, places in values.items():
        means[key] = np.full((len(row_values), len(column_values)), np.nan)
        for place, over_masks in places.items():
            means[key][place] = np.mean(over_masks)
    return means
