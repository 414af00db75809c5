"""``spmld fit``: fit a model, write it to a file, and print its quality and what to do next."""

import shlex
from dataclasses import replace
from typing import Any

import click
import numpy as np
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from spmld._table import format_number, format_rate
from spmld._validation import plural
from spmld.annotators.mixture import annotated_labels
from spmld.app.commands import options
from spmld.app.commands.fitting import (
    NOISE_RATES,
    base_estimator,
    build,
    check_decision,
    fit_model,
    parse_decision,
    quality_metrics,
    save_model,
    stored_fits,
    with_decision,
    without_decision,
)
from spmld.app.commands.loading import Source, frames
from spmld.app.commands.parameters import parse_params
from spmld.app.commands.printing import (
    check_output_path,
    list_columns,
    metric_title,
    print_json,
    print_message,
    progress_bar,
)
from spmld.datasets import Dataset

QUALITY_FOLDS = 3
"""Number of folds of the held-out quality."""
SETTINGS = {"C": "inverse regularization", "alpha": "regularization", "n_estimators": "trees"}
BASELINES = ("label prior", "logistic regression")


@click.command()
@options.source_options("data", part="train", trusted=True, annotator=False)
@options.out_option("MODEL", "Model file to write, such as model.skops.", required=True)
@options.force_option
@options.fitted_method_option
@options.params_option
@options.seed_option("Seed for the method.")
@options.decision_option
@options.several("--precision", "precisions", "[LABEL=]NUMBER", "Guarantee the precision of a label, or of all labels")
@options.several("--threshold", "thresholds", "LABEL=NUMBER", "Predict a label if its probability is above a threshold")
@click.option(
    "--held-out/--no-held-out",
    default=True,
    help="Whether to estimate the quality on held-out samples.",
    show_default=True,
)
@click.option("--keep-data", is_flag=True, help="Keep the training data in the model, for spmld update.")
@options.checkpoint_option
@options.json_option
def fit(
    data: Source,
    out: str,
    force: bool,
    method: str,
    params: tuple[str, ...],
    seed: int,
    decision: Any,
    precisions: tuple[str, ...],
    thresholds: tuple[str, ...],
    held_out: bool,
    keep_data: bool,
    checkpoint: str | None,
    as_json: bool,
) -> None:
    """Fit a model on DATA and write it to a file.

    DATA is a file or a name, as for `spmld data`. In a table, label columns start with label_ or are named with
    --label, or --tags names a column with a list of tags. Empty fields are missing labels. Text, categories, dates and
    missing values are encoded, and the model file contains the encoder. With --trusted, labels that a person has
    verified are used to estimate how often the others are wrong. With --precision, a label gets the lowest threshold
    with this precision on held-out samples. With --hierarchy, a label is predicted with all its ancestors. With
    --annotator, a sample has a row for each annotator, and the model is fitted to their consensus; see
    `spmld annotators`. With --keep-data, `spmld update` can add samples and correct labels. With --checkpoint, a fit
    that was killed is resumed.

    \b
    Examples:
      spmld fit songs.csv -o songs.skops
      spmld fit songs.csv --text review --tags tags --id song_id -o songs.skops
      spmld fit songs.xlsx --label sad --label calm --drop notes -o songs.skops --method MaskedLogistic --param C=0.3
      spmld fit songs.csv --trusted verified --decision micro_f1 -o songs.skops
      spmld fit songs.csv --precision sad=0.9 --threshold rock=0.7 -o songs.skops
      spmld fit answers.csv --annotator person --id song_id -o songs.skops
      spmld fit songs.csv --tags tags --hierarchy genres.csv -o songs.skops
    """
    check_output_path(out, force)
    settings = parse_params(params)
    decision = parse_decision(decision, precisions, thresholds)
    if decision is not None and "decision" in settings:
        raise ValueError("--param decision cannot be combined with other options for decisions; pass one of them")
    if keep_data and method != "SelfPacedEnsemble":
        raise ValueError(f"--keep-data needs SelfPacedEnsemble, which can be updated, got --method {method}")
    settings |= {"keep_data": True} if keep_data else {}
    model = build(method, settings, seed, trusted=data.trusted is not None)
    check_decision(model, decision)
    dataset, weights = _with_consensus(data.load_part())
    if keep_data and (dataset.hierarchy is not None or dataset.answers is not None):
        kind = "--annotator" if dataset.hierarchy is None else "a hierarchy"
        raise ValueError(f"--keep-data cannot be combined with {kind}; fit a model to all samples instead of an update")
    model = with_decision(model, decision, seed, dataset.Y, dataset.hierarchy)
    with stored_fits(checkpoint):
        seconds = fit_model(model, dataset, method, weights)
        quality = {"held_out": _held_out_quality(model, dataset, seed, weights)} if held_out else {}
        summary = save_model(model, out, data, dataset, method, seconds, **quality)
    if as_json:
        print_json({"model": out, **summary})
    else:
        print_message("\n".join(_describe_fit(model, out, data, dataset, summary)))


