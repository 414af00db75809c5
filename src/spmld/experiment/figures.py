"""Figures: the radar of many measures, the surfaces of two parameters, and the critical-difference diagram.

They need matplotlib, which comes with ``spmld[plot]``. Each function gives the figure back; saving is the caller's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld.experiment.statistics import Ranks

__all__ = ["Surface", "critical_differences", "radar", "surfaces"]

# Colours that the colour-blind tell apart (Okabe and Ito), with grey and brown to go round.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#999999", "#8C564B", "#000000", "#BCBD22")
STRESSED = "#D55E00"


@dataclass(frozen=True)
class Surface:
    """Values of a measure over two parameters.

    Attributes
    ----------
    data, measure : str
        Title of its row and of its column.
    rows, columns : sequence of float
        Values of the parameters.
    values : ndarray of shape (len(rows), len(columns))
        The measure.
    """

    data: str
    measure: str
    rows: Sequence[float]
    columns: Sequence[float]
    values: NDArray[np.float64]


def radar(
    panels: Mapping[str, Mapping[str, Mapping[str, float]]],
    lower_is_better: frozenset[str] = frozenset(),
    stressed: str | None = None,
) -> Any:
    """Radar charts side by side, further out is better.

    Each axis runs from the worst to the best value in all panels, which stand beside its name: measures differ
    too much in scale for one axis to serve all.

    Parameters
    ----------
    panels : mapping
        Title of a panel, then method, then measure, to its value.
    lower_is_better : frozenset of str
        Measures whose axis is turned round.
    stressed : str, optional
        The method to draw thick.

    Returns
    -------
    Figure
    """
    plt = _pyplot()
    methods = list(dict.fromkeys(name for panel in panels.values() for name in panel))
    measures = list(next(iter(next(iter(panels.values())).values())))
    spans = {}
    for measure in measures:
        values = [panel[method][measure] for panel in panels.values() for method in panel]
        worst, best = (max(values), min(values)) if measure in lower_is_better else (min(values), max(values))
        spans[measure] = (worst, best)
    others = [name for name in methods if name != stressed]
    styles = {name: (COLOURS[i % len(COLOURS)], ("-", "--")[i // 5 % 2]) for i, name in enumerate(others)}
    angles = np.linspace(0, 2 * np.pi, len(measures), endpoint=False)
    figure, axes = plt.subplots(
        1, len(panels), figsize=(6.2 * len(panels), 6.6), subplot_kw={"projection": "polar"}, squeeze=False
    )
    for axis, (title, panel) in zip(axes[0], panels.items(), strict=True):
        axis.set_theta_offset(np.pi / 2)
        axis.set_theta_direction(-1)
        for name in panel:
            radii = [_between(panel[name][measure], *spans[measure]) for measure in measures]
            colour, dash = (STRESSED, "-") if name == stressed else styles[name]
            axis.plot(
                np.append(angles, angles[0]),
                [*radii, radii[0]],
                color=colour,
                ls=dash,
                lw=5 if name == stressed else 1.6,
                marker="o",
                ms=7 if name == stressed else 3.5,
                label=name,
                zorder=2 if name == stressed else 3,  # thin lines stay visible on the thick one
            )
        axis.set_ylim(0, 1.08)
        axis.set_yticks([0.15, 0.5, 1.0], labels=[])
        axis.grid(color="0.85")
        axis.spines["polar"].set_visible(False)
        axis.set_xticks(angles, labels=[])
        for angle, measure in zip(angles, measures, strict=True):
            worst, best = spans[measure]
            axis.text(
                angle,
                1.28,
                f"{measure}\n{worst:.3g} to {best:.3g}",
                ha="center",
                va="center",
                fontsize=9.5,
                color="0.2",
            )
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


def surfaces(found: Sequence[Surface], row_name: str, column_name: str) -> Any:
    """Heat maps in a grid: a row for each data set, a column for each measure, with a colour bar each.

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
    measures = list(dict.fromkeys(surface.measure for surface in found))
    size = (4.1 * len(measures) + 0.4, 2.0 * len(data) + 0.6)
    figure, axes = plt.subplots(
        len(data), len(measures), figsize=size, squeeze=False, layout="constrained", sharex=True, sharey=True
    )
    for axis in axes.flat:
        axis.set_visible(False)
    for surface in found:
        line, column = data.index(surface.data), measures.index(surface.measure)
        axis = axes[line][column]
        axis.set_visible(True)
        image = axis.imshow(surface.values, cmap="plasma", aspect="auto")
        axis.set_xticks(range(len(surface.columns)), labels=[f"{value:g}" for value in surface.columns])
        axis.set_yticks(range(len(surface.rows)), labels=[_power(value) for value in surface.rows])
        bar = figure.colorbar(image, ax=axis, pad=0.02)
        bar.ax.tick_params(labelsize=8)
        axis.tick_params(labelsize=8, length=2)
        if line == 0:
            axis.set_title(surface.measure, fontsize=12)
        if line == len(data) - 1:
            axis.set_xlabel(column_name)
        if column == 0:
            axis.set_ylabel(f"{surface.data}\n{row_name}")
    return figure


def critical_differences(panels: Sequence[tuple[str, Sequence[str], Ranks]], stressed: str | None = None) -> Any:
    """Critical-difference diagrams one below the other: methods at their mean ranks, bars join what does not differ.

    Parameters
    ----------
    panels : sequence of (str, sequence of str, Ranks)
        Title, names of the methods, and their ranks.
    stressed : str, optional
        The method to print bold.

    Returns
    -------
    Figure
    """
    plt = _pyplot()
    heights = [1.3 + 0.13 * len(joined(ranks)) + 0.25 * ((len(names) + 1) // 2) for _, names, ranks in panels]
    figure, axes = plt.subplots(
        len(panels), 1, figsize=(8.6, sum(heights)), height_ratios=heights, squeeze=False, layout="constrained"
    )
    for axis, (title, names, ranks), height in zip(axes[:, 0], panels, heights, strict=True):
        _one_diagram(axis, title, names, ranks, height, stressed)
    return figure


def joined(ranks: Ranks) -> list[tuple[float, float]]:
    """The longest runs of mean ranks that lie within the critical difference, from first to last.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.experiment.figures import joined
    >>> from spmld.experiment.statistics import Ranks
    >>> joined(Ranks(np.array([3.0, 1.0, 1.5]), 4.0, 0.1, difference=1.6, n=10))
    [(1.0, 1.5), (1.5, 3.0)]
    """
    means = np.sort(ranks.means)
    runs: list[tuple[float, float]] = []
    for first in means:
        last = means[means <= first + ranks.difference][-1]
        if last > first and (not runs or last > runs[-1][1]):
            runs.append((float(first), float(last)))
    return runs


def _one_diagram(
    axis: Any, title: str, names: Sequence[str], ranks: Ranks, height: float, stressed: str | None
) -> None:
    """One diagram; vertical places are in inches below the scale, so that text never overlaps."""
    k = len(names)
    runs = joined(ranks)
    axis.set(xlim=(1 - 0.42 * (k - 1), k + 0.42 * (k - 1)), ylim=(height - 0.75, -0.75))
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
