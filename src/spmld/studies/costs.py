"""Costs: the processor time that each method takes to choose its settings and to fit once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spmld.studies.config import Study
from spmld.studies.plan import Cell, final_trials, search_trials
from spmld.studies.records import Records
from spmld.studies.tables import markdown
from spmld.studies.trial import Trial

__all__ = ["Costs", "costs"]


@dataclass(frozen=True)
class Costs:
    """Processor seconds by cell and method; see `costs`."""

    study: Study
    reference: str
    seconds: dict[Cell, dict[str, float]]

    def ratios(self, method: str) -> list[float]:
        """How many times the seconds of a method the reference takes, in each cell that has both."""
        cells = [own for own in self.seconds.values() if {method, self.reference} <= set(own)]
        return [own[self.reference] / own[method] for own in cells]

    def to_dict(self) -> dict[str, Any]:
        """All of it in plain types, ready for JSON."""
        cells = [{**cell.to_dict(), "seconds": own} for cell, own in self.seconds.items()]
        return {"study": self.study.name, "reference": self.reference, "cells": cells}

    def markdown(self) -> str:
        """The table and the ratios."""
        methods = [m.name for m in self.study.methods if any(m.name in own for own in self.seconds.values())]
        rows = [
            [cell.data, cell.labels, f"{cell.observed:.0%}"]
            + [f"{own[name]:.1f}" if name in own else "-" for name in methods]
            for cell, own in self.seconds.items()
        ]
        title = f"Processor seconds to choose and fit: {self.study.title}"
        return "\n".join([title, "", markdown(["data", "labels", "observed", *methods], rows), "", self.brief()])

    def brief(self) -> str:
        """How many times the seconds of each method the reference takes."""
        lines = []
        for name in (method.name for method in self.study.methods if method.name != self.reference):
            if found := self.ratios(name):
                low, middle, high = np.quantile(found, [0, 0.5, 1])
                lines.append(f"- {self.reference} takes {middle:.1f} times {name} (median; {low:.1f} to {high:.1f})")
        return "\n".join(lines)


def costs(study: Study, records: Records, reference: str, data: Sequence[str] = ()) -> Costs:
    """Processor time of each method in each cell: all fits of its search, and the mean of its final fits.

    Parameters
    ----------
    study : Study
        What was run.
    records : Records
        Results. Trials that are not on record, or failed, do not count.
    reference : str
        Method whose time is set beside the others'.
    data : sequence of str
        Data sets to look at; none: all of the study.

    Returns
    -------
    Costs

    Examples
    --------
    >>> import tempfile
    >>> from spmld.studies import find_study, load_study, read_records, run_study
    >>> from spmld.studies.costs import costs
    >>> study = load_study(find_study("smoke"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     outcome = run_study(study, folder + "/results.jsonl")
    ...     len(costs(study, read_records(folder + "/results.jsonl"), study.reference).seconds)
    2
    """
    found: dict[Cell, dict[str, float]] = {}
    final = _by_method(final_trials(study, records), records)
    search = _by_method(search_trials(study), records)
    for (cell, method), seconds in final.items():
        if data and cell.data not in data:
            continue
        found.setdefault(cell, {})[method] = sum(search.get((cell, method), [])) + float(np.mean(seconds))
    return Costs(study, reference, found)


def _by_method(trials: list[Trial], records: Records) -> dict[tuple[Cell, str], list[float]]:
    """The processor seconds of the trials of each cell and method."""
    found: dict[tuple[Cell, str], list[float]] = {}
    for trial in trials:
        record = records.trials.get(trial.key)
        if record is not None and record["status"] == "ok":
            place = Cell(trial.data, trial.observed, trial.corruption), trial.method
            found.setdefault(place, []).append(record["cpu_seconds"])
    return found
