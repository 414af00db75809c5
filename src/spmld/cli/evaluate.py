"""``spmld evaluate``: the metrics of a model on data with known labels."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Any

import click

from spmld.cli.matching import match, open_model, predict_all
from spmld.cli.printing import show_json, show_table
from spmld.cli.progress import working
from spmld.cli.source import part_option, source_options
from spmld.metrics import Evaluation, get_metric
from spmld.metrics import evaluate as judge

__all__ = ["chosen_rows", "evaluate", "numbers_at"]


@click.command()
@click.argument("model")
@source_options("data")
@click.option("--metric", "metrics", multiple=True, metavar="NAME", help="A metric, not all; repeat for more.")
@part_option("test")
@click.option("--trust", multiple=True, metavar="TYPE", help="A type to trust in MODEL; repeat for more.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def evaluate(
    model: str,
    data: str,
    metrics: tuple[str, ...],
    part: str | None,
    trust: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> None:
    """Print the metrics of MODEL on the labels of DATA; missing labels are skipped.

    Columns of a table are matched by name. For each metric the table says which direction is better, what it was
    averaged over, and how many of these were used and left out.

    \b
    Examples:
      spmld evaluate songs.skops test.csv
      spmld evaluate songs.skops test.csv --metric ranking_loss --metric precision_at_3 --json
    """
    for name in metrics:
        get_metric(name)
    loaded, info = open_model(model, trust)
    found = match(data, options, part, model, info, labels=True)
    with working("evaluating"):
        said = predict_all(loaded, found.X)
        result = judge(found.Y, said.scores, said.positive, said.probabilities, k=numbers_at(metrics))
    rows = chosen_rows(result, metrics, model)
    if as_json:
        show_json({"model": model, "data": data, "metrics": [asdict(row) for row in rows]})
        return
    columns = ("metric", "value", "better", "over", "used", "left out")
    show_table(columns, [tuple(asdict(row).values()) for row in rows])


def numbers_at(metrics: tuple[str, ...]) -> list[int]:
    """How many labels the metrics "at k" look at: 1, 3, 5 and the numbers in the names.

    Examples
    --------
    >>> from spmld.cli.evaluate import numbers_at
    >>> numbers_at(("ndcg_at_2", "macro_f1"))
    [1, 2, 3, 5]
    """
    named = [re.fullmatch(r"\w+_at_(\d+)", name) for name in metrics]
    return sorted({1, 3, 5} | {int(found[1]) for found in named if found})


def chosen_rows(result: Evaluation, metrics: tuple[str, ...], who: str) -> list[Any]:
    """The rows of the metrics that were asked for, in that order; all, if none was."""
    if not metrics:
        return list(result.rows)
    rows = []
    for name in metrics:
        start = name.removesuffix("k") if name.endswith("_at_k") else None
        fits = [row for row in result.rows if (row.name.startswith(start) if start else row.name == name)]
        if not fits:
            needs = get_metric(name)[0]
            missing = "propensities" if "propensities" in needs.options else needs.needs
            raise ValueError(f"{name} needs {missing}, which {who} does not give")
        rows += fits
    return rows
