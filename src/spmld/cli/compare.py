"""``spmld compare``: several methods on the same folds of your data."""

from __future__ import annotations

import time
from typing import Any

import click
import numpy as np

from spmld.cli.evaluate import chosen_rows, numbers_at
from spmld.cli.matching import predict_all
from spmld.cli.methods import build, find_method
from spmld.cli.printing import say, show_json, show_table
from spmld.cli.progress import steps
from spmld.cli.source import check_folds, load_rows, part_option, seed_option, source_options
from spmld.metrics import evaluate as judge
from spmld.metrics import get_metric
from spmld.model_selection import MultilabelStratifiedKFold
from spmld.model_selection.statistics import Verdict, holm_correction, paired_t_test

__all__ = ["compare"]

_METHODS = ("SelfPacedEnsemble", "SPMLD", "GLOCAL", "MaskedLogistic", "MLkNN", "LabelPrior")
_MEASURES = ("ranking_loss", "macro_auc", "micro_f1", "macro_f1")


@click.command()
@source_options("data")
@click.option(
    "--method", "methods", multiple=True, metavar="NAME", help=f"Repeat for more.  [default: {', '.join(_METHODS)}]"
)
@click.option(
    "--metric", "metrics", multiple=True, metavar="NAME", help=f"Repeat for more.  [default: {', '.join(_MEASURES)}]"
)
@click.option("--reference", metavar="NAME", help="The method that others are tested against.  [default: the first]")
@click.option("--folds", default=5, show_default=True, type=click.IntRange(min=2), help="Folds of the samples.")
@seed_option("Seed of the folds and of the methods.")
@part_option("train")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with the values of all folds.")
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
    """Fit several methods on the same folds of DATA, and print mean and standard deviation of the metrics.

    A sign behind a value compares with the reference: + better, - worse, = not told apart at 95 % by a paired t-test
    over folds, with Holm's correction for the number of methods. Folds share training samples, so that the test finds
    differences somewhat too easily.

    \b
    Examples:
      spmld compare songs.csv
      spmld compare songs.csv --method SPMLD --method MaskedLogistic --metric ranking_loss --folds 10 --json
    """
    names = list(dict.fromkeys(find_method(name) for name in methods or _METHODS))
    base = names[0] if reference is None else find_method(reference)
    if base not in names:
        raise ValueError(f"reference must be one of the methods compared, {', '.join(names)}, got {base}")
    wanted = metrics or _MEASURES
    for name in wanted:
        get_metric(name)
    found = load_rows(data, options, part, "train")
    check_folds(folds, found, data)
    splits = list(MultilabelStratifiedKFold(folds, random_state=seed).split(found.X, found.Y))
    values, failed = _run(names, wanted, found, splits, seed)
    rows = _compared(names, base, values)
    if as_json:
        shown = {"data": data, "folds": folds, "seed": seed, "reference": base, "failed": failed}
        show_json({**shown, "results": rows})
    else:
        _print(rows, names, base)
    for name, error in failed.items():
        say(f"{name} failed: {error}")
    raise click.exceptions.Exit(1 if failed else 0)


def _run(
    names: list[str], wanted: tuple[str, ...], found: Any, splits: list[Any], seed: int
) -> tuple[dict[tuple[str, str], list[float]], dict[str, str]]:
    """The value of each method and metric in each fold; a method that fails is left out, and says why."""
    values: dict[tuple[str, str], list[float]] = {}
    failed: dict[str, str] = {}
    with steps(len(names) * len(splits), "comparing") as advance:
        for name in names:
            results = []
            try:
                for place, (train, test) in enumerate(splits):
                    started = time.perf_counter()
                    model = build(name, {}, seed).fit(found.X[train], found.Y[train])
                    said = predict_all(model, found.X[test])
                    result = judge(found.Y[test], said.scores, said.positive, said.probabilities, k=numbers_at(wanted))
                    measured = {row.name: row.value for row in chosen_rows(result, wanted, name)}
                    results.append({**measured, "seconds": time.perf_counter() - started})
                    advance(f"{name}, fold {place + 1} of {len(splits)}")
            except (ValueError, ArithmeticError, MemoryError) as error:
                failed[name] = str(error)
                continue
            for metric in results[0]:
                values[name, metric] = [result[metric] for result in results]
    return values, failed


def _compared(names: list[str], base: str, values: dict[tuple[str, str], list[float]]) -> list[dict[str, Any]]:
    """A row for each method and metric, with mean, deviation, and the test against the reference."""
    rows = []
    for metric in dict.fromkeys(metric for _, metric in values):
        there = [name for name in names if (name, metric) in values]
        greater = metric != "seconds" and get_metric(metric)[0].greater_is_better
        tests: dict[str, Any] = {}
        if (base, metric) in values and metric != "seconds":
            tests = {name: _test(values[name, metric], values[base, metric], greater) for name in there if name != base}
            tests = {name: test for name, test in tests.items() if test is not None}
        corrected = (
            dict(zip(tests, holm_correction([test.p for test in tests.values()]).tolist(), strict=True))
            if tests
            else {}
        )
        for name in there:
            found = np.asarray(values[name, metric])
            row: dict[str, Any] = {"method": name, "metric": metric, "mean": _mean(found), "sd": _sd(found)}
            row |= {"better": "higher" if greater else "lower", "folds": found.tolist()}
            if name in tests:
                same = corrected[name] >= 0.05
                better = (tests[name].difference > 0) == greater
                verdict = "no significant difference" if same else "better" if better else "worse"
                row |= {"difference": tests[name].difference, "p": tests[name].p, "p_corrected": corrected[name]}
                row["verdict"] = verdict
            rows.append(row)
    return rows


def _test(method: list[float], reference: list[float], greater: bool) -> Any:
    """The paired test over the folds in which both have a value."""
    pairs = [(a, b) for a, b in zip(method, reference, strict=True) if not (np.isnan(a) or np.isnan(b))]
    return paired_t_test([a for a, _ in pairs], [b for _, b in pairs], greater_is_better=greater)


def _mean(values: Any) -> float:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else float("nan")


def _sd(values: Any) -> float:
    defined = values[~np.isnan(values)]
    return float(defined.std(ddof=1)) if len(defined) > 1 else float("nan")


def _print(rows: list[dict[str, Any]], names: list[str], base: str) -> None:
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    cells = {(row["method"], row["metric"]): row for row in rows}
    heads = [
        "seconds" if m == "seconds" else f"{m} ({cells[next(n for n in names if (n, m) in cells), m]['better']})"
        for m in metrics
    ]
    table = []
    for name in names:
        if (name, metrics[0]) in cells:
            shown = [_cell(cells[name, metric]) for metric in metrics]
            table.append((f"{name} (reference)" if name == base else name, *shown))
    show_table(("method", *heads), table)


def _cell(row: dict[str, Any]) -> str:
    sign = f" {Verdict(row['verdict']).sign}" if "verdict" in row else ""
    return f"{row['mean']:.4f} ± {row['sd']:.4f}{sign}"
