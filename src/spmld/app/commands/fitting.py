"""Fitting with a progress bar and a checkpoint, metrics of held-out scores, and saving the model with a summary."""

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

import spmld.export
from spmld._validation import plural
from spmld.annotators.mixture import annotated_labels
from spmld.app.commands.loading import Source, frames
from spmld.app.commands.methods import NOISE_RATES, base_estimator
from spmld.app.commands.printing import print_message, progress_bar
from spmld.datasets import Dataset
from spmld.datasets.frames import identifier_text
from spmld.estimators import ThresholdClassifier
from spmld.estimators.progress import max_iterations
from spmld.metrics import label_ranking_average_precision, macro_auc, ranking_loss

SUMMARY_DIGITS = 6
"""Number of decimals in the summary of a model."""
_TITLES = {"label_ranking_average_precision": "average precision", "macro_auc": "AUC"}


def with_consensus(data: Dataset) -> tuple[Dataset, Any]:
    """Return the data with the consensus of the annotators as labels, and entry weights, None without annotators."""
    if data.answers is None:
        return data, None
    if data.X.shape[1] == 0:
        raise ValueError("no column is left for features; at least one feature column is required")
    with progress_bar(None, "consensus of the annotators"):
        labels, weights = annotated_labels(data.X, data.answers)
    return replace(data, Y=np.where(labels.signs == 0, np.nan, labels.signs > 0)), weights


def fit_model(model: Any, data: Dataset, method: str, entry_weight: Any = None) -> float:
    """Fit a model with a progress bar if it has iterations, otherwise with a spinner, and return the seconds."""
    X, Y = frames(data)
    base = base_estimator(model)
    options = {} if entry_weight is None else {"entry_weight": entry_weight}
    if data.trusted is not None and base.uses_trusted():
        options["trusted"] = data.trusted
    fits = model.cv + 1 if isinstance(model, ThresholdClassifier) else 1
    start = time.perf_counter()
    total = max_iterations(base)
    # Most fits end before the maximum number of iterations, so the time left on the bar is an upper bound.
    with progress_bar(None if total is None else total * fits, f"fitting {method}") as advance:
        if total is None:
            model.fit(X, Y, **options)
        else:
            base.set_params(callback=lambda record: advance(""))
            model.fit(X, Y, **options)
            for estimator in (base, base_estimator(model)):
                estimator.set_params(callback=None)
    return time.perf_counter() - start


def quality_metrics(Y: Any, scores: Any) -> dict[str, float]:
    """Return metrics of out-of-fold scores."""
    metrics = (ranking_loss, label_ranking_average_precision) if Y.shape[1] > 1 else (macro_auc,)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return {metric.__name__: round(float(metric(Y, scores)), SUMMARY_DIGITS) for metric in metrics}


def metric_title(name: str) -> str:
    """Return the name of a metric as text.

    Examples
    --------
    >>> from spmld.app.commands.fitting import metric_title
    >>> metric_title("macro_auc"), metric_title("ranking_loss")
    ('AUC', 'ranking loss')
    """
    return _TITLES.get(name, name.replace("_", " "))


