"""``spmld compare`` and ``spmld tune``: compare methods, and search for the parameters of one, by cross-validation."""

import math
import time
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import click
import numpy as np
from click.exceptions import Exit
from scipy import stats
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid, ParameterSampler, cross_val_score

from spmld._table import TextTable
from spmld._validation import is_number
from spmld.app.commands import INTERRUPTED, options
from spmld.app.commands.fitting import (
    METHODS,
    base_estimator,
    build,
    check_decision,
    fit_model,
    save_model,
    stored_fits,
    with_decision,
)
from spmld.app.commands.loading import Source, frames
from spmld.app.commands.parameters import parse_params, parse_value, split_option
from spmld.app.commands.printing import check_output_path, print_message, print_result, progress_bar
from spmld.datasets import Dataset
from spmld.labels import read_labels
from spmld.labels.single_class import ignore_label_warnings, warn_of_metrics
from spmld.metrics import scorer
from spmld.metrics.registry import get_metric
from spmld.model_selection import compare as compare_estimators
from spmld.model_selection import make_folds

_DEFAULT_METHODS = ("SelfPacedEnsemble", "SPMLD", "GLOCAL", "MaskedLogistic", "LabelPrior")
_DEFAULT_METRICS = ("ranking_loss", "macro_auc", "micro_f1", "macro_f1")
_CHOICES = "KEY=A,B,C, such as n_components=5,10,20"
_RANGE = "KEY=LOW:HIGH or KEY=LOW:HIGH:log, such as C=0.01:100:log"
MAX_TRIALS = 10
"""Maximum number of trials in the printed table."""


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


@click.command()
@options.source_options("data", part="train")
@options.method_option("As for `spmld fit`.", "SelfPacedEnsemble")
@options.several("--param", "params", "KEY=VALUE", "Fixed parameter")
@options.several("--choices", "choices", "KEY=A,B,C", "Values of a parameter")
@options.several("--range", "ranges", "KEY=LOW:HIGH[:log]", "Range")
@click.option("--metric", default="ranking_loss", show_default=True, metavar="NAME", help="Metric to optimize.")
@options.integer("--trials", 20, "Number of random trials, if there is a range.")
@options.folds_option(3)
@options.seed_option("Seed for the folds, the search and the method.")
@options.out_option("MODEL", "Model file to write, fitted on all samples with the best parameters.")
@options.force_option
@options.checkpoint_option
@options.json_option
def tune(
    data: Source,
    method: str,
    params: tuple[str, ...],
    choices: tuple[str, ...],
    ranges: tuple[str, ...],
    metric: str,
    trials: int,
    folds: int,
    seed: int,
    out: str | None,
    force: bool,
    checkpoint: str | None,
    as_json: bool,
) -> None:
    """Search for the parameters of a method with the best metric on held-out labels of DATA.

    Without --choices and --range the search covers the most important parameters of the method. All combinations of
    choices are evaluated; if there is a range, parameters are drawn at random. Ctrl-C ends the search and prints the
    finished trials, without writing a model. The model has a decision rule, as in `spmld fit`; the search uses it for
    metrics of predictions and probabilities only. With --checkpoint, a search that was killed is resumed.

    \b
    Examples:
      spmld tune songs.csv -o best.skops
      spmld tune songs.csv --method MaskedLogistic -o best.skops
      spmld tune songs.csv --method SPMLD --range feature_ridge=0.01:10:log --choices n_components=5,10,20 --trials 30
    """
    check_output_path(out, force)
    metric_info = get_metric(metric)[0]
    sign = 1 if metric_info.greater_is_better else -1
    space = parse_space(method, choices, ranges)
    fixed = parse_params(params)
    if both := sorted(space.keys() & fixed.keys()):
        raise ValueError(f"--param {both[0]} is fixed and cannot be searched as well")
    # A value of each searched parameter, so that an unknown name raises an error before the search.
    base = build(method, {**{key: values[0] for key, values in space.items()}, **fixed}, seed)
    dataset = data.load_part(folds)
    model = with_decision(base, None, seed, dataset.Y, dataset.hierarchy)
    searched, prefix = (base, "") if model is base or metric_info.needs == "scores" else (model, "estimator__")
    candidates = _candidates({prefix + name: values for name, values in space.items()}, trials, seed)
    with stored_fits(checkpoint):
        evaluated = _evaluate(candidates, searched, dataset, metric, folds, seed)
        interrupted = len(evaluated) < len(candidates)
        ranked = _rank(evaluated, metric)
        best = _to_python(ranked[0].params, prefix)
        if out and not interrupted:
            base_estimator(model).set_params(**best)
            seconds = fit_model(model, dataset, method)
            details = {"tuned": best, "held_out": {metric: sign * ranked[0].score}}
            save_model(model, out, data, dataset, method, seconds, **details)
            print_message(f"{out}: {method} with {_describe(best)} fitted on {dataset}")
        heading = {"data": data.path, "method": method, "metric": metric, "folds": folds}
        rows = [{metric: sign * t.score + 0.0, "seconds": t.seconds, **_to_python(t.params, prefix)} for t in ranked]
        content = {**heading, "best": best, "interrupted": interrupted, "trials": rows}
        print_result(content, TextTable.from_records(rows[:MAX_TRIALS]), as_json)
        settings = " ".join(f"--param {name}={value}" for name, value in {**fixed, **best}.items())
        command = f"spmld fit {data.command()} --method {method} {settings} -o {out or 'MODEL'}"
        if interrupted:
            print_message(f"spmld: interrupted, no model written; {command} fits the best so far")
            raise Exit(INTERRUPTED)
        if not out:
            print_message(f"next: {command} fits the best parameters")


