"""``spmld predict`` and ``spmld evaluate``: apply a model to data, and compute its metrics."""

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from spmld._arrays import lowest_columns
from spmld._io import need
from spmld._response import Predictions, predict_all
from spmld._table import ArrayTable, TextTable
from spmld._validation import plural
from spmld.app.commands import options
from spmld.app.commands.loading import Source
from spmld.app.commands.matching import MatchedData, match, match_blocks, open_model, set_encoder, split_encoder
from spmld.app.commands.printing import (
    DIGITS,
    output_format,
    print_message,
    print_result,
    print_table,
    progress_bar,
    write_tables,
)
from spmld.labels import read_labels
from spmld.labels.single_class import warn_of_metrics
from spmld.metrics import Evaluation
from spmld.metrics import evaluate as evaluate_metrics
from spmld.metrics.registry import get_metric
from spmld.tables import TableWarning

DEFAULT_METRICS = ("ranking_loss", "macro_auc", "micro_f1", "macro_f1", "expected_calibration_error")
"""Metrics that `spmld evaluate` computes by default."""
PROBABILITY = "probability_"
"""Prefix of the columns of probabilities."""


@click.command()
@click.argument("model")
@options.source_options("data", part="test", allow_missing=True)
@click.option("--top-k", type=click.IntRange(min=1), metavar="K", help="Return the K most likely labels per sample.")
@click.option("--threshold", type=click.FloatRange(0, 1), help="Predict labels with a probability above this value.")
@click.option(
    "--probabilities/--no-probabilities",
    default=None,
    help="Return only the probabilities, or only the labels.  [default: both]",
)
@options.trust_type_option
@options.out_option("FILE", "Write to this .csv, .tsv, .xlsx, .parquet, .json or .jsonl file, not standard output.")
@options.json_option
@options.force_option
def predict(
    model: str,
    data: Source,
    top_k: int | None,
    threshold: float | None,
    probabilities: bool | None,
    trusted_types: tuple[str, ...],
    out: str | None,
    as_json: bool,
    force: bool,
) -> None:
    """Predict the labels of DATA with MODEL, a file written by `spmld fit`.

    The output has one row per sample: the identifier, if there is one, one column of 0 and 1 per label, and one column
    with the probability of each label. With --top-k it has one row per sample and selected label. The table is encoded
    as in the fit, and its columns are matched by name. Labels and other columns are ignored. A note counts the values
    that cannot be read as the number or date of their column; with --strict they are an error. An absent column, or one
    of which no value can be read, is an error, or missing with --allow-missing.

    \b
    Examples:
      spmld predict songs.skops new.csv -o tags.csv
      spmld predict songs.skops new.csv --top-k 3 --json
    """
    kind = output_format(out, as_json, force)
    if sum((top_k is not None, threshold is not None, bool(probabilities))) > 1:
        raise ValueError("--top-k, --threshold and --probabilities cannot be combined; pass one of them")
    estimator, info = open_model(model, trusted_types, data)
    needed = "scores" if top_k is not None else "probabilities" if threshold is not None or probabilities else None
    n_samples = n_labels = 0
    warnings.simplefilter("always", TableWarning)  # values that cannot be read are counted over the blocks

    def tables() -> Iterator[TextTable | ArrayTable]:
        nonlocal n_samples, n_labels
        for matched in match_blocks(data, model, info):
            predictions = predict_all(*split_encoder(estimator, matched.X, data.path))
            set_encoder(estimator, allow_missing=True)  # a later block may have few values
            names = matched.label_names or [f"y{j}" for j in range(predictions.positive.shape[1])]
            if needed and getattr(predictions, needed) is None:
                raise ValueError(f"{model} contains {info.estimator}, which does not predict {needed}")
            if top_k is not None:
                yield _top_labels(predictions, names, min(top_k, len(names)), matched, n_samples)
            else:
                yield _all_labels(predictions, names, matched, threshold, probabilities)
            n_samples += len(predictions.positive)
            n_labels = len(names)

    with progress_bar(None, "predicting") if out else nullcontext():
        write_tables(tables(), out, kind)
    if out:
        print_message(f"{out}: {plural(n_samples, 'sample')}, {plural(n_labels, 'label')}")


def _all_labels(
    predictions: Predictions, names: list[str], matched: MatchedData, threshold: float | None, only: bool | None
) -> ArrayTable:
    """Return the identifiers, the labels unless `only`, and the probabilities unless it is False."""
    P = predictions.probabilities
    columns: list[str] = [] if matched.sample_names is None else [str(matched.id)]
    parts: list[NDArray[Any]] = []
    if not only:
        columns += names
        parts.append(predictions.positive if threshold is None else (threshold < P).astype(int))
    if only is not False and P is not None:
        columns += names if only else [f"{PROBABILITY}{name}" for name in names]
        parts.append(np.round(P, DIGITS))
    return ArrayTable(columns, parts, matched.sample_names)


