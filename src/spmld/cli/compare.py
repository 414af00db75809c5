"""``spmld compare``: several methods on the same folds of your data."""

from __future__ import annotations

import time
from typing import Any

import click
import numpy as np

from spmld.cli.evaluate import chosen_rows, numbers_at
from spmld.cli.match import answers
from spmld.cli.methods import build, find_method
from spmld.cli.progress import steps
from spmld.cli.show import say, show_json, show_table
from spmld.cli.source import check_folds, load_rows, part_option, seed_option, source_options
from spmld.experiment.statistics import holm, paired
from spmld.metrics import evaluate as judge
from spmld.metrics._registry import find_measure
from spmld.splits import MultilabelStratifiedKFold

__all__ = ["compare"]

_METHODS = ("SPMLDCV", "SPMLD", "GLOCAL", "MaskedLogistic", "MLkNN", "LabelPrior")
_MEASURES = ("ranking_loss", "macro_auc", "micro_f1", "macro_f1")
_SIGNS = {"better": "+", "worse": "-", "same": "="}


@click.command()
@source_options("data")
@click.option(
    "--method", "methods", multiple=True, metavar="NAME", help=f"Repeat for more.  [default: {', '.join(_METHODS)}]"
)
@click.option(
    "--measure", "measures", multiple=True, metavar="NAME", help=f"Repeat for more.  [default: {', '.join(_MEASURES)}]"
)
@click.option("--reference", metavar="NAME", help="The method that others are tested against.  [default: the first]")
@click.option("--folds", default=5, show_default=True, type=click.IntRange(min=2), help="Folds of the samples.")
@seed_option("Seed of the folds and of the methods.")
@part_option("train")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with the values of all folds.")
def compare(
    data: str,
    methods: tuple[str, ...],
    measures: tuple[str, ...],
    reference: str | None,
    folds: int,
    seed: int,
    part: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Fit several methods on the same folds of DATA, and print mean and standard deviation of the measures.

    A sign behind a value compares with the reference: + better, - worse, = not told apart at 95 % by a paired t-test
    over folds, with Holm's correction for the number of methods. Folds share training samples, so that the test finds
    differences somewhat too easily.

    \b
    Examples:
      spmld compare songs.csv
      spmld compare songs.csv --method SPMLD --method MaskedLogistic --measure ranking_loss --folds 10 --json
    """
    names = list(dict.fromkeys(find_method(name) for name in methods or _METHODS))
    base = names[0] if reference is None else find_method(reference)
    if base not in names:
        raise ValueError(f"reference must be one of the methods compared, {', '.join(names)}, got {base}")
    wanted = measures or _MEASURES
    for name in wanted:
        find_measure(name)
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
    """The value of each method and measure in each fold; a method that fails is left out, and says why."""
    values: dict[tuple[str, str], list[float]] = {}
    failed: dict[str, str] = {}
    with steps(len(names) * len(splits), "comparing") as advance:
        for name in names:
            results = []
            try:
                for place, (train, test) in enumerate(splits):
                    started = time.perf_counter()
                    model = build(name, {}, seed).fit(found.X[train], found.Y[train])
                    said = answers(model, found.X[test])
                    result = judge(found.Y[test], said.scores, said.positive, said.probabilities, k=numbers_at(wanted))
                    measured = {row.name: row.value for row in chosen_rows(result, wanted, name)}
                    results.append({**measured, "seconds": time.perf_counter() - started})
                    advance(f"{name}, fold {place + 1} of {len(splits)}")
            except (ValueError, ArithmeticError, MemoryError) as error:
                failed[name] = str(error)
                continue
            for measure in results[0]:
                values[name, measure] = [result[measure] for result in results]
    return values, failed


def _compared(names: list[str], base: str, values: dict[tuple[str, str], list[float]]) -> list[dict[str, Any]]:
    """A row for each method and measure, with mean, deviation, and the test against the reference."""
    rows = []
    for measure in dict.fromkeys(measure for _, measure in values):
        there = [name for name in names if (name, measure) in values]
        greater = measure != "seconds" and find_measure(measure)[0].greater_is_better
        tests: dict[str, Any] = {}
        if (base, measure) in values and measure != "seconds":
            tests = {
                name: _test(values[name, measure], values[base, measure], greater) for name in there if name != base
            }
            tests = {name: test for name, test in tests.items() if test is not None}
        corrected = dict(zip(tests, holm([test.p for test in tests.values()]).tolist(), strict=True)) if tests else {}
        for name in there:
            found = np.asarray(values[name, measure])
            row: dict[str, Any] = {"method": name, "measure": measure, "mean": _mean(found), "sd": _sd(found)}
            row |= {"better": "higher" if greater else "lower", "folds": found.tolist()}
            if name in tests:
                same = corrected[name] >= 0.05
                better = (tests[name].difference > 0) == greater
                verdict = "same" if same else "better" if better else "worse"
                row |= {"difference": tests[name].difference, "p": tests[name].p, "p_corrected": corrected[name]}
                row["verdict"] = verdict
            rows.append(row)
    return rows


def _test(method: list[float], reference: list[float], greater: bool) -> Any:
    """The paired test over the folds in which both have a value."""
    pairs = [(a, b) for a, b in zip(method, reference, strict=True) if not (np.isnan(a) or np.isnan(b))]
    return paired([a for a, _ in pairs], [b for _, b in pairs], greater_is_better=greater)


def _mean(values: Any) -> float:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else float("nan")


def _sd(values: Any) -> float:
    defined = values[~np.isnan(values)]
    return float(defined.std(ddof=1)) if len(defined) > 1 else float("nan")


def _print(rows: list[dict[str, Any]], names: list[str], base: str) -> None:
    measures = list(dict.fromkeys(row["measure"] for row in rows))
    cells = {(row["method"], row["measure"]): row for row in rows}
    heads = [
        "seconds" if m == "seconds" else f"{m} ({cells[next(n for n in names if (n, m) in cells), m]['better']})"
        for m in measures
    ]
    table = []
    for name in names:
        if (name, measures[0]) in cells:
            shown = [_cell(cells[name, measure]) for measure in measures]
            table.append((f"{name} (reference)" if name == base else name, *shown))
    show_table(("method", *heads), table)


def _cell(row: dict[str, Any]) -> str:
    sign = f" {_SIGNS[row['verdict']]}" if "verdict" in row else ""
    return f"{row['mean']:.4f} ± {row['sd']:.4f}{sign}"