def parse_space(method: str, choices: Sequence[str], ranges: Sequence[str]) -> dict[str, Any]:
    """Return the choices and ranges of `spmld tune`; the default space of the method if there are no options.

    Examples
    --------
    >>> from spmld.app.commands.compare import parse_space
    >>> parse_space("SPMLD", ["n_components=5,10"], ["ridge=0.01:1:log"])
    {'n_components': [5, 10], 'ridge': (0.01, 1, 'log')}
    """
    space: dict[str, Any] = {}
    for text in choices:
        key, values = split_option(text, "--choices", _CHOICES)
        space[key] = [parse_value(value.strip()) for value in values.split(",")]
    for text in ranges:
        key, values = split_option(text, "--range", _RANGE)
        low, high, *scale = [parse_value(value) for value in values.split(":")] + [None] * (":" not in values)
        if not (is_number(low) and is_number(high) and scale in ([], ["log"])):
            raise ValueError(f"--range must have the form {_RANGE}, got {text!r}")
        if not low < high or (scale and low <= 0):
            raise ValueError(f"--range must have LOW < HIGH, and 0 < LOW with log, got {text!r}")
        space[key] = (low, high, *scale)
    space = space or METHODS[method]
    if not space:
        raise ValueError(f"{method} has no default search space; pass --choices or --range")
    return space


class _Candidate(NamedTuple):
    """Parameters, their mean score on the held-out observed labels (greater is better), and the duration."""

    params: dict[str, Any]
    score: float
    seconds: float


def _candidates(space: dict[str, Any], n_trials: int, seed: int) -> list[dict[str, Any]]:
    """Return all combinations of choices, or random parameters if there is a range."""
    if all(isinstance(values, list) for values in space.values()):
        return list(ParameterGrid(space))
    distributions = {name: _distribution(values) for name, values in space.items()}
    return list(ParameterSampler(distributions, n_trials, random_state=seed))


def _distribution(values: Any) -> Any:
    """Return the choices, or the distribution of a range for scikit-learn; a range of two integers has integers."""
    if isinstance(values, list):
        return values
    low, high, *log = values
    if not (isinstance(low, int) and isinstance(high, int)):
        return stats.loguniform(low, high) if log else stats.uniform(low, high - low)
    if not log:
        return stats.randint(low, high + 1)
    numbers = np.arange(low, high + 1)
    return stats.rv_discrete(values=(numbers, 1 / numbers / (1 / numbers).sum()))


def _evaluate(
    candidates: list[dict[str, Any]], model: Any, dataset: Dataset, metric: str, folds: int, seed: int
) -> list[_Candidate]:
    """Evaluate candidates on the same folds, with a progress bar; those before Ctrl-C if there is at least one."""
    X = dataset.X
    Y = frames(dataset)[1]
    warn_of_metrics(read_labels(Y))
    options = {"cv": make_folds(folds, X, Y, random_state=seed), "scoring": scorer(metric), "error_score": "raise"}
    evaluated: list[_Candidate] = []
    with progress_bar(len(candidates), "tuning") as advance:
        try:
            for params in candidates:
                start = time.perf_counter()
                score = _score(clone(model).set_params(**params), X, Y, options, params)
                evaluated.append(_Candidate(params, score, time.perf_counter() - start))
                advance("")
        except KeyboardInterrupt:
            if not evaluated:
                raise
    return evaluated


def _score(model: Any, X: Any, Y: Any, options: dict[str, Any], params: dict[str, Any]) -> float:
    """Return the mean score of a candidate; NaN, with a warning, if a fit failed."""
    try:
        with ignore_label_warnings():  # a label may have one class in a fold
            scores = cross_val_score(model, X, Y, **options)
    except (ValueError, ArithmeticError, MemoryError) as error:
        warnings.warn(f"A fit with {params} failed: {error!r}", UserWarning, stacklevel=2)
        return math.nan
    defined = scores[~np.isnan(scores)]  # the metric may be undefined in a fold
    return float(defined.mean()) if len(defined) else math.nan


def _rank(candidates: list[_Candidate], metric: str) -> list[_Candidate]:
    """Return the candidates from best to worst, failed ones last."""
    if all(math.isnan(candidate.score) for candidate in candidates):
        raise ValueError(f"none of the {len(candidates)} trials has a score: fits failed, or {metric} is undefined")
    return sorted(candidates, key=lambda item: math.inf if math.isnan(item.score) else -item.score)


def _to_python(params: dict[str, Any], prefix: str) -> dict[str, Any]:
    """Return parameters without the prefix, and with Python's numbers instead of NumPy's, for JSON."""
    numbers = {name: value.item() if hasattr(value, "item") else value for name, value in params.items()}
    return {name.removeprefix(prefix): value for name, value in numbers.items()}


def _describe(params: dict[str, Any]) -> str:
    return ", ".join(
        f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}" for name, value in params.items()
    )