def _with_consensus(data: Dataset) -> tuple[Dataset, Any]:
    """Return the data with the consensus of the annotators as labels, and entry weights, None without annotators."""
    if data.answers is None:
        return data, None
    if data.X.shape[1] == 0:
        raise ValueError("no column is left for features; at least one feature column is required")
    with progress_bar(None, "consensus of the annotators"):
        labels, weights = annotated_labels(data.X, data.answers)
    return replace(data, Y=np.where(labels.signs == 0, np.nan, labels.signs > 0)), weights


def _held_out_quality(model: Any, data: Dataset, seed: int, weights: Any = None) -> dict[str, dict[str, float]]:
    """Return metrics of out-of-fold scores of the model, of the label prior and of logistic regression for each label.

    The ensemble has out-of-fold scores already; other methods are fitted again on each fold. The result is empty if
    there are too few samples, if the metrics are undefined, or if no label is observed in a training set.
    """
    from spmld import LabelPrior, MaskedLogistic
    from spmld.estimators import FeatureScaler
    from spmld.model_selection import cross_fit, make_folds

    if len(data.Y) < 2 * QUALITY_FOLDS:
        return {}
    weak = data.roles is not None and data.roles.untagged == "weak"
    Y_true = np.where(np.isnan(data.Y), 0, data.Y) if weak else data.Y
    Y = frames(data)[1]
    folds = make_folds(QUALITY_FOLDS, data.X, data.Y, random_state=seed)
    if any(np.isnan(data.Y[train]).all() for train, _ in folds):
        return {}
    baselines = [LabelPrior(), make_pipeline(FeatureScaler(), MaskedLogistic(C=10.0))]
    estimators = {"model": without_decision(model), **dict(zip(BASELINES, baselines, strict=True))}
    quality = {}
    for name, estimator in estimators.items():
        scores = getattr(estimator, "out_of_fold_scores_", None)
        entry_weight = weights if name == "model" else None
        try:
            if scores is None:
                scores = cross_fit(clone(estimator), data.X, Y, folds, entry_weight=entry_weight).scores
        except ValueError as error:  # of a method that needs more samples than a fold has; the fitted model is kept
            print_message(f"spmld: note: the held-out quality of {name} is not available: {error}")
            return {}
        if name == "model":
            scored = ~np.isnan(scores).any(axis=1)  # an ensemble of many samples has scores of some
            scores = model.calibration_.transform(scores) if estimator is not model else scores
        quality[name] = quality_metrics(Y_true[scored], scores[scored])
    return {} if any(np.isnan(value) for values in quality.values() for value in values.values()) else quality


def _describe_fit(model: Any, out: str, source: Source, data: Dataset, summary: dict[str, Any]) -> list[str]:
    """Return the lines that describe a fit."""
    n, l = data.Y.shape
    size = f"{plural(l, 'label')} of {plural(n, 'sample')}"
    fitted = f"{summary['method']} fitted to {size} in {summary['seconds']:.1f} s"
    features = f"{data.X.shape[1]} numbers"
    if data.encoder is not None:
        features = f"{data.X.shape[1]} from {plural(data.encoder.n_features_in_, 'column')}"
    base = base_estimator(model)
    repeated = ""
    if getattr(base, "n_repeated_samples_", 0):
        kind = "copies" if base.similar_together_ else "no copies: few categories, or different labels"
        repeated = f"; identical to an earlier sample: {plural(base.n_repeated_samples_, 'sample')} ({kind})"
    if getattr(base, "n_near_samples_", 0):
        repeated += f"; near copies of an earlier sample: {plural(base.n_near_samples_, 'sample')}"
    lines = [
        f"{out}: {fitted} ({_frequencies(data, summary)})",
        f"observed: {summary['observed']:.0%} of {data.Y.size:,} entries; features: {features}{repeated}",
    ]
    if data.answers is not None:
        labels = "no entry has several answers, so that the labels are the answers"
        if summary["agreement"] is not None:
            agreement = f"{summary['agreement']:.0%} of the pairs of answers to an entry agree"
            labels = f"{agreement}; the labels are the consensus"
        lines.append(f"annotators: {summary['annotators']}, with {summary['answers']:,} answers; {labels}")
    if data.columns:
        lines.append(f"columns: {list_columns(data.columns)}")
    lines.append(f"settings: {', '.join(_settings(model, summary)) or 'defaults'}")
    if "precision" in summary:
        lines.append(f"decisions: {_describe_precisions(summary)}")
    return [*lines, f"held-out: {_quality(summary)}", f"next: {_next_steps(out, source, summary)}"]


