"""Tables: measured values with the paper's beside them, and how both agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from spmld.metrics import get_metric
from spmld.model_selection.statistics import PairedTest, paired_t_test
from spmld.studies.config import Method, Study
from spmld.studies.plan import Cell, cells, final_trials
from spmld.studies.published import Published, published
from spmld.studies.records import Records

__all__ = [
    "Agreement",
    "Entry",
    "agreement",
    "by_judged",
    "entries",
    "judged_in_words",
    "markdown",
    "result_rows",
    "shown_methods",
]

SHORT = {
    "ranking_loss": "Rkl",
    "sample_auc": "AUC",
    "coverage": "COV",
    "macro_auc": "macro AUC",
    "micro_auc": "micro AUC",
    "macro_f1": "macro F1",
    "micro_f1": "micro F1",
    "sample_f1": "sample F1",
    "label_ranking_average_precision": "AP",
    "micro_average_precision": "micro AP",
}


@dataclass(frozen=True)
class Entry:
    """A cell of a table: a metric of a method over the masks of a data set and rate.

    Attributes
    ----------
    cell, method, metric
        Where it stands.
    values : dict
        Value of each seed.
    test : PairedTest or None
        Comparison with the reference; None for the reference itself, or without one.
    mark : {"bold", "italic", ""}
        As in the paper. A method that is significantly better than the reference is bold, one that does not differ
        from it italic. The reference is bold if it is significantly better than all others, italic if none is better
        than it but some do not differ. Other variants of the reference, those that stand beside the same row of the
        paper, do not count as others.
    """

    cell: Cell
    method: Method
    metric: str
    values: dict[int, float]
    test: PairedTest | None = None
    mark: str = ""

    @property
    def mean(self) -> float:
        """Mean over the masks."""
        return float(np.mean(list(self.values.values())))

    @property
    def std(self) -> float:
        """Standard deviation over the masks; NaN of a single one."""
        return float(np.std(list(self.values.values()), ddof=1)) if len(self.values) > 1 else float("nan")

    @property
    def published(self) -> Published | None:
        """The paper's value; none for corrupted labels, of which the paper has none."""
        if self.cell.corruption.kind != "none":
            return None
        return published(self.cell.data, self.cell.observed, self.method.published, self.metric)

    @property
    def deviation(self) -> float | None:
        """Measured minus published mean, in published standard deviations."""
        paper = self.published
        return None if paper is None else (self.mean - paper.mean) / paper.std

    @property
    def better_than_published(self) -> bool | None:
        """Whether the mean is better than the published one."""
        paper = self.published
        return None if paper is None else is_better(self.metric, self.mean, paper.mean)


@dataclass(frozen=True)
class Agreement:
    """How a method compares with its row in the paper: cells in all, within two standard deviations, and better."""

    method: str
    published: str
    cells: int
    within: int
    better: int
    outside: list[Entry]


def greater_is_better(metric: str) -> bool:
    """Direction of a metric."""
    return get_metric(metric)[0].greater_is_better


def is_better(metric: str, value: float, other: float) -> bool:
    """Whether a value of a metric is better than another; an equal one is not."""
    return value > other if greater_is_better(metric) else value < other


def by_judged(studies: Sequence[Study]) -> dict[str, list[Study]]:
    """Studies by what they are judged on: values of different labels must not stand in one table, or be ranked."""
    found: dict[str, list[Study]] = {}
    for study in studies:
        found.setdefault(study.evaluated_on, []).append(study)
    return found


def judged_in_words(evaluated_on: str) -> str:
    """What follows a heading, if it is not the test set that methods are judged on.

    Examples
    --------
    >>> from spmld.studies.tables import judged_in_words
    >>> "Ranks" + judged_in_words("missing")
    'Ranks on missing labels'
    """
    return {"test": "", "missing": " on missing labels", "audit": " in finding wrong labels"}[evaluated_on]


def file_ending(evaluated_on: str) -> str:
    """How the names of files end, so that those of other labels than the test set's stand beside them."""
    return "" if evaluated_on == "test" else f"_{evaluated_on}"


def shown_methods(studies: Sequence[Study]) -> list[Method]:
    """The methods of studies in order, each name once."""
    found: dict[str, Method] = {}
    for study in studies:
        for method in study.methods:
            found.setdefault(method.name, method)
    return list(found.values())


def find_reference(studies: Sequence[Study]) -> str | None:
    """The method that others are tested against: of the first study that names one."""
    return next((study.reference for study in studies if study.reference is not None), None)


def entries(studies: Sequence[Study], records: Records) -> list[Entry]:
    """The cells of the tables of several studies, which share their masks and are judged on the same labels.

    Parameters
    ----------
    studies : sequence of Study
        The first one with a reference says which method the others are tested against.
    records : Records
        Results. What is not on record is left out.
    """
    if len(judged := by_judged(studies)) > 1:
        raise ValueError(f"studies must be judged on the same labels, got {', '.join(judged)}")
    values: dict[tuple[Cell, str, str], dict[int, float]] = {}
    for study in studies:
        for trial in final_trials(study, records):
            metrics = records.metrics(trial)
            for metric in study.metrics if metrics is not None else ():
                cell = Cell(trial.data, trial.observed, trial.corruption)
                # A metric of probabilities is missing where an estimator has none.
                value = metrics.get(metric, np.nan)  # type: ignore[union-attr]
                if not np.isnan(value):
                    values.setdefault((cell, trial.method, metric), {})[trial.seed] = value
    methods = shown_methods(studies)
    reference = find_reference(studies)
    places = dict.fromkeys((cell, metric) for study in studies for cell, metric in product(cells(study), study.metrics))
    found = []
    for cell, metric in places:
        row = [
            Entry(cell, method, metric, values[cell, method.name, metric])
            for method in methods
            if (cell, method.name, metric) in values
        ]
        found += _marked(row, reference)
    return found


