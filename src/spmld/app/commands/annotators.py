"""``spmld annotators``: what several annotators say together, how often each differs, and the entries to show next."""

from typing import Any

import click
import numpy as np

from spmld._table import TableCell, TextTable, format_rate
from spmld.annotators import Consensus
from spmld.app.commands import options
from spmld.app.commands.loading import Source
from spmld.app.commands.printing import (
    DIGITS,
    output_format,
    print_json,
    print_message,
    print_table,
    progress_bar,
    write_tables,
)
from spmld.datasets import Dataset

UNCERTAIN = 0.9
"""Confidence below which an entry is counted as uncertain."""
_RATES = ("error_rate", "false_positive_rate", "false_negative_rate")


@click.command()
@options.source_options("data", annotator=True)
@options.integer("--top", 10, "Maximum number of entries to show next.", minimum=0)
@click.option("-o", "--out", metavar="FILE", help="Write the consensus to this .csv, .tsv, .parquet or .json file.")
@options.json_option
@options.force_option
def annotators(data: Source, top: int, out: str | None, as_json: bool, force: bool) -> None:
    """Print how often annotators differ from their panel, and the entries to show next.

    DATA is a table in which a sample has a row for each annotator. --annotator names the column of the annotators, and
    --id that of the samples. What all annotators together, the panel, would say is estimated from all answers and from
    the features of the samples, if there are any. Error rates have 90 % intervals. Annotators who seem to copy from
    each other are named. An entry to show next is listed with the annotator whose answer has the largest gain, the
    expected decrease of the entropy of the panel's majority.

    With -o, the probability of each label with an answer is written to a file.

    \b
    Examples:
      spmld annotators answers.csv --annotator person --id song_id
      spmld annotators answers.csv --annotator person --id song_id --top 50 -o consensus.csv
    """
    from spmld.annotators import find_consensus, fit_consensus

    kind = output_format(out, False, force)
    dataset = data.load_part()
    answers = dataset.answers
    has_features = dataset.X.shape[1] > 0
    if answers.counts.max() < 2:
        raise ValueError(f"{data.path} must have entries with answers of several annotators, got at most one for each")
    if len(np.unique(answers.signs[answers.signs != 0])) < 2:
        raise ValueError(
            f"{data.path} must have positive and negative answers, from which the panel is estimated, got only one "
            "of them; if empty fields or unlisted tags are negative, pass --empty-is negative or --untagged negative"
        )
    with progress_bar(None, "consensus of the annotators"):
        consensus = fit_consensus(dataset.X, answers) if has_features else find_consensus(answers)
    if out is not None:
        write_tables([_consensus_table(consensus, dataset)], out, kind)
    summary = _summarize(consensus)
    quality = consensus.annotator_quality()
    quality.sort(key=lambda row: -row["error_rate"])
    following = []
    for i, j, a, gain in consensus.next_answers(top):
        entry = {"sample": dataset.sample_names[i], "label": dataset.label_names[j]}
        following.append({**entry, "annotator": answers.names[a], "gain": round(gain, DIGITS)})
    copies = [(answers.names[a], answers.names[b], fraction) for a, b, fraction in consensus.copies()]
    if as_json:
        records = [{"annotators": [a, b], "copied_fraction": round(f, DIGITS)} for a, b, f in copies]
        print_json({"name": dataset.name, **summary, "annotators": quality, "copies": records, "next": following})
        return
    rows = []
    for row in quality:
        rates = [TableCell(format_rate(row[kind], 2), row[kind]) for kind in _RATES]
        low, high = (format_rate(end, 2) for end in row["error_rate_interval"])
        rows.append([row["annotator"], row["n_answers"], rates[0], f"{low}-{high}", *rates[1:]])
    columns = ["annotator", "answers", _RATES[0], "90 % interval", *_RATES[1:]]
    print_table(TextTable(columns, rows, title="Annotators"))
    if following:
        click.echo()
        print_table(TextTable.from_records(following, title="Entries to show next"))
    print_message(_describe(summary, has_features))
    for a, b, fraction in copies:
        print_message(f"{a} and {b} seem to copy: they differ in {fraction:.0%} fewer answers than expected")
    if out is not None:
        print_message(f"consensus of all answered entries: {out}")


def _consensus_table(consensus: Consensus, data: Dataset) -> TextTable:
    """Return the probability, the expected fraction and the number of answers of each answered entry."""
    counts = consensus.labels.counts.astype(int)
    rows = []
    for i, j in np.argwhere(counts):
        values = consensus.probabilities[i, j], consensus.panel_fraction[i, j]
        names = [data.sample_names[i], data.label_names[j]]
        rows.append([*names, *(round(float(value), DIGITS) for value in values), int(counts[i, j])])
    return TextTable([data.roles.id, "label", "probability", "fraction", "answers"], rows)


def _summarize(consensus: Consensus) -> dict[str, Any]:
    counts = consensus.labels.counts
    confidence = consensus.confidence[counts > 0]
    return {
        "answers": int(counts.sum()),
        "entries": len(confidence),
        "agreement": consensus.labels.agreement,
        "mean_confidence": float(confidence.mean()),
        "uncertain_entries": int((confidence < UNCERTAIN).sum()),
    }


def _describe(summary: dict[str, Any], has_features: bool) -> str:
    source = "answers and features" if has_features else "answers; no column is left for features"
    return (
        f"{summary['answers']:,} answers to {summary['entries']:,} entries; {summary['agreement']:.0%} of the pairs of "
        f"answers to an entry agree\nconsensus: mean confidence {summary['mean_confidence']:.3f}, below {UNCERTAIN} in "
        f"{summary['uncertain_entries']:,} entries; estimated from {source}"
    )
