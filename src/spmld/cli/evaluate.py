"""``spmld evaluate``: the measures of a model on data with known labels."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Any

import click

from spmld.cli.match import answers, match, open_model
from spmld.cli.progress import working
from spmld.cli.show import show_json, show_table
from spmld.cli.source import part_option, source_options
from spmld.metrics import Evaluation
from spmld.metrics import evaluate as judge
from spmld.metrics._registry import find_measure

__all__ = ["chosen_rows", "evaluate", "numbers_at"]


@click.command()
@click.argument("model")
@source_options("data")
@click.option("--measure", "measures", multiple=True, metavar="NAME", help="A measure, not all; repeat for more.")
@part_option("test")
@click.option("--trust", multiple=True, metavar="TYPE", help="A type to trust in MODEL; repeat for more.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def evaluate(
    model: str,
    data: str,
    measures: tuple[str, ...],
    part: str | None,
    trust: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> None:
    """Print the measures of MODEL on the labels of DATA; missing labels are skipped.

    Columns of a table are matched by name. For each measure the table says which direction is better, what it was
    averaged over, and how many of these were used and left out.

    \b
    Examples:
      spmld evaluate songs.skops test.csv
      spmld evaluate songs.skops test.csv --measure ranking_loss --measure precision_at_3 --json
    """
    for name in measures:
        find_measure(name)
    loaded, info = open_model(model, trust)
    found = match(data, options, part, model, info, labels=True)
    with working("evaluating"):
        said = answers(loaded, found.X)
        result = judge(found.Y, said.scores, said.positive, said.probabilities, k=numbers_at(measures))
    rows = chosen_rows(result, measures, model)
    if as_json:
        show_json({"model": model, "data": data, "measures": [asdict(row) for row in rows]})
        return
    columns = ("measure", "value", "better", "over", "used", "left out")
    show_table(columns, [tuple(asdict(row).values()) for row in rows])


def numbers_at(measures: tuple[str, ...]) -> list[int]:
    """How many labels the measures "at k" look at: 1, 3, 5 and the numbers in the names.

    Examples
    --------
    >>> from spmld.cli.evaluate import numbers_at
    >>> numbers_at(("ndcg_at_2", "macro_f1"))
    [1, 2, 3, 5]
    """
    named = [re.fullmatch(r"\w+_at_(\d+)", name) for name in measures]
    return sorted({1, 3, 5} | {int(found[1]) for found in named if found})


def chosen_rows(result: Evaluation, measures: tuple[str, ...], who: str) -> list[Any]:
    """The rows of the measures that were asked for, in that order; all, if none was."""
    if not measures:
        return list(result.rows)
    rows = []
    for name in measures:
        start = name.removesuffix("k") if name.endswith("_at_k") else None
        fits = [row for row in result.rows if (row.name.startswith(start) if start else row.name == name)]
        if not fits:
            needs = find_measure(name)[0]
            missing = "propensities" if "propensities" in needs.options else needs.needs
            raise ValueError(f"{name} needs {missing}, which {who} does not give")
        rows += fits
    return rows
