"""``spmld tune``: search for the parameters of a method."""

from __future__ import annotations

from typing import Any

import click
from click.exceptions import Exit

from spmld._table import TextTable
from spmld.cli.fitting import fit_model, save_model, training_summary
from spmld.cli.loading import load_part
from spmld.cli.methods import build, parse_params
from spmld.cli.options import (
    METHOD_TYPE,
    folds_option,
    force_option,
    json_option,
    part_option,
    seed_option,
    source_options,
)
from spmld.cli.printing import check_output_path, print_json, print_message, print_table
from spmld.cli.progress import progress_bar
from spmld.cli.search_space import parse_space
from spmld.metrics import get_metric

__all__ = ["tune"]


@click.command()
@source_options("data")
@click.option(
    "--method", default="SPMLD", show_default=True, metavar="NAME", type=METHOD_TYPE, help="As for `spmld fit`."
)
@click.option("--param", "params", multiple=True, metavar="KEY=VALUE", help="Fixed parameter; can be repeated.")
@click.option("--choices", multiple=True, metavar="KEY=A,B,C", help="Values of a parameter; can be repeated.")
@click.option("--range", "ranges", multiple=True, metavar="KEY=LOW:HIGH[:log]", help="Range; can be repeated.")
@click.option("--metric", default="ranking_loss", show_default=True, metavar="NAME", help="Metric to optimize.")
@click.option(
    "--search",
    type=click.Choice(["random", "grid", "optuna"]),
    help="Search method.  [default: random, or grid if there is no range]",
)
@click.option("--trials", default=20, show_default=True, type=click.IntRange(min=1), help="Number of trials.")
@folds_option(3)
@seed_option("Seed of the folds, the search and the method.")
@part_option("train")
@click.option(
    "-o", "--out", metavar="MODEL", help="Model file to write, fitted on all samples with the best parameters."
)
@force_option
@json_option
def tune(
    data: str,
    method: str,
    params: tuple[str, ...],
    choices: tuple[str, ...],
    ranges: tuple[str, ...],
    metric: str,
    search: str | None,
    trials: int,
    folds: int,
    seed: int,
    part: str | None,
    out: str | None,
    force: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Search for the parameters of a method with the best metric on held-out labels of DATA.

    Without --choices and --range the search covers the most important parameters of the method. Ctrl-C ends the search
    and prints the finished trials, without writing a model.

    \b
    Examples:
      spmld tune songs.csv --method MaskedLogistic -o best.skops
      spmld tune songs.csv --method SPMLD --range feature_ridge=0.01:10:log --choices n_components=5,10,20 --trials 30
    """
    check_output_path(out, force)
    sign = 1 if get_metric(metric)[0].greater_is_better else -1
    space, fixed = parse_space(method, choices, ranges), parse_params(params)
    if both := sorted(space.keys() & fixed.keys()):
        raise ValueError(f"--param {both[0]} is fixed and cannot be searched as well")
    # A value of each searched parameter, so that an unknown name raises an error before the search.
    model = build(method, {**{key: values[0] for key, values in space.items()}, **fixed}, seed)
    dataset = load_part(data, options, part, "train", folds=folds)
    search = search or ("grid" if all(isinstance(values, list) for values in space.values()) else "random")
    result = _search(model, dataset, space, search, scoring=metric, n_trials=trials, cv=folds, random_state=seed)
    best = _to_python(result.best_params)
    rows = [{metric: sign * t.score, "seconds": t.seconds, **_to_python(t.params)} for t in result.ranked]
    if out and not result.interrupted:
        seconds = fit_model(model.set_params(**best), dataset, method)
        summary = {"tuned": best, "held_out": {metric: sign * result.best_score}}
        save_model(model, out, dataset, {**training_summary(data, dataset, method, seconds, options), **summary})
        print_message(f"{out}: {method} with {best} fitted on {dataset}")
    if as_json:
        content = {"data": data, "method": method, "metric": metric, "search": search, "folds": folds, "best": best}
        print_json({**content, "interrupted": result.interrupted, "trials": rows})
    else:
        print_table(TextTable.from_records(rows[:10]))
    if result.interrupted:
        print_message("spmld: interrupted" + (", no model written" if out else ""))
        raise Exit(130)


def _search(model: Any, dataset: Any, space: dict[str, Any], method: Any, **options: Any) -> Any:
    """Run the search with a progress bar that advances with each trial."""
    from sklearn.model_selection import ParameterGrid

    from spmld.model_selection import tune as tune_estimator

    total = len(ParameterGrid(space)) if method == "grid" else options["n_trials"]
    with progress_bar(total, "tuning") as advance:
        return tune_estimator(
            model, dataset.X, dataset.Y, space, method=method, refit=False, callback=lambda *_: advance(""), **options
        )


def _to_python(params: dict[str, Any]) -> dict[str, Any]:
    """Return parameters with Python's numbers instead of NumPy's, for JSON."""
    return {name: value.item() if hasattr(value, "item") else value for name, value in params.items()}
