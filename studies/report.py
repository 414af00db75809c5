"""Report on the studies of the paper: all tables and figures, and a page, from the records alone."""

from collections import Counter
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from spmld._table import TextTable
from spmld.model_selection.statistics import Verdict, holm_correction
from studies.config import Study, StudyError
from studies.figures import (
    Surface,
    radar_figure,
    radars,
    surface_figure,
    surfaces,
)
from studies.ranks import Ranking, rank_figure, rankings
from studies.records import Records
from studies.results import (
    StudyResult,
    agreement,
    collect_results,
    contradictions,
    find_reference,
    group_by,
    is_better,
    published,
    published_data,
)
from studies.runner import final_trials
from studies.tables import agreement_table, choice_table, long_table, result_table, short_name

Files = dict[str, str | Figure]
"""Texts and figures of a report by file name, in the order of the page."""

_VERDICTS = (Verdict.BETTER, Verdict.NO_DIFFERENCE, Verdict.WORSE)

_MARKS = (
    "Paired t-tests at the 5 % significance level against {reference}, as in the paper. Bold: significantly better "
    "than {reference}. Italic: no significant difference. {reference} itself is bold if it is significantly better "
    "than all other methods, and italic if none is better but some do not differ significantly; its own variants are "
    "not among the other methods."
)
_DEVIATION = "dev. is our mean minus the published mean, in published standard deviations."

_METRICS = """\
## Metrics

- **AUC** in the tables is per *sample*: the fraction of pairs of a positive and a negative label of a sample that are
  ranked correctly; ties count one half. The AUC of a label over samples is **macro AUC**.
- **Rkl** (ranking loss) is the fraction of pairs that are ranked incorrectly; ties count as incorrect. Without ties,
  Rkl + AUC = 1, so that these two columns are redundant.
- **COV** (coverage) is the rank of the last positive label, counted from 0.
- The evaluation code released with the paper passes transposed matrices to its F1 and AUC functions. What it calls
  *sample* F1 and AUC is per label, and vice versa. Its F1 divides the number of true positives with a score above 0 by
  the *sum* of the positive scores; ours divides by their number. In the radar chart, every axis shows the metric that
  it is named after.
"""


def write_report(records: Records, folder: str | Path) -> list[Path]:
    """Write all tables and figures of the records to a folder, and return the files.

    Studies with corrupted labels, or evaluated on the training set, are not shown as in the paper; see
    `studies.comparison`.
    """
    studies = [records.study(name) for name in records.studies]
    for study in studies:
        if study.evaluated_on != "test" or any(corruption.kind != "none" for corruption in study.corruption):
            raise StudyError(f"study {study.name} is not one of the paper; use: python -m studies table")
    files = _report_files(studies, records)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        if isinstance(content, Figure):
            content.savefig(folder / name, dpi=130, metadata={"Software": None})
        else:
            (folder / name).write_text(content.rstrip("\n") + "\n", encoding="utf-8")
    return [folder / name for name in files]


def _report_files(studies: Sequence[Study], records: Records) -> Files:
    by_kind = {kind: [study for study in studies if study.report == kind] for kind in ("tables", "radar", "surface")}
    tables, reference = by_kind["tables"], find_reference(by_kind["tables"])
    results = collect_results(tables, records)
    ranked = rankings(results, reference)
    files: Files = {**_data_tables(records), **_result_tables(results, reference)}
    _add_csv(files, "ranks", _rank_table(ranked))
    _add_csv(files, "effects", _effect_table(results))
    _add_csv(files, "agreement", agreement_table(agreement(results)))
    if shown := [ranking for ranking in ranked if ranking.metric == "ranking_loss"] or ranked[:2]:
        files["critical_difference.png"] = rank_figure(shown)
    files |= _radar_files(by_kind["radar"], records)
    for study in by_kind["surface"]:
        files |= _surface_files(study, records)
    _add_csv(files, "chosen", choice_table(studies, records))
    parts = ["# Results", _studies(studies, records), _agreement(results), _against_published(results)]
    parts += [_against_reference(results, reference), _ranks(ranked), _contradictions(records), _METRICS]
    parts += [_protocol(studies), _links(list(files)), _failures(records)]
    files["README.md"] = "\n\n".join(part.strip() for part in parts if part)
    return files


def _add_csv(files: Files, name: str, table: TextTable) -> None:
    """Add a table as a CSV file, unless it is empty."""
    if table.rows:
        files[f"{name}.csv"] = table.to_csv(digits=6)