def _frequencies(data: Dataset, summary: dict[str, Any]) -> str:
    """Return the three most frequent labels; the frequencies of positive-only labels are estimated."""
    observed = np.maximum((~np.isnan(data.Y)).sum(axis=0), 1)
    fractions = np.nansum(data.Y, axis=0) / observed
    estimated = summary.get("class_prior", {})
    fractions = np.array([estimated.get(name, f) for name, f in zip(data.label_names, fractions, strict=True)])
    order = np.argsort(-fractions, kind="stable")[:3]
    shown = ", ".join(f"{data.label_names[j]} {fractions[j]:.0%}" for j in order)
    return shown + (", ..." if data.Y.shape[1] > 3 else "")


def _settings(model: Any, summary: dict[str, Any]) -> list[str]:
    """Return the selected settings of the ensemble, and the estimates and the decision in the summary of a fit."""
    settings = []
    base = base_estimator(model)
    for view, weight in getattr(base, "view_weights_", {}).items():
        params = ", ".join(f"{SETTINGS.get(name, name)} {value:g}" for name, value in base.params_[view].items())
        settings.append(f"view {view} {weight:.0%}{f' ({params})' if params else ''}")
    if "trusted_entries" in summary:
        settings.append(f"trusted entries: {summary['trusted_entries']}")
    settings += [
        f"mean {name.replace('_', ' ')}: {format_rate(summary[name], 3)}" for name in NOISE_RATES if name in summary
    ]
    decision = "f1" if "precision" in summary else summary.get("decision")
    return settings + ([f"decision: {decision}"] if decision is not None else [])


def _describe_precisions(summary: dict[str, Any]) -> str:
    """Return the thresholds of the labels with a decision of their own, and their precision on held-out samples."""
    from spmld.model_selection.thresholds import NEVER

    texts = []
    for label, result in summary["precision"].items():
        quality = "no held-out sample is predicted"
        if result["precision"] is not None:
            interval = f"90 % interval {result['low']:.2f} to {result['high']:.2f}, {result['n_predicted']} predicted"
            recall = "" if result["recall"] is None else f", recall {result['recall']:.2f}"
            quality = f"held-out precision {result['precision']:.2f} ({interval}){recall}"
        never = result["threshold"] == NEVER
        texts.append(f"{label} is never predicted" if never else f"{label} above {result['threshold']:.3g}: {quality}")
    return "; ".join(texts)


def _quality(summary: dict[str, Any]) -> str:
    if "held_out" not in summary:
        return "not estimated, because of --no-held-out"
    quality = summary["held_out"]
    if "model" not in quality:
        return "not available, since there are too few observed labels or only positive ones"
    texts = []
    for metric, value in quality["model"].items():
        others = ", ".join(f"{name} {format_number(quality[name][metric], 3)}" for name in BASELINES)
        texts.append(f"{metric_title(metric)} {format_number(value, 3)} ({others})")
    return "; ".join(texts)


def _next_steps(out: str, source: Source, summary: dict[str, Any]) -> str:
    out = shlex.quote(out)
    steps = [f"spmld predict {out} NEW_DATA -o predicted.csv"]
    if "annotators" in summary:
        quality = f"spmld annotators {source.command()} prints the error rates of the annotators"
        return "; ".join([*steps, quality] if summary["agreement"] is not None else steps)
    steps.append(f"spmld audit {source.command()} lists likely label errors")
    if summary["observed"] < 1:
        steps.append(f"spmld complete {source.command(roles=False)} --model {out} lists missing labels")
    if any(name in summary for name in NOISE_RATES) and not summary.get("trusted_entries"):
        steps.append("verify about 50 samples, and mark them in a column for --trusted")
    return "; ".join(steps)