def tested_against(entry: Entry, base: Entry) -> PairedTest | None:
    """An entry against another of its cell, over the masks that both have."""
    common = sorted(set(entry.values) & set(base.values))
    pairs = ([e.values[seed] for seed in common] for e in (entry, base))
    return paired_t_test(*pairs, greater_is_better=greater_is_better(entry.metric))


def _marked(row: list[Entry], reference: str | None) -> list[Entry]:
    """The entries of one metric in one cell, tested and marked."""
    base = next((entry for entry in row if entry.method.name == reference), None)
    if base is None:
        return row
    tested, verdicts = [], []
    for entry in row:
        test = None if entry is base else tested_against(entry, base)
        if test is not None and (entry.method.published is None or entry.method.published != base.method.published):
            verdicts.append(test.verdict)
        mark = {"better": "bold", "no significant difference": "italic"}.get(test.verdict, "") if test else ""
        tested.append(Entry(entry.cell, entry.method, entry.metric, entry.values, test, mark))
    if verdicts and "better" not in verdicts:
        place = row.index(base)
        mark = "italic" if "no significant difference" in verdicts else "bold"
        tested[place] = Entry(base.cell, base.method, base.metric, base.values, None, mark)
    return tested


def agreement(found: Sequence[Entry], deviations: float = 2.0) -> list[Agreement]:
    """For each method with a row in the paper, how many cells agree with it and how many are better."""
    summary = []
    for name in dict.fromkeys(entry.method.name for entry in found if entry.published is not None):
        own = [entry for entry in found if entry.method.name == name and entry.published is not None]
        outside = [entry for entry in own if abs(entry.deviation or 0.0) > deviations]
        better = sum(bool(entry.better_than_published) for entry in own)
        row = own[0].method.published or ""
        summary.append(Agreement(name, row, len(own), len(own) - len(outside), better, outside))
    return summary


def heading(metric: str) -> str:
    """Short name of a metric with an arrow in its better direction."""
    return f"{SHORT.get(metric, metric)} {'↑' if greater_is_better(metric) else '↓'}"


def digits(value: float, std: bool = False) -> str:
    """A value as in the paper: three decimals, four in standard deviations and in what is below 0.1."""
    if np.isnan(value):
        return "-"
    return f"{value:.4f}" if std or abs(value) < 0.1 else f"{value:.3f}"


def shown(entry: Entry) -> str:
    """Mean and standard deviation with the mark, for Markdown."""
    text = digits(entry.mean) + ("" if np.isnan(entry.std) else f" ± {digits(entry.std, std=True)}")
    sign = {"bold": "**", "italic": "*", "": ""}[entry.mark]
    return f"{sign}{text}{sign}"


def result_rows(found: Sequence[Entry], metrics: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    """Heading and rows of one of Tables 2 to 7: each metric, the paper's, and the difference in deviations."""
    with_paper = {entry.metric for entry in found if entry.published is not None}
    head = ["Method", "observed"]
    for metric in metrics:
        head += [heading(metric), *(["paper", "dev."] if metric in with_paper else [])]
    by_place = {(entry.method.name, entry.cell.observed, entry.metric): entry for entry in found}
    rows = []
    for method, rate in dict.fromkeys((entry.method.name, entry.cell.observed) for entry in _by_method(found)):
        row = [method, f"{rate:.0%}"]
        for metric in metrics:
            entry = by_place.get((method, rate, metric))
            paper = None if entry is None else entry.published
            row.append("-" if entry is None else shown(entry))
            if metric in with_paper:
                row.append("" if paper is None else f"{digits(paper.mean)} ± {digits(paper.std, std=True)}")
                row.append("" if paper is None or entry is None else f"{entry.deviation:+.1f}")
        rows.append(row)
    return head, rows


def _by_method(found: Sequence[Entry]) -> list[Entry]:
    order = {name: place for place, name in enumerate(dict.fromkeys(entry.method.name for entry in found))}
    return sorted(found, key=lambda entry: (order[entry.method.name], entry.cell.observed))


def long_rows(found: Sequence[Entry]) -> tuple[list[str], list[list[Any]]]:
    """Heading and rows of the CSV form: one row for each entry, all digits."""
    head = ["data", "observed", "corruption", "method", "metric", "mean", "std", "masks", "mark"]
    head += ["p", "difference", "effect", "paper_mean", "paper_std", "deviation"]
    rows = []
    for e in found:
        test, paper = e.test, e.published
        row: list[Any] = [e.cell.data, e.cell.observed, str(e.cell.corruption), e.method.name, e.metric]
        row += [e.mean, e.std, len(e.values), e.mark]
        row += [test.p, test.difference, test.effect] if test else [""] * 3
        row += [paper.mean, paper.std, e.deviation] if paper else [""] * 3
        rows.append(row)
    return head, rows


def markdown(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A Markdown table, numbers to the right.

    Examples
    --------
    >>> from spmld.studies.tables import markdown
    >>> print(markdown(["Method", "Rkl"], [["SPMLD", "0.1"]]))
    | Method | Rkl |
    | :--- | ---: |
    | SPMLD | 0.1 |
    """
    lines = [head, [":---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)
