"""``spmld annotators``: error rates of several annotators, their consensus, and the entries to show next."""

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
    """Print the error rates of several annotators, and the entries to show next.

    DATA is a table in which a sample has a row for each annotator. --annotator names the column of the annotators, and
    --id that of the samples. The true labels and the error rates are estimated from all answers and from the features
    of the samples, if there are any. Rates have 90 % intervals. An entry to show next is listed with the annotator
    whose answer has the largest gain, the expected decrease of the log loss.

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
            f"{data.path} must have positive and negative answers, from which error rates are estimated, got only one "
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
    if as_json:
        print_json({"name": dataset.name, **summary, "annotators": quality, "next": following})
        return
    rows = []
    for row in quality:
        rates = [_format_rate(row[kind], *row[f"{kind}_interval"]) for kind in _RATES]
        rows.append([row["annotator"], row["n_answers"], *rates])
    print_table(TextTable(["annotator", "answers", *_RATES], rows, title="Annotators, with 90 % intervals"))
    if following:
        click.echo()
        print_table(TextTable.from_records(following, title="Entries to show next"))
    print_message(_describe(summary, has_features))
    if out is not None:
        print_message(f"consensus of all answered entries: {out}")


def _consensus_table(consensus: Consensus, data: Dataset) -> TextTable:
    """Return the probability and the number of answers of each answered entry."""
    counts = consensus.labels.counts.astype(int)
    p = consensus.probabilities
    rows = [
        [data.sample_names[i], data.label_names[j], round(float(p[i, j]), DIGITS), int(counts[i, j])]
        for i, j in np.argwhere(counts)
    ]
    return TextTable([data.roles.id, "label", "probability", "answers"], rows)


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


def _format_rate(rate: float, low: float, high: float) -> TableCell:
    return TableCell(f"{format_rate(rate, 2)} ({format_rate(low, 2)}-{format_rate(high, 2)})", rate)
