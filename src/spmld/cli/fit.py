"""``spmld fit``: learn a model from data and write it to a file."""

from __future__ import annotations

import time
from typing import Any

import click
import numpy as np

import spmld
from spmld.cli.matching import data_name, frames
from spmld.cli.methods import build, find_method, method_options, parse_params
from spmld.cli.output import check_target
from spmld.cli.printing import say, show_json
from spmld.cli.progress import steps, working
from spmld.cli.source import given, load_rows, part_option, source_options
from spmld.estimators.progress import max_iterations

__all__ = ["fit", "fit_on", "training_summary"]


@click.command()
@source_options("data")
@click.option("-o", "--out", required=True, metavar="MODEL", help="File to write the model to, such as model.skops.")
@method_options
@part_option("train")
@click.option("--force", is_flag=True, help="Replace MODEL if it is there.")
@click.option("--json", "as_json", is_flag=True, help="Print what was learned from, as JSON.")
def fit(
    data: str,
    out: str,
    method: str,
    params: tuple[str, ...],
    seed: int,
    part: str | None,
    force: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Learn a model from DATA and write it to a file, which is complete or absent.

    DATA is a file or a name, as for `spmld data`. In a table the label columns begin with label_ or are named with
    --label; an empty cell is a missing label.

    \b
    Examples:
      spmld fit songs.csv -o songs.skops
      spmld fit songs.csv --label sad --label calm --drop id -o songs.skops --method MaskedLogistic --param C=0.3
    """
    check_target(out, force)
    method = find_method(method)
    model = build(method, parse_params(params), seed)
    found = load_rows(data, options, part, "train")
    seconds = fit_on(model, found, method)
    summary = training_summary(data, found, method, seconds, options)
    spmld.save(model, out, label_names=found.label_names, feature_names=found.feature_names, summary=summary)
    if as_json:
        show_json({"model": out, **summary})
    else:
        say(f"{out}: {method} fitted on {found} in {seconds:.1f} s")


def fit_on(model: Any, found: Any, method: str) -> float:
    """Fit, with a bar where the method tells of its rounds, and a sign of life where not; gives the seconds."""
    X, Y = frames(found)
    started, most = time.perf_counter(), max_iterations(model)
    if most is None:
        with working(f"fitting {method}"):
            model.fit(X, Y)
    else:
        # Most fits end before the last round there could be, so that the time left is the longest it can take.
        with steps(most, f"fitting {method}") as step:
            model.set_params(callback=lambda record: step("")).fit(X, Y)
        model.set_params(callback=None)
    return time.perf_counter() - started


def training_summary(source: str, found: Any, method: str, seconds: float, options: dict[str, Any]) -> dict[str, Any]:
    """What the model file says of the training."""
    observed = float(1 - np.isnan(found.Y).mean())
    prefix = given(options).get("prefix")
    return {
        "data": data_name(source),
        "method": method,
        "n_samples": int(found.X.shape[0]),
        "n_features": int(found.X.shape[1]),
        "n_labels": int(found.Y.shape[1]),
        "observed": round(observed, 6),
        "seconds": round(seconds, 3),
        **({"prefix": prefix} if prefix else {}),
    }
