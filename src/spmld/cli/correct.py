"""``spmld correct``: write the annotations of a review into a copy of the file, and fit a model on it."""

import csv
import warnings
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from spmld._io import writing
from spmld.audit import find_label_issues
from spmld.cli import options
from spmld.cli.fitting import fit_model, save_model
from spmld.cli.loading import Source
from spmld.cli.methods import build, parse_params
from spmld.cli.printing import check_output_path, print_json, print_message
from spmld.cli.review_data import FOLDER_SEPARATOR, label_form, open_editable
from spmld.datasets import Dataset, TableWarning
from spmld.labels.single_class import ignore_label_warnings
from spmld.review import apply_annotations, read_annotations
from spmld.review.applying import Applied
from spmld.review.label_forms import TagColumn
from spmld.review.tables import check_extension, without_gz
from spmld.review.text_tables import EditableTable, to_text


@click.command()
@options.source_options("data", trusted=True)
@click.argument("annotations")
@click.option("-o", "--out", required=True, metavar="FILE", help="File to write, in the format of DATA.")
@click.option("--refit", metavar="MODEL", help="Fit a method on the new labels and write it to this model file.")
@options.method_options
@options.json_option
@options.force_option
def correct(
    data: Source,
    annotations: str,
    out: str,
    refit: str | None,
    method: str,
    params: tuple[str, ...],
    seed: int,
    as_json: bool,
    force: bool,
) -> None:
    """Write ANNOTATIONS into a copy of DATA, a table.

    ANNOTATIONS is the SQLite file of `spmld review`, a table with an annotation in each row (.csv, .jsonl, .parquet), a
    list of `spmld complete`, or an export of Label Studio. Pass the options of the review. If reviewers disagree, the
    majority decides, and a tie changes nothing. Only the fields of decided labels change: a label column, or the list
    of --tags, to which a tag is added or from which it is removed. All other bytes of a CSV file or of JSON lines, all
    other cells of a workbook, and all other values of a Parquet file stay the same. A folder of text files is written
    as a CSV file.

    The decided entries are written to a second file, FILE with .trusted.csv. Pass it to `spmld review` with --trusted,
    so that they are not shown again. If DATA has trusted entries already, pass them with --trusted to keep them.

    \b
    Examples:
      spmld correct songs.csv songs.review.sqlite -o reviewed.csv --tags tags --id song_id --text review
      spmld correct songs.csv songs.review.sqlite -o reviewed.csv --refit reviewed.skops
    """
    check_extension(out, data.path, data.table_kind or "other")
    trusted_path = str(without_gz(out).with_suffix(".trusted.csv"))
    for path in (out, trusted_path, refit):
        check_output_path(path, force)
    dataset = data.load()
    table = open_editable(data, dataset.X.shape[0])
    if table is None:  # check_extension raises an error for other formats
        raise ValueError(f"annotations cannot be written to {data.path}")
    form = label_form(data, table, dataset.roles, dataset.label_names, dataset.Y)
    id = None if dataset.roles is None else dataset.roles.id
    answers = read_annotations(annotations, id)
    applied = apply_annotations(table, answers, form, id)
    if applied.unmatched and not applied.written.any():
        raise ValueError(
            f"none of the {applied.unmatched} decided entries is in {data.path}: pass the file and the options of the "
            "review; without --id, columns that are not labels must not have changed"
        )
    mask = applied.trusted if dataset.trusted is None else applied.trusted | np.asarray(dataset.trusted)
    with writing(out) as part:
        part.write_bytes(applied.content)
    summary: dict[str, Any] = {"file": out}
    if dataset.trusted is not None or not all(answer.confidence is not None for answer in answers):
        _write_trusted(trusted_path, mask, form.names, table, id)
        summary |= {"trusted": trusted_path, "trusted_entries": int(mask.sum())}
    summary |= {item.name: getattr(applied, item.name) for item in fields(Applied) if item.type is int}
    if refit is not None:
        model = build(method, _keep_rates(parse_params(params), dataset, method, seed), seed)
        summary["model"] = _refit(model, _new_source(data, dataset, out), method, refit)
    if as_json:
        print_json(summary)
    else:
        print_message("\n".join(_describe(summary, _tag_reasons(form) if isinstance(form, TagColumn) else {})))


def _write_trusted(path: str, mask: Any, label_names: list[str], table: EditableTable, id: str | None) -> None:
    """Write the trusted entries for the option ``--trusted``, with the identifiers of the samples if there are some."""
    rows = mask.astype(int).tolist()
    if id is not None and id not in label_names:
        label_names = [id, *label_names]
        rows = [[to_text(name), *row] for name, row in zip(table.column(id), rows, strict=True)]
    with writing(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([label_names, *rows])


def _new_source(data: Source, dataset: Dataset, out: str) -> Source:
    """Return the source of the new file. Its labels are not trusted, since reviewed entries are not a random selection.

    A column that marks trusted entries is left out of the features.
    """
    options = {name: value for name, value in data.options.items() if name != "format" or value != "folder"}
    if dataset.roles is not None and data.table_kind == "folder":
        tags = {"tag_sep": FOLDER_SEPARATOR} if dataset.roles.tags is not None else {}
        options = {**dataset.roles.to_dict(), **tags, **options}
    if data.trusted is not None and not Path(data.trusted).is_file():
        options["drop"] = [*options.get("drop", []), data.trusted]
    return replace(data, path=out, options=options, trusted=None)


def _keep_rates(params: dict[str, Any], before: Dataset, method: str, seed: int) -> dict[str, Any]:
    """Return the parameters with the noise rates of the labels before the review, if noise is identified.

    A review removes the most visible errors, so that rates that are estimated from the labels after it are too low for
    the entries that have not been reviewed.
    """
    names = ("false_positive_rate", "false_negative_rate")
    if method != "SelfPacedEnsemble" or any(name in params for name in names):
        return params
    with ignore_label_warnings():
        noise = find_label_issues(None, before.X, before.Y, random_state=seed).errors.noise
    rates = (float(np.max(rate)) for rate in noise.rates)
    return {**params, **dict(zip(names, rates, strict=True))} if noise.identified else params


def _refit(model: Any, source: Source, method: str, path: str) -> dict[str, Any]:
    """Fit a model on the new labels and save it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)  # the notes about the table have been printed
        data = source.load_part()
    seconds = fit_model(model, data, method)
    return {"path": path, **save_model(model, path, source, data, method, seconds)}


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
        f"{summary['file']}: {summary['changed']} labels changed, {summary['added']} added, "
        f"{summary['confirmed']} confirmed"
    ]
    if "trusted" in summary:
        text = f"{summary['trusted_entries']} trusted entries; with spmld review --trusted they are not shown again"
        lines.append(f"{summary['trusted']}: {text}")
    else:
        lines.append("the labels are predictions of a model, which no person has verified")
    reasons = {
        "unsure": "left as they are, reviewers are unsure",
        "conflicts": "left as they are, reviewers disagree; another annotation resolves them",
        "unmatched": "not in the file",
        **tag_reasons,
    }
    lines += [f"{summary[name]} entries: {reason}" for name, reason in reasons.items() if summary[name]]
    if "model" in summary:
        model = summary["model"]
        lines.append(f"{model['path']}: {model['method']} fitted in {model['seconds']:.1f} s")
    return lines
