"""``spmld predict``: labels for new samples."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

from spmld.cli.matching import Predictions, match, open_model, predict_all
from spmld.cli.output import check_target, output_options, table_format, write_table
from spmld.cli.printing import say
from spmld.cli.progress import working
from spmld.cli.source import part_option, source_options

__all__ = ["predict"]


@click.command()
@click.argument("model")
@source_options("data")
@click.option("--top-k", type=click.IntRange(min=1), metavar="K", help="The K most likely labels of each sample.")
@click.option("--threshold", type=click.FloatRange(0, 1), help="Labels whose probability is above this.")
@click.option("--probabilities", is_flag=True, help="Probabilities in place of 0 and 1.")
@part_option("test")
@click.option("--trust", multiple=True, metavar="TYPE", help="A type to trust in MODEL; repeat for more.")
@output_options
def predict(
    model: str,
    data: str,
    top_k: int | None,
    threshold: float | None,
    probabilities: bool,
    part: str | None,
    trust: tuple[str, ...],
    out: str | None,
    to: str | None,
    as_json: bool,
    force: bool,
    **options: Any,
) -> None:
    """Predict the labels of DATA with MODEL, a file that `spmld fit` has written.

    Gives a row for each sample with a column of 0 and 1 for each label; with --top-k, a row for each sample and label
    chosen. Columns of a table are matched by name: it may have others, in any order, and needs no labels.

    \b
    Examples:
      spmld predict songs.skops new.csv -o tags.csv
      spmld predict songs.skops new.csv --top-k 3 --json
    """
    kind = table_format(out, to, as_json)
    check_target(out, force)
    if sum((top_k is not None, threshold is not None, probabilities)) > 1:
        raise ValueError("--top-k, --threshold and --probabilities exclude each other")
    loaded, info = open_model(model, trust)
    found = match(data, options, part, model, info, labels=False)
    with working("predicting"):
        said = predict_all(loaded, found.X)
    names = found.label_names or [f"y{j}" for j in range(said.positive.shape[1])]
    if top_k is not None:
        if said.scores is None:
            raise ValueError(f"{model} holds {info.estimator}, which has no scores to order labels by")
        write_table(_top(said, names, min(top_k, len(names))), out, kind)
    else:
        values = said.positive
        if threshold is not None or probabilities:
            if said.probabilities is None:
                raise ValueError(f"{model} holds {info.estimator}, which has no probabilities")
            values = said.probabilities if threshold is None else (said.probabilities > threshold).astype(int)
        write_table(dict(zip(names, values.T, strict=True)), out, kind)
    if out:
        say(f"{out}: {len(said.positive)} samples, {len(names)} labels")


def _top(said: Predictions, names: list[str], k: int) -> dict[str, Any]:
    """The k labels of each sample with the largest scores, the best first, ties in the order of the labels."""
    order = np.argsort(-said.scores, axis=1, kind="stable")[:, :k]
    n = len(order)
    what = "score" if said.probabilities is None else "probability"
    values = said.scores if said.probabilities is None else said.probabilities
    return {
        "sample": np.repeat(np.arange(n), k),
        "rank": np.tile(np.arange(1, k + 1), n),
        "label": [names[j] for j in order.ravel()],
        what: np.take_along_axis(values, order, axis=1).ravel(),
    }
