"""The report of a study: many fits under one protocol."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import product
from typing import Any

from spmld.plotting import CriticalDifferenceDisplay, RadarDisplay, SurfaceDisplay
from spmld.reports.page import page
from spmld.reports.parts import Cell, Facts, Section, Table, shown
from spmld.reports.pictures import picture, plot
from spmld.studies import Records, Study
from spmld.studies.charts import cell_title, parameter, radar_panels, swept_surfaces
from spmld.studies.figures import diagram_height
from spmld.studies.plan import cells, choose
from spmld.studies.ranks import ranks_over_data
from spmld.studies.tables import (
    Entry,
    agreement,
    by_judged,
    digits,
    entries,
    find_reference,
    heading,
    judged_in_words,
)

__all__ = ["study_report"]

_MARKS = {"better": "good", "worse": "bad"}


def study_report(records: Records, *, title: str | None = None) -> str:
    """Studies on record, as one HTML page; nothing is fitted.

    Parameters
    ----------
    records : Records
        What `spmld.studies.read_records` gives.
    title : str, optional
        Title of the page. None: the title of the study.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> import tempfile
    >>> from spmld.studies import find_study, load_study, read_records, run_study
    >>> from spmld.reports import study_report
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     outcome = run_study(load_study(find_study("smoke")), folder + "/results.jsonl")
    ...     html = study_report(read_records(folder + "/results.jsonl"))
    >>> "Rkl" in html
    True
    """
    studies = [records.study(name) for name in records.studies]
    if not studies:
        raise ValueError("records must hold a study, got none")
    compared = [study for study in studies if study.report != "surface"]
    sections: list[Section | None] = [_summary(studies, records), _data(records)]
    for judged, own in by_judged(compared).items():
        found, reference = entries(own, records), find_reference(own)
        sections += [_results(found, judged, reference), _published(found), _ranks(found, judged, reference)]
        sections.append(_radars(own, judged, records))
    sections += [_surfaces(studies, records), _chosen(studies, records), _failed(records)]
    first = studies[0].title if len(studies) == 1 else "Studies: " + ", ".join(study.name for study in studies)
    return page(title or first, "From the records of all fits.", sections)


def _summary(studies: Sequence[Study], records: Records) -> Section:
    trials = list(records.trials.values())
    hours = sum(record.get("cpu_seconds") or 0.0 for record in trials) / 3600
    versions = sorted({str(record.get("version")) for record in trials})
    facts = [*((study.name, study.title) for study in studies), ("fits on record", f"{len(trials):,}")]
    facts += [("core hours", f"{hours:.1f}"), ("versions", ", ".join(versions))]
    return Section("summary", "Summary", "", [Facts(facts)])


def _data(records: Records) -> Section | None:
    names = ("samples", "features", "labels")
    rows = [{"data": key, **{name: data.get(name) for name in names}} for key, data in sorted(records.data.items())]
    return Section("data", "Data", "", [Table.of("Data sets", rows)]) if rows else None


def _results(found: Sequence[Entry], judged: str, reference: str | None) -> Section | None:
    if not found:
        return None
    tables = []
    for data, corruption in dict.fromkeys((entry.cell.data, entry.cell.corruption) for entry in found):
        own = [entry for entry in found if (entry.cell.data, entry.cell.corruption) == (data, corruption)]
        metrics = list(dict.fromkeys(entry.metric for entry in own))
        places = {(entry.method.name, entry.cell.observed, entry.metric): entry for entry in own}
        rows = []
        for method, rate in dict.fromkeys((entry.method.name, entry.cell.observed) for entry in own):
            row: dict[str, Any] = {"method": method, "observed": Cell(f"{rate:.0%}", rate)}
            row.update({heading(name): _cell(places.get((method, rate, name))) for name in metrics})
            rows.append(row)
        tables.append(Table.of(f"{data} {corruption}".strip() + judged_in_words(judged), rows))
    text = "Mean and standard deviation over the masks."
    if any(entry.test is not None for entry in found):
        text += (
            f" Against {reference}: + significantly better, - worse, = not told apart, by paired t-tests at 95 %. "
            "Masks share their samples, so these tests speak of other masks and not of other data."
        )
    return Section(f"results-{judged}", f"Results{judged_in_words(judged)}", text, tables)


def _cell(entry: Entry | None) -> Cell:
    if entry is None:
        return shown(None)
    verdict = entry.test.verdict if entry.test else ""
    spread = "" if entry.std != entry.std else f" ± {digits(entry.std, std=True)}"
    sign = {"better": " +", "worse": " -", "no significant difference": " ="}.get(verdict, "")
    return Cell(f"{digits(entry.mean)}{spread}{sign}", entry.mean, _MARKS.get(verdict, ""))


def _published(found: Sequence[Entry]) -> Section | None:
    rows = [
        {
            "method": each.method,
            "row of the paper": each.published,
            "cells": each.cells,
            "within two deviations": each.within,
            "better": each.better,
        }
        for each in agreement(found)
    ]
    if not rows:
        return None
    text = "How many cells agree with the paper's tables, and how many are better."
    return Section("published", "Beside the paper", text, [Table.of("Agreement", rows)])


def _ranks(found: Sequence[Entry], judged: str, reference: str | None) -> Section | None:
    parts: list[Any] = []
    for metric, rate, methods, ranks in ranks_over_data(found):
        stressed = reference if reference in methods else None
        display = CriticalDifferenceDisplay(ranks, methods, stressed, f"{heading(metric)}, {rate:.0%} observed")
        order = sorted(zip(ranks.means, methods, strict=True))
        alt = f"{display.title}: mean ranks over {ranks.n} data sets: "
        alt += (
            ", ".join(f"{name} {mean:.2f}" for mean, name in order) + f"; critical difference {ranks.difference:.2f}."
        )
        size = (8.6, diagram_height(ranks))
        parts.append(picture(plot(display), alt, size=size))
    if not parts:
        return None
    text = "Mean ranks over data sets, 1 is best. A bar joins methods that Nemenyi's test does not tell apart at 95 %."
    return Section(f"ranks-{judged}", f"Ranks{judged_in_words(judged)}", text, parts)


def _radars(studies: Sequence[Study], judged: str, records: Records) -> Section | None:
    chosen = [study for study in studies if study.report == "radar"]
    panels, losses = radar_panels(entries(chosen, records), records)
    reference, parts = find_reference(chosen), []
    for cell, panel in panels.items():
        if panel:
            display = RadarDisplay(panel, losses, reference if reference in panel else None, cell_title(cell))
            alt = f"Radar of {len(panel)} methods on {cell_title(cell)}; the tables of results have the numbers."
            parts.append(picture(plot(display), alt, size=(6.4, 6.8), projection="polar"))
    text = "Each axis runs from the worst value to the best. Further out is better."
    title = f"All metrics at once{judged_in_words(judged)}"
    return Section(f"radar-{judged}", title, text, parts) if parts else None


def _surfaces(studies: Sequence[Study], records: Records) -> Section | None:
    parts = []
    for study in studies:
        for method in study.methods if study.report == "surface" else ():
            for cell, metric, surface in swept_surfaces(study, method, records):
                row_name, column_name = map(parameter, method.sweep)
                title = f"{cell_title(cell)}: {heading(metric)}"
                values, rows, columns = surface.values, surface.rows, surface.columns
                display = SurfaceDisplay(values, rows, columns, row_name, column_name, title)
                alt = f"Heat map of {method.name} on {title}, over {' and '.join(method.sweep)}."
                parts.append(picture(plot(display), alt, size=(5.4, 2.9)))
    text = "A metric over two parameters of the pacing. Light is high."
    return Section("surfaces", "Two parameters", text, parts) if parts else None


def _chosen(studies: Sequence[Study], records: Records) -> Section | None:
    rows = []
    for study in studies:
        for cell, method in product(cells(study), study.methods):
            choice = choose(study, cell, method, records)
            if choice.scores and choice.params is not None:
                score = next(score for setting, score in choice.scores if setting == choice.params)
                place = {"study": study.name, "cell": cell_title(cell), "method": method.name}
                rows.append({**place, "setting": json.dumps(choice.params), "held-out score": score})
    text = "Chosen by observed labels of held-out training samples, never by test labels."
    return Section("settings", "Choice of settings", text, [Table.of("What was chosen", rows)]) if rows else None


def _failed(records: Records) -> Section | None:
    rows = [
        {
            "method": record["trial"]["method"],
            "data": record["trial"]["data"],
            "observed": record["trial"]["observed"],
            "seed": record["trial"]["seed"],
            "error": record["error"],
        }
        for record in records.trials.values()
        if record["status"] != "ok"
    ]
    return Section("failed", f"{len(rows)} fits failed", "", [Table.of("Errors", rows)]) if rows else None
