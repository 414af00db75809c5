"""Radar chart of several methods and metrics."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np

from spmld.metrics import get_metric
from spmld.plotting._base import Display
from spmld.plotting.style import COLORS, HIGHLIGHT, metric_label

Values = Mapping[str, Mapping[str, float]]
Ranges = Mapping[str, tuple[float, float]]


class RadarDisplay(Display):
    """Radar chart of methods: one axis for each metric, from the worst to the best value.

    Parameters
    ----------
    values : mapping of str to mapping of str to float
        Values of the metrics, by method and metric. All methods must have the same metrics.
    lower_is_better : collection of str
        Metrics for which lower values are better.
    highlight : str, optional
        Method to draw with a thick line.
    title : str
        Title.

    Examples
    --------
    >>> from studies.radar import RadarDisplay
    >>> scores = {"one": {"ranking_loss": 0.1, "micro_f1": 0.5}, "other": {"ranking_loss": 0.2, "micro_f1": 0.6}}
    >>> display = RadarDisplay.from_scores(scores)
    >>> sorted(display.lower_is_better), display.values["one"]["micro F1"]
    (['ranking loss'], 0.5)
    """

    def __init__(
        self, values: Values, lower_is_better: Collection[str] = (), highlight: str | None = None, title: str = ""
    ):
        if not values or len({frozenset(metrics) for metrics in values.values()}) > 1:
            raise ValueError(f"values must have the same metrics for each method, got {dict(values)!r}")
        if highlight is not None and highlight not in values:
            raise ValueError(f"highlight must be one of {', '.join(values)}, got {highlight!r}")
        self.values = {method: dict(metrics) for method, metrics in values.items()}
        self.lower_is_better = frozenset(lower_is_better)
        self.highlight = highlight
        self.title = title

    @classmethod
    def from_scores(
        cls, scores: Values, metrics: Sequence[str] | None = None, *, ax: Any = None, **options: Any
    ) -> Self:
        """Plot metrics of `spmld.metrics`, which define whether lower values are better.

        Parameters
        ----------
        scores : mapping of str to mapping of str to float
            Metrics of each method, such as the results of `spmld.metrics.evaluate`.
        metrics : sequence of str, optional
            Names of the metrics to show. By default, those of the first method.
        ax : matplotlib axes, optional
            Polar axes to draw on.
        **options
            `highlight` and `title`, as in the class.
        """
        if not scores:
            raise ValueError(f"scores must have at least one method, got {dict(scores)!r}")
        names = list(next(iter(scores.values())) if metrics is None else metrics)
        lower = [metric_label(name) for name in names if not get_metric(name)[0].greater_is_better]
        for method, values in scores.items():
            if missing := [name for name in names if name not in values]:
                raise ValueError(f"scores must have all metrics for each method, got {method} without {missing[0]}")
        labeled = {method: {metric_label(name): values[name] for name in names} for method, values in scores.items()}
        return cls(labeled, lower, **options).plot(ax=ax)

    @staticmethod
    def ranges(displays: Iterable["RadarDisplay"]) -> dict[str, tuple[float, float]]:
        """Return the worst and the best value of each metric in several displays.

        Examples
        --------
        >>> from studies.radar import RadarDisplay
        >>> RadarDisplay.ranges([RadarDisplay({"a": {"loss": 0.2}, "b": {"loss": 0.1}}, {"loss"})])
        {'loss': (0.2, 0.1)}
        """
        by_metric: dict[str, list[float]] = {}
        lower: set[str] = set()
        for display in displays:
            lower |= display.lower_is_better
            for values in display.values.values():
                for metric, value in values.items():
                    by_metric.setdefault(metric, []).append(value)
        return {
            metric: (max(values), min(values)) if metric in lower else (min(values), max(values))
            for metric, values in by_metric.items()
        }

    def plot(self, *, ax: Any = None, ranges: Ranges | None = None, legend: bool = True) -> Self:
        """Plot the chart. The worst and the best value are printed below the name of each metric.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Polar axes to draw on.
        ranges : mapping of str to tuple of two floats, optional
            Worst and best value of each axis. By default, those of this display.
        legend : bool, default=True
            Whether to draw a legend below the chart.
        """
        ax = self._axes(ax, subplot_kw={"projection": "polar"}, figsize=(6.2, 6.6))
        if ax.name != "polar":
            raise ValueError(f"ax must be polar axes, got {ax.name} axes")
        ranges = self.ranges([self]) if ranges is None else ranges
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
        ax.set_title(self.title, pad=44)
        if legend:
            ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3, frameon=False)
        return self

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
