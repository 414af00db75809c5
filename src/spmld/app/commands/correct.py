"""``spmld correct``: write the annotations of a review into a copy of the file."""

from dataclasses import fields, replace
from typing import Any

import click
import numpy as np

from spmld._io import writing
from spmld._table import TextTable
from spmld._validation import plural
from spmld.app.commands import options
from spmld.app.commands.loading import Source
from spmld.app.commands.printing import check_output_path, print_json, print_message
from spmld.app.commands.review_data import describe_unmatched, label_form, open_editable, read_answers
from spmld.app.review import apply_annotations
from spmld.app.review.applying import Applied
from spmld.app.review.editable_tables import EditableTable, check_extension, to_text, without_gz
from spmld.app.review.label_forms import TagColumn
from spmld.datasets.frames import identifier_text


@click.command()
@options.source_options("data", trusted=True)
@click.argument("annotations")
@click.option("-o", "--out", required=True, metavar="FILE", help="File to write, in the format of DATA.")
@options.json_option
@options.force_option
def correct(data: Source, annotations: str, out: str, as_json: bool, force: bool) -> None:
    """Write ANNOTATIONS into a copy of DATA, a table.

    ANNOTATIONS is the SQLite file of `spmld review`, a table with an annotation in each row (.csv, .jsonl, .parquet), a
    list of `spmld complete`, or an export of Label Studio. Pass the options of the review. If reviewers disagree, those
    with lower error rates decide, or the majority if that is not certain, and a tie changes nothing. Only the fields of
    decided labels change: a label column, or the list of --tags, to which a tag is added or from which it is removed.
    All other bytes of a CSV file or of JSON lines, all other cells of a workbook, and all other values of a Parquet
    file stay the same.

    The decided entries are written to a second file, FILE with .trusted.csv. Pass it to `spmld review` with --trusted,
    so that they are not shown again. If DATA has trusted entries already, pass them with --trusted to keep them.

    \b
    Examples:
      spmld correct songs.csv songs.review.sqlite -o reviewed.csv --tags tags --id song_id --text review
    """
    check_extension(out, data.path, data.table_kind or "other")
    trusted_path = str(without_gz(out).with_suffix(".trusted.csv"))
    for path in (out, trusted_path):
        check_output_path(path, force)
    dataset = data.load()
    table = open_editable(data, dataset.X.shape[0])
    form = label_form(table, dataset.roles, dataset.label_names, dataset.Y)
    id = None if dataset.roles is None else dataset.roles.id
    answers = read_answers(annotations, id)
    applied = apply_annotations(table, answers, form, id)
    unmatched = ""
    if applied.unmatched:
        unmatched = describe_unmatched(applied.unmatched, len(answers), annotations, data, form.names)
    if len(applied.unmatched) == len(answers):
        raise ValueError(
            f"{unmatched}; pass the file and the options of the review; without --id, columns that are not labels must "
            "not have changed"
        )
    mask = applied.trusted if dataset.trusted is None else applied.trusted | np.asarray(dataset.trusted)
    with writing(out) as part:
        part.write_bytes(applied.content)
    summary: dict[str, Any] = {"file": out}
    if dataset.trusted is not None or any(answer.confidence is None for answer in answers):
        _write_trusted(trusted_path, mask, form.names, table, id)
        summary |= {"trusted": trusted_path, "trusted_entries": int(mask.sum())}
    summary |= {item.name: getattr(applied, item.name) for item in fields(Applied) if item.type is int}
    summary["unmatched"] = len(applied.unmatched)
    if as_json:
        print_json(summary)
    else:
        lines = _describe(summary, _tag_reasons(form) if isinstance(form, TagColumn) else {})
        print_message("\n".join([*lines, unmatched] if unmatched else lines))
        command = replace(data, path=out).command("-o", "MODEL")
        print_message(f"next: spmld fit {command} fits a model on the new labels")


def _write_trusted(path: str, mask: Any, label_names: list[str], table: EditableTable, id: str | None) -> None:
    """Write the trusted entries for the option ``--trusted``, with identifiers if these are unique."""
    rows = mask.astype(int).tolist()
    names = [] if id is None else [to_text(name) for name in table.column(id)]
    if id is not None and id not in label_names and len(set(map(identifier_text, names))) == len(names):
        label_names = [id, *label_names]
        rows = [[name, *row] for name, row in zip(names, rows, strict=True)]
    with writing(path) as part:
        part.write_text(TextTable(label_names, rows).to_csv(), encoding="utf-8", newline="")


def _tag_reasons(tags: TagColumn) -> dict[str, str]:
    """Return why annotations are not in a column of tags, and why other entries have changed."""
    if tags.untagged == "negative":
        unwritten = (
            f"absent, but not written, because the field {tags.column!r} is empty, which means missing labels; decide "
            "all tags of these samples, or pass --empty-is negative"
        )
    else:
        unwritten = f"absent, which cannot be written, since tags that are not in {tags.column!r} count as missing"
    implied = f"negative instead of missing, because the field {tags.column!r} was empty and has a tag now"
    return {"unwritten": unwritten, "implied": implied}


def _describe(summary: dict[str, Any], tag_reasons: dict[str, str]) -> list[str]:
    lines = [
        f"{summary['file']}: {plural(summary['changed'], 'label')} changed, {summary['added']} added, "
        f"{summary['confirmed']} confirmed"
    ]
    if "trusted" in summary:
        trusted = plural(summary["trusted_entries"], "trusted entry")
        lines.append(f"{summary['trusted']}: {trusted}; with spmld review --trusted they are not shown again")
    else:
        lines.append("the labels are predictions of a model, which no person has verified")
    reasons = {
        "unsure": "left as they are, reviewers are unsure",
        "conflicts": "left as they are, reviewers disagree; another annotation resolves them",
        **tag_reasons,
    }
    lines += [f"{plural(summary[name], 'entry')}: {reason}" for name, reason in reasons.items() if summary[name]]
    return lines