def _top_labels(predictions: Predictions, names: list[str], k: int, matched: MatchedData, first: int) -> TextTable:
    """Return the k labels of each sample with the highest scores; ties are broken by the order of the labels.

    Samples without a name are numbered from `first`.
    """
    order = lowest_columns(-predictions.scores, k)
    score = "score" if predictions.probabilities is None else "probability"
    values = predictions.scores if predictions.probabilities is None else predictions.probabilities
    offset = first if matched.sample_names is None else 0
    rows = [
        [matched.sample(sample + offset), rank, names[label], round(float(values[sample, label]), DIGITS)]
        for sample, labels in enumerate(order.tolist())
        for rank, label in enumerate(labels, start=1)
    ]
    return TextTable([matched.id or "sample", "rank", "label", score], rows)


@click.command()
@click.argument("model")
@options.source_options("data", part="test", allow_missing=True)
@options.metric_option(", ".join(DEFAULT_METRICS))
@click.option("--all", "all_metrics", is_flag=True, help="Compute all metrics.")
@options.integer("--top", 20, "Maximum number of labels in the table of labels.", minimum=0)
@options.trust_type_option
@options.json_option
def evaluate(
    model: str,
    data: Source,
    metrics: tuple[str, ...],
    all_metrics: bool,
    top: int,
    trusted_types: tuple[str, ...],
    as_json: bool,
) -> None:
    """Compute the metrics of MODEL on the observed labels of DATA, and print a table of the labels.

    The table is encoded as in the fit, and its columns are matched by name. For each metric, the output states whether
    higher or lower is better, whether it is averaged over samples, labels or entries, and how many of them were used
    and left out. The labels are listed by their number of positives. With --metric or --all, only metrics are printed.
    For a model with a hierarchy, hierarchical F1 is added.

    \b
    Examples:
      spmld evaluate songs.skops test.csv
      spmld evaluate songs.skops test.csv --all
      spmld evaluate songs.skops test.csv --metric ranking_loss --metric precision_at_3 --json
    """
    from spmld.app.reports.model import label_quality

    estimator, info = open_model(model, trusted_types, data)
    matched = match(data, model, info, labels=True)
    estimator, X = split_encoder(estimator, matched.X, data.path)
    matched = matched.resolve_contradictions(estimator)
    Y = need("pandas").DataFrame(matched.Y, columns=matched.label_names)
    with progress_bar(None, "evaluating"):
        predictions = predict_all(estimator, X)
        arrays = predictions.scores, predictions.positive, predictions.probabilities
        hierarchy = getattr(estimator, "hierarchy_", None)
        in_names = [re.fullmatch(r"\w+_at_(\d+)", name) for name in metrics]
        k_values = sorted({1, 3, 5, *(int(match[1]) for match in in_names if match)})
        evaluation = evaluate_metrics(Y, *arrays, k=k_values, hierarchy=hierarchy)
    warn_of_metrics(read_labels(Y, classes=[0, 1]))
    default = not metrics and not all_metrics
    selected = evaluation.rows if all_metrics else _select(evaluation, metrics, model)
    rows = [asdict(row) for row in selected]
    table = TextTable(["metric", "value", "better", "over", "used", "left out"], [list(row.values()) for row in rows])
    columns = label_quality(matched.Y, predictions, matched.label_names)
    labels = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    labels.sort(key=lambda row: -row["positives"])
    content = {"model": model, "data": data.path, "metrics": rows, "per label": labels}
    print_result(content, table, as_json)
    if default and not as_json and top:
        click.echo()
        print_table(TextTable.from_records(labels[:top], title="Labels"))
        if len(labels) > top:
            print_message(f"{top} of {len(labels)} labels; list more with --top, or print all metrics with --all")


def _select(evaluation: Evaluation, metrics: Sequence[str], model: str) -> list[Any]:
    """Return the rows of the metrics in the order of the options; the default ones, if defined, without options."""
    if not metrics:
        by_name = {row.name: row for row in evaluation.rows}
        return [by_name[name] for name in (*DEFAULT_METRICS, "hierarchical_f1") if name in by_name]
    selected: list[Any] = []
    for name in metrics:
        prefix = name.removesuffix("k") if name.endswith("_at_k") else None
        rows = [row for row in evaluation.rows if (row.name.startswith(prefix) if prefix else row.name == name)]
        if not rows:
            needed = get_metric(name)[0].needs
            raise ValueError(f"--metric {name} needs {needed}, which {model} does not provide")
        selected += rows
    return selected
