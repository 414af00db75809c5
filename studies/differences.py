"""Differences between the metrics of repeated fits and those on record."""

from itertools import chain
from typing import Any, NamedTuple

from spmld._table import TextTable
from studies.config import Study, StudyError
from studies.records import Record, Records
from studies.runner import final_trials
from studies.tables import short_name
from studies.trial import Trial

TOLERANCE = 1e-6
"""Default of the largest absolute difference of equal metrics."""


class MetricChange(NamedTuple):
    """Recorded and repeated value of a metric; None where it is undefined."""

    metric: str
    recorded: float | None
    repeated: float | None

    @property
    def size(self) -> float:
        """Absolute difference; infinite if only one of the values is defined."""
        if self.recorded is None or self.repeated is None:
            return 0.0 if self.recorded == self.repeated else float("inf")
        return abs(self.repeated - self.recorded)


def metric_changes(recorded: Record, repeated: Record) -> list[MetricChange]:
    """Return the recorded metrics of a fit with their repeated values."""
    return [MetricChange(name, value, repeated["metrics"].get(name)) for name, value in recorded["metrics"].items()]


def compare_records(repeated: Records, recorded: Records, tolerance: float = TOLERANCE) -> str:
    """Return a table in Markdown with a row for each method of each study of the repeated fits.

    Parameters
    ----------
    repeated, recorded : Records
        Records of the same studies. Fits are the same if they have the same data set, observed fraction, corruption,
        method, seed and swept parameters. Selected parameters may differ, and are counted.
    tolerance : float
        Largest absolute difference of equal metrics.
    """
    common = [name for name in repeated.studies if name in recorded.studies]
    if not common:
        raise StudyError(
            f"the records must have a study in common, got {', '.join(repeated.studies) or 'none'} and "
            f"{', '.join(recorded.studies) or 'none'}"
        )
    rows = list(chain.from_iterable(_rows(name, repeated, recorded, tolerance) for name in common))
    columns = ["study", "method", "fits", "not on record", "other parameters", "same metrics", "largest difference"]
    return TextTable(columns, rows).to_markdown()


def _rows(name: str, repeated: Records, recorded: Records, tolerance: float) -> list[list[Any]]:
    """Return the rows of a study, with the largest difference of the metrics that it reports."""
    study = repeated.study(name)
    new, old = _fits(study, repeated), _fits(recorded.study(name), recorded)
    rows = []
    for method in study.methods:
        places = [place for place in new if place[1] == method.name]
        both = [(old[place], new[place]) for place in places if place in old]
        other = sum(before["trial"]["params"] != after["trial"]["params"] for before, after in both)
        changes = [[c for c in metric_changes(*pair) if c.metric in study.metrics] for pair in both]
        same = sum(all(change.size <= tolerance for change in fit) for fit in changes)
        largest = [
            f"{short_name(metric)} {max(c.size for c in chain(*changes) if c.metric == metric):.2g}"
            for metric in study.metrics
            if any(c.metric == metric for c in chain(*changes))
        ]
        rows.append([name, method.name, len(places), len(places) - len(both), other, same, ", ".join(largest)])
    return rows


def _fits(study: Study, records: Records) -> dict[tuple[Any, ...], Record]:
    """Return the records of the successful final fits of a study by condition, method, seed and swept parameters."""
    swept = {method.name: list(method.sweep) for method in study.methods}
    fits = {}
    for trial in final_trials(study, records):
        record = records.trials.get(trial.key)
        if record is not None and record["status"] == "ok":
            fits[_place(trial, swept[trial.method])] = record
    return fits


def _place(trial: Trial, swept: list[str]) -> tuple[Any, ...]:
    return (trial.condition, trial.method, trial.seed, *(trial.params[name] for name in swept))
