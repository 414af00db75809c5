"""Figures of recorded results: radar charts, surfaces, and differences from a reference."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from spmld.plotting.displays import COLORS, HIGHLIGHT, metric_label
from studies.config import Condition, Method, Study
from studies.records import Records
from studies.results import StudyResult, greater_is_better
from studies.runner import final_trials
from studies.tables import metric_heading

# Our objective is half of the paper's equation 8, and so are lambda and gamma of the preset.
_PAPER_UNITS = {"spmld.SPMLD.paper": 2.0}
_SYMBOLS = {"threshold": r"$\lambda$", "diversity": r"$\gamma$"}


@dataclass(frozen=True)
class Radar:
    """Values of several metrics by method in one condition, and the method to highlight."""

    condition: Condition
    values: dict[str, dict[str, float]]
    lower_is_better: frozenset[str]
    highlight: str | None

    def draw(self, ax: Any, ranges: Mapping[str, tuple[float, float]]) -> None:
        """Draw one polar axis for each metric, from the worst to the best value."""
        angles = np.linspace(0, 2 * np.pi, len(ranges), endpoint=False)
        ax.set_theta_offset(np.pi / 2)
        ax.set_theta_direction(-1)
        styles = self._line_styles()
        for name, values in self.values.items():
            radii = [_radius(values[metric], *ends) for metric, ends in ranges.items()]
            ax.plot(np.append(angles, angles[0]), [*radii, radii[0]], marker="o", label=name, **styles[name])
        ax.set_ylim(0, 1.08)
        ax.set_yticks([0.15, 0.5, 1.0], labels=[])
        ax.grid(color="0.85")
        ax.spines["polar"].set_visible(False)
        ax.set_xticks(angles, labels=[])
        for angle, (metric, (worst, best)) in zip(angles, ranges.items(), strict=True):
            text = f"{metric}\n{worst:.3g} to {best:.3g}"
            ax.text(angle, 1.28, text, ha="center", va="center", fontsize=9.5, color="0.2")
        ax.set_title(str(self.condition), pad=44, fontsize=13)

    def _line_styles(self) -> dict[str, dict[str, Any]]:
        """Return the line style of each method; thin lines are drawn over the thick one."""
        styles: dict[str, dict[str, Any]] = {}
        for i, name in enumerate(name for name in self.values if name != self.highlight):
            line = ("-", "--", ":")[i // 5 % 3]
            styles[name] = {"color": COLORS[i % len(COLORS)], "ls": line, "lw": 1.6, "ms": 3.5, "zorder": 3}
        if self.highlight is not None:
            styles[self.highlight] = {"color": HIGHLIGHT, "ls": "-", "lw": 5, "ms": 7, "zorder": 2}
        return styles


def _radius(value: float, worst: float, best: float) -> float:
    """Return 1 for the best value and 0.15 for the worst, so that lines do not meet in the center."""
    return 1.0 if best == worst else 0.15 + 0.85 * (value - worst) / (best - worst)


def radars(results: Sequence[StudyResult], records: Records, reference: str | None) -> list[Radar]:
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
    lower = frozenset(label for name, label in labels.items() if not greater_is_better(name))
    charts = []
    for condition, panel in panels.items():
        complete = {method: values for method, values in panel.items() if len(values) == len(labels)}
        if complete:
            charts.append(Radar(condition, complete, lower, reference if reference in complete else None))
    return charts


def radar_figure(charts: Sequence[Radar]) -> Figure:
    """Return radar charts side by side, with the same ranges of the axes and one legend."""
    ranges = _metric_ranges(charts)
    figure = Figure(figsize=(6.2 * len(charts), 6.6))
    axes = figure.subplots(1, len(charts), subplot_kw={"projection": "polar"}, squeeze=False)
    for ax, chart in zip(axes[0], charts, strict=True):
        chart.draw(ax, ranges)
    handles, names = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, names, loc="lower center", ncols=min(5, len(names)), frameon=False, fontsize=10)
    figure.subplots_adjust(left=0.1, right=0.9, top=0.8, bottom=0.2, wspace=0.45)
    return figure


def _metric_ranges(charts: Iterable[Radar]) -> dict[str, tuple[float, float]]:
    """Return the worst and the best value of each metric in several charts."""
    by_metric: dict[str, list[float]] = {}
    lower: set[str] = set()
    for chart in charts:
        lower |= chart.lower_is_better
        for values in chart.values.values():
            for metric, value in values.items():
                by_metric.setdefault(metric, []).append(value)
    return {
        metric: (max(values), min(values)) if metric in lower else (min(values), max(values))
        for metric, values in by_metric.items()
    }


@dataclass(frozen=True)
class Surface:
    """Metric of a method over the two parameters of its sweep, in one condition: means over the masks."""

    method: Method
    condition: Condition
    metric: str
    values: NDArray[np.float64]

    @property
    def parameters(self) -> list[list[float]]:
        """Values of the two parameters, in the units of the paper."""
        unit = _PAPER_UNITS.get(self.method.estimator, 1.0)
        return [[unit * value for value in values] for values in self.method.sweep.values()]

    @property
    def names(self) -> list[str]:
        """Names or symbols of the two parameters."""
        return [_SYMBOLS.get(name := path.rsplit("__", 1)[-1], name) for path in self.method.sweep]

    def draw(self, ax: Any) -> None:
        """Draw a heat map; lighter colors indicate higher values."""
        rows, columns = self.parameters
        image = ax.imshow(self.values, cmap="plasma", aspect="auto", interpolation="none")
        ax.set_xticks(range(len(columns)), labels=[f"{value:g}" for value in columns])
        ax.set_yticks(range(len(rows)), labels=[_power_of_ten(value) for value in rows])
        bar = ax.figure.colorbar(image, ax=ax, pad=0.02)
        bar.ax.tick_params(labelsize=8)
        ax.tick_params(labelsize=8, length=2)


def _power_of_ten(value: float) -> str:
    exponent = np.log10(value) if value > 0 else np.nan
    return f"$10^{{{round(exponent)}}}$" if abs(exponent - round(exponent)) < 1e-9 else f"{value:g}"


def surfaces(study: Study, records: Records) -> list[Surface]:
    """Return the recorded surfaces of all methods with a sweep of two parameters; NaN where all trials failed."""
    recorded = []
    for method in (method for method in study.methods if len(method.sweep) == 2):
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
        recorded += [
            Surface(method, *place, means[place])
            for place in product(study.conditions, study.metrics)
            if place in means
        ]
    return recorded


def surface_figure(shown: Sequence[Surface], title: str = "") -> Figure:
    """Return heat maps in a grid with a title, with a row for each data set and a column for each metric."""
    rows = list(dict.fromkeys(surface.condition.data for surface in shown))
    columns = list(dict.fromkeys(surface.metric for surface in shown))
    figure = Figure(figsize=(4.1 * len(columns) + 0.4, 2.0 * len(rows) + 0.6), layout="constrained")
    axes = figure.subplots(len(rows), len(columns), squeeze=False, sharex=True, sharey=True)
    for ax in axes.flat:
        ax.set_visible(False)
    for surface in shown:
        i, j = rows.index(surface.condition.data), columns.index(surface.metric)
        ax = axes[i][j]
        ax.set_visible(True)
        surface.draw(ax)
        ax.set_title(metric_heading(surface.metric) if i == 0 else "", fontsize=12)
        ax.set_xlabel(surface.names[1] if i == len(rows) - 1 else "")
        ax.set_ylabel(f"{surface.condition.data}\n{surface.names[0]}" if j == 0 else "")
    if title:
        figure.suptitle(title, fontsize=14)
    return figure


def difference_figure(
    rows: Sequence[tuple[str, Mapping[str, tuple[float, bool]]]], reference: str, title: str = ""
) -> Figure:
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
    figure = Figure(figsize=(8.6, 1.5 + 0.24 * len(rows)), layout="constrained")
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
