"""``spmld predict``: predict the labels of new samples."""

import warnings
from collections.abc import Iterator
from contextlib import nullcontext

import click
import numpy as np

from spmld._arrays import lowest_columns
from spmld._response import Predictions, predict_all
from spmld._table import TextTable
from spmld.cli import options
from spmld.cli.blocks import match_blocks
from spmld.cli.loading import MatchedData, Source, open_model, split_encoder
from spmld.cli.printing import Output, print_message
from spmld.cli.progress import progress_bar
from spmld.datasets import TableWarning

DIGITS = 4
"""Number of decimals of a probability."""
PROBABILITY = "probability_"
"""Prefix of the columns of probabilities."""


@click.command()
@click.argument("model")
@options.source_options("data", part="test")
@click.option("--top-k", type=click.IntRange(min=1), metavar="K", help="Return the K most likely labels per sample.")
@click.option("--threshold", type=click.FloatRange(0, 1), help="Predict labels with a probability above this value.")
@click.option(
    "--probabilities/--no-probabilities",
    default=None,
    help="Return only the probabilities, or only the labels.  [default: both]",
)
@options.trust_type_option
@options.output_options
def predict(
    model: str,
    data: Source,
    top_k: int | None,
    threshold: float | None,
    probabilities: bool | None,
    trusted_types: tuple[str, ...],
    output: Output,
) -> None:
    """Predict the labels of DATA with MODEL, a file written by `spmld fit`.

    The output has one row per sample: the identifier, if there is one, one column of 0 and 1 per label, and one column
    with the probability of each label. With --top-k it has one row per sample and selected label. The table is encoded
    as in the fit, and its columns are matched by name. Labels and other columns are ignored. A note counts the values
    that cannot be read as the number or date of their column; with --strict they are an error.

    \b
    Examples:
      spmld predict songs.skops new.csv -o tags.csv
      spmld predict songs.skops new.csv --top-k 3 --json
    """
    if sum((top_k is not None, threshold is not None, bool(probabilities))) > 1:
        raise ValueError("--top-k, --threshold and --probabilities cannot be combined; pass one of them")
    estimator, info = open_model(model, trusted_types, data)
    needed = "scores" if top_k is not None else "probabilities" if threshold is not None or probabilities else None
    n_samples = n_labels = 0
    warnings.simplefilter("always", TableWarning)  # values that cannot be read are counted over the blocks

    def tables() -> Iterator[TextTable]:
        nonlocal n_samples, n_labels
        for matched in match_blocks(data, model, info):
            predictions = predict_all(*split_encoder(estimator, matched.X, data.path))
            names = matched.label_names or [f"y{j}" for j in range(predictions.positive.shape[1])]
            if needed and getattr(predictions, needed) is None:
                raise ValueError(f"{model} contains {info.estimator}, which does not predict {needed}")
            if top_k is not None:
                yield _top_labels(predictions, names, min(top_k, len(names)), matched, n_samples)
            else:
                yield _all_labels(predictions, names, matched, threshold, probabilities)
            n_samples, n_labels = n_samples + len(predictions.positive), len(names)

    with progress_bar(None, "predicting") if output.path else nullcontext():
        output.write_blocks(tables())
    if output.path:
        print_message(f"{output.path}: {n_samples} samples, {n_labels} labels")


def _all_labels(
    predictions: Predictions, names: list[str], matched: MatchedData, threshold: float | None, only: bool | None
) -> TextTable:
    """Return the identifiers, the labels unless `only`, and the probabilities unless it is False."""
    P, columns, parts = predictions.probabilities, [], []
    if not only:
        columns += names
        parts.append(predictions.positive if threshold is None else (threshold < P).astype(int))
    if only is not False and P is not None:
        columns += names if only else [f"{PROBABILITY}{name}" for name in names]
        parts.append(np.round(P, DIGITS))
    rows = [[value for part in row for value in part] for row in zip(*(part.tolist() for part in parts), strict=True)]
    if matched.sample_names is not None:
        columns = [str(matched.id), *columns]
        rows = [[name, *row] for name, row in zip(matched.sample_names, rows, strict=True)]
    return TextTable(columns, rows)


def _top_labels(predictions: Predictions, names: list[str], k: int, matched: MatchedData, first: int) -> TextTable:
    """Return the k labels of each sample with the highest scores; ties are broken by the order of the labels.

    Samples without a name are numbered from `first`.
    """
    order = lowest_columns(-predictions.scores, k)
    score = "score" if predictions.probabilities is None else "probability"
    values = predictions.scores if predictions.probabilities is None else predictions.probabilities
    samples = range(first, first + len(order)) if matched.sample_names is None else matched.sample_names
    rows = [
        [name, rank, names[label], round(float(values[sample, label]), DIGITS)]
        for sample, (name, labels) in enumerate(zip(samples, order.tolist(), strict=True))
        for rank, label in enumerate(labels, start=1)
    ]
    return TextTable([matched.id or "sample", "rank", "label", score], rows)
