"""``spmld report``: write an HTML report on a model or a comparison."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from spmld._io import need, reading
from spmld.cli import options
from spmld.cli.fitting import fit_model
from spmld.cli.loading import Source, frames
from spmld.cli.matching import match, open_model, split_encoder
from spmld.cli.methods import build, parse_params, with_decision
from spmld.cli.printing import progress_bar, write_page
from spmld.datasets import Dataset


@click.command()
@options.source_options(trusted=True)
@options.out_option("FILE", "HTML file to write, such as report.html.", required=True)
@options.model_option
@options.method_options
@click.option("--title", help="Title of the page.")
@options.integer("--top", 20, "Maximum number of rows.")
@click.option("--no-audit", is_flag=True, help="Skip the audit of the labels, which fits additional models.")
@options.trust_type_option
def report(
    source: Source,
    out: str,
    model: str | None,
    method: str,
    params: tuple[str, ...],
    seed: int,
    title: str | None,
    top: int,
    no_audit: bool,
    trusted_types: tuple[str, ...],
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
    need("jinja2", "report")
    need("matplotlib", "report")
    path, extension = source.path, Path(source.path).suffix.lower()
    if extension == ".skops":
        raise ValueError(f"{path} is a model file; pass the data to evaluate it on, and --model {path}")
    arguments = {"top": top, "audit": not no_audit, "random_state": seed}
    if extension == ".json":
        if model is not None:
            raise ValueError(f"--model cannot be combined with {path}, which contains results; pass a data set")
        html = _comparison_page(path, title)
    elif model is None:
        html = _fitted_page(source, method, parse_params(params), title, arguments)
    else:
        options.check_model_options()
        html = _model_page(source, model, trusted_types, title, arguments)
    write_page(html, out)


def _comparison_page(path: str, title: str | None) -> str:
    from spmld.model_selection import Comparison
    from spmld.reports import comparison_report

    with reading(path, "the output of spmld compare --json") as file:
        content = json.loads(file.read_text(encoding="utf-8"))
        facts = {name: content[name] for name in ("data", "seed") if name in content}
        default = f"Comparison of methods on {facts['data']}" if "data" in facts else None
        return comparison_report(Comparison.from_dict(content), title=title or default, facts=facts)


def _model_page(
    source: Source, path: str, trusted_types: tuple[str, ...], title: str | None, arguments: dict[str, Any]
) -> str:
    from spmld.reports import model_report

    model, info = open_model(path, trusted_types, source)
    data = match(source, path, info, labels=True)
    facts = {"data": source.name, "file": Path(path).name, "written": info.created}
    facts |= {"trained on": info.summary["data"]} if info.summary.get("data") else {}
    title = title or f"{info.summary.get('method', info.estimator)} on {source.name}"
    estimator, X = split_encoder(model, data.X, source.path)
    names = None if estimator is model else list(model[0].get_feature_names_out())
    Y = need("pandas").DataFrame(data.Y, columns=data.label_names, index=data.sample_names)
    with progress_bar(None, "evaluating"):
        return model_report(estimator, X, Y, feature_names=names, title=title, facts=facts, **arguments)


def _fitted_page(
    source: Source, method: str, params: dict[str, Any], title: str | None, arguments: dict[str, Any]
) -> str:
    from spmld.reports import model_report

    seed = arguments["random_state"]
    model, data = build(method, params, seed, trusted=source.trusted is not None), source.load()
    source.check_features(data)
    train, test, description = _split(data, seed)
    model = with_decision(model, None, seed, train.Y)
    seconds = fit_model(model, train, method)
    (X, Y), (X_train, Y_train) = frames(test), frames(train)
    facts = {"data": source.name, "evaluated on": description, "seconds to fit": f"{seconds:.1f}"}
    facts |= {} if train.trusted is None else {"trusted entries": str(train.trusted.sum())}
    arguments |= {"feature_names": data.feature_names, "title": title or f"{method} on {source.name}", "facts": facts}
    with progress_bar(None, "evaluating"):
        return model_report(model, X, Y, X_train=X_train, Y_train=Y_train, **arguments)


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
