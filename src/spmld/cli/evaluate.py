"""``spmld evaluate``: compute the metrics of a model."""

import re
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click

from spmld._response import predict_all
from spmld._table import TextTable
from spmld.cli import options
from spmld.cli.loading import Source, open_model
from spmld.cli.printing import print_result
from spmld.cli.progress import progress_bar
from spmld.metrics import Evaluation, get_metric
from spmld.metrics import evaluate as evaluate_metrics


@click.command()
@click.argument("model")
@options.source_options("data", part="test")
@options.metric_option("all")
@options.trust_option
@options.json_option
def evaluate(model: str, data: Source, metrics: tuple[str, ...], trusted: tuple[str, ...], as_json: bool) -> None:
    """Compute the metrics of MODEL on the observed labels of DATA.

    Columns of a table are matched by name. For each metric, the output states whether higher or lower is better,
    whether it is averaged over samples, labels or entries, and how many of them were used and left out.

    \b
    Examples:
      spmld evaluate songs.skops test.csv
      spmld evaluate songs.skops test.csv --metric ranking_loss --metric precision_at_3 --json
    """
    estimator, info = open_model(model, trusted)
    matched = data.match(model, info, labels=True)
    with progress_bar(None, "evaluating"):
        predictions = predict_all(estimator, matched.X)
        evaluation = evaluate_metrics(
            matched.Y, predictions.scores, predictions.positive, predictions.probabilities, k=_k_values(metrics)
        )
    rows = [asdict(row) for row in _select(evaluation, metrics, model)]
    table = TextTable(["metric", "value", "better", "over", "used", "left out"], [list(row.values()) for row in rows])
    print_result({"model": model, "data": data.path, "metrics": rows}, table, as_json)


def _k_values(metrics: Sequence[str]) -> list[int]:
    """Return the values of k for the metrics "at k": 1, 3, 5 and those in the names."""
    matches = [re.fullmatch(r"\w+_at_(\d+)", name) for name in metrics]
    return sorted({1, 3, 5} | {int(match[1]) for match in matches if match})


def _select(evaluation: Evaluation, metrics: Sequence[str], model: str) -> list[Any]:
    """Return the rows of the metrics in the order of the options; all rows if there are none."""
    if not metrics:
        return list(evaluation.rows)
    selected = []
    for name in metrics:
        prefix = name.removesuffix("k") if name.endswith("_at_k") else None
        rows = [row for row in evaluation.rows if (row.name.startswith(prefix) if prefix else row.name == name)]
        if not rows:
            metric = get_metric(name)[0]
            needed = "propensities" if "propensities" in metric.options else metric.needs
            raise ValueError(f"--metric {name} needs {needed}, which {model} does not provide")
        selected += rows
    return selected
