"""Displays of recorded results, and figures with several of them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld._io import need
from spmld.model_selection.statistics import friedman_test
from spmld.plotting.style import COLORS, HIGHLIGHT, metric_label
from studies.config import Condition, Method, Study
from studies.critical_difference import CriticalDifferenceDisplay
from studies.plan import final_trials
from studies.radar import RadarDisplay
from studies.records import Records
from studies.results import StudyResult, greater_is_better
from studies.surface import SurfaceDisplay
from studies.tables import metric_heading

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
    observed_text: str
    display: CriticalDifferenceDisplay


def rankings(results: Sequence[StudyResult], reference: str | None) -> list[Ranking]:
    """Rank the methods that have results on all data sets, without corrupted labels, by each metric and fraction.

    At least two data sets and three methods are required.
    """
    clean = [result for result in results if result.condition.corruption.kind == "none"]
    metrics = dict.fromkeys(result.metric for result in clean)
    ranked = []
    levels = sorted({(result.condition.observed, result.condition.observed_text) for result in clean})
    for metric, (observed, text) in product(metrics, levels):
        means = {
            (r.condition.data, r.method.name): r.mean
            for r in clean
            if (r.metric, r.condition.observed, r.condition.observed_text) == (metric, observed, text)
        }
        data = list(dict.fromkeys(name for name, _ in means))
        methods = [m for m in dict.fromkeys(m for _, m in means) if all((name, m) in means for name in data)]
        if len(data) < 2 or len(methods) < 3:
            continue
        values = [[means[name, method] for method in methods] for name in data]
        ranks = friedman_test(values, greater_is_better=greater_is_better(metric))
        highlight = reference if reference in methods else None
        title = f"{metric_heading(metric)}, {text} observed"
        ranked.append(Ranking(metric, observed, text, CriticalDifferenceDisplay(ranks, methods, highlight, title)))
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
    recorded = []
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
                recorded.append(Surface(method, condition, metric, display))
    return recorded


def _sweep_means(study: Study, method: Method, records: Records) -> dict[tuple[Condition, str], NDArray[np.float64]]:
    """Return means over masks of shape (n_rows, n_columns), NaN where all trials failed, by condition and metric."""
    (first, row_values), (second, column_values) = method.sweep.items()
    values: defaultdict[tuple[Condition, str, tuple[int, int]], list[float]] = defaultdict(list)
    for trial in final_trials(study, records):
        metrics = records.metrics(trial)
        if trial.method != method.name or metrics is None:
            continue
        place = row_values.index(trial.params[first]), column_values.index(trial.params[second])
        for metric in study.metrics:
            values[trial.condition, metric, place].append(metrics.get(metric, np.nan))
    means: dict[tuple[Condition, str], NDArray[np.float64]] = {}
    for (condition, metric, place), over_masks in values.items():
        surface = means.setdefault((condition, metric), np.full((len(row_values), len(column_values)), np.nan))
        surface[place] = np.mean(over_masks)
    return means


def radar_figure(displays: Sequence[RadarDisplay]) -> Any:
    """Return radar charts side by side, with the same ranges of the axes and one legend."""
    ranges = RadarDisplay.ranges(displays)
    figure = _figure(6.2 * len(displays), 6.6)
    axes = figure.subplots(1, len(displays), subplot_kw={"projection": "polar"}, squeeze=False)
    for ax, display in zip(axes[0], displays, strict=True):
        display.plot(ax=ax, ranges=ranges, legend=False)
        ax.title.set_fontsize(13)
    handles, names = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, names, loc="lower center", ncols=min(5, len(names)), frameon=False, fontsize=10)
    figure.subplots_adjust(left=0.1, right=0.9, top=0.8, bottom=0.2, wspace=0.45)
    return figure


def surface_figure(displays: Mapping[tuple[str, str], SurfaceDisplay]) -> Any:
    """Return heat maps in a grid.

    Parameters
    ----------
    displays : mapping
        Displays by the titles of their row and column, such as data set and metric.
    """
    rows, columns = (list(dict.fromkeys(titles)) for titles in zip(*displays, strict=True))
    figure = _figure(4.1 * len(columns) + 0.4, 2.0 * len(rows) + 0.6, layout="constrained")
    axes = figure.subplots(len(rows), len(columns), squeeze=False, sharex=True, sharey=True)
    for ax in axes.flat:
        ax.set_visible(False)
    for (row, column), display in displays.items():
        i, j = rows.index(row), columns.index(column)
        ax = axes[i][j]
        ax.set_visible(True)
        display.plot(ax=ax)
        ax.set_title(column if i == 0 else "", fontsize=12)
        ax.set_xlabel(display.column_name if i == len(rows) - 1 else "")
        ax.set_ylabel(f"{row}\n{display.row_name}" if j == 0 else "")
    return figure


def rank_figure(displays: Sequence[CriticalDifferenceDisplay]) -> Any:
    """Return critical-difference diagrams, stacked vertically."""
    heights = [display.height for display in displays]
    figure = _figure(8.6, sum(heights), layout="constrained")
    axes = figure.subplots(len(displays), 1, height_ratios=heights, squeeze=False)
    for ax, display in zip(axes[:, 0], displays, strict=True):
        display.plot(ax=ax)
    return figure


def difference_figure(
    rows: Sequence[tuple[str, Mapping[str, tuple[float, bool]]]], reference: str, title: str = ""
) -> Any:
    """Return a figure of the relative differences of methods from a reference, one line for each condition.

    Parameters
    ----------
    rows : sequence of (str, mapping)
        Condition, and for each method its relative difference, positive if it is worse than the reference, and whether
        the difference is significant.
    reference : str
        Name of the reference.
    title : str
        Title.
    """
    methods = list(dict.fromkeys(name for _, values in rows for name in values))
    figure = _figure(8.6, 1.5 + 0.24 * len(rows), layout="constrained")
    ax = figure.subplots()
    for position in range(len(rows)):
        ax.axhline(position, color="0.92", lw=0.8, zorder=0)
    ax.axvline(0, color=HIGHLIGHT, lw=2.5, zorder=1, label=reference)
    for i, name in enumerate(methods):
        color, marker = COLORS[i % len(COLORS)], "osD^vP*"[i % 7]
        points = [(position, *values[name]) for position, (_, values) in enumerate(rows) if name in values]
        positions, worse, significant = (np.array(part) for part in zip(*points, strict=True))
        for mask, face in ((significant, color), (~significant, "white")):
            ax.scatter(worse[mask], positions[mask], s=34, marker=marker, facecolor=face, edgecolor=color, zorder=3)
        ax.scatter([], [], s=34, marker=marker, color=color, label=name)
    ax.set_yticks(range(len(rows)), labels=[name for name, _ in rows], fontsize=9)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:+.0%}" if value else "0")
    ax.set_xlabel(
        f"relative difference from {reference}, positive if worse\nhollow: no significant difference", fontsize=9
    )
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    figure.suptitle(title, fontsize=11)
    figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    return figure


def _figure(width: float, height: float, **options: Any) -> Any:
    return need("matplotlib.figure", "plot").Figure(figsize=(width, height), **options)
