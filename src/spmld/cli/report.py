"""``spmld report``: what was learned and how well, as one HTML file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from spmld._io import need, reading, writing
from spmld.cli.fit import fit_on
from spmld.cli.matching import data_name, frames, match, open_model
from spmld.cli.methods import build, find_method, method_options, parse_params, refuse_beside_model
from spmld.cli.output import check_target
from spmld.cli.printing import say
from spmld.cli.progress import working
from spmld.cli.source import check_features, load, source_options

__all__ = ["report"]


@click.command()
@source_options()
@click.option("-o", "--out", required=True, metavar="FILE", help="HTML file to write, such as report.html.")
@click.option("--model", metavar="MODEL", help="A model file to report on, in place of one fitted on SOURCE.")
@method_options
@click.option("--title", help="Title of the page.")
@click.option("--top", default=20, show_default=True, type=click.IntRange(min=1), metavar="N", help="Rows of lists.")
@click.option("--no-audit", is_flag=True, help="Do not look for wrong labels, which fits models of its own.")
@click.option("--trust", multiple=True, metavar="TYPE", help="A type to trust in MODEL; repeat for more.")
@click.option("--force", is_flag=True, help="Replace FILE if it is there.")
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
    trust: tuple[str, ...],
    force: bool,
    **options: Any,
) -> None:
    """Write a page on a model, a comparison or a study: one HTML file that needs nothing else.

    SOURCE is data, a file or a name, on which a method is fitted and judged, or a MODEL judged. The rows to judge on
    are the test rows of the official split; without a split all rows with a MODEL, and else a fifth that is held out
    from the fit. Or SOURCE is the output of `spmld compare --json`, a .json file, or the records of
    `spmld reproduce run`, a .jsonl file.

    \b
    Examples:
      spmld report test.csv --model songs.skops -o songs.html
      spmld report emotions --method SelfPacedEnsemble -o emotions.html
      spmld report compared.json -o compared.html
      spmld report results.jsonl -o results.html
    """
    check_target(out, force)
    need("jinja2", "report")
    need("matplotlib", "report")
    ending = Path(source).suffix.lower()
    if ending in (".json", ".jsonl") and model is not None:
        raise ValueError(f"--model is for data, but {source} holds results: leave it out")
    if ending == ".skops":
        raise ValueError(f"{source} is a model file: give the data to judge it on, and the model with --model {source}")
    if ending == ".json":
        html = _of_comparison(source, title)
    elif ending == ".jsonl":
        html = _of_study(source, title)
    else:
        shown = {"title": title, "top": top, "audit": not no_audit, "random_state": seed}
        if model is None:
            html = _of_fit(source, method, parse_params(params), seed, options, shown)
        else:
            refuse_beside_model()
            html = _of_model(source, model, trust, options, shown)
    with writing(out) as part:
        part.write_text(html, encoding="utf-8")
    say(f"{out}: {len(html.encode()) / 1000:,.0f} kB")


def _of_comparison(source: str, title: str | None) -> str:
    from spmld.reports import comparison_report

    with reading(source, "the output of spmld compare --json") as file:
        return comparison_report(json.loads(file.read_text(encoding="utf-8")), title=title)


def _of_study(source: str, title: str | None) -> str:
    from spmld.reports import study_report
    from spmld.studies import read_records

    with reading(source, "records of spmld reproduce run") as file:
        return study_report(read_records(file), title=title)


def _of_model(source: str, path: str, trust: tuple[str, ...], options: dict[str, Any], shown: dict[str, Any]) -> str:
    from spmld.reports import model_report

    loaded, info = open_model(path, trust)
    found = match(source, options, None, path, info, labels=True)
    facts = {"file": data_name(path), "written": info.created, "trained on data": info.summary.get("data")}
    facts = {name: value for name, value in facts.items() if value}
    shown["title"] = shown["title"] or f"{info.summary.get('method', info.estimator)} on {data_name(source)}"
    with working("judging"):
        return model_report(
            loaded, found.X, found.Y, label_names=found.label_names, facts={"data": data_name(source), **facts}, **shown
        )


def _of_fit(
    source: str, method: str, params: dict[str, Any], seed: int, options: dict[str, Any], shown: dict[str, Any]
) -> str:
    from spmld.reports import model_report

    method = find_method(method)
    model = build(method, params, seed)
    data = check_features(load(source, **options), source)
    train, test, told = _parts(data, seed)
    seconds = fit_on(model, train, method)
    X, Y = frames(test)
    X_train, Y_train = frames(train)
    facts = {"data": data_name(source), "rows judged on": told, "seconds of the fit": f"{seconds:.1f}"}
    shown["title"] = shown["title"] or f"{method} on {data_name(source)}"
    with working("judging"):
        return model_report(model, X, Y, X_train=X_train, Y_train=Y_train, facts=facts, **shown)


def _parts(data: Any, seed: int) -> tuple[Any, Any, str]:
    """Rows to fit on, rows to judge on, and what these are."""
    if data.train is not None:
        return data.part("train"), data.part("test"), "the test rows of the official split"
    from dataclasses import replace

    from spmld.model_selection import MultilabelStratifiedKFold

    if data.X.shape[0] < 5:
        raise ValueError(
            f"SOURCE must have 5 samples or more, so that a fifth can be held out, got {data.X.shape[0]}: "
            "give a model that is fitted on others with --model"
        )
    train, test = next(iter(MultilabelStratifiedKFold(5, random_state=seed).split(data.X, data.Y)))
    split = replace(data, train=train, test=test)
    return split.part("train"), split.part("test"), "a fifth, held out from the fit"
