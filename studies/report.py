"""Report of studies: all tables and figures, from the records alone."""

from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from spmld._io import writing
from spmld._table import TextTable
from spmld.model_selection.statistics import holm_correction
from studies import figures, pages
from studies.config import Study
from studies.figures import Ranking, radar_displays, rankings, surfaces
from studies.published import published_data
from studies.records import Records
from studies.results import StudyResult, agreement, by_evaluation, collect_results, find_reference
from studies.tables import (
    agreement_table,
    choice_table,
    evaluation_phrase,
    file_suffix,
    long_table,
    metric_heading,
    tables_of,
)


class ReportFolder:
    r"""Folder of a report. Each file is written completely or not at all.

    Parameters
    ----------
    path : path
        Folder. It is created if necessary.

    Attributes
    ----------
    written : list of Path
        Files written so far.

    Examples
    --------
    >>> import tempfile
    >>> from spmld._table import TextTable
    >>> from studies.report import ReportFolder
    >>> with tempfile.TemporaryDirectory() as path:
    ...     folder = ReportFolder(path)
    ...     folder.write_csv("ranks", TextTable(["method", "rank"], [["SPMLD", 1.5]]))
    ...     folder.written[0].read_text()
    'method,rank\nSPMLD,1.5\n'
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.path.mkdir(parents=True, exist_ok=True)
        self.written: list[Path] = []

    def write_text(self, name: str, text: str) -> None:
        """Write a text file."""
        with writing(self.path / name) as part:
            part.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
        self.written.append(self.path / name)

    def write_csv(self, name: str, table: TextTable) -> None:
        """Write a table as a CSV file, unless it is empty."""
        if table.rows:
            self.write_text(f"{name}.csv", table.to_csv(digits=6))

    def write_figure(self, name: str, draw: Callable[..., Any], *arguments: Any) -> None:
        """Write the figure that a function returns, unless matplotlib is not installed."""
        try:
            figure = draw(*arguments)
        except ImportError:
            return
        file = self.path / f"{name}.png"
        with writing(file) as part:
            figure.savefig(part, dpi=130, metadata={"Software": None})
        figure.clear()
        self.written.append(file)


def write_report(records: Records, folder: str | Path) -> list[Path]:
    """Write all tables and figures that can be generated from the records.

    Parameters
    ----------
    records : Records
        Records of one or several studies.
    folder : path
        Folder to write to. It is created if necessary.

    Returns
    -------
    list of Path
        Files that were written.
    """
    out = ReportFolder(folder)
    studies = [records.study(name) for name in records.studies]
    by_kind = {kind: [study for study in studies if study.report == kind] for kind in ("tables", "radar", "surface")}
    _write_data_table(records, out)
    findings = [_write_results(on, group, records, out) for on, group in by_evaluation(by_kind["tables"]).items()]
    for evaluated_on, group in by_evaluation(by_kind["radar"]).items():
        write_radars(group, records, out, file_suffix(evaluated_on))
    for study in by_kind["surface"]:
        write_surfaces(study, records, out)
    out.write_csv("chosen", choice_table(studies, records))
    out.write_text("README.md", pages.index(studies, records, findings, [path.name for path in out.written]))
    return out.written


def _write_results(evaluated_on: str, studies: Sequence[Study], records: Records, out: ReportFolder) -> pages.Findings:
    """Write the tables of studies that are evaluated on the same labels."""
    results, reference, suffix = collect_results(studies, records), find_reference(studies), file_suffix(evaluated_on)
    if not results:
        return pages.Findings(evaluated_on, [], reference, [])
    _write_result_tables(results, reference, evaluated_on, out)
    ranked = rankings(results, reference)
    out.write_csv(f"ranks{suffix}", _rank_table(ranked))
    out.write_csv(f"effects{suffix}", _effect_table(results))
    out.write_csv("agreement", agreement_table(agreement(results)))
    if shown := [ranking for ranking in ranked if ranking.metric == "ranking_loss"] or ranked[:2]:
        name = f"critical_difference{suffix}"
        out.write_figure(name, figures.rank_figure, [ranking.display for ranking in shown])
    return pages.Findings(evaluated_on, results, reference, ranked)


def _write_data_table(records: Records, out: ReportFolder) -> None:
    """Write Table 1 with the published sizes."""
    columns = ["data", "samples", "features", "labels", "labels per sample", "published", "empty test samples"]
    rows = []
    for name, data in sorted(records.data.items()):
        paper = " / ".join(f"{value:,}" for value in published_data().get(name, {}).values())
        size = [f"{data['samples']:,}", f"{data['features']:,}", data["labels"]]
        rows.append([name, *size, f"{data['cardinality']:.2f}", paper, f"{data['empty']:.2%}"])
    table = TextTable(columns, rows)
    out.write_csv("table1", table)
    out.write_text("table1.md", f"# Table 1: data sets\n\n{table.to_markdown()}")


def _write_result_tables(
    results: Sequence[StudyResult], reference: str | None, evaluated_on: str, out: ReportFolder
) -> None:
    """Write Tables 2 to 7, numbered as in the paper, and tables of other data sets."""
    numbers = {name: number for number, name in enumerate(sorted(set(published_data()) - {"corel5k"}), 2)}
    for (data, corruption), group in tables_of(results).items():
        clean = corruption.kind == "none"
        number = numbers.get(data, "") if clean and evaluated_on == "test" else ""
        title = (
            f"Table {number}: {data}" if number else f"{data} {corruption}".strip() + evaluation_phrase(evaluated_on)
        )
        name = f"table{number}_{data}" + ("" if clean else f"_{corruption.kind}{corruption.rate * 100:.0f}")
        name += file_suffix(evaluated_on)
        out.write_csv(name, long_table(group))
        out.write_text(f"{name}.md", pages.result_page(title, group, reference))


def write_radars(studies: Sequence[Study], records: Records, out: ReportFolder, suffix: str = "") -> None:
    """Write one figure for each data set, with one radar chart for each observed fraction."""
    results = collect_results(studies, records)
    out.write_csv(f"radar{suffix}", long_table(results))
    displays = radar_displays(results, records, find_reference(studies))
    for data in dict.fromkeys(condition.data for condition in displays):
        panels = [display for condition, display in displays.items() if condition.data == data]
        out.write_figure(f"radar_{data}{suffix}", figures.radar_figure, panels)


def write_surfaces(study: Study, records: Records, out: ReportFolder) -> None:
    """Write one figure for each method with a sweep of two parameters, observed fraction and corruption."""
    rows: list[list[Any]] = []
    groups: dict[tuple[int, float, Any], dict[tuple[str, str], Any]] = {}
    for surface in surfaces(study, records):
        condition, display = surface.condition, surface.display
        place = [surface.method.name, condition.data, condition.observed, str(condition.corruption), surface.metric]
        points = zip(product(display.rows, display.columns), display.values.flat, strict=True)
        rows += [[*place, row, column, float(value)] for (row, column), value in points]
        key = study.methods.index(surface.method), condition.observed, condition.corruption
        groups.setdefault(key, {})[condition.data, metric_heading(surface.metric)] = display
    for (number, observed, corruption), displays in groups.items():
        parts = [study.name, f"{observed * 100:.0f}", *str(corruption).rstrip("%").split()]
        name = "_".join([*parts, *([f"{number + 1}"] if number else [])])
        out.write_figure(name, figures.surface_figure, displays)
    columns = ["method", "data", "observed", "corruption", "metric", "row", "column", "value"]
    out.write_csv(study.name, TextTable(columns, rows))


def _rank_table(ranked: Sequence[Ranking]) -> TextTable:
    rows = []
    for ranking in ranked:
        ranks, names = ranking.display.ranks, ranking.display.names
        for method, mean in sorted(zip(names, ranks.means, strict=True), key=lambda pair: pair[1]):
            test = [ranks.n, ranks.statistic, ranks.p, ranks.difference]
            rows.append([ranking.metric, ranking.observed, method, float(mean), *test])
    columns = ["metric", "observed", "method", "mean rank", "data sets", "Friedman chi2", "p", "critical difference"]
    return TextTable(columns, rows)


def _effect_table(results: Sequence[StudyResult]) -> TextTable:
    """Return all tests against the reference, with Holm's correction over all tests of a metric."""
    columns = ["metric", "data", "observed", "corruption", "method", "difference", "effect", "p", "Holm p", "verdict"]
    rows = []
    for metric in dict.fromkeys(result.metric for result in results):
        tested = [(result, result.test) for result in results if result.metric == metric and result.test is not None]
        for (result, test), corrected in zip(tested, holm_correction([test.p for _, test in tested]), strict=True):
            condition = result.condition
            place = [metric, condition.data, condition.observed, str(condition.corruption), result.method.name]
            rows.append([*place, test.difference, test.effect, test.p, float(corrected), str(test.verdict)])
    return TextTable(columns, rows)
