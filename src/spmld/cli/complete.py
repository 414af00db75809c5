"""``spmld complete``: list the missing labels that are most likely positive, or fill them in."""

from dataclasses import dataclass
from typing import Any

import click
import numpy as np

from spmld._io import writing
from spmld._response import as_frame
from spmld._table import TextTable
from spmld.cli import options
from spmld.cli.fitting import fit_model
from spmld.cli.loading import Source, frames, open_model, split_encoder
from spmld.cli.methods import build, parse_params, without_decision
from spmld.cli.printing import Output, check_output_path, print_message
from spmld.cli.progress import progress_bar
from spmld.cli.review_data import label_form, open_editable
from spmld.datasets import TableRoles
from spmld.estimators import Completion
from spmld.review import Annotation, TagColumn, apply_annotations
from spmld.review.tables import check_extension, without_gz

TOP = 20
"""Maximum number of labels that are listed if no table is written."""
DIGITS = 4
"""Number of decimals of a confidence."""


@click.command()
@options.source_options("data", part="train", trusted=True)
@options.model_option
@options.method_options
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
@options.list_options
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
    output: Output,
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
    if out is not None:
        check_extension(out, data.path, data.table_kind or "other")
        check_output_path(out, output.force)
        if output.path is None and output.kind == "csv":
            output = Output.from_options(str(without_gz(out).with_suffix(".added.csv")), None, False, output.force)
    settings = method, params, seed
    labels = _fit(data, *settings) if model is None else _load(data, model, trusted_types)
    predictions = labels.completion.predictions(labels.Y, min_confidence=min_confidence)
    n_missing = int(np.isnan(labels.Y).sum())
    if out is not None:
        _fill(data, labels, predictions[:top], out, output, n_missing)
    else:
        suggestions = [(i, j, confidence) for i, j, positive, confidence in predictions if positive]
        rows = [
            [labels.sample_name(i), labels.names[j], round(confidence, DIGITS)]
            for i, j, confidence in suggestions[: top or TOP]
        ]
        output.write(TextTable([labels.id or "sample", "label", "confidence"], rows))
        print_message(f"listed {len(rows)} of {len(suggestions)} suggested labels; {n_missing} entries are missing")
    if not n_missing:
        print_message(
            "no entry is missing; if tags that are not listed may be present, pass --untagged weak, so that they are "
            "negatives of lower weight"
        )


@dataclass(frozen=True)
class _Labels:
    """Labels of the samples, NaN where missing, their completion, and names; `roles` are those of a table."""

    Y: Any
    completion: Completion
    names: list[str]
    samples: list[Any] | None
    roles: TableRoles | None

    @property
    def id(self) -> str | None:
        """Column that identifies the samples."""
        return None if self.samples is None or self.roles is None else self.roles.id

    def sample_name(self, index: int) -> Any:
        """Return the identifier of a sample, or its number."""
        return index if self.samples is None else self.samples[index]


def _fit(data: Source, method: str, params: tuple[str, ...], seed: int) -> _Labels:
    given = parse_params(params)
    estimator = build(method, given, seed, trusted=data.trusted is not None)
    if "completion" in estimator.get_params() and "completion" not in given:
        estimator.set_params(completion="boosting")
    dataset = data.load_part()
    fit_model(estimator, dataset, method)
    X, Y = frames(dataset)
    with progress_bar(None, "completing"):
        completion = estimator.complete(X, Y)
    names, roles = list(dataset.label_names), dataset.roles
    return _Labels(np.asarray(Y, dtype=float), completion, names, dataset.sample_names, roles)


def _load(data: Source, model: str, trusted_types: tuple[str, ...]) -> _Labels:
    options.check_model_options()
    estimator, info = open_model(model, trusted_types, data)
    matched = data.match(model, info, labels=True, completing=True)
    estimator, X = split_encoder(estimator, matched.X, data.path)
    estimator = without_decision(estimator)
    if not hasattr(estimator, "complete"):
        raise ValueError(f"{model} contains {info.estimator}, which cannot complete labels")
    with progress_bar(None, "completing"):
        completion = estimator.complete(as_frame(estimator, X), matched.Y)
    Y = np.asarray(matched.Y, dtype=float)
    return _Labels(Y, completion, matched.label_names, matched.sample_names, matched.roles)


def _fill(
    data: Source, labels: _Labels, predictions: list[tuple[int, int, bool, float]], out: str, output: Output, n: int
) -> None:
    """Write a copy of a table with the predictions of its missing labels, and a list of them."""
    table = open_editable(data, len(labels.Y))
    if table is None:  # check_extension raises an error for other formats
        raise ValueError(f"labels cannot be written to {data.path}")
    form = label_form(data, table, labels.roles, labels.names, labels.Y)
    predicted = {(i, labels.names[j]): int(positive) for i, j, positive, _ in predictions}
    exact = form.exact(table, predicted)
    predicted_labels = [
        Annotation("", labels.names[j], "present" if positive else "absent", sample=i, confidence=confidence)
        for i, j, positive, confidence in predictions
        if (i, labels.names[j]) in exact
    ]
    applied = apply_annotations(table, predicted_labels, form, labels.id)
    with writing(out) as part:
        part.write_bytes(applied.content)
    rows = [
        [labels.sample_name(i), labels.names[j], "present" if positive else "absent", round(confidence, DIGITS)]
        for i, j, positive, confidence in predictions
        if applied.written[i, j]
    ]
    output.write(TextTable([labels.id or "sample", "label", "predicted", "confidence"], rows))
    print_message(f"{out}: {len(rows)} of {n} missing labels filled in, predicted by the model")
    if output.path is not None:
        print_message(f"{output.path}: list of them")
    if len(rows) < len(predictions):
        print_message(f"{len(predictions) - len(rows)} predictions are not written: {_reason(form)}")


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
