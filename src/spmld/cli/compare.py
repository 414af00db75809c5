"""``spmld compare``: compare several methods by cross-validation."""

from __future__ import annotations

from typing import Any

import click

from spmld.cli.loading import load_part
from spmld.cli.methods import build
from spmld.cli.options import (
    METHOD_TYPE,
    folds_option,
    json_option,
    metric_option,
    part_option,
    seed_option,
    source_options,
)
from spmld.cli.printing import print_json, print_message, print_table
from spmld.cli.progress import progress_bar
from spmld.metrics import get_metric
from spmld.model_selection import compare as compare_estimators

__all__ = ["compare"]

_METHODS = ("SelfPacedEnsemble", "SPMLD", "GLOCAL", "MaskedLogistic", "MLkNN", "LabelPrior")
_METRICS = ("ranking_loss", "macro_auc", "micro_f1", "macro_f1")


@click.command()
@source_options("data")
@click.option(
    "--method",
    "methods",
    multiple=True,
    metavar="NAME",
    type=METHOD_TYPE,
    help=f"Method to compare; can be repeated.  [default: {', '.join(_METHODS)}]",
)
@metric_option(", ".join(_METRICS))
@click.option(
    "--reference",
    metavar="NAME",
    type=METHOD_TYPE,
    help="Method that the others are tested against.  [default: the first]",
)
@folds_option(5)
@seed_option("Seed of the folds and of the methods.")
@part_option("train")
@json_option
def compare(
    data: str,
    methods: tuple[str, ...],
    metrics: tuple[str, ...],
    reference: str | None,
    folds: int,
    seed: int,
    part: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Fit several methods on the same folds of DATA and print the mean and standard deviation of the metrics.

    The sign after a value is the result of a test against the reference: + better, - worse, = no significant
    difference (paired t-test over folds at 95 %, with Holm's correction for the number of methods). The training sets
    of the folds overlap, which makes the test somewhat too optimistic.

    \b
    Examples:
      spmld compare songs.csv
      spmld compare songs.csv --method SPMLD --method MaskedLogistic --metric ranking_loss --folds 10 --json
    """
    names = list(dict.fromkeys(methods or _METHODS))
    if reference is not None and reference not in names:
        raise ValueError(f"--reference must be one of the compared methods, {', '.join(names)}, got {reference}")
    for name in metrics:
        get_metric(name)
    dataset = load_part(data, options, part, "train", folds=folds)
    with progress_bar(len(names) * folds, "comparing") as advance:
        comparison = compare_estimators(
            {name: build(name, {}, seed) for name in names},
            dataset.X,
            dataset.Y,
            metrics=metrics or _METRICS,
            reference=reference,
            cv=folds,
            random_state=seed,
            callback=lambda name, fold, n_folds: advance(f"{name}, fold {fold} of {n_folds}"),
        )
    if as_json:
        print_json({"data": data, "seed": seed, **comparison.to_dict()})
    else:
        print_table(comparison.to_table())
    for name, error in comparison.failed.items():
        print_message(f"{name} failed: {error}")
    raise click.exceptions.Exit(1 if comparison.failed else 0)
