"""``spmld tune``: search for the parameters of a method."""

from typing import Any, NoReturn

import click
from click.exceptions import Exit

from spmld._table import TextTable
from spmld.cli import options
from spmld.cli.fitting import fit_model, save_model, stored_fits
from spmld.cli.loading import Source, frames
from spmld.cli.methods import build, parse_params, parse_space, with_decision, without_decision
from spmld.cli.printing import print_message, print_result, progress_bar
from spmld.metrics import get_metric


@click.command()
@options.source_options("data", part="train")
@options.method_option("As for `spmld fit`.", "SelfPacedEnsemble")
@options.several("--param", "params", "KEY=VALUE", "Fixed parameter")
@options.several("--choices", "choices", "KEY=A,B,C", "Values of a parameter")
@options.several("--range", "ranges", "KEY=LOW:HIGH[:log]", "Range")
@click.option("--metric", default="ranking_loss", show_default=True, metavar="NAME", help="Metric to optimize.")
@click.option(
    "--search",
    type=click.Choice(["random", "grid", "optuna"]),
    help="Search method.  [default: random, or grid if there is no range]",
)
@options.integer("--trials", 20, "Number of trials.")
@options.folds_option(3)
@options.seed_option("Seed for the folds, the search and the method.")
@options.out_option("MODEL", "Model file to write, fitted on all samples with the best parameters.")
@options.checkpoint_option
@options.scheduler_option
@options.json_option
def tune(
    data: Source,
    method: str,
    params: tuple[str, ...],
    choices: tuple[str, ...],
    ranges: tuple[str, ...],
    metric: str,
    search: str | None,
    trials: int,
    folds: int,
    seed: int,
    out: str | None,
    checkpoint: str | None,
    as_json: bool,
) -> None:
    """Search for the parameters of a method with the best metric on held-out labels of DATA.

    Without --choices and --range the search covers the most important parameters of the method. Ctrl-C ends the search
    and prints the finished trials, without writing a model. The model has a decision rule, as in `spmld fit`; the
    search uses it for metrics of predictions and probabilities only. With --checkpoint, a search that was killed is
    resumed.

    \b
    Examples:
      spmld tune songs.csv -o best.skops
      spmld tune songs.csv --method MaskedLogistic -o best.skops
      spmld tune songs.csv --method SPMLD --range feature_ridge=0.01:10:log --choices n_components=5,10,20 --trials 30
    """
    metric_info = get_metric(metric)[0]
    sign = 1 if metric_info.greater_is_better else -1
    space, fixed = parse_space(method, choices, ranges), parse_params(params)
    if both := sorted(space.keys() & fixed.keys()):
        raise ValueError(f"--param {both[0]} is fixed and cannot be searched as well")
    # A value of each searched parameter, so that an unknown name raises an error before the search.
    base = build(method, {**{key: values[0] for key, values in space.items()}, **fixed}, seed)
    dataset = data.load_part(folds)
    model = with_decision(base, None, seed, dataset.Y)
    searched, prefix = (base, "") if model is base or metric_info.needs == "scores" else (model, "estimator__")
    search = search or ("grid" if all(isinstance(values, list) for values in space.values()) else "random")
    arguments = {"scoring": metric, "n_trials": trials, "cv": folds, "random_state": seed}
    space = {prefix + name: values for name, values in space.items()}
    with stored_fits(checkpoint):
        result = _search(searched, dataset, space, search, **arguments)
        best = _to_python(result.best_params, prefix)
        if out and not result.interrupted:
            without_decision(model).set_params(**best)
            seconds = fit_model(model, dataset, method)
            details = {"tuned": best, "held_out": {metric: sign * result.best_score}}
            save_model(model, out, data, dataset, method, seconds, **details)
            print_message(f"{out}: {method} with {_describe(best)} fitted on {dataset}")
        heading = {"data": data.path, "method": method, "metric": metric, "search": search, "folds": folds}
        rows = [
            {metric: sign * t.score + 0.0, "seconds": t.seconds, **_to_python(t.params, prefix)} for t in result.ranked
        ]
        content = {**heading, "best": best, "interrupted": result.interrupted, "trials": rows}
        print_result(content, TextTable.from_records(rows[:10]), as_json)
        if result.interrupted:
            _exit_interrupted(f"{data.command()} --method {method}", best, out)


def _exit_interrupted(arguments: str, best: dict[str, Any], out: str | None) -> NoReturn:
    """Print how to fit the best parameters so far, and exit."""
    options = " ".join(f"--param {name}={value}" for name, value in best.items())
    command = f"; spmld fit {arguments} {options} -o {out} fits the best so far"
    print_message("spmld: interrupted" + (f", no model written{command}" if out else ""))
    raise Exit(130)


def _search(model: Any, dataset: Any, space: dict[str, Any], method: Any, **arguments: Any) -> Any:
    """Run the search with a progress bar that advances with each trial."""
    from sklearn.model_selection import ParameterGrid

    from spmld.model_selection import tune as tune_estimator

    total = len(ParameterGrid(space)) if method == "grid" else arguments["n_trials"]
    with progress_bar(total, "tuning") as advance:
        arguments |= {"method": method, "refit": False, "callback": lambda *_: advance("")}
        return tune_estimator(model, dataset.X, frames(dataset)[1], space, **arguments)


def _to_python(params: dict[str, Any], prefix: str) -> dict[str, Any]:
    """Return parameters without the prefix, and with Python's numbers instead of NumPy's, for JSON."""
    return {
        name.removeprefix(prefix): value.item() if hasattr(value, "item") else value for name, value in params.items()
    }


def _describe(params: dict[str, Any]) -> str:
    return ", ".join(
        f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}" for name, value in params.items()
    )
