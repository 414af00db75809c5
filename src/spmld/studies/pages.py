"""Text of the report's pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spmld.studies.config import Study
from spmld.studies.published import contradictions, published
from spmld.studies.ranks import Ranked
from spmld.studies.records import Records
from spmld.studies.tables import SHORT, Entry, agreement, file_ending, is_better, judged_in_words, markdown

__all__ = ["Results", "index", "result_page"]

MARKS = (
    "Paired t-tests at 95 % against {reference}, as in the paper: a method in bold is significantly better than it, "
    "one in italics does not differ significantly from it; {reference} itself is bold if it is better than all others, "
    "in italics if none is better but some do not differ. Other variants of it do not count as others."
)
BESIDE = "dev. is our mean minus the paper's, in the paper's standard deviations."

NAMES = """\
## What the metrics metric

- **AUC** in the tables is per *sample*: the share of pairs of a positive and a negative label of a sample that are in
  the right order, ties counted half. It is not the AUC of a label over samples, which is **macro AUC**.
- **Rkl** is the share of pairs in the wrong order, ties counted as wrong. Without ties, Rkl + AUC = 1: two of the
  three columns say the same.
- **COV** is the rank of the last true label, counted from 0.
- The evaluation code released with the paper hands its F1 and AUC functions transposed matrices, so that what it calls
  *sample* F1 and AUC is per label, and the other way round; its F1 take a score above 0 as a prediction, as ours do.
  In the radar every axis is what its name says.
