"""``spmld evaluate``: compute the metrics of a model."""

import re
import warnings
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click
import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from spmld._response import Predictions, predict_all
from spmld._table import TextTable
from spmld.cli import options
from spmld.cli.loading import Source, open_model, split_encoder
from spmld.cli.printing import print_message, print_result, print_table
from spmld.cli.progress import progress_bar
from spmld.metrics import Evaluation, get_metric, macro_auc, macro_f1
from spmld.metrics import evaluate as evaluate_metrics

METRICS = ("ranking_loss", "macro_auc", "micro_f1", "macro_f1", "expected_calibration_error")
"""Metrics that are computed by default."""


@click.command()
@click.argument("model")
@options.source_options("data", part="test")
@options.metric_option(", ".join(METRICS))
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

    \b
    Examples:
      spmld evaluate songs.skops test.csv
      spmld evaluate songs.skops test.csv --all
      spmld evaluate songs.skops test.csv --metric ranking_loss --metric precision_at_3 --json
    """
    estimator, info = open_model(model, trusted_types, data)
    matched = data.match(model, info, labels=True)
    with progress_bar(None, "evaluating"):
        predictions = predict_all(*split_encoder(estimator, matched.X, data.path))
        evaluation = evaluate_metrics(
            matched.Y, predictions.scores, predictions.positive, predictions.probabilities, k=_k_values(metrics)
        )
    default = not metrics and not all_metrics
    selected = evaluation.rows if all_metrics else _select(evaluation, metrics, model)
    rows = [asdict(row) for row in selected]
    table = TextTable(["metric", "value", "better", "over", "used", "left out"], [list(row.values()) for row in rows])
    labels = _label_rows(matched.Y, predictions, matched.label_names) if default or as_json else []
    content = {"model": model, "data": data.path, "metrics": rows, "per label": labels}
    print_result(content, table, as_json)
    if default and not as_json and labels and top:
        click.echo()
        print_table(TextTable.from_records(labels[:top], title="Labels"))
        if len(labels) > top:
            print_message(f"{top} of {len(labels)} labels; list more with --top, or print all metrics with --all")


def _label_rows(Y: Any, predictions: Predictions, names: list[str]) -> list[dict[str, Any]]:
    """Return the counts, precision, recall, F1 and AUC of each label, most positives first."""
    observed, positive = ~np.isnan(Y), Y == 1
    predicted = observed & (predictions.positive == 1)
    hits, n_positive, n_predicted = ((part).sum(axis=0) for part in (predicted & positive, positive, predicted))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        f1 = macro_f1(Y, predictions.positive, average=None)
        auc = np.full(len(names), np.nan)
        if predictions.scores is not None:
            auc = macro_auc(Y, predictions.scores, average=None)
    with np.errstate(invalid="ignore", divide="ignore"):
        precision, recall = hits / n_predicted, hits / n_positive
    columns = {
        "label": names,
        "observed": observed.sum(axis=0).tolist(),
        "positives": n_positive.tolist(),
        "predicted": n_predicted.tolist(),
        "precision": precision.tolist(),
        "recall": recall.tolist(),
        "F1": np.asarray(f1).tolist(),
        "AUC": np.asarray(auc).tolist(),
    }
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return sorted(rows, key=lambda row: -row["positives"])


def _k_values(metrics: Sequence[str]) -> list[int]:
    """Return the values of k for the metrics "at k": 1, 3, 5 and those in the names."""
    matches = [re.fullmatch(r"\w+_at_(\d+)", name) for name in metrics]
    return sorted({1, 3, 5} | {int(match[1]) for match in matches if match})


def _select(evaluation: Evaluation, metrics: Sequence[str], model: str) -> list[Any]:
    """Return the rows of the metrics in the order of the options; the default ones, if defined, without options."""
    if not metrics:
        by_name = {row.name: row for row in evaluation.rows}
        return [by_name[name] for name in METRICS if name in by_name]
    selected: list[Any] = []
    for name in metrics:
        prefix = name.removesuffix("k") if name.endswith("_at_k") else None
        rows = [row for row in evaluation.rows if (row.name.startswith(prefix) if prefix else row.name == name)]
        if not rows:
            metric = get_metric(name)[0]
            needed = "propensities" if "propensities" in metric.options else metric.needs
            raise ValueError(f"--metric {name} needs {needed}, which {model} does not provide")
        selected += rows
    return selected
