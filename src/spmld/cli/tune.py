"""``spmld tune``: search for the parameters of a method."""

import math
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import click
import numpy as np
from click.exceptions import Exit
from scipy import stats
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid, ParameterSampler, cross_val_score

from spmld._io import need
from spmld._table import TextTable
from spmld.cli import options
from spmld.cli.fitting import fit_model, save_model, stored_fits
from spmld.cli.loading import Source, frames
from spmld.cli.methods import build, parse_params, parse_space, with_decision, without_decision
from spmld.cli.printing import print_message, print_result, progress_bar
from spmld.labels import read_labels
from spmld.labels.single_class import ignore_label_warnings, warn_of_metrics
from spmld.metrics import scorer
from spmld.metrics.registry import get_metric
from spmld.model_selection import make_folds


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
    space = {prefix + name: values for name, values in space.items()}
    with stored_fits(checkpoint):
        evaluation = _CandidateScores(searched, dataset, metric, folds, seed)
        interrupted = _search(search, space, trials, seed, evaluation)
        ranked = evaluation.ranked()
        best = _to_python(ranked[0].params, prefix)
        if out and not interrupted:
            without_decision(model).set_params(**best)
            seconds = fit_model(model, dataset, method)
            details = {"tuned": best, "held_out": {metric: sign * ranked[0].score}}
            save_model(model, out, data, dataset, method, seconds, **details)
            print_message(f"{out}: {method} with {_describe(best)} fitted on {dataset}")
        heading = {"data": data.path, "method": method, "metric": metric, "search": search, "folds": folds}
        rows = [{metric: sign * t.score + 0.0, "seconds": t.seconds, **_to_python(t.params, prefix)} for t in ranked]
        content = {**heading, "best": best, "interrupted": interrupted, "trials": rows}
        print_result(content, TextTable.from_records(rows[:10]), as_json)
        if interrupted:
            _exit_interrupted(f"{data.command()} --method {method}", best, out)


def _exit_interrupted(arguments: str, best: dict[str, Any], out: str | None) -> NoReturn:
    """Print how to fit the best parameters so far, and exit."""
    options = " ".join(f"--param {name}={value}" for name, value in best.items())
    command = f"; spmld fit {arguments} {options} -o {out} fits the best so far"
    print_message("spmld: interrupted" + (f", no model written{command}" if out else ""))
    raise Exit(130)


class _Candidate(NamedTuple):
    """Parameters, their mean score on the held-out observed labels (greater is better), and the duration."""

    params: dict[str, Any]
    score: float
    seconds: float


class _CandidateScores:
    """Cross-validation of candidates on the same folds; it keeps the trials."""

    def __init__(self, model: Any, dataset: Any, metric: str, folds: int, seed: int) -> None:
        self.model, self.metric = model, metric
        self.X, self.Y = dataset.X, frames(dataset)[1]
        warn_of_metrics(read_labels(self.Y))
        self.folds = make_folds(folds, self.X, self.Y, random_state=seed)
        self.trials: list[_Candidate] = []

    def __call__(self, params: dict[str, Any]) -> float:
        """Return the mean score of a candidate; NaN, with a warning, if a fit failed."""
        start = time.perf_counter()
        try:
            score = self._score(params)
        except (ValueError, ArithmeticError, MemoryError) as error:
            warnings.warn(f"A fit with {params} failed: {error!r}", UserWarning, stacklevel=2)
            score = math.nan
        self.trials.append(_Candidate(params, score, time.perf_counter() - start))
        return score

    def _score(self, params: dict[str, Any]) -> float:
        candidate = clone(self.model).set_params(**params)
        options = {"cv": self.folds, "scoring": scorer(self.metric), "error_score": "raise"}
        with ignore_label_warnings():  # a label may have one class in a fold
            scores = cross_val_score(candidate, self.X, self.Y, **options)
        defined = scores[~np.isnan(scores)]  # the metric may be undefined in a fold
        return float(defined.mean()) if len(defined) else math.nan

    def ranked(self) -> list[_Candidate]:
        """Return the trials from best to worst, failed ones last."""
        if all(math.isnan(trial.score) for trial in self.trials):
            raise ValueError(
                f"none of the {len(self.trials)} trials has a score: fits failed, or {self.metric} is undefined"
            )
        return sorted(self.trials, key=lambda trial: math.inf if math.isnan(trial.score) else -trial.score)


def _search(search: str, space: dict[str, Any], n_trials: int, seed: int, evaluation: _CandidateScores) -> bool:
    """Evaluate all candidates with a progress bar; return whether the search was interrupted after a trial."""
    if search == "grid":
        candidates = list(ParameterGrid(space))
    elif search == "random":
        distributions = {name: _distribution(values) for name, values in space.items()}
        candidates = list(ParameterSampler(distributions, n_trials, random_state=seed))
    with progress_bar(n_trials if search == "optuna" else len(candidates), "tuning") as advance:

        def evaluate(params: dict[str, Any]) -> float:
            score = evaluation(params)
            advance("")
            return score

        try:
            if search == "optuna":
                _optimize(evaluate, space, n_trials, seed)
            else:
                for params in candidates:
                    evaluate(params)
        except KeyboardInterrupt:
            if not evaluation.trials:
                raise
            return True
    return False


def _distribution(values: Any) -> Any:
    """Return the choices, or the distribution of a range for scikit-learn."""
    if isinstance(values, list):
        return values
    low, high, *log = values
    if _is_integer(values) and log:
        numbers = np.arange(low, high + 1)
        return stats.rv_discrete(values=(numbers, 1 / numbers / (1 / numbers).sum()))
    if _is_integer(values):
        return stats.randint(low, high + 1)
    return stats.loguniform(low, high) if log else stats.uniform(low, high - low)


def _optimize(evaluate: Callable[[dict[str, Any]], float], space: dict[str, Any], n_trials: int, seed: int) -> None:
    """Evaluate candidates that Optuna proposes from the scores so far."""
    optuna = need("optuna", "tune")
    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def suggest(trial: Any, name: str, values: Any) -> Any:
        if isinstance(values, list):
            return trial.suggest_categorical(name, values)
        low, high, *log = values
        return (trial.suggest_int if _is_integer(values) else trial.suggest_float)(name, low, high, log=bool(log))

    def objective(trial: Any) -> float:
        return evaluate({name: suggest(trial, name, values) for name, values in space.items()})

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(objective, n_trials=n_trials)


def _is_integer(values: tuple[Any, ...]) -> bool:
    """Return whether a range has integers only: both bounds are integers."""
    return all(isinstance(bound, int) for bound in values[:2])


def _to_python(params: dict[str, Any], prefix: str) -> dict[str, Any]:
    """Return parameters without the prefix, and with Python's numbers instead of NumPy's, for JSON."""
    return {
        name.removeprefix(prefix): value.item() if hasattr(value, "item") else value for name, value in params.items()
    }


def _describe(params: dict[str, Any]) -> str:
    return ", ".join(
        f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}" for name, value in params.items()
    )
