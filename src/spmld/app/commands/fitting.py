"""Methods of the commands, from a name and parameters to a fitted model in a file: decisions, progress, checkpoint."""

import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

import spmld
import spmld.export
from spmld._validation import did_you_mean, is_number, plural
from spmld.app.commands.loading import Source, frames
from spmld.app.commands.parameters import parse_value
from spmld.app.commands.printing import print_message, progress_bar
from spmld.datasets import Dataset
from spmld.datasets.frames import identifier_text
from spmld.ensemble import hierarchical_ensemble
from spmld.estimators import ThresholdClassifier
from spmld.estimators.progress import max_iterations
from spmld.labels import Hierarchy
from spmld.metrics import label_ranking_average_precision, macro_auc, ranking_loss

SUMMARY_DIGITS = 6
"""Number of decimals in the summary of a model."""
_GLOCAL = {"feature_ridge": (0.01, 10.0, "log"), "coupling": (0.03, 3.0, "log"), "ridge": (0.003, 0.3, "log")}
METHODS: dict[str, dict[str, Any]] = {
    "SelfPacedEnsemble": {
        "label_graph_penalty": (0.1, 10.0, "log"),
        "dependency_weight": (0.0, 1.0),
        "keep_fraction": ["auto", 1.0],
    },
    "SPMLD": _GLOCAL,
    "SPMLD.paper": {},
    "GLOCAL": _GLOCAL,
    "LEML": {"alpha": (0.01, 100.0, "log")},
    "MLLRC": {"alpha": (1.0, 1000.0, "log"), "nuclear_penalty": (1.0, 1000.0, "log")},
    "MaskedLogistic": {"C": (0.001, 100.0, "log")},
    "MaskedRidge": {"alpha": (0.01, 1000.0, "log")},
    "MaskedBoosting": {"n_estimators": (50, 800, "log"), "max_depth": (2, 12), "learning_rate": (0.03, 0.3, "log")},
    "MaskedForest": {"min_samples_leaf": (1, 20, "log"), "max_features": (0.05, 1.0, "log")},
    "LabelBoosting": {"n_estimators": (50, 400, "log"), "max_leaf_nodes": (4, 32), "learning_rate": (0.03, 0.3, "log")},
    "PerLabelClassifier": {},
    "SelfPacedClassifier": {"groups": ["label_polarity", "label", "all"]},
    "LabelPrior": {"smoothing": (0.1, 10.0, "log")},
}
"""Methods of the commands, with the default search spaces of `spmld tune`."""

CALIBRATION_FOLDS = 3
"""Number of folds for the calibration of a method without a decision rule."""
NOISE_RATES = ("false_positive_rate", "false_negative_rate")


def build(method: str, params: dict[str, Any], seed: int, *, trusted: bool = False) -> Any:
    """Return the unfitted estimator of a method; with `trusted`, raise ValueError if it ignores verified entries.

    Examples
    --------
    >>> from spmld.app.commands.fitting import build
    >>> build("MaskedForest", {"max_features": 0.3}, seed=1)
    MaskedForest(max_features=0.3, random_state=1)
    """
    name, _, preset = method.partition(".")
    make = getattr(spmld, name)
    model = (getattr(make, preset) if preset else make)()
    accepted = model.get_params()
    if unknown := [key for key in params if key not in accepted]:
        names = sorted(model.get_params(deep=False))
        hint = did_you_mean(unknown[0], names)
        raise ValueError(f"{method} has no parameter {unknown[0]!r}; its parameters are {', '.join(names)}{hint}")
    model.set_params(**({"random_state": seed} if "random_state" in accepted else {}) | params)
    if trusted and not model.uses_trusted():
        raise ValueError(
            "--trusted needs a method that models wrong labels, SelfPacedEnsemble, or MaskedLogistic or MaskedBoosting "
            f"with --param false_positive_rate, got {method}, which gives all observed labels equal weight; leave out "
            "the column with --drop"
        )
    return model


def models_noise(model: Any) -> bool:
    """Return whether an estimator models wrong labels, so that it is not calibrated on observed labels."""
    return isinstance(model, spmld.SelfPacedEnsemble) or any(np.any(getattr(model, rate, 0)) for rate in NOISE_RATES)


def parse_decision(
    decision: str | float | None, precisions: Sequence[str], thresholds: Sequence[str]
) -> str | float | dict[str, Any] | None:
    """Return the decision of --decision, or those for single labels of --precision and --threshold.

    Examples
    --------
    >>> from spmld.app.commands.fitting import parse_decision
    >>> parse_decision(None, ["sad=0.9"], ["rock=0.7"])
    {'sad': 'precision>=0.9', 'rock': 0.7}
    """
    single: dict[str, Any] = {}
    if len(precisions) == 1 and not thresholds and decision is None and is_number(parse_value(precisions[0])):
        return f"precision>={precisions[0]}"
    for option, texts in (("--precision", precisions), ("--threshold", thresholds)):
        for text in texts:
            label, _, value = (part.strip() for part in text.rpartition("="))
            number = parse_value(value)
            if not label or not is_number(number) or not (0 < number < 1 or (number == 1 and texts is precisions)):
                raise ValueError(f"{option} must have the form LABEL=NUMBER, such as sad=0.9, got {text!r}")
            if label in single:
                raise ValueError(f"--precision and --threshold must name each label once, got {label} twice")
            single[label] = f"precision>={value}" if texts is precisions else number
    if single and decision is not None:
        raise ValueError(
            "--decision cannot be combined with --precision and --threshold; the labels that they do not name are "
            "predicted as with --decision f1"
        )
    return single or decision


