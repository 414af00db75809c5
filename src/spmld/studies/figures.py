"""Figures with several panels, from displays of `spmld.plotting`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from spmld.plotting import CriticalDifferenceDisplay, RadarDisplay, SurfaceDisplay
from spmld.plotting.style import COLOURS, HIGHLIGHT

__all__ = ["difference_figure", "radar_figure", "rank_figure", "surface_figure"]


def radar_figure(displays: Sequence[RadarDisplay]) -> Any:
    """Return radar charts side by side, with the same ranges of the axes and one legend."""
    ranges = RadarDisplay.ranges(displays)
    size = (6.2 * len(displays), 6.6)
    figure, axes = _pyplot().subplots(1, len(displays), figsize=size, subplot_kw={"projection": "polar"}, squeeze=False)
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
    size = (4.1 * len(columns) + 0.4, 2.0 * len(rows) + 0.6)
    figure, axes = _pyplot().subplots(
        len(rows), len(columns), figsize=size, squeeze=False, layout="constrained", sharex=True, sharey=True
    )
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
    figure, axes = _pyplot().subplots(
        len(displays), 1, figsize=(8.6, sum(heights)), height_ratios=heights, squeeze=False, layout="constrained"
    )
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
    figure, ax = _pyplot().subplots(figsize=(8.6, 1.5 + 0.24 * len(rows)), layout="constrained")
    for position in range(len(rows)):
        ax.axhline(position, color="0.92", lw=0.8, zorder=0)
    ax.axvline(0, color=HIGHLIGHT, lw=2.5, zorder=1, label=reference)
    for i, name in enumerate(methods):
        colour, marker = COLOURS[i % len(COLOURS)], "osD^vP*"[i % 7]
        points = [(position, *values[name]) for position, (_, values) in enumerate(rows) if name in values]
        positions, worse, significant = (np.array(part) for part in zip(*points, strict=True))
        for mask, face in ((significant, colour), (~significant, "white")):
            ax.scatter(worse[mask], positions[mask], s=34, marker=marker, facecolor=face, edgecolor=colour, zorder=3)
        ax.scatter([], [], s=34, marker=marker, color=colour, label=name)
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


def _pyplot() -> Any:
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        raise ImportError('matplotlib is not installed; install it with: pip install "spmld[plot]"') from None
    return pyplot
