"""The report: every table and figure from the records alone, nothing is fitted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

from spmld.model_selection.statistics import holm_correction
from spmld.studies import figures, pages
from spmld.studies.charts import draw_radar, draw_surfaces
from spmld.studies.config import Study
from spmld.studies.folder import Folder
from spmld.studies.plan import cells, choose
from spmld.studies.published import published_data
from spmld.studies.ranks import Ranked, ranks_over_data
from spmld.studies.records import Records
from spmld.studies.tables import (
    SHORT,
    Entry,
    agreement,
    by_judged,
    entries,
    file_ending,
    find_reference,
    judged_in_words,
    long_rows,
    markdown,
    result_rows,
)

__all__ = ["write_report"]


def write_report(records: Records, folder: str | Path) -> list[Path]:
    """Write all tables and figures that the records allow.

    Parameters
    ----------
    records : Records
        Results of one study or several.
    folder : path
        Where to write; it is made if need be.

    Returns
    -------
    list of Path
        The files.
    """
    out = Folder(folder)
    studies = [records.study(name) for name in records.studies]
    by_kind = {kind: [s for s in studies if s.report == kind] for kind in ("tables", "radar", "surface")}
    _data_table(records, out)
    results = [_results(evaluated_on, own, records, out) for evaluated_on, own in by_judged(by_kind["tables"]).items()]
    for evaluated_on, own in by_judged(by_kind["radar"]).items():
        draw_radar(own, records, out, file_ending(evaluated_on))
    for study in by_kind["surface"]:
        draw_surfaces(study, records, out)
    _choices(studies, records, out)
    out.text("README.md", pages.index(studies, records, results, [path.name for path in out.written]))
    return out.written


def _results(evaluated_on: str, studies: Sequence[Study], records: Records, out: Folder) -> pages.Results:
    """The tables of studies that are judged on the same labels."""
    found, reference, ending = entries(studies, records), find_reference(studies), file_ending(evaluated_on)
    if not found:
        return pages.Results(evaluated_on, [], reference, [])
    _result_tables(found, reference, evaluated_on, out)
    ranked = _ranks(found, out, ending)
    _effects(found, out, ending)
    out.table("agreement", *_agreement_rows(found))
    shown = [item for item in ranked if item[0] == "ranking_loss"] or ranked[:2]
    if shown:
        panels = [(f"{SHORT.get(m, m)}, {rate:.0%} observed", names, ranks) for m, rate, names, ranks in shown]
        out.figure(f"critical_difference{ending}", figures.critical_differences, panels, stressed=reference)
    return pages.Results(evaluated_on, found, reference, ranked)


def _data_table(records: Records, out: Folder) -> None:
    """Table 1, from the data, with the paper's beside it."""
    head = ["data", "samples", "features", "labels", "labels per sample", "the paper's", "empty test samples"]
    rows = []
    for name, data in sorted(records.data.items()):
        paper = published_data().get(name, {})
        told = " / ".join(f"{value:,}" for value in paper.values())
        size = [f"{data['samples']:,}", f"{data['features']:,}", data["labels"]]
        rows.append([name, *size, f"{data['cardinality']:.2f}", told, f"{data['empty']:.2%}"])
    out.table("table1", head, rows)
    out.text("table1.md", f"# Table 1: the data\n\n{markdown(head, rows)}")


def _result_tables(found: list[Entry], reference: str | None, evaluated_on: str, out: Folder) -> None:
    """Tables 2 to 7, numbered as in the paper, and others after their data set."""
    numbers = {name: place for place, name in enumerate(sorted(set(published_data()) - {"corel5k"}), 2)}
    for data, corruption in dict.fromkeys((entry.cell.data, entry.cell.corruption) for entry in found):
        own = [entry for entry in found if (entry.cell.data, entry.cell.corruption) == (data, corruption)]
        clean = corruption.kind == "none"
        number = numbers.get(data, "") if clean and evaluated_on == "test" else ""
        title = f"Table {number}: {data}" if number else f"{data} {corruption}".strip() + judged_in_words(evaluated_on)
        name = f"table{number}_{data}" + ("" if clean else f"_{corruption.kind}{corruption.rate * 100:.0f}")
        name += file_ending(evaluated_on)
        metrics = list(dict.fromkeys(entry.metric for entry in own))
        out.table(name, *long_rows(own))
        out.text(f"{name}.md", pages.result_page(title, markdown(*result_rows(own, metrics)), own, reference))


def _ranks(found: list[Entry], out: Folder, ending: str) -> list[Ranked]:
    """Friedman's test for each metric and rate, as a table too."""
    ranked, rows = ranks_over_data(found), []
    for metric, rate, methods, ranks in ranked:
        for method, mean in sorted(zip(methods, ranks.means, strict=True), key=lambda pair: pair[1]):
            rows.append([metric, rate, method, float(mean), ranks.n, ranks.statistic, ranks.p, ranks.difference])
    head = ["metric", "observed", "method", "mean rank", "data sets", "Friedman chi2", "p", "critical difference"]
    out.table(f"ranks{ending}", head, rows)
    return ranked


def _effects(found: list[Entry], out: Folder, ending: str) -> None:
    """Every comparison with the reference; p-values are corrected over all cells and methods of a metric."""
    head = ["metric", "data", "observed", "corruption", "method", "difference", "effect", "p", "Holm p", "verdict"]
    rows = []
    for metric in dict.fromkeys(entry.metric for entry in found):
        own = [(entry, entry.test) for entry in found if entry.metric == metric and entry.test is not None]
        for (entry, test), corrected in zip(own, holm_correction([test.p for _, test in own]), strict=True):
            cell = entry.cell
            place = [metric, cell.data, cell.observed, str(cell.corruption), entry.method.name]
            rows.append([*place, test.difference, test.effect, test.p, float(corrected), test.verdict])
    out.table(f"effects{ending}", head, rows)


def _agreement_rows(found: list[Entry]) -> tuple[list[str], list[list[Any]]]:
    rows = [[a.method, a.published, a.cells, a.within, a.better] for a in agreement(found)]
    return ["method", "row of the paper", "cells", "within two standard deviations", "better than published"], rows


def _choices(studies: Sequence[Study], records: Records, out: Folder) -> None:
    """All settings that were tried, their held-out scores, and which was chosen."""
    rows = []
    for study in studies:
        for cell, method in product(cells(study), study.methods):
            choice = choose(study, cell, method, records)
            for setting, score in choice.scores:
                place = [study.name, cell.data, cell.observed, str(cell.corruption), method.name]
                rows.append([*place, json.dumps(setting), score, int(setting == choice.params)])
    head = ["study", "data", "observed", "corruption", "method", "setting", "held-out score", "chosen"]
    out.table("chosen", head, rows)