def _data_tables(records: Records) -> Files:
    """Return Table 1 with the published sizes."""
    columns = ["data", "samples", "features", "labels", "labels per sample", "published", "empty test samples"]
    rows = []
    for name, data in sorted(records.data.items()):
        paper = " / ".join(f"{value:,}" for value in published_data().get(name, {}).values())
        size = [f"{data['samples']:,}", f"{data['features']:,}", data["labels"]]
        rows.append([name, *size, f"{data['cardinality']:.2f}", paper, f"{data['empty']:.2%}"])
    table = TextTable(columns, rows)
    files: Files = {}
    _add_csv(files, "table1", table)
    return {**files, "table1.md": f"# Table 1: data sets\n\n{table.to_markdown()}"}


def _result_tables(results: Sequence[StudyResult], reference: str | None) -> Files:
    """Return Tables 2 to 7, numbered as in the paper, and tables of other data sets."""
    numbers = {name: number for number, name in enumerate(sorted(set(published_data()) - {"corel5k"}), 2)}
    files: Files = {}
    for data, group in group_by(results, lambda result: result.condition.data).items():
        number = numbers.get(data, "")
        text = "Means ± standard deviations over the masks."
        if any(result.test is not None for result in group):
            text += " " + _MARKS.format(reference=reference)
        if any(result.published is not None for result in group):
            text += " " + _DEVIATION
        title = f"Table {number}: {data}" if number else data
        _add_csv(files, f"table{number}_{data}", long_table(group))
        files[f"table{number}_{data}.md"] = f"# {title}\n\n{text}\n\n{result_table(group).to_markdown()}"
    return files


def _radar_files(studies: Sequence[Study], records: Records) -> Files:
    """Return one figure for each data set, with one radar chart for each observed fraction."""
    results = collect_results(studies, records)
    files: Files = {}
    _add_csv(files, "radar", long_table(results))
    charts = radars(results, records, find_reference(studies))
    for data, panels in group_by(charts, lambda chart: chart.condition.data).items():
        files[f"radar_{data}.png"] = radar_figure(panels)
    return files


def _surface_files(study: Study, records: Records) -> Files:
    """Return one figure for each method with a sweep of two parameters and each observed fraction."""
    rows: list[list[Any]] = []
    shown: dict[str, list[Surface]] = {}
    for surface in surfaces(study, records):
        condition, number = surface.condition, study.methods.index(surface.method)
        place = [surface.method.name, condition.data, condition.observed, str(condition.corruption), surface.metric]
        points = zip(product(*surface.parameters), surface.values.flat, strict=True)
        rows += [[*place, row, column, float(value)] for (row, column), value in points]
        suffix = f"_{number + 1}" if number else ""
        shown.setdefault(f"{study.name}_{condition.observed * 100:.0f}{suffix}.png", []).append(surface)
    note = _unconverged(study, records).strip(" ()")
    files: Files = {name: surface_figure(group, note) for name, group in shown.items()}
    columns = ["method", "data", "observed", "corruption", "metric", "row", "column", "value"]
    _add_csv(files, study.name, TextTable(columns, rows))
    return files


def _rank_table(ranked: Sequence[Ranking]) -> TextTable:
    rows = []
    for ranking in ranked:
        ranks, names = ranking.ranks, ranking.names
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


def _section(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], text: str = "") -> str:
    """Return a heading, text and a table, or nothing if the table is empty."""
    parts = [f"## {title}", *([text] if text else []), TextTable(columns, rows).to_markdown()]
    return "\n\n".join(parts) if rows else ""


def _studies(studies: Sequence[Study], records: Records) -> str:
    lines = [f"- **{study.name}**: {study.title}{_unconverged(study, records)}" for study in studies]
    lines.append(
        f"\nThis report is based on {len(records.trials):,} recorded fits, {records.cpu_hours():.1f} core hours "
        f"(version {', '.join(records.versions())}). `python -m studies report` generates it from the records, and "
        "`python -m studies check` repeats any of the fits."
    )
    return "\n".join(lines)


def _unconverged(study: Study, records: Records) -> str:
    """Return how many of the final fits of a study stopped before convergence, or nothing if none did."""
    trials = final_trials(study, records)
    stopped = records.unconverged(trials)
    return f" (not converged: {stopped:,} of {len(trials):,} fits)" if stopped else ""


def _agreement(results: Sequence[StudyResult]) -> str:
    summary = agreement(results)
    if not summary:
        return ""
    table = agreement_table(summary).to_markdown()
    lines = ["## Agreement with the paper", "", table, "", "Outside 2 standard deviations:", ""]
    for a in summary:
        shown = [
            f"{r.condition.data} {r.condition.observed:.0%} {short_name(r.metric)} {r.deviation:+.1f}"
            for r in a.outside[:12]
        ]
        more = f", and {len(a.outside) - 12} more" if len(a.outside) > 12 else ""
        lines.append(f"- {a.method}: {', '.join(shown) + more if shown else 'none'}")
    return "\n".join(lines)


