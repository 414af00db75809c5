"""CPU time of each method: its parameter search and one fit."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from studies.config import Condition, Study
from studies.plan import final_trials, search_trials
from studies.records import Records
from studies.tables import condition_table
from studies.trial import Trial


@dataclass(frozen=True)
class StudyCosts:
    """Result of `compare_costs`: CPU seconds by condition and method."""

    study: Study
    reference: str
    seconds: dict[Condition, dict[str, float]]

    def ratios(self, method: str) -> list[float]:
        """Return the time of the reference divided by that of a method, in each condition with both."""
        both = [times for times in self.seconds.values() if {method, self.reference} <= set(times)]
        return [times[self.reference] / times[method] for times in both]

    def to_dict(self) -> dict[str, Any]:
        """Return the times in plain types."""
        conditions = [{**condition.to_dict(), "seconds": times} for condition, times in self.seconds.items()]
        return {"study": self.study.name, "reference": self.reference, "conditions": conditions}

    def markdown(self) -> str:
        """Return the table and its summary."""
        texts = {place: {name: f"{t:.1f}" for name, t in times.items()} for place, times in self.seconds.items()}
        title = f"CPU seconds of parameter search and one fit: {self.study.title}"
        return "\n".join([title, "", condition_table(texts, self.study).to_markdown(), "", self.brief()])

    def brief(self) -> str:
        """Return the ratios of the reference's time to that of each method."""
        lines = []
        for name in (method.name for method in self.study.methods if method.name != self.reference):
            if ratios := self.ratios(name):
                low, middle, high = np.quantile(ratios, [0, 0.5, 1])
                times = f"{middle:.1f} times the CPU time of {name} (median; range {low:.1f} to {high:.1f})"
                lines.append(f"- {self.reference} needs {times}")
        return "\n".join(lines)


def compare_costs(study: Study, records: Records, reference: str, data: Sequence[str] = ()) -> StudyCosts:
    """Return the CPU time of each method in each condition: all fits of its search, and the mean of its final fits.

    Parameters
    ----------
    study : Study
        Study.
    records : Records
        Records. Failed and missing trials are ignored.
    reference : str
        Method whose time is compared with the others.
    data : sequence of str
        Data sets. By default, all of them.
    """
    seconds: dict[Condition, dict[str, float]] = {}
    final, search = (_times(trials, records) for trials in (final_trials(study, records), search_trials(study)))
    for (condition, method), times in final.items():
        if not data or condition.data in data:
            total = sum(search.get((condition, method), [])) + float(np.mean(times))
            seconds.setdefault(condition, {})[method] = total
    return StudyCosts(study, reference, seconds)


def _times(trials: list[Trial], records: Records) -> dict[tuple[Condition, str], list[float]]:
    """Return the CPU seconds of successful trials by condition and method."""
    times: dict[tuple[Condition, str], list[float]] = {}
    for trial in trials:
        record = records.trials.get(trial.key)
        if record is not None and record["status"] == "ok":
            times.setdefault((trial.condition, trial.method), []).append(record["cpu_seconds"])
    return times
