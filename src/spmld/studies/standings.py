"""Standings: one table of a study, a row for each cell, and who wins how often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spmld.model_selection.statistics import PairedTest
from spmld.studies.charts import cell_title, in_words
from spmld.studies.config import Method, Study
from spmld.studies.figures import differences
from spmld.studies.plan import Cell
from spmld.studies.records import Records
from spmld.studies.strict import StudyError
from spmld.studies.tables import (
    Entry,
    digits,
    entries,
    greater_is_better,
    heading,
    is_better,
    markdown,
    tested_against,
)

__all__ = ["Row", "Standings", "standings"]

SIGNS = {"better": "+", "worse": "-", "no significant difference": "="}


@dataclass(frozen=True)
class Row:
    """A cell: the entry of each method, and the best competitor beside the reference.

    Attributes
    ----------
    cell : Cell
        Data set, rate and corruption.
    entries : dict
        Entry of each method, by its name.
    best : str
        The competitor with the best mean.
    test : PairedTest or None
        That competitor against the reference.
    """

    cell: Cell
    entries: dict[str, Entry]
    best: str
    test: PairedTest | None


@dataclass(frozen=True)
class Standings:
    """How a method stands against its competitors in the cells of a study; see `standings`."""

    study: Study
    metric: str
    reference: str
    competitors: tuple[str, ...]
    rows: tuple[Row, ...]

    @property
    def counts(self) -> dict[str, int]:
        """Cells in which the reference is better than the best competitor, the same and worse, by a paired t-test."""
        found = Counter(row.test.verdict for row in self.rows if row.test is not None)
        return {
            "better": found["worse"],
            "no significant difference": found["no significant difference"],
            "worse": found["better"],
        }

    def gaps(self) -> dict[tuple[str, str], list[tuple[float, float]]]:
        """What the reference gains over a method, and what the same method gains if it is told what is wrong.

        A pair for each cell, relative to the method's own mean.
        """
        found: dict[tuple[str, str], list[tuple[float, float]]] = {}
        for oracle in (method for method in self.study.methods if method.oracle):
            for plain in self.study.methods:
                if plain.oracle or _what(plain) != _what(oracle):
                    continue
                for row in self.rows:
                    if {plain.name, oracle.name} <= set(row.entries):
                        start, end, ours = (row.entries[n].mean for n in (plain.name, oracle.name, self.reference))
                        sign = 1 if greater_is_better(self.metric) else -1
                        pair = (sign * (ours / start - 1), sign * (end / start - 1))
                        found.setdefault((plain.name, oracle.name), []).append(pair)
        return found

    def to_dict(self) -> dict[str, Any]:
        """All of it in plain types, ready for JSON; the verdict on a method is how it stands to the reference."""
        cells = [
            {
                **row.cell.to_dict(),
                "best_rival": row.best,
                "methods": {
                    name: {"mean": entry.mean, "verdict": None if entry.test is None else entry.test.verdict}
                    for name, entry in row.entries.items()
                },
            }
            for row in self.rows
        ]
        named = {"study": self.study.name, "metric": self.metric, "reference": self.reference}
        return {**named, "competitors": list(self.competitors), "counts": self.counts, "cells": cells}

    def figure(self) -> Any:
        """How much worse than the reference each method is, cell by cell, as a matplotlib figure."""
        sign = -1 if greater_is_better(self.metric) else 1
        rows = []
        for row in self.rows:
            base = row.entries[self.reference].mean
            worse = {
                name: (sign * (entry.mean / base - 1), entry.test.verdict != "no significant difference")
                for name, entry in row.entries.items()
                if entry.test is not None
            }
            rows.append((cell_title(row.cell), worse))
        return differences(rows, self.reference, f"{self.study.title}: {in_words(self.metric)}")

    def markdown(self) -> str:
        """The table and its sums."""
        methods = [name for name in dict.fromkeys(m.name for m in self.study.methods) if self._shown(name)]
        corrupted = any(str(row.cell.corruption) for row in self.rows)
        head = ["data", *(["labels"] if corrupted else []), "observed", *methods]
        lines = []
        for row in self.rows:
            place = [row.cell.data, *([row.cell.labels] if corrupted else [])]
            lines.append([*place, f"{row.cell.observed:.0%}", *(self._text(row, name) for name in methods)])
        title = f"{heading(self.metric)}: {self.study.title}"
        return "\n".join([title, "", markdown(head, lines), "", self.brief()])

    def _shown(self, name: str) -> bool:
        return any(name in row.entries for row in self.rows)

    def _text(self, row: Row, name: str) -> str:
        entry = row.entries.get(name)
        if entry is None:
            return "-"
        sign = f" {SIGNS[entry.test.verdict]}" if entry.test is not None else ""
        first = row.best if row.test is not None and self._ahead(row) else self.reference
        return f"**{digits(entry.mean)}**{sign}" if name == first else f"{digits(entry.mean)}{sign}"

    def _ahead(self, row: Row) -> bool:
        """Whether the best competitor has the better mean."""
        return is_better(self.metric, row.entries[row.best].mean, row.entries[self.reference].mean)

    def brief(self) -> str:
        """Who wins how often, and the gap to those that were told."""
        counts = self.counts
        text = [
            f"{self.reference} against the best of {', '.join(self.competitors)} in {sum(counts.values())} cells: "
            f"better in {counts['better']}, not told apart in {counts['no significant difference']}, "
            f"worse in {counts['worse']}."
        ]
        for (plain, oracle), pairs in self.gaps().items():
            gain, gap = np.mean(pairs, axis=0)
            text.append(
                f"Told what is wrong, {plain} gains {gap:.1%} on average ({oracle}); {self.reference} gains {gain:.1%} "
                f"over {plain} without being told: {gain / gap:.0%} of the gap."
            )
        return "\n".join(text)


def standings(
    study: Study,
    records: Records,
    metric: str | None = None,
    reference: str | None = None,
    competitors: Sequence[str] = (),
    data: Sequence[str] = (),
) -> Standings:
    """How a method stands against its competitors, cell by cell.

    Parameters
    ----------
    study : Study
        What was run.
    records : Records
        Results. Cells without the reference or without any competitor are left out.
    metric : str, optional
        The metric; None: the first of the study.
    reference : str, optional
        The method; None: the study's.
    competitors : sequence of str
        Whom to count as a competitor; none: all other methods that are not told what is wrong.
    data : sequence of str
        Data sets to look at; none: all of the study.

    Returns
    -------
    Standings

    Examples
    --------
    >>> import tempfile
    >>> from spmld.studies import find_study, load_study, read_records, run_study
    >>> from spmld.studies.standings import standings
    >>> study = load_study(find_study("smoke"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     outcome = run_study(study, folder + "/results.jsonl")
    ...     sum(standings(study, read_records(folder + "/results.jsonl")).counts.values())
    2
    """
    names = [method.name for method in study.methods]
    metric, reference = metric or study.metrics[0], reference or study.reference
    if metric not in study.metrics:
        raise StudyError(f"metric must be one of {', '.join(study.metrics)}, got {metric!r}")
    for name in (reference, *competitors):
        if name not in names:
            raise StudyError(f"a method of {study.name} must be one of {', '.join(names)}, got {name!r}")
    for name in data:
        if name not in study.data:
            raise StudyError(f"a data set of {study.name} must be one of {', '.join(study.data)}, got {name!r}")
    assert reference is not None
    against = tuple(competitors) or tuple(m.name for m in study.methods if not m.oracle and m.name != reference)
    found = [entry for entry in entries([study], records) if entry.metric == metric]
    rows = []
    for cell in dict.fromkeys(entry.cell for entry in found if entry.cell.data in (data or study.data)):
        own = {entry.method.name: entry for entry in found if entry.cell == cell}
        others = [own[name] for name in against if name in own]
        if reference not in own or not others:
            continue
        base = own[reference]
        tested = {name: _tested(entry, base) for name, entry in own.items()}
        ordered = sorted(others, key=lambda entry: entry.mean, reverse=greater_is_better(metric))
        rows.append(Row(cell, tested, ordered[0].method.name, tested[ordered[0].method.name].test))
    return Standings(study, metric, reference, against, tuple(rows))


def _what(method: Method) -> tuple[Any, ...]:
    """What a method fits, whatever it is told."""
    return method.estimator, method.fixed, method.search


def _tested(entry: Entry, base: Entry) -> Entry:
    """An entry with its test against the reference."""
    test = None if entry is base else tested_against(entry, base)
    return Entry(entry.cell, entry.method, entry.metric, entry.values, test)
