"""``spmld compare``: compare several methods by cross-validation."""

from typing import Any

import click

from spmld.app.commands import options
from spmld.app.commands.loading import Source, frames
from spmld.app.commands.methods import build, check_decision, with_decision
from spmld.app.commands.printing import print_message, print_result, progress_bar
from spmld.model_selection import compare as compare_estimators

_DEFAULT_METHODS = ("SelfPacedEnsemble", "SPMLD", "GLOCAL", "MaskedLogistic", "LabelPrior")
_DEFAULT_METRICS = ("ranking_loss", "macro_auc", "micro_f1", "macro_f1")


@click.command()
@options.source_options("data", part="train")
@click.option(
    "--method",
    "methods",
    multiple=True,
    metavar="NAME",
    type=options.METHOD_TYPE,
    help=f"Method to compare; can be repeated.  [default: {', '.join(_DEFAULT_METHODS)}]",
)
@options.metric_option(", ".join(_DEFAULT_METRICS))
@click.option(
    "--reference", metavar="NAME", type=options.METHOD_TYPE, help="Method to test against.  [default: the first]"
)
@options.folds_option(5)
@options.decision_option
@options.seed_option("Seed for the folds and the methods.")
@options.json_option
def compare(
    data: Source,
    methods: tuple[str, ...],
    metrics: tuple[str, ...],
    reference: str | None,
    folds: int,
    decision: Any,
    seed: int,
    as_json: bool,
) -> None:
    """Fit several methods on the same folds of DATA and print the mean and standard deviation of the metrics.

    The sign after a value is the result of a test against the reference: + better, - worse, = no significant difference
    (paired t-test over folds at the 5 % significance level, with the correction of Nadeau and Bengio for the overlap of
    the folds and Holm's correction for the number of methods). A method without a decision rule
    is calibrated and gets one, as in `spmld fit`; with --decision none it is fitted alone, which is faster.

    \b
    Examples:
      spmld compare songs.csv
      spmld compare songs.csv --method SPMLD --method MaskedLogistic --metric ranking_loss --folds 10 --json
    """
    names = list(dict.fromkeys(methods or _DEFAULT_METHODS))
    if reference is not None and reference not in names:
        raise ValueError(f"--reference must be one of the compared methods, {', '.join(names)}, got {reference}")
    models = {name: build(name, {}, seed) for name in names}
    for model in models.values():
        check_decision(model, decision)
    dataset = data.load_part(folds)
    hierarchy = dataset.hierarchy
    models = {name: with_decision(model, decision, seed, dataset.Y, hierarchy) for name, model in models.items()}
    with progress_bar(len(names) * folds, "comparing") as advance:
        comparison = compare_estimators(
            models,
            dataset.X,
            frames(dataset)[1],
            metrics=metrics or _DEFAULT_METRICS,
            reference=reference,
            cv=folds,
            random_state=seed,
            callback=lambda name, fold, n_folds: advance(f"{name}, fold {fold} of {n_folds}"),
        )
    print_result({"data": data.path, "seed": seed, **comparison.to_dict()}, comparison.to_table(), as_json)
    for name, error in comparison.failed.items():
        print_message(f"{name} failed: {error}")
    raise click.exceptions.Exit(1 if comparison.failed else 0)
