"""From records to the figures of several metrics and of two parameters, with the numbers as CSV beside each."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld.studies import figures
from spmld.studies.config import Method, Study
from spmld.studies.folder import Folder
from spmld.studies.plan import Cell, cells, final_trials
from spmld.studies.records import Records
from spmld.studies.tables import Entry, entries, find_reference, greater_is_better, heading, long_rows

__all__ = [
    "axis_name",
    "cell_title",
    "draw_radar",
    "draw_surfaces",
    "in_words",
    "parameter",
    "radar_panels",
    "swept_surfaces",
]

# lambda and gamma as in the paper; our objective is half of its equation 8, and so are the values of the preset.
PAPER_UNITS = {"spmld.SPMLD.paper": 2.0}


def draw_radar(studies: Sequence[Study], records: Records, out: Folder, ending: str = "") -> None:
    """One figure for each data set, a panel for each rate; coverage is divided by the labels, as in the paper."""
    found = entries(studies, records)
    out.table(f"radar{ending}", *long_rows(found))
    panels, losses = radar_panels(found, records)
    for data in dict.fromkeys(cell.data for cell in panels):
        own = {cell_title(cell): panel for cell, panel in panels.items() if cell.data == data}
        if all(own.values()):
            out.figure(f"radar_{data}{ending}", figures.radar, own, losses, find_reference(studies))


def radar_panels(
    found: Sequence[Entry], records: Records
) -> tuple[dict[Cell, dict[str, dict[str, float]]], frozenset[str]]:
    """For each cell the axes of each method with their values, and which of the axes are losses.

    A method without all metrics cannot be drawn, and is left out.
    """
    metrics = list(dict.fromkeys(entry.metric for entry in found))
    panels: dict[Cell, dict[str, dict[str, float]]] = {}
    for entry in found:
        scale = records.data[entry.cell.data]["labels"] if entry.metric == "coverage" else 1
        panel = panels.setdefault(entry.cell, {}).setdefault(entry.method.name, {})
        panel[axis_name(entry.metric)] = entry.mean / scale
    complete = {
        cell: {name: values for name, values in panel.items() if len(values) == len(metrics)}
        for cell, panel in panels.items()
    }
    return complete, frozenset(axis_name(metric) for metric in metrics if not greater_is_better(metric))


def cell_title(cell: Cell) -> str:
    """A cell in words."""
    return f"{cell.data}, {cell.observed:.0%} observed, {cell.corruption}".rstrip(", ")


def axis_name(metric: str) -> str:
    """A metric in words, as the radar shows it."""
    return "coverage / labels" if metric == "coverage" else in_words(metric)


def in_words(metric: str) -> str:
    """The name of a metric as text.

    Examples
    --------
    >>> from spmld.studies.charts import in_words
    >>> in_words("macro_auc")
    'macro AUC'
    """
    return metric.replace("_", " ").replace("auc", "AUC").replace("f1", "F1")


def draw_surfaces(study: Study, records: Records, out: Folder) -> None:
    """One figure for each method with a sweep of two parameters, each rate and corruption; means over the masks."""
    rows: list[list[Any]] = []
    for number, method in enumerate(study.methods):
        found = swept_surfaces(study, method, records)
        for rate, corruption in dict.fromkeys((cell.observed, cell.corruption) for cell, _, _ in found):
            own = [(c.data, m, s) for c, m, s in found if (c.observed, c.corruption) == (rate, corruption)]
            for data, metric, surface in own:
                points = zip(product(surface.rows, surface.columns), surface.values.flat, strict=True)
                place = [method.name, data, rate, str(corruption), metric]
                rows += [[*place, line, column, float(value)] for (line, column), value in points]
            name = "_".join([study.name, f"{rate * 100:.0f}", *str(corruption).rstrip("%").split()])
            name += f"_{number + 1}" if number else ""
            out.figure(name, figures.surfaces, [surface for _, _, surface in own], *map(parameter, method.sweep))
    out.table(study.name, ["method", "data", "observed", "corruption", "metric", "row", "column", "value"], rows)


def swept_surfaces(study: Study, method: Method, records: Records) -> list[tuple[Cell, str, figures.Surface]]:
    """Cell, metric and surface of each sweep of two parameters that is on record; none for other methods."""
    if len(method.sweep) != 2:
        return []
    unit = PAPER_UNITS.get(method.estimator, 1.0)
    lines, columns = ([unit * value for value in values] for values in method.sweep.values())
    means = _sweep_means(study, method, records)
    return [
        (cell, metric, figures.Surface(cell.data, heading(metric), lines, columns, means[cell, metric]))
        for cell, metric in product(cells(study), study.metrics)
        if (cell, metric) in means
    ]


def _sweep_means(study: Study, method: Method, records: Records) -> dict[tuple[Cell, str], NDArray[np.float64]]:
    """Means over masks as (row, column) of the sweep, for each cell and metric; NaN where all trials failed."""
    (first, row_values), (second, column_values) = method.sweep.items()
    found: dict[tuple[Cell, str], dict[tuple[int, int], list[float]]] = {}
    for trial in final_trials(study, records):
        metrics = records.metrics(trial)
        if trial.method == method.name and metrics is not None:
            cell = Cell(trial.data, trial.observed, trial.corruption)
            place = row_values.index(trial.params[first]), column_values.index(trial.params[second])
            for metric in study.metrics:
                found.setdefault((cell, metric), {}).setdefault(place, []).append(metrics.get(metric, np.nan))
    means = {}
    for where, values in found.items():
        means[where] = np.full((len(row_values), len(column_values)), np.nan)
        for place, several in values.items():
            means[where][place] = np.mean(several)
    return means


def parameter(name: str) -> str:
    """A parameter of a sweep, as a figure shows it."""
    last = name.rsplit("__", 1)[-1]
    return {"threshold": r"$\lambda$", "diversity": r"$\gamma$"}.get(last, last)
