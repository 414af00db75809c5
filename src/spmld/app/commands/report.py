"""``spmld report``: write an HTML report on a model."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from spmld._io import need, writing
from spmld.app.commands import options
from spmld.app.commands.fitting import build, fit_model, with_decision
from spmld.app.commands.loading import Source, frames
from spmld.app.commands.matching import match, open_model, split_encoder
from spmld.app.commands.parameters import parse_params
from spmld.app.commands.printing import check_output_path, print_message, progress_bar
from spmld.app.reports import model_report
from spmld.datasets import Dataset

HELD_OUT_FOLDS = 5
"""Number of folds, of which one is held out from the fit."""


@click.command()
@options.source_options(trusted=True, allow_missing=True)
@options.out_option("FILE", "HTML file to write, such as report.html.", required=True)
@options.force_option
@options.model_option
@options.fitted_method_option
@options.params_option
@options.seed_option("Seed for the method.")
@click.option("--title", help="Title of the page.")
@options.integer("--top", 20, "Maximum number of rows.")
@click.option("--no-audit", is_flag=True, help="Skip the audit of the labels, which fits additional models.")
@options.trust_type_option
def report(
    source: Source,
    out: str,
    force: bool,
    model: str | None,
    method: str,
    params: tuple[str, ...],
    seed: int,
    title: str | None,
    top: int,
    no_audit: bool,
    trusted_types: tuple[str, ...],
) -> None:
    """Write a report on a model as one HTML file without external resources.

    A method is fitted to SOURCE and evaluated, or the model in MODEL is evaluated. The evaluation uses the test part of
    the official split. Without a split it uses all samples if --model is used, and otherwise a fifth of the samples,
    held out from the fit.

    \b
    Examples:
      spmld report test.csv --model songs.skops -o songs.html
      spmld report emotions --method SelfPacedEnsemble -o emotions.html
    """
    check_output_path(out, force)
    need("jinja2", "report")
    need("matplotlib", "report")
    if Path(source.path).suffix.lower() == ".skops":
        raise ValueError(f"{source.path} is a model file; pass the data to evaluate it on, and --model {source.path}")
    if model is None:
        arguments = _fit(source, method, parse_params(params), seed)
    else:
        options.check_model_options()
        arguments = _load(source, model, trusted_types)
    arguments |= {"title": title} if title else {}
    with progress_bar(None, "evaluating"):
        html = model_report(**arguments, top=top, audit=not no_audit, random_state=seed)
    with writing(out) as part:
        part.write_text(html, encoding="utf-8")
    print_message(f"{out}: {len(html.encode()) / 1000:,.0f} kB")


def _load(source: Source, path: str, trusted_types: tuple[str, ...]) -> dict[str, Any]:
    """Return the arguments of the report on a model in a file."""
    model, info = open_model(path, trusted_types, source)
    data = match(source, path, info, labels=True)
    facts = {"data": source.name, "file": Path(path).name, "written": info.created}
    if info.summary.get("data"):
        facts["trained on"] = info.summary["data"]
    estimator, X = split_encoder(model, data.X, source.path)
    data = data.resolve_contradictions(estimator)
    return {
        "model": estimator,
        "X": X,
        "Y": need("pandas").DataFrame(data.Y, columns=data.label_names, index=data.sample_names),
        "feature_names": None if estimator is model else list(model[0].get_feature_names_out()),
        "title": f"{info.summary.get('method', info.estimator)} on {source.name}",
        "facts": facts,
    }


def _fit(source: Source, method: str, params: dict[str, Any], seed: int) -> dict[str, Any]:
    """Fit a method and return the arguments of the report."""
    model = build(method, params, seed, trusted=source.trusted is not None)
    data = source.prepare(source.load())
    train, test, description = _split(data, seed)
    model = with_decision(model, None, seed, train.Y, train.hierarchy)
    seconds = fit_model(model, train, method)
    X, Y = frames(test)
    X_train, Y_train = frames(train)
    facts = {"data": source.name, "evaluated on": description, "seconds to fit": f"{seconds:.1f}"}
    facts |= {} if train.trusted is None else {"trusted entries": str(train.trusted.sum())}
    data_sets = {"X": X, "Y": Y, "X_train": X_train, "Y_train": Y_train, "feature_names": data.feature_names}
    return {"model": model, **data_sets, "title": f"{method} on {source.name}", "facts": facts}


def _split(data: Dataset, seed: int) -> tuple[Dataset, Dataset, str]:
    """Return the training data, the test data and a description of the test data."""
    if data.train is not None:
        return data.part("train"), data.part("test"), "test part of the official split"
    from spmld.model_selection import MultilabelStratifiedKFold

    if data.X.shape[0] < HELD_OUT_FOLDS:
        raise ValueError(
            f"SOURCE must have at least {HELD_OUT_FOLDS} samples to hold out a fifth, got {data.X.shape[0]}; "
            "pass a model fitted on other samples with --model"
        )
    train, test = next(iter(MultilabelStratifiedKFold(HELD_OUT_FOLDS, random_state=seed).split(data.X, data.Y)))
    split = replace(data, train=train, test=test)
    return split.part("train"), split.part("test"), "a fifth of the samples, held out from the fit"