def _against_published(results: Sequence[StudyResult]) -> str:
    """Return how often each method is better than the published results of SPMLD."""
    better: dict[str, list[bool]] = {}
    for result in results:
        condition = result.condition
        paper = published(condition.data, condition.observed, "SPMLD", result.metric)
        if paper is not None and condition.corruption.kind == "none":
            better.setdefault(result.method.name, []).append(is_better(result.metric, result.mean, paper.mean))
    order = sorted(((sum(flags), name, len(flags)) for name, flags in better.items()), reverse=True)
    columns = ["method", "values better than published SPMLD", "of"]
    return _section("Comparison with the published SPMLD", columns, [[n, b, of] for b, n, of in order])


def _against_reference(results: Sequence[StudyResult], reference: str | None) -> str:
    tested = [(result.method.name, result.test.verdict) for result in results if result.test is not None]
    counts = Counter(tested)
    rows = [[name, *(counts[name, verdict] for verdict in _VERDICTS)] for name in dict(tested)]
    text = (
        "Paired t-tests at the 5 % significance level over masks. [effects.csv](effects.csv) contains effect "
        "sizes, and p-values with Holm's correction over all tests of a metric. The masks share training and "
        "test samples, so that these tests generalize to other masks of the same data, not to other data."
    )
    return _section(f"Tests against {reference}", ["method", *_VERDICTS], rows, text)


def _ranks(ranked: Sequence[Ranking]) -> str:
    rows = []
    for ranking in ranked:
        ranks = ranking.ranks
        order = sorted(zip(ranks.means, ranking.names, strict=True))
        means = ", ".join(f"{name} {mean:.1f}" for mean, name in order)
        place = [short_name(ranking.metric), ranking.observed_text]
        rows.append([*place, f"{ranks.p:.2g}", f"{ranks.difference:.2f}", means])
    columns = ["metric", "observed", "Friedman p", "critical difference", "mean ranks"]
    text = "Friedman's test, and Nemenyi's critical difference at the 5 % significance level."
    return _section("Ranks over data sets", columns, rows, text)


def _contradictions(records: Records) -> str:
    text = (
        "For any scores, Rkl + AUC is 1 plus half the fraction of tied pairs. A sum below 1 is impossible. A sum above "
        "1 implies tied pairs: a model without intercept ties all labels of a sample whose features are all zero. The "
        "last column is the fraction of such test samples."
    )
    rows = []
    for pair in sorted(contradictions(), key=lambda pair: (not pair.impossible, pair.data, pair.observed)):
        implication = "impossible" if pair.impossible else f"{pair.ties:.1%} of pairs tied"
        empty = records.data.get(pair.data, {}).get("empty")
        place = [pair.data, f"{pair.observed:.0%}", pair.method, f"{pair.total:.4g}"]
        rows.append([*place, implication, "" if empty is None else f"{empty:.2%}"])
    columns = ["data", "observed", "method", "Rkl + AUC", "implication", "samples without features"]
    return _section("Contradictions in the published results", columns, rows, text)


def _protocol(studies: Sequence[Study]) -> str:
    searched = [study for study in studies if any(method.search for method in study.methods)]
    lines = [
        f"- **{study.name}**: {study.budget} settings for every method with a search "
        f"({', '.join(method.name for method in study.methods if method.search)}), once for each condition, on the "
        f"mask of seed {study.select_seed}, by {short_name(study.select_by)} of the observed labels in {study.folds} "
        "folds of the training samples. [chosen.csv](chosen.csv) lists all settings and their scores."
        for study in searched
    ]
    return "\n".join(["## Parameter search", "", *lines]) if searched else ""


def _links(files: Sequence[str]) -> str:
    pictures = [f"![{name.removesuffix('.png').replace('_', ' ')}]({name})" for name in files if name.endswith(".png")]
    links = [f"[{name}]({name})" for name in files if not name.endswith(".png")]
    return "## Files\n\n" + ", ".join(links) + "\n\n" + "\n\n".join(pictures)


def _failures(records: Records) -> str:
    failed = records.failed()
    if not failed:
        return ""
    lines = [f"## Failed fits: {len(failed)}", ""]
    for record in failed[:20]:
        trial = record["trial"]
        place = f"{trial['method']} on {trial['data']} {trial['observed']:.0%}, seed {trial['seed']}"
        lines.append(f"- {place} ({record['key']}): {record['error']}")
    return "\n".join(lines)
