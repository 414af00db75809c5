"""Text of the pages of a report."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from spmld._table import TextTable
from spmld.model_selection.statistics import Verdict
from studies.config import Study
from studies.figures import Ranking
from studies.published import contradictions, published
from studies.records import Records
from studies.results import StudyResult, agreement, is_better
from studies.tables import agreement_table, evaluation_phrase, file_suffix, result_table, short_name

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
  *sample* F1 and AUC is per label, and vice versa. Its F1 uses scores above 0 as positive predictions, as ours. In
  the radar chart, every axis shows the metric that it is named after.
"""


@dataclass(frozen=True)
class Findings:
    """Results of studies that are evaluated on the same labels."""

    evaluated_on: str
    results: Sequence[StudyResult]
    reference: str | None
    rankings: Sequence[Ranking]


def index(studies: Sequence[Study], records: Records, findings: Sequence[Findings], files: Sequence[str]) -> str:
    """Return the first page: studies, agreement with the paper, tests and ranks."""
    parts = ["# Results", _studies(studies, records)]
    for part in findings:
        if part.evaluated_on == "test":  # as in the paper
            parts += [_agreement(part.results), _against_published(part.results)]
        parts += [_against_reference(part), _ranks(part)]
    parts += [_contradictions(records), _METRICS, _protocol(studies), _files(files), _failures(records)]
    return "\n\n".join(part.strip() for part in parts if part)


def result_page(title: str, results: Sequence[StudyResult], reference: str | None) -> str:
    """Return the page of one table."""
    text = "Means ± standard deviations over the masks."
    if any(result.test is not None for result in results):
        text += " " + _MARKS.format(reference=reference)
    if any(result.published is not None for result in results):
        text += " " + _DEVIATION
    return f"# {title}\n\n{text}\n\n{result_table(results).to_markdown()}"


def _section(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], text: str = "") -> str:
    """Return a heading, text and a table, or nothing if the table is empty."""
    parts = [f"## {title}", *([text] if text else []), TextTable(columns, rows).to_markdown()]
    return "\n\n".join(parts) if rows else ""


def _studies(studies: Sequence[Study], records: Records) -> str:
    lines = [f"- **{study.name}**: {study.title}" for study in studies]
    lines.append(
        f"\nThis report is based on {len(records.trials):,} recorded fits, {records.cpu_hours():.1f} core hours "
        f"(version {', '.join(records.versions())}). `python -m studies report` generates it from the records, and "
        "`python -m studies check` repeats any of the fits."
    )
    return "\n".join(lines)


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


def _against_reference(findings: Findings) -> str:
    tested = [(result.method.name, result.test.verdict) for result in findings.results if result.test is not None]
    counts = Counter(tested)
    rows = [[name, *(counts[name, verdict] for verdict in _VERDICTS)] for name in dict(tested)]
    file = f"effects{file_suffix(findings.evaluated_on)}.csv"
    text = (
        f"Paired t-tests at the 5 % significance level over masks. [{file}]({file}) contains effect sizes, and "
        "p-values with Holm's correction over all tests of a metric. The masks share training and "
        "test samples, so that these tests generalize to other masks of the same data, not to other data."
    )
    title = f"Tests against {findings.reference}{evaluation_phrase(findings.evaluated_on)}"
    return _section(title, ["method", *_VERDICTS], rows, text)


def _ranks(findings: Findings) -> str:
    rows = []
    for ranking in findings.rankings:
        ranks = ranking.display.ranks
        order = sorted(zip(ranks.means, ranking.display.names, strict=True))
        text = ", ".join(f"{name} {mean:.1f}" for mean, name in order)
        place = [short_name(ranking.metric), ranking.observed_text]
        rows.append([*place, f"{ranks.p:.2g}", f"{ranks.difference:.2f}", text])
    columns = ["metric", "observed", "Friedman p", "critical difference", "mean ranks"]
    title = f"Ranks over data sets{evaluation_phrase(findings.evaluated_on)}"
    return _section(
        title, columns, rows, "Friedman's test, and Nemenyi's critical difference at the 5 % significance level."
    )


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


def _files(files: Sequence[str]) -> str:
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
