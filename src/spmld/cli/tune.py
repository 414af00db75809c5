"""``spmld tune``: search for the parameters of a method."""

from __future__ import annotations

import logging
import math
from typing import Any

import click
from click.exceptions import Exit

import spmld
from spmld.cli.fit import fit_on, training_summary
from spmld.cli.methods import SPACES, build, find_method, parse_params, parse_value
from spmld.cli.output import check_target
from spmld.cli.printing import say, show_json, show_table
from spmld.cli.progress import steps
from spmld.cli.source import check_folds, load_rows, part_option, seed_option, source_options
from spmld.metrics import get_metric

__all__ = ["tune"]


@click.command()
@source_options("data")
@click.option("--method", default="SPMLD", show_default=True, help="The method, as for `spmld fit`.")
@click.option("--param", "params", multiple=True, metavar="KEY=VALUE", help="A parameter that stays; repeat for more.")
@click.option("--choices", multiple=True, metavar="KEY=A,B,C", help="Values to choose from; repeat for more.")
@click.option("--range", "ranges", multiple=True, metavar="KEY=LOW:HIGH[:log]", help="A range; repeat for more.")
@click.option("--metric", default="ranking_loss", show_default=True, help="What decides.")
@click.option(
    "--search", type=click.Choice(["random", "grid", "optuna"]), help="How.  [default: random; grid if no range]"
)
@click.option("--trials", default=20, show_default=True, type=click.IntRange(min=1), help="Sets of parameters to try.")
@click.option("--folds", default=3, show_default=True, type=click.IntRange(min=2), help="Folds of the samples.")
@seed_option("Seed of folds, draws and method.")
@part_option("train")
@click.option("-o", "--out", metavar="MODEL", help="Fit the best on all of DATA, and write it to this file.")
@click.option("--force", is_flag=True, help="Replace MODEL if it is there.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with all trials.")
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

    Without --choices and --range the search is over the parameters that matter most to the method. Ctrl-C ends it,
    prints what was found so far and writes no model.

    \b
    Examples:
      spmld tune songs.csv --method MaskedLogistic -o best.skops
      spmld tune songs.csv --method SPMLD --range feature_ridge=0.01:10:log --choices n_components=5,10,20 --trials 30
    """
    check_target(out, force)
    get_metric(metric)
    method = find_method(method)
    space = _space(method, choices, ranges)
    fixed = parse_params(params)
    for key in space:
        if key in fixed:
            raise ValueError(f"{key} is both fixed with --param and searched")
    model = build(method, {**{key: _some_value(value) for key, value in space.items()}, **fixed}, seed)
    found = load_rows(data, options, part, "train")
    check_folds(folds, found, data)
    chosen = search or ("grid" if all(isinstance(value, list) for value in space.values()) else "random")
    result = _search(model, found, space, chosen, metric=metric, n_trials=trials, cv=folds, random_state=seed)
    best_params = _plain(result.best_params)
    sign = 1 if get_metric(metric)[0].greater_is_better else -1
    summary = None
    if out and not result.interrupted:
        best = model.set_params(**best_params)
        seconds = fit_on(best, found, method)
        summary = {**training_summary(data, found, method, seconds, options), "tuned": best_params}
        summary |= {"held_out": {metric: sign * result.best_score}}
        spmld.save(best, out, label_names=found.label_names, feature_names=found.feature_names, summary=summary)
    rows = [{metric: sign * t.score, "seconds": t.seconds, **_plain(t.params)} for t in result.ranked]
    if as_json:
        content = {"data": data, "method": method, "metric": metric, "search": chosen, "folds": folds}
        show_json({**content, "best": best_params, "interrupted": result.interrupted, "trials": rows})
    else:
        show_table(tuple(rows[0]), [tuple(row.values()) for row in rows[:10]])
    if summary:
        say(f"{out}: {method} with {best_params} fitted on {found}")
    if result.interrupted:
        say("spmld: stopped" + (", no model written" if out else ""))
        raise Exit(130)


def _search(model: Any, found: Any, space: dict[str, Any], chosen: Any, **options: Any) -> Any:
    """The search, with a bar that moves when a trial is done."""
    from sklearn.model_selection import ParameterGrid

    from spmld.model_selection import tune as run

    total = len(ParameterGrid(space)) if chosen == "grid" else options["n_trials"]
    logger = logging.getLogger("spmld.model_selection.search")
    with steps(total, "tuning") as advance:
        handler = _Steps(advance)
        level, logger.level = logger.level, logging.INFO
        logger.addHandler(handler)
        try:
            return run(model, found.X, found.Y, space, method=chosen, refit=False, **options)
        finally:
            logger.removeHandler(handler)
            logger.level = level


class _Steps(logging.Handler):
    """A step for each line that the search logs, which is one for each trial."""

    def __init__(self, advance: Any) -> None:
        super().__init__()
        self._advance = advance

    def emit(self, record: logging.LogRecord) -> None:
        """Take a step."""
        self._advance("")


def _space(method: str, choices: tuple[str, ...], ranges: tuple[str, ...]) -> dict[str, Any]:
    space: dict[str, Any] = {}
    for text in choices:
        key, values = _pair(text, "--choices", "KEY=A,B,C, such as n_components=5,10,20")
        space[key] = [parse_value(value.strip()) for value in values.split(",")]
    for text in ranges:
        form = "KEY=LOW:HIGH or KEY=LOW:HIGH:log, such as C=0.01:100:log"
        key, values = _pair(text, "--range", form)
        parts = values.split(":")
        ends = [parse_value(part) for part in parts[:2]]
        if len(parts) not in (2, 3) or (len(parts) == 3 and parts[2] != "log") or not all(map(_is_number, ends)):
            raise ValueError(f"--range must be {form}, got {text!r}")
        space[key] = (*ends, "log") if len(parts) == 3 else tuple(ends)
    if not space:
        space = SPACES.get(method, {})
    if not space:
        raise ValueError(f"there is no usual space for {method}: give --choices or --range")
    return space


def _pair(text: str, option: str, form: str) -> tuple[str, str]:
    key, equals, values = text.partition("=")
    if not equals or not key.strip() or not values.strip():
        raise ValueError(f"{option} must be {form}, got {text!r}")
    return key.strip(), values.strip()


def _plain(params: dict[str, Any]) -> dict[str, Any]:
    """Parameters as Python's own numbers, which JSON knows."""
    return {name: value.item() if hasattr(value, "item") else value for name, value in params.items()}


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _some_value(values: Any) -> Any:
    """A value of the space, so that a name which is no parameter is seen before the search begins."""
    return values[0]
