"""HTML page of a study."""

from collections.abc import Sequence

from spmld._table import TextTable
from spmld.reports.page import Facts, Section, page, picture, plot
from spmld.studies.config import Study
from spmld.studies.figures import radar_displays, rankings, surfaces
from spmld.studies.records import Records
from spmld.studies.results import StudyResult, agreement, by_evaluation, collect_results, find_reference
from spmld.studies.tables import agreement_table, choice_table, evaluation_phrase, result_table, tables_of


def study_report(records: Records, *, title: str | None = None) -> str:
    """Return the results of studies as one HTML page. Nothing is fitted.

    Parameters
    ----------
    records : Records
        Result of `spmld.studies.read_records`.
    title : str, optional
        Title of the page. By default, the title of the study.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> import tempfile
    >>> from spmld.studies import find_study, load_study, read_records, run_study
    >>> from spmld.studies.html_report import study_report
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     outcome = run_study(load_study(find_study("smoke")), folder + "/results.jsonl")
    ...     html = study_report(read_records(folder + "/results.jsonl"))
    >>> "Rkl" in html
    True
    """
    studies = [records.study(name) for name in records.studies]
    if not studies:
        raise ValueError("records must contain a study, got none")
    sections: list[Section | None] = [_summary(studies, records), _data(records)]
    for evaluated_on, group in by_evaluation([study for study in studies if study.report != "surface"]).items():
        results, reference = collect_results(group, records), find_reference(group)
        sections += [
            _results(results, evaluated_on, reference),
            _agreement(results),
            _ranks(results, evaluated_on, reference),
            _radars(group, evaluated_on, records),
        ]
    sections += [_surfaces(studies, records), _choices(studies, records), _failed(records)]
    names = ", ".join(study.name for study in studies)
    default = studies[0].title if len(studies) == 1 else f"Studies: {names}"
    return page(title or default, "Generated from the records of all fits.", sections)


def _summary(studies: Sequence[Study], records: Records) -> Section:
    facts = [(study.name, study.title) for study in studies]
    facts += [("fits", f"{len(records.trials):,}"), ("core hours", f"{records.cpu_hours():.1f}")]
    return Section("summary", "Summary", "", [Facts([*facts, ("versions", ", ".join(records.versions()))])])


def _data(records: Records) -> Section | None:
    names = ("samples", "features", "labels")
    rows = [{"data": key, **{name: data.get(name) for name in names}} for key, data in sorted(records.data.items())]
    return Section("data", "Data", "", [TextTable.from_records(rows, "Data sets")]) if rows else None


def _results(results: Sequence[StudyResult], evaluated_on: str, reference: str | None) -> Section | None:
    if not results:
        return None
    tables = [
        result_table(group, paper=False, title=f"{data} {corruption}".strip() + evaluation_phrase(evaluated_on))
        for (data, corruption), group in tables_of(results).items()
    ]
    text = "Mean ± standard deviation over the masks."
    if any(result.test is not None for result in results):
        text += (
            f" Against {reference}: + better, - worse, = no significant difference, by paired t-tests at the 5 % "
            "significance level. The masks share training and test samples, so that these tests generalize to other "
            "masks, not to other data. Tests over folds are corrected for their overlap."
        )
    return Section(f"results-{evaluated_on}", f"Results{evaluation_phrase(evaluated_on)}", text, tables)


def _agreement(results: Sequence[StudyResult]) -> Section | None:
    table = agreement_table(agreement(results))
    text = "Number of values within two standard deviations of the published value, and number of better values."
    return Section("published", "Agreement with the paper", text, [table]) if table.rows else None


def _ranks(results: Sequence[StudyResult], evaluated_on: str, reference: str | None) -> Section | None:
    figures = []
    for ranking in rankings(results, reference):
        display, ranks = ranking.display, ranking.display.ranks
        order = ", ".join(f"{name} {mean:.2f}" for mean, name in sorted(zip(ranks.means, display.names, strict=True)))
        alt = f"{display.title}: mean ranks over {ranks.n} data sets: {order}; critical difference "
        figures.append(picture(plot(display), f"{alt}{ranks.difference:.2f}.", size=(8.6, display.height)))
    text = (
        "Mean ranks over data sets; 1 is best. Bars join methods without a significant difference "
        "(Nemenyi's test, 5 % significance level)."
    )
    heading = f"Ranks{evaluation_phrase(evaluated_on)}"
    return Section(f"ranks-{evaluated_on}", heading, text, figures) if figures else None


def _radars(studies: Sequence[Study], evaluated_on: str, records: Records) -> Section | None:
    drawn = [study for study in studies if study.report == "radar"]
    displays = radar_displays(collect_results(drawn, records), records, find_reference(drawn))
    figures = []
    for condition, display in displays.items():
        alt = f"Radar chart of {len(display.values)} methods on {condition}; the tables of results have the numbers."
        figures.append(picture(plot(display), alt, size=(6.4, 6.8), projection="polar"))
    text = "Each axis ranges from the worst value in the center to the best value."
    heading = f"All metrics{evaluation_phrase(evaluated_on)}"
    return Section(f"radar-{evaluated_on}", heading, text, figures) if figures else None


def _surfaces(studies: Sequence[Study], records: Records) -> Section | None:
    figures = []
    for surface in (s for study in studies if study.report == "surface" for s in surfaces(study, records)):
        parameters = " and ".join(surface.method.sweep)
        alt = f"Heat map of {surface.method.name} on {surface.display.title}, over {parameters}."
        figures.append(picture(plot(surface.display), alt, size=(5.4, 2.9)))
    text = "Metrics over two parameters of the pacing schedule. Light colors are high values."
    return Section("surfaces", "Sensitivity to two parameters", text, figures) if figures else None


def _choices(studies: Sequence[Study], records: Records) -> Section | None:
    table = choice_table(studies, records)
    chosen = [row[:-1] for row in table.rows if row[-1]]
    text = "Settings were selected by the observed labels of held-out training samples, never by test labels."
    selected = TextTable(table.columns[:-1], chosen, "Selected settings")
    return Section("settings", "Parameter search", text, [selected]) if chosen else None


def _failed(records: Records) -> Section | None:
    rows = [
        {**{name: record["trial"][name] for name in ("method", "data", "observed", "seed")}, "error": record["error"]}
        for record in records.failed()
    ]
    return (
        Section("failed", f"Failed fits: {len(rows)}", "", [TextTable.from_records(rows, "Errors")]) if rows else None
    )
