"""``spmld audit`` and ``complete``: labels that are likely wrong or missing."""

from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from spmld._io import writing
from spmld._table import TextTable
from spmld.app.commands import options
from spmld.app.commands.fitting import build, fit_model, with_decision
from spmld.app.commands.loading import Source, frames
from spmld.app.commands.matching import MatchedData, open_model
from spmld.app.commands.parameters import parse_params
from spmld.app.commands.printing import (
    DIGITS,
    check_output_path,
    output_format,
    print_json,
    print_message,
    print_table,
    progress_bar,
    write_tables,
)
from spmld.app.commands.review_data import complete_with_model, label_form, open_editable
from spmld.app.review.applying import TagColumn
from spmld.app.review.editable_tables import check_extension, without_gz
from spmld.audit import find_label_issues
from spmld.audit.issues import LIMITS_NOTE, LIMITS_TITLE, LISTS
from spmld.estimators import Completion

TOP = 20
"""Maximum number of labels that are listed by default."""


@click.command()
@options.source_options(part="all", trusted=True)
@options.method_option("[default: MaskedLogistic on scaled features, with C chosen by cross-validation]")
@click.option(
    "--kind",
    type=click.Choice(list(LISTS)),
    default="both",
    show_default=True,
    help="Labels that are present and unlikely, labels that are absent and likely, or both.",
)
@options.integer("--top", 20, "Maximum number of entries to print.", minimum=0)
@options.folds_option(5)
@options.seed_option("Seed for the method and the folds.")
@options.out_option("FILE", "CSV file for all observed entries of the kind.")
@options.force_option
@options.json_option
def audit(
    source: Source,
    method: str | None,
    kind: str,
    top: int,
    folds: int,
    seed: int,
    out: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Print the labels of SOURCE that are most likely to be wrong, and how many errors the features could reveal.

    SOURCE is a file or a name, as for `spmld data`. Samples are named by the column of --id, or counted from 0 in the
    order of the part. Entries are ordered by label_quality, the probability of the observed label by models that were
    not fitted on the sample; it is not the probability that the label is correct. at_most is the number of errors that
    the features could reveal. Labels that --trusted marks as verified, of random samples, are taken as correct and show
    how likely errors of both kinds are. `spmld review --verify 50` shows a random sample, which estimates the number of
    errors.

    \b
    Examples:
      spmld audit emotions --top 10
      spmld audit songs.csv --label sad --label calm --kind present --out issues.csv
    """
    check_output_path(out, force)
    data = source.load_part(folds)
    model = build(method, {}, seed) if method else None
    X, Y = frames(data)
    issues = find_label_issues(model, X, Y, trusted=data.trusted, cv=folds, random_state=seed)
    if out:
        with writing(out) as part:
            part.write_text(TextTable.from_frame(issues.table(kind=kind)).to_csv(), encoding="utf-8", newline="")
    entries = issues.table(top, kind=kind)
    labels = issues.per_label()
    if as_json:
        records = {"issues": entries.to_dict("records"), "per label": labels.to_dict("records")}
        print_json({"name": data.name, "range": list(issues.total_range), **records})
        return
    if len(entries):
        print_table(TextTable.from_frame(entries, LISTS[kind]))
        click.echo()
    labels = labels.sort_values("at_most", ascending=False, kind="stable")
    print_table(TextTable.from_frame(labels, LIMITS_TITLE, LIMITS_NOTE))
    print_message(repr(issues).removeprefix("LabelIssues of "))
    if out:
        print_message(f"all entries: {out}")


@click.command()
@options.source_options("data", part="train", trusted=True, allow_missing=True)
@options.model_option
@options.fitted_method_option
@options.params_option
@options.seed_option("Seed for the method.")
@click.option(
    "--top",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"Maximum number of labels, the most confident.  [default: {TOP}; with -o all]",
)
@click.option(
    "--min-confidence",
    default=0.5,
    show_default=True,
    type=click.FloatRange(0, 1),
    help="Minimum confidence of the labels.",
)
@options.trust_type_option
@click.option("-o", "--out", metavar="FILE", help="Write a copy of DATA, a table, with missing labels filled in.")
@click.option("--list", "path", metavar="FILE", help="Write the list to this file, not standard output.")
@options.json_option
@options.force_option
def complete(
    data: Source,
    model: str | None,
    method: str,
    params: tuple[str, ...],
    seed: int,
    top: int | None,
    min_confidence: float,
    trusted_types: tuple[str, ...],
    out: str | None,
    path: str | None,
    as_json: bool,
    force: bool,
) -> None:
    """List the missing labels of DATA that are most likely positive, most confident first.

    The list has the sample (the identifier of --id, or its number from 0), the label and the confidence, which is the
    probability that the label is positive. A method is fitted on DATA, unless --model is used. The observed labels of a
    sample help to predict its missing ones.

    With -o, missing labels whose prediction has at least the confidence --min-confidence are filled in, present or
    absent, in the words of the table; nothing else changes. They are listed in a second file, FILE with .added.csv.

    \b
    Examples:
      spmld complete songs.csv --top 50
      spmld complete songs.csv -o filled.csv --min-confidence 0.9
      spmld complete songs.csv --model songs.skops --min-confidence 0.9 --list add.csv
    """
    kind = output_format(path, as_json, force)
    if out is not None:
        check_extension(out, data.path, data.table_kind or "other")
        check_output_path(out, force)
        if path is None and kind == "csv":
            path = check_output_path(str(without_gz(out).with_suffix(".added.csv")), force)
    if model is None:
        labels, completion = _fit(data, method, params, seed)
    else:
        options.check_model_options()
        estimator, info = open_model(model, trusted_types, data)
        data = data.like_fit(info)
        labels, completion = complete_with_model(estimator, data, model, info)
    predictions = completion.predictions(labels.Y, min_confidence=min_confidence)
    n_missing = int(np.isnan(labels.Y).sum())
    if out is not None:
        shown = predictions[:top]
        form, filled = _fill(data, labels, shown, out)
        rows = [
            [labels.sample(i), labels.label_names[j], "present" if positive else "absent", round(confidence, DIGITS)]
            for i, j, positive, confidence in shown
            if filled[i, j] == positive
        ]
        write_tables([TextTable([labels.id or "sample", "label", "predicted", "confidence"], rows)], path, kind)
        print_message(f"{out}: {len(rows)} of {n_missing} missing labels filled in, predicted by the model")
        if path is not None:
            print_message(f"{path}: list of them")
        if len(rows) < len(shown):
            print_message(f"{len(shown) - len(rows)} predictions are not written: {_reason(form)}")
    else:
        suggestions = [(i, j, confidence) for i, j, positive, confidence in predictions if positive]
        rows = [
            [labels.sample(i), labels.label_names[j], round(confidence, DIGITS)]
            for i, j, confidence in suggestions[: top or TOP]
        ]
        write_tables([TextTable([labels.id or "sample", "label", "confidence"], rows)], path, kind)
        print_message(f"listed {len(rows)} of {len(suggestions)} suggested labels; {n_missing} entries are missing")
    if not n_missing:
        print_message(
            "no entry is missing; if tags that are not listed may be present, pass --untagged weak, so that they are "
            "negatives of lower weight"
        )


def _fit(data: Source, method: str, params: tuple[str, ...], seed: int) -> tuple[MatchedData, Completion]:
    """Return the data, and its labels completed by a method that is fitted to it."""
    given = parse_params(params)
    estimator = build(method, given, seed, trusted=data.trusted is not None)
    if "completion" in estimator.get_params() and "completion" not in given:
        estimator.set_params(completion="boosting")
    dataset = data.load_part()
    if dataset.hierarchy is not None:
        estimator = with_decision(estimator, None, seed, dataset.Y, dataset.hierarchy)
    fit_model(estimator, dataset, method)
    X, Y = frames(dataset)
    with progress_bar(None, "completing"):
        completion = estimator.complete(X, Y)
    id = None if dataset.sample_names is None or dataset.roles is None else dataset.roles.id
    names = list(dataset.label_names)
    return MatchedData(X, np.asarray(Y, dtype=float), names, dataset.sample_names, id, dataset.roles), completion


def _fill(
    data: Source, labels: MatchedData, predictions: list[tuple[int, int, bool, float]], out: str
) -> tuple[Any, NDArray[np.float64]]:
    """Write a copy of a table with the predictions of its missing labels; return the form of its labels, and them."""
    table = open_editable(data, len(labels.Y))
    form = label_form(table, labels.roles, labels.label_names, labels.Y)
    decided = np.full(labels.Y.shape, np.nan)
    for i, j, positive, _ in predictions:
        decided[i, j] = positive
    filled = form.write(table, form.exact(table, decided))
    with writing(out) as part:
        part.write_bytes(table.content())
    return form, filled


def _reason(form: Any) -> str:
    """Return why predictions are not written."""
    if not isinstance(form, TagColumn):
        return "they are absent, and the label columns have no word for it"
    if form.untagged != "negative":
        return f"they are absent, and tags that are not in {form.column!r} count as missing"
    return (
        f"their samples have an empty field {form.column!r}, which is filled in only if all tags have the confidence "
        "--min-confidence"
    )