def with_decision(model: Any, decision: Any, seed: int, Y: Any, hierarchy: Hierarchy | None = None) -> Any:
    """Return a model that predicts labels by a decision rule, the value of --decision or "f1".

    Methods without a parameter `decision` predict labels with scores above 0. A regularized model has few of them, even
    if it ranks samples well, so that such methods are calibrated and get a decision rule by `ThresholdClassifier`.
    By default, methods that model wrong labels are unchanged, since calibration would fit the wrong labels, and all
    methods are unchanged if the observed labels in `Y` are all positive or all negative. With a hierarchy, predictions
    agree with it, and methods without a parameter `decision` are not calibrated.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.app.commands.fitting import build, with_decision
    >>> with_decision(build("MaskedRidge", {}, 0), "macro_f1", 0, np.eye(2))
    ThresholdClassifier(cv=3, decision='macro_f1', estimator=MaskedRidge(),
                        random_state=0)
    """
    if hierarchy is not None:
        return _with_hierarchy(model, decision, hierarchy)
    if "decision" in model.get_params():
        return model if decision is None else model.set_params(decision=decision)
    calibrated = (Y > 0).any() and (Y <= 0).any() and not models_noise(model)
    if decision == "none" or (decision is None and not calibrated):
        return model
    return ThresholdClassifier(model, decision=decision or "f1", cv=CALIBRATION_FOLDS, random_state=seed)


def _with_hierarchy(model: Any, decision: Any, hierarchy: Hierarchy) -> Any:
    """Return a model whose predictions agree with a hierarchy, or raise ValueError if the decision does not.

    Of the ensemble, parameters with their default value become those of `hierarchical_ensemble`.
    """
    if isinstance(decision, dict) or str(decision).startswith("precision"):
        raise ValueError(
            "--precision and --threshold cannot be combined with a hierarchy, in which labels are predicted with their "
            "ancestors; pass a threshold for all labels, such as --decision 0.7"
        )
    if "decision" in model.get_params():
        if decision is not None:
            model.set_params(decision=decision)
    elif decision not in (None, "none"):
        name = type(model).__name__
        raise ValueError(f"--decision cannot be combined with a hierarchy and {name}; use SelfPacedEnsemble instead")
    if isinstance(model, spmld.SelfPacedEnsemble):
        default = spmld.SelfPacedEnsemble().get_params()
        model = hierarchical_ensemble(**{key: x for key, x in model.get_params().items() if x != default[key]})
    return spmld.HierarchicalClassifier(model, hierarchy)


def check_decision(model: Any, decision: Any) -> None:
    """Raise ValueError if --decision cannot be used with the model."""
    name = type(model).__name__
    if decision == "none" and "decision" in model.get_params():
        raise ValueError(f"--decision none needs a method without a decision rule, got {name}; pass 0.5 instead")
    if decision not in (None, "none") and "decision" not in model.get_params() and models_noise(model):
        raise ValueError(
            f"--decision cannot be combined with the noise rates of {name}, since decisions are calibrated on observed "
            "labels; choose labels with --threshold or --top-k of spmld predict"
        )


def without_decision(model: Any) -> Any:
    """Return a model from `with_decision` without the decision rule of `ThresholdClassifier`."""
    return base_estimator(model) if isinstance(model, ThresholdClassifier) else model


def base_estimator(model: Any) -> Any:
    """Return the base estimator of a model from `with_decision`, fitted if the model is fitted."""
    wrapped = isinstance(model, ThresholdClassifier | spmld.HierarchicalClassifier)
    return getattr(model, "estimator_", model.estimator) if wrapped else model


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
        if total is not None:
            base.set_params(callback=lambda record: advance(""))
        model.fit(X, Y, **options)
        if total is not None:
            for estimator in (base, base_estimator(model)):
                estimator.set_params(callback=None)
    return time.perf_counter() - start


def quality_metrics(Y: Any, scores: Any) -> dict[str, float]:
    """Return metrics of out-of-fold scores; samples that have none, NaN, do not count."""
    metrics = (ranking_loss, label_ranking_average_precision) if Y.shape[1] > 1 else (macro_auc,)
    scored = ~np.isnan(scores).any(axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return {metric.__name__: round(float(metric(Y[scored], scores[scored])), SUMMARY_DIGITS) for metric in metrics}


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