"""


@dataclass(frozen=True)
class Results:
    """What studies that are judged on the same labels have found: entries, their reference, and ranks."""

    evaluated_on: str
    found: Sequence[Entry]
    reference: str | None
    ranked: Sequence[Ranked]


def index(studies: Sequence[Study], records: Records, results: Sequence[Results], files: Sequence[str]) -> str:
    """The first page: what was run, what agrees with the paper, what does not, and what wins."""
    parts = ["# Results", _studies(studies, records)]
    for each in results:
        if each.evaluated_on == "test":  # the paper has no other values
            parts += [_agreement(each.found), _against_published(each.found)]
        parts += [_against_reference(each), _ranks(each)]
    parts += [_contradictions(records), NAMES, _protocol(studies), _files(files), _failures(records)]
    return "\n\n".join(part.strip() for part in parts if part)


def result_page(title: str, table: str, found: Sequence[Entry], reference: str | None) -> str:
    """The page of one table."""
    text = "Means ± standard deviations over the masks."
    if any(entry.test is not None for entry in found):
        text += " " + MARKS.format(reference=reference)
    if any(entry.published is not None for entry in found):
        text += " " + BESIDE
    return f"# {title}\n\n{text}\n\n{table}"


def _studies(studies: Sequence[Study], records: Records) -> str:
    trials = list(records.trials.values())
    hours = sum(record.get("cpu_seconds") or 0.0 for record in trials) / 3600
    versions = ", ".join(sorted({str(record.get("version")) for record in trials}))
    lines = [f"- **{study.name}**: {study.title}" for study in studies]
    lines.append(
        f"\nEverything here comes from {len(trials):,} recorded fits, {hours:.1f} core hours with version {versions}; "
        "`spmld reproduce report` makes it again from the records, `spmld reproduce check` refits any one of them."
    )
    return "\n".join(lines)


def _agreement(found: Sequence[Entry]) -> str:
    summary = agreement(found)
    if not summary:
        return ""
    head = ["method", "row of the paper", "cells", "within 2 deviations", "better than it"]
    rows = [[a.method, a.published, a.cells, a.within, a.better] for a in summary]
    lines = ["## Measured beside published", "", markdown(head, rows), "", "Outside two standard deviations:", ""]
    for a in summary:
        shown = [
            f"{e.cell.data} {e.cell.observed:.0%} {SHORT.get(e.metric, e.metric)} {e.deviation:+.1f}"
            for e in a.outside[:12]
        ]
        more = f", and {len(a.outside) - 12} more" if len(a.outside) > 12 else ""
        lines.append(f"- {a.method}: {', '.join(shown) + more if shown else 'none'}")
    return "\n".join(lines)


def _against_published(found: Sequence[Entry]) -> str:
    """In how many cells each method is better than the SPMLD that the paper reports."""
    rows = []
    for name in dict.fromkeys(entry.method.name for entry in found):
        verdicts = [
            is_better(entry.metric, entry.mean, paper.mean)
            for entry in found
            if entry.method.name == name and entry.cell.corruption.kind == "none"
            for paper in [published(entry.cell.data, entry.cell.observed, "SPMLD", entry.metric)]
            if paper is not None
        ]
        if verdicts:
            rows.append((sum(verdicts), name, len(verdicts)))
    if not rows:
        return ""
    return "## What the published SPMLD loses to\n\n" + markdown(
        ["method", "cells better than it", "of"],
        [(name, better, of) for better, name, of in sorted(rows, reverse=True)],
    )


def _against_reference(results: Results) -> str:
    rows = []
    tested = [(entry.method.name, entry.test) for entry in results.found if entry.test is not None]
    for name in dict.fromkeys(name for name, _ in tested):
        verdicts = [test.verdict for other, test in tested if other == name]
        rows.append([name, *(verdicts.count(verdict) for verdict in ("better", "no significant difference", "worse"))])
    if not rows:
        return ""
    head = ["method", "significantly better", "no difference", "significantly worse"]
    where = judged_in_words(results.evaluated_on)
    file = f"effects{file_ending(results.evaluated_on)}.csv"
    told = (
        f"Paired t-tests at 95 % over masks; [{file}]({file}) has effect sizes and p-values after Holm's correction "
        "over all cells and methods of a metric. Masks share their samples, so these tests speak of other masks and "
        "not of other data."
    )
    return f"## Against {results.reference}{where}, cell by cell\n\n{told}\n\n{markdown(head, rows)}"


def _ranks(results: Results) -> str:
    if not results.ranked:
        return ""
    rows = []
    for metric, rate, methods, ranks in results.ranked:
        order = sorted(zip(ranks.means, methods, strict=True))
        text = ", ".join(f"{name} {mean:.1f}" for mean, name in order)
        rows.append([SHORT.get(metric, metric), f"{rate:.0%}", f"{ranks.p:.2g}", f"{ranks.difference:.2f}", text])
    head = ["metric", "observed", "Friedman p", "critical difference", "mean ranks"]
    where = judged_in_words(results.evaluated_on)
    told = "Friedman's test, and Nemenyi's critical difference at 95 %."
    return f"## Ranks over data sets{where}\n\n{told}\n\n{markdown(head, rows)}"


def _contradictions(records: Records) -> str:
    """Published cells that contradict each other, with what the data explain."""
    told = (
        "For any scores at all, Rkl + AUC is 1 plus half the share of tied pairs. A sum below 1 is impossible. A sum "
        "above 1 tells how many pairs are tied; a model without intercept ties all labels of a sample without "
        "features, which the last column counts among the test samples."
    )
    rows = []
    for found in sorted(contradictions(), key=lambda found: (not found.impossible, found.data, found.observed)):
        verdict = "impossible" if found.impossible else f"{found.ties:.1%} of pairs tied"
        empty = records.data.get(found.data, {}).get("empty")
        share = "" if empty is None else f"{empty:.2%}"
        rows.append([found.data, f"{found.observed:.0%}", found.method, f"{found.total:.4g}", verdict, share])
    head = ["data", "observed", "method", "Rkl + AUC", "implies", "samples without features"]
    return f"## Published cells that contradict themselves\n\n{told}\n\n{markdown(head, rows)}"


def _protocol(studies: Sequence[Study]) -> str:
    searched = [study for study in studies if any(method.search for method in study.methods)]
    lines = [
        f"- **{study.name}**: {study.budget} settings for every method with something to choose "
        f"({', '.join(method.name for method in study.methods if method.search)}), once for each data set and rate, on "
        f"the mask of seed {study.select_seed}, by {SHORT.get(study.select_by, study.select_by)} of the observed "
        f"labels in {study.folds} folds of the training rows. [chosen.csv](chosen.csv) has every setting and its score."
        for study in searched
    ]
    return "\n".join(["## How parameters were chosen", "", *lines]) if searched else ""


def _files(files: Sequence[str]) -> str:
    pictures = [f"![{name.removesuffix('.png').replace('_', ' ')}]({name})" for name in files if name.endswith(".png")]
    links = [f"[{name}]({name})" for name in files if not name.endswith(".png")]
    return "## Files\n\n" + ", ".join(links) + "\n\n" + "\n\n".join(pictures)


def _failures(records: Records) -> str:
    failed = [record for record in records.trials.values() if record["status"] != "ok"]
    if not failed:
        return ""
    lines = [f"## {len(failed)} fits failed", ""]
    for record in failed[:20]:
        trial = record["trial"]
        where = f"{trial['method']} on {trial['data']} {trial['observed']:.0%}, seed {trial['seed']}"
        lines.append(f"- {where} ({record['key']}): {record['error']}")
    return "\n".join(lines)
