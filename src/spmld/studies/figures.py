"""Figures: the radar of many metrics, the surfaces of two parameters, and the critical-difference diagram.

They need matplotlib, which comes with ``spmld[plot]``. Functions that begin with draw take axes, and `spmld.plotting`
shows them one by one; the others give a figure with all panels back, and saving is the caller's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld.model_selection.statistics import FriedmanTest

__all__ = [
    "Surface",
    "critical_differences",
    "diagram_height",
    "differences",
    "draw_radar",
    "draw_ranks",
    "draw_surface",
    "joined",
    "line_styles",
    "radar",
    "surfaces",
    "worst_to_best",
]

# Colours that the colour-blind tell apart (Okabe and Ito), with grey and brown to go round.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#999999", "#8C564B", "#000000", "#BCBD22")
STRESSED = "#D55E00"


@dataclass(frozen=True)
class Surface:
    """Values of a metric over two parameters.

    Attributes
    ----------
    data, metric : str
        Title of its row and of its column.
    rows, columns : sequence of float
        Values of the parameters.
    values : ndarray of shape (len(rows), len(columns))
        The metric.
    """

    data: str
    metric: str
    rows: Sequence[float]
    columns: Sequence[float]
    values: NDArray[np.float64]


def radar(
    panels: Mapping[str, Mapping[str, Mapping[str, float]]],
    lower_is_better: frozenset[str] = frozenset(),
    stressed: str | None = None,
) -> Any:
    """Radar charts side by side, further out is better.

    Each axis runs from the worst to the best value in all panels, which stand beside its name: metrics differ
    too much in scale for one axis to serve all.

    Parameters
    ----------
    panels : mapping
        Title of a panel, then method, then metric, to its value.
    lower_is_better : frozenset of str
        Metrics whose axis is turned round.
    stressed : str, optional
        The method to draw thick.

    Returns
    -------
    Figure
    """
    plt = _pyplot()
    methods = list(dict.fromkeys(name for panel in panels.values() for name in panel))
    spans = worst_to_best(panels.values(), lower_is_better)
    styles = line_styles(methods, stressed)
    figure, axes = plt.subplots(
        1, len(panels), figsize=(6.2 * len(panels), 6.6), subplot_kw={"projection": "polar"}, squeeze=False
    )
    for axis, (title, panel) in zip(axes[0], panels.items(), strict=True):
        draw_radar(axis, panel, spans, styles)
        axis.set_title(title, pad=46, fontsize=13)
    handles, labels = axes[0][0].get_legend_handles_labels()
    order = sorted(range(len(labels)), key=lambda place: methods.index(labels[place]))
    figure.legend(
        [handles[place] for place in order],
        [labels[place] for place in order],
        loc="lower center",
        ncols=min(5, len(labels)),
        frameon=False,
        fontsize=10,
    )
    figure.subplots_adjust(left=0.1, right=0.9, top=0.8, bottom=0.2, wspace=0.45)
    return figure


def worst_to_best(
    panels: Iterable[Mapping[str, Mapping[str, float]]], lower_is_better: frozenset[str]
) -> dict[str, tuple[float, float]]:
    """The worst and the best value of each metric in all panels.

    Examples
    --------
    >>> from spmld.studies.figures import worst_to_best
    >>> worst_to_best([{"a": {"loss": 0.2}, "b": {"loss": 0.1}}], frozenset({"loss"}))
    {'loss': (0.2, 0.1)}
    """
    found: dict[str, list[float]] = {}
    for panel in panels:
        for values in panel.values():
            for metric, value in values.items():
                found.setdefault(metric, []).append(value)
    ends = {metric: (min(values), max(values)) for metric, values in found.items()}
    return {metric: each[::-1] if metric in lower_is_better else each for metric, each in ends.items()}


def line_styles(methods: Sequence[str], stressed: str | None) -> dict[str, dict[str, Any]]:
    """How to draw the line of each method; thin lines stay visible on the thick one."""
    others = [name for name in methods if name != stressed]
    styles = {
        name: {
            "color": COLOURS[i % len(COLOURS)],
            "ls": ("-", "--", ":")[i // 5 % 3],
            "lw": 1.6,
            "ms": 3.5,
            "zorder": 3,
        }
        for i, name in enumerate(others)
    }
    return {**styles, **({stressed: {"color": STRESSED, "ls": "-", "lw": 5, "ms": 7, "zorder": 2}} if stressed else {})}


def draw_radar(
    axis: Any,
    panel: Mapping[str, Mapping[str, float]],
    spans: Mapping[str, tuple[float, float]],
    styles: Mapping[str, Mapping[str, Any]],
) -> None:
    """One radar on polar axes: a line for each method, through its place between worst and best on each axis."""
    angles = np.linspace(0, 2 * np.pi, len(spans), endpoint=False)
    axis.set_theta_offset(np.pi / 2)
    axis.set_theta_direction(-1)
    for name, values in panel.items():
        radii = [_between(values[metric], *ends) for metric, ends in spans.items()]
        axis.plot(np.append(angles, angles[0]), [*radii, radii[0]], marker="o", label=name, **styles[name])
    axis.set_ylim(0, 1.08)
    axis.set_yticks([0.15, 0.5, 1.0], labels=[])
    axis.grid(color="0.85")
    axis.spines["polar"].set_visible(False)
    axis.set_xticks(angles, labels=[])
    for angle, (metric, (worst, best)) in zip(angles, spans.items(), strict=True):
        text = f"{metric}\n{worst:.3g} to {best:.3g}"
        axis.text(angle, 1.28, text, ha="center", va="center", fontsize=9.5, color="0.2")


def surfaces(found: Sequence[Surface], row_name: str, column_name: str) -> Any:
    """Heat maps in a grid: a row for each data set, a column for each metric, with a colour bar each.

    Parameters
    ----------
    found : sequence of Surface
        What to draw. As in the paper, light is high and dark is low.
    row_name, column_name : str
        Names of the parameters.

    Returns
    -------
    Figure
    """
    plt = _pyplot()
    data = list(dict.fromkeys(surface.data for surface in found))
    metrics = list(dict.fromkeys(surface.metric for surface in found))
    size = (4.1 * len(metrics) + 0.4, 2.0 * len(data) + 0.6)
    figure, axes = plt.subplots(
        len(data), len(metrics), figsize=size, squeeze=False, layout="constrained", sharex=True, sharey=True
    )
    for axis in axes.flat:
        axis.set_visible(False)
    for surface in found:
        line, column = data.index(surface.data), metrics.index(surface.metric)
        axis = axes[line][column]
        axis.set_visible(True)
        draw_surface(axis, surface.values, surface.rows, surface.columns)
        if line == 0:
            axis.set_title(surface.metric, fontsize=12)
        if line == len(data) - 1:
            axis.set_xlabel(column_name)
        if column == 0:
            axis.set_ylabel(f"{surface.data}\n{row_name}")
    return figure


def draw_surface(axis: Any, values: NDArray[np.float64], rows: Sequence[float], columns: Sequence[float]) -> None:
    """One heat map with its colour bar; light is high."""
    image = axis.imshow(values, cmap="plasma", aspect="auto", interpolation="none")
    axis.set_xticks(range(len(columns)), labels=[f"{value:g}" for value in columns])
    axis.set_yticks(range(len(rows)), labels=[_power(value) for value in rows])
    bar = axis.figure.colorbar(image, ax=axis, pad=0.02)
    bar.ax.tick_params(labelsize=8)
    axis.tick_params(labelsize=8, length=2)


def critical_differences(panels: Sequence[tuple[str, Sequence[str], FriedmanTest]], stressed: str | None = None) -> Any:
    """Critical-difference diagrams one below the other: methods at their mean ranks, bars join what does not differ.

    Parameters
    ----------
    panels : sequence of (str, sequence of str, FriedmanTest)
        Title, names of the methods, and their ranks.
    stressed : str, optional
        The method to print bold.

    Returns
    -------
    Figure
    """
    plt = _pyplot()
    heights = [diagram_height(ranks) for _, _, ranks in panels]
    figure, axes = plt.subplots(
        len(panels), 1, figsize=(8.6, sum(heights)), height_ratios=heights, squeeze=False, layout="constrained"
    )
    for axis, (title, names, ranks) in zip(axes[:, 0], panels, strict=True):
        draw_ranks(axis, title, names, ranks, stressed)
    return figure


def differences(rows: Sequence[tuple[str, Mapping[str, tuple[float, bool]]]], reference: str, title: str = "") -> Any:
    """How much worse than a reference others are: a line for each cell, a dot for each method.

    Parameters
    ----------
    rows : sequence of (str, mapping)
        Name of a cell, and for each method how much worse it is, as a share, and whether that is significant. A dot is
        filled if it is.
    reference : str
        What they are compared with.
    title : str
        Title.

    Returns
    -------
    Figure
    """
    plt = _pyplot()
    methods = list(dict.fromkeys(name for _, values in rows for name in values))
    figure, axis = plt.subplots(figsize=(8.6, 1.5 + 0.24 * len(rows)), layout="constrained")
    for place in range(len(rows)):
        axis.axhline(place, color="0.92", lw=0.8, zorder=0)
    axis.axvline(0, color=STRESSED, lw=2.5, zorder=1, label=reference)
    for number, name in enumerate(methods):
        colour, marker = COLOURS[number % len(COLOURS)], "osD^vP*"[number % 7]
        found = [(place, *values[name]) for place, (_, values) in enumerate(rows) if name in values]
        places, worse, sure = (np.array(part) for part in zip(*found, strict=True))
        for which, face in ((sure, colour), (~sure, "white")):
            axis.scatter(worse[which], places[which], s=34, marker=marker, facecolor=face, edgecolor=colour, zorder=3)
        axis.scatter([], [], s=34, marker=marker, color=colour, label=name)
    axis.set_yticks(range(len(rows)), labels=[name for name, _ in rows], fontsize=9)
    axis.set_ylim(len(rows) - 0.4, -0.6)
    axis.xaxis.set_major_formatter(lambda value, _: f"{value:+.0%}" if value else "0")
    axis.set_xlabel(f"worse than {reference} by (left of the line: better); hollow: not told apart")
    axis.spines[["top", "right", "left"]].set_visible(False)
    axis.tick_params(axis="y", length=0)
    figure.suptitle(title, fontsize=11)
    figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    return figure


def joined(ranks: FriedmanTest) -> list[tuple[float, float]]:
    """The longest runs of mean ranks that lie within the critical difference, from first to last.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.studies.figures import joined
    >>> from spmld.model_selection.statistics import FriedmanTest
    >>> joined(FriedmanTest(np.array([3.0, 1.0, 1.5]), 4.0, 0.1, difference=1.6, n=10))
    [(1.0, 1.5), (1.5, 3.0)]
    """
    means = np.sort(ranks.means)
    runs: list[tuple[float, float]] = []
    for first in means:
        last = means[means <= first + ranks.difference][-1]
        if last > first and (not runs or last > runs[-1][1]):
            runs.append((float(first), float(last)))
    return runs


def diagram_height(ranks: FriedmanTest) -> float:
    """Inches that a critical-difference diagram needs."""
    return 1.3 + 0.13 * len(joined(ranks)) + 0.25 * ((len(ranks.means) + 1) // 2)


def draw_ranks(axis: Any, title: str, names: Sequence[str], ranks: FriedmanTest, stressed: str | None = None) -> None:
    """One critical-difference diagram; vertical places are in inches below the scale, so that text never overlaps."""
    k = len(names)
    runs = joined(ranks)
    axis.set(xlim=(1 - 0.42 * (k - 1), k + 0.42 * (k - 1)), ylim=(diagram_height(ranks) - 0.75, -0.75))
    axis.axis("off")
    axis.plot([1, k], [0, 0], color="black", lw=1.2)
    for tick in range(1, k + 1):
        axis.plot([tick, tick], [0, -0.06], color="black", lw=1.2)
        axis.text(tick, -0.1, str(tick), ha="center", va="bottom", fontsize=9)
    axis.text((1 + k) / 2, -0.66, title, ha="center", va="center", fontsize=11)
    axis.plot([1, 1 + ranks.difference], [-0.36, -0.36], color="0.45", lw=2.5, solid_capstyle="butt")
    axis.text(
        1.08 + ranks.difference,
        -0.36,
        f"critical difference {ranks.difference:.2f}",
        va="center",
        fontsize=9,
        color="0.35",
    )
    for place, (first, last) in enumerate(runs):
        level = 0.13 + 0.13 * place
        axis.plot([first - 0.05, last + 0.05], [level, level], color="black", lw=3, solid_capstyle="round")
    below = 0.28 + 0.13 * len(runs)
    order = np.argsort(ranks.means, kind="stable")
    half = (k + 1) // 2
    for place, index in enumerate(order):
        left = place < half
        level = below + 0.25 * (place if left else k - 1 - place)
        mean = ranks.means[index]
        edge = 1 - 0.06 * (k - 1) if left else k + 0.06 * (k - 1)
        strong = names[index] == stressed
        colour = STRESSED if strong else "0.3"
        axis.plot([mean, mean, edge], [0, level, level], color=colour, lw=1.6 if strong else 0.9)
        axis.text(
            edge + (-0.02 if left else 0.02) * (k - 1),
            level,
            f"{names[index]}  {mean:.2f}" if left else f"{mean:.2f}  {names[index]}",
            ha="right" if left else "left",
            va="center",
            fontsize=10,
            fontweight="bold" if strong else "normal",
        )


def _between(value: float, worst: float, best: float) -> float:
    """Place on an axis: 0.15 for the worst, so that lines do not meet in the centre, and 1 for the best."""
    return 1.0 if best == worst else 0.15 + 0.85 * (value - worst) / (best - worst)


def _power(value: float) -> str:
    exponent = np.log10(value) if value > 0 else np.nan
    return f"$10^{{{round(exponent)}}}$" if abs(exponent - round(exponent)) < 1e-9 else f"{value:g}"


def _pyplot() -> Any:
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        raise ImportError('figures need matplotlib: pip install "spmld[plot]"') from None
    return pyplot
