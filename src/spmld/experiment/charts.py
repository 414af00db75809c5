"""From records to the figures of several measures and of two parameters, with the numbers as CSV beside each."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld.experiment import figures
from spmld.experiment.config import Method, Study
from spmld.experiment.folder import Folder
from spmld.experiment.plan import Cell, cells, final_trials
from spmld.experiment.records import Records
from spmld.experiment.tables import entries, find_reference, greater_is_better, heading, long_rows

__all__ = ["draw_radar", "draw_surfaces"]

# lambda and gamma as in the paper; our objective is half of its equation 8, and so are the values of the preset.
PAPER_UNITS = {"spmld.SPMLD.paper": 2.0}


def draw_radar(studies: Sequence[Study], records: Records, out: Folder) -> None:
    """One figure for each data set, a panel for each rate; coverage is divided by the labels, as in the paper."""
    found = entries(studies, records)
    out.table("radar", *long_rows(found))
    measures = list(dict.fromkeys(entry.measure for entry in found))
    losses = frozenset(_axis(measure) for measure in measures if not greater_is_better(measure))
    for data in dict.fromkeys(entry.cell.data for entry in found):
        panels: dict[str, dict[str, dict[str, float]]] = {}
        for entry in found:
            if entry.cell.data == data:
                title = f"{data}, {entry.cell.observed:.0%} observed {entry.cell.corruption}".strip()
                scale = records.data[data]["labels"] if entry.measure == "coverage" else 1
                panel = panels.setdefault(title, {}).setdefault(entry.method.name, {})
                panel[_axis(entry.measure)] = entry.mean / scale
        # A method without all measures cannot be drawn.
        complete = {
            title: {name: values for name, values in panel.items() if len(values) == len(measures)}
            for title, panel in panels.items()
        }
        if all(complete.values()):
            out.figure(f"radar_{data}", figures.radar, complete, losses, find_reference(studies))


def _axis(measure: str) -> str:
    if measure == "coverage":
        return "coverage / labels"
    return measure.replace("_", " ").replace("auc", "AUC").replace("f1", "F1")


def draw_surfaces(study: Study, records: Records, out: Folder) -> None:
    """One figure for each method with a sweep of two parameters, each rate and corruption; means over the masks."""
    rows: list[list[Any]] = []
    for number, method in enumerate(study.methods):
        if len(method.sweep) != 2:
            continue
        (first, row_values), (second, column_values) = method.sweep.items()
        unit = PAPER_UNITS.get(method.estimator, 1.0)
        lines, columns = ([unit * value for value in values] for values in (row_values, column_values))
        means = _sweep_means(study, method, records)
        for rate, corruption in dict.fromkeys((cell.observed, cell.corruption) for cell in cells(study)):
            drawn = []
            for data, measure in product(study.data, study.measures):
                values = means.get((Cell(data, rate, corruption), measure))
                if values is None:
                    continue
                drawn.append(figures.Surface(data, heading(measure), lines, columns, values))
                for (line, column), value in zip(product(lines, columns), values.flat, strict=True):
                    rows.append([method.name, data, rate, str(corruption), measure, line, column, float(value)])
            name = "_".join([study.name, f"{rate * 100:.0f}", *str(corruption).rstrip("%").split()])
            if drawn:
                name += f"_{number + 1}" if number else ""
                out.figure(name, figures.surfaces, drawn, _parameter(first), _parameter(second))
    out.table(study.name, ["method", "data", "observed", "corruption", "measure", "row", "column", "value"], rows)


def _sweep_means(study: Study, method: Method, records: Records) -> dict[tuple[Cell, str], NDArray[np.float64]]:
    """Means over masks as (row, column) of the sweep, for each cell and measure; NaN where all trials failed."""
    (first, row_values), (second, column_values) = method.sweep.items()
    found: dict[tuple[Cell, str], dict[tuple[int, int], list[float]]] = {}
    for trial in final_trials(study, records):
        measures = records.measures(trial)
        if trial.method == method.name and measures is not None:
            cell = Cell(trial.data, trial.observed, trial.corruption)
            place = row_values.index(trial.params[first]), column_values.index(trial.params[second])
            for measure in study.measures:
                found.setdefault((cell, measure), {}).setdefault(place, []).append(measures.get(measure, np.nan))
    means = {}
    for where, values in found.items():
        means[where] = np.full((len(row_values), len(column_values)), np.nan)
        for place, several in values.items():
            means[where][place] = np.mean(several)
    return means


def _parameter(name: str) -> str:
    last = name.rsplit("__", 1)[-1]
    return {"threshold": r"$\lambda$", "diversity": r"$\gamma$"}.get(last, last)