def save_model(
    model: Any, path: str, source: Source, dataset: Dataset, method: str, seconds: float, **details: Any
) -> dict[str, Any]:
    """Write a model with the names of its features and labels and a summary of the fit, and return the summary.

    The model of a table that was encoded is written with its encoder, and is applied to the columns of a table. The
    summary has the options of the file and the roles of its columns, which are used for new data, too. Training data
    that the model keeps get the identifiers of the samples.
    """
    roles = None if dataset.roles is None else dataset.roles.to_dict()
    tables = {"columns": dataset.columns, "table": roles, "file": source.file_settings}
    answers: dict[str, Any] = {}
    if dataset.answers is not None:
        several = dataset.answers.counts.max() > 1
        answers = {"annotators": len(dataset.answers.names), "answers": int(dataset.answers.counts.sum())}
        answers["agreement"] = round(dataset.answers.agreement, SUMMARY_DIGITS) if several else None
    summary = {
        "data": source.name,
        "method": method,
        "n_samples": int(dataset.X.shape[0]),
        "n_features": int(dataset.X.shape[1]),
        "n_labels": int(dataset.Y.shape[1]),
        "observed": round(float(1 - np.isnan(dataset.Y).mean()), SUMMARY_DIGITS),
        "seconds": round(seconds, 3),
        **{name: content for name, content in tables.items() if content},
        **answers,
        **_estimates(base_estimator(model), dataset),
        **_decision(model if isinstance(model, ThresholdClassifier) else base_estimator(model), dataset),
        **details,
    }
    kept = getattr(model, "training_data_", None)
    if kept is not None and dataset.sample_names is not None:
        model.training_data_ = replace(kept, sample_names=np.array(list(map(identifier_text, dataset.sample_names))))
    names: Any = dataset.feature_names
    if dataset.encoder is not None:
        from sklearn.pipeline import Pipeline

        model = Pipeline([("encoder", dataset.encoder), ("estimator", model)])
        names = None
    spmld.save(model, path, label_names=dataset.label_names, feature_names=names, summary=summary)
    return summary


def _estimates(model: Any, data: Dataset) -> dict[str, Any]:
    """Return what a fit has estimated.

    These are the fractions of positives of labels without an observed negative, if there are any, the number of trusted
    entries, and the mean noise rates if they are above 0.
    """
    estimates: dict[str, Any] = {}
    priors = zip(data.label_names, getattr(model, "class_prior_", ()), strict=False)
    if estimated := {str(name): round(float(prior), SUMMARY_DIGITS) for name, prior in priors if not np.isnan(prior)}:
        estimates["class_prior"] = estimated
    if data.trusted is not None and base_estimator(model).uses_trusted():
        estimates["trusted_entries"] = int(data.trusted.sum())
    for name in NOISE_RATES:
        if np.any(rates := getattr(model, f"{name}_", 0)):
            estimates[name] = round(float(np.mean(rates)), SUMMARY_DIGITS)
    return estimates


def _decision(model: Any, data: Dataset) -> dict[str, Any]:
    """Return the decision, and the thresholds and held-out precisions of labels with a decision of their own."""
    if "decision" not in model.get_params():
        return {}
    precisions: dict[Any, Any] = {}
    for label, result in model.decision_rule_.label_precisions_.items():
        values = result._asdict().items()
        numbers = {name: None if np.isnan(value) else round(value, SUMMARY_DIGITS) for name, value in values}
        precisions[data.label_names[label] if isinstance(label, int) else label] = numbers
    if not precisions or not isinstance(model.decision, dict):
        return {"decision": model.decision, **({"precision": precisions} if precisions else {})}
    return {"decision": dict(zip(precisions, model.decision.values(), strict=True)), "precision": precisions}


@contextmanager
def stored_fits(folder: str | None) -> Iterator[None]:
    """Store the fits of the block in a folder, which is deleted at the end of the block unless there is an error.

    Messages say how many fits were loaded, and after Ctrl-C what is stored.
    """
    checkpoint = None if folder is None else spmld.export.Checkpoint(folder)
    n_stored = 0 if checkpoint is None else checkpoint.n_files
    if n_stored:
        print_message(f"spmld: note: {folder} has {plural(n_stored, 'finished fit')} of an interrupted command")
    try:
        with checkpoint or nullcontext():
            yield
    except KeyboardInterrupt:
        resumes = "With --checkpoint FOLDER, the same command resumes after an interruption"
        if checkpoint is not None:
            resumes = f"{folder} has {plural(checkpoint.n_files, 'finished fit')}, and the same command resumes"
        raise KeyboardInterrupt(f"interrupted; no model was written. {resumes}") from None
    if checkpoint is None:
        return
    if checkpoint.n_loaded:
        print_message(f"resumed: loaded {plural(checkpoint.n_loaded, 'fit')} from {folder}, and computed the others")
    elif n_stored:
        print_message(f"nothing was resumed: the fits in {folder} are of other data or parameters, and are deleted")
    checkpoint.clear()
