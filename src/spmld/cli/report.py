"""``spmld report``: write an HTML report on a model or a comparison."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from spmld._io import need, reading, writing
from spmld.cli.fitting import fit_model
from spmld.cli.loading import check_features, data_name, frames, load, open_model
from spmld.cli.matching import match
from spmld.cli.methods import build, parse_params
from spmld.cli.options import (
    check_model_options,
    force_option,
    method_options,
    model_option,
    source_options,
    trust_option,
)
from spmld.cli.printing import check_output_path, print_message
from spmld.cli.progress import spinner
from spmld.datasets import Dataset

__all__ = ["report"]


@click.command()
@source_options()
@click.option("-o", "--out", required=True, metavar="FILE", help="HTML file to write, such as report.html.")
@model_option
@method_options
@click.option("--title", help="Title of the page.")
@click.option(
    "--top", default=20, show_default=True, type=click.IntRange(min=1), metavar="N", help="Maximum number of rows."
)
@click.option("--no-audit", is_flag=True, help="Skip the audit of the labels, which fits additional models.")
@trust_option
@force_option
def report(
    source: str,
    out: str,
    model: str | None,
    method: str,
    params: tuple[str, ...],
    seed: int,
    title: str | None,
    top: int,
    no_audit: bool,
    trusted: tuple[str, ...],
    force: bool,
    **options: Any,
) -> None:
    """Write a report on a model or a comparison as one HTML file without external resources.

    SOURCE is a data set, or the output of `spmld compare --json` in a .json file. With a data set, a method is fitted
    and evaluated, or the model in MODEL is evaluated. The evaluation uses the test part of the official split. Without
    a split it uses all samples if --model is used, and otherwise a fifth of the samples, held out from the fit.

    \b
    Examples:
      spmld report test.csv --model songs.skops -o songs.html
      spmld report emotions --method SelfPacedEnsemble -o emotions.html
      spmld report compared.json -o compared.html
    """
    check_output_path(out, force)
    need("jinja2", "report")
    need("matplotlib", "report")
    extension = Path(source).suffix.lower()
    if extension == ".skops":
        raise ValueError(f"{source} is a model file; pass the data to evaluate it on, and --model {source}")
    if source.lower().endswith((".jsonl", ".jsonl.xz")):
        raise ValueError(f"{source} contains records of a study; use: spmld reproduce html {source} -o {out}")
    if extension == ".json":
        if model is not None:
            raise ValueError(f"--model cannot be combined with {source}, which contains results; pass a data set")
        html = _comparison_page(source, title)
    else:
        arguments = {"title": title, "top": top, "audit": not no_audit, "random_state": seed}
        if model is None:
            html = _fitted_page(source, method, parse_params(params), seed, options, arguments)
        else:
            check_model_options()
            html = _model_page(source, model, trusted, options, arguments)
    with writing(out) as part:
        part.write_text(html, encoding="utf-8")
    print_message(f"{out}: {len(html.encode()) / 1000:,.0f} kB")


def _comparison_page(source: str, title: str | None) -> str:
    from spmld.model_selection import Comparison
    from spmld.reports import comparison_report

    with reading(source, "the output of spmld compare --json") as file:
        content = json.loads(file.read_text(encoding="utf-8"))
        facts = {name: content[name] for name in ("data", "seed") if name in content}
        default = f"Comparison of methods on {facts['data']}" if "data" in facts else None
        return comparison_report(Comparison.from_dict(content), title=title or default, facts=facts)


def _model_page(
    source: str, path: str, trusted: tuple[str, ...], options: dict[str, Any], arguments: dict[str, Any]
) -> str:
    from spmld.reports import model_report

    model, info = open_model(path, trusted)
    matched = match(source, options, None, path, info, labels=True)
    facts = {"data": data_name(source), "file": data_name(path), "written": info.created}
    facts |= {"trained on": info.summary["data"]} if info.summary.get("data") else {}
    arguments["title"] = arguments["title"] or f"{info.summary.get('method', info.estimator)} on {data_name(source)}"
    with spinner("evaluating"):
        return model_report(
            model,
            matched.X,
            matched.Y,
            label_names=matched.label_names,
            facts=facts,
            **arguments,
        )


def _fitted_page(
    source: str, method: str, params: dict[str, Any], seed: int, options: dict[str, Any], arguments: dict[str, Any]
) -> str:
    from spmld.reports import model_report

    model = build(method, params, seed)
    train, test, description = _split(check_features(load(source, options), source), seed)
    seconds = fit_model(model, train, method)
    (X, Y), (X_train, Y_train) = frames(test), frames(train)
    facts = {"data": data_name(source), "evaluated on": description, "seconds to fit": f"{seconds:.1f}"}
    arguments["title"] = arguments["title"] or f"{method} on {data_name(source)}"
    with spinner("evaluating"):
        return model_report(model, X, Y, X_train=X_train, Y_train=Y_train, facts=facts, **arguments)


def _split(data: Dataset, seed: int) -> tuple[Dataset, Dataset, str]:
    """Return the training data, the test data and a description of the test data."""
    if data.train is not None:
        return data.part("train"), data.part("test"), "test part of the official split"
    from spmld.model_selection import MultilabelStratifiedKFold

    if data.X.shape[0] < 5:
        raise ValueError(
            f"SOURCE must have at least 5 samples to hold out a fifth, got {data.X.shape[0]}; "
            "pass a model fitted on other samples with --model"
        )
    train, test = next(iter(MultilabelStratifiedKFold(5, random_state=seed).split(data.X, data.Y)))
    split = replace(data, train=train, test=test)
    return split.part("train"), split.part("test"), "a fifth of the samples, held out from the fit"
