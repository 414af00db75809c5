"""``spmld predict``: predict the labels of new samples."""

import click
import numpy as np

from spmld._response import Predictions, predict_all
from spmld._table import TextTable
from spmld.cli import options
from spmld.cli.loading import Source, open_model
from spmld.cli.printing import Output, print_message
from spmld.cli.progress import progress_bar


@click.command()
@click.argument("model")
@options.source_options("data", part="test")
@click.option("--top-k", type=click.IntRange(min=1), metavar="K", help="Return the K most likely labels per sample.")
@click.option("--threshold", type=click.FloatRange(0, 1), help="Predict labels with a probability above this value.")
@click.option("--probabilities", is_flag=True, help="Return probabilities instead of 0 and 1.")
@options.trust_option
@options.output_options
def predict(
    model: str,
    data: Source,
    top_k: int | None,
    threshold: float | None,
    probabilities: bool,
    trusted: tuple[str, ...],
    output: Output,
) -> None:
    """Predict the labels of DATA with MODEL, a file written by `spmld fit`.

    The output has one row per sample and one column of 0 and 1 per label; with --top-k, one row per sample and
    selected label. Columns of a table are matched by name. Labels and other columns are ignored.

    \b
    Examples:
      spmld predict songs.skops new.csv -o tags.csv
      spmld predict songs.skops new.csv --top-k 3 --json
    """
    if sum((top_k is not None, threshold is not None, probabilities)) > 1:
        raise ValueError("--top-k, --threshold and --probabilities cannot be combined; pass one of them")
    estimator, info = open_model(model, trusted)
    matched = data.match(model, info, labels=False)
    with progress_bar(None, "predicting"):
        predictions = predict_all(estimator, matched.X)
    names = matched.label_names or [f"y{j}" for j in range(predictions.positive.shape[1])]
    needed = "scores" if top_k is not None else "probabilities" if threshold is not None or probabilities else None
    if needed and getattr(predictions, needed) is None:
        raise ValueError(f"{model} contains {info.estimator}, which does not predict {needed}")
    if top_k is not None:
        table = _top_labels(predictions, names, min(top_k, len(names)))
    else:
        values = predictions.probabilities if needed else predictions.positive
        table = TextTable(names, (values if threshold is None else (values > threshold).astype(int)).tolist())
    output.write(table)
    if output.path:
        print_message(f"{output.path}: {len(predictions.positive)} samples, {len(names)} labels")


def _top_labels(predictions: Predictions, names: list[str], k: int) -> TextTable:
    """Return the k labels of each sample with the highest scores; ties are broken by the order of the labels."""
    order = np.argsort(-predictions.scores, axis=1, kind="stable")[:, :k]
    score = "score" if predictions.probabilities is None else "probability"
    values = predictions.scores if predictions.probabilities is None else predictions.probabilities
    rows = [
        [sample, rank, names[label], float(values[sample, label])]
        for sample, labels in enumerate(order.tolist())
        for rank, label in enumerate(labels, start=1)
    ]
    return TextTable(["sample", "rank", "label", score], rows)
