"""``spmld complete``: which missing labels are most likely there."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

from spmld.cli.fit import fit_on
from spmld.cli.matching import frames, match, open_model, with_names
from spmld.cli.methods import build, find_method, method_options, parse_params, refuse_beside_model
from spmld.cli.output import check_target, output_options, table_format, write_table
from spmld.cli.printing import say
from spmld.cli.progress import working
from spmld.cli.source import load_rows, part_option, source_options

__all__ = ["complete"]


@click.command()
@source_options("data")
@click.option("--model", metavar="MODEL", help="A model file to ask, in place of one fitted on DATA.")
@method_options
@click.option("--top", default=20, show_default=True, type=click.IntRange(min=1), metavar="N", help="Most labels.")
@click.option("--at-least", default=0.5, show_default=True, type=click.FloatRange(0, 1), help="Least confidence.")
@part_option("train")
@click.option("--trust", multiple=True, metavar="TYPE", help="A type to trust in MODEL; repeat for more.")
@output_options
def complete(
    data: str,
    model: str | None,
    method: str,
    params: tuple[str, ...],
    seed: int,
    top: int,
    at_least: float,
    part: str | None,
    trust: tuple[str, ...],
    out: str | None,
    to: str | None,
    as_json: bool,
    force: bool,
    **options: Any,
) -> None:
    """Say which of the missing labels of DATA to add, the surest first.

    Gives the sample (rows count from 0), the label and the confidence, the probability that the label is there. A
    method is fitted on DATA and then asked; the known labels of a sample help to tell the missing ones.

    \b
    Examples:
      spmld complete songs.csv --top 50
      spmld complete songs.csv --model songs.skops --at-least 0.9 -o add.csv
    """
    kind = table_format(out, to, as_json)
    check_target(out, force)
    if model is None:
        method = find_method(method)
        fitted = build(method, parse_params(params), seed)
        found = load_rows(data, options, part, "train")
        fit_on(fitted, found, method)
        X, Y = frames(found)
        names = list(found.label_names)
    else:
        refuse_beside_model()
        fitted, info = open_model(model, trust)
        matched = match(data, options, part, model, info, labels=True)
        X, Y, names = matched.X, matched.Y, matched.label_names
        if not hasattr(fitted, "complete"):
            raise ValueError(f"{model} holds {info.estimator}, which cannot complete labels")
        X = with_names(fitted, X)
    with working("completing"):
        completion = fitted.complete(X, Y)
    added = completion.suggestions(Y, min_confidence=at_least)
    table = {
        "sample": [row for row, _, _ in added[:top]],
        "label": [names[column] for _, column, _ in added[:top]],
        "confidence": [confidence for _, _, confidence in added[:top]],
    }
    write_table(table, out, kind)
    missing = int(np.isnan(np.asarray(Y, dtype=float)).sum())
    say(f"{len(added[:top])} of {len(added)} labels to add, among {missing} missing")
