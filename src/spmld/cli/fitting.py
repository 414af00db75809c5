"""Fitting with a progress bar, and saving the model with a summary of the fit."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import spmld.persistence
from spmld.cli.loading import Source, frames, with_encoder
from spmld.cli.methods import NOISE_RATES, uses_trusted, without_decision
from spmld.cli.printing import print_message
from spmld.cli.progress import progress_bar
from spmld.datasets import Dataset
from spmld.estimators.progress import max_iterations


def fit_model(model: Any, data: Dataset, method: str) -> float:
    """Fit a model with a progress bar if it has iterations, otherwise with a spinner, and return the seconds."""
    X, Y = frames(data)
    verified = {"trusted": data.trusted} if data.trusted is not None and uses_trusted(model) else {}
    base = without_decision(model)
    start, total, fits = time.perf_counter(), max_iterations(base), 1 if base is model else model.cv + 1
    # Most fits end before the maximum number of iterations, so the time left on the bar is an upper bound.
    with progress_bar(None if total is None else total * fits, f"fitting {method}") as advance:
        if total is None:
            model.fit(X, Y, **verified)
        else:
            base.set_params(callback=lambda record: advance(""))
            model.fit(X, Y, **verified)
            for estimator in (base, without_decision(model)):
                estimator.set_params(callback=None)
    return time.perf_counter() - start


def save_model(
    model: Any, path: str, source: Source, data: Dataset, method: str, seconds: float, **details: Any
) -> dict[str, Any]:
    """Write a model with the names of its features and labels and a summary of the fit, and return the summary.

    The model of a table that was encoded is written with its encoder, and is applied to the columns of a table.
    """
    prefix = source.options.get("prefix")
    summary = {
        "data": source.name,
        "method": method,
        "n_samples": int(data.X.shape[0]),
        "n_features": int(data.X.shape[1]),
        "n_labels": int(data.Y.shape[1]),
        "observed": round(float(1 - np.isnan(data.Y).mean()), 6),
        "seconds": round(seconds, 3),
        **({"prefix": prefix} if prefix else {}),
        **({"columns": data.columns} if data.columns else {}),
        **({"table": table} if data.roles is not None and (table := data.roles.to_dict()) else {}),
        **_class_priors(without_decision(model), data),
        **_estimates(without_decision(model), data),
        **_decision(model, data),
        **details,
    }
    names = data.feature_names if data.encoder is None else None
    spmld.save(with_encoder(model, data), path, label_names=data.label_names, feature_names=names, summary=summary)
    return summary


@contextmanager
def stored_fits(folder: str | None) -> Iterator[None]:
    """Store the fits of the block in a folder, which is deleted at the end of the block unless there is an error.

    Messages say how many fits were loaded, and after Ctrl-C what is stored.
    """
    if folder is None:
        try:
            yield
        except KeyboardInterrupt:
            raise KeyboardInterrupt(
                "interrupted; no model was written. With --checkpoint FOLDER, the same command resumes after an "
                "interruption"
            ) from None
        return
    checkpoint = spmld.persistence.Checkpoint(folder)
    if n_stored := checkpoint.n_files:
        print_message(f"spmld: note: {folder} has {n_stored} finished fits of an interrupted command")
    try:
        with checkpoint:
            yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"interrupted; no model was written. {folder} has {checkpoint.n_files} finished fits, and the same command "
            "resumes"
        ) from None
    if checkpoint.n_loaded:
        print_message(f"resumed: {checkpoint.n_loaded} fits were loaded from {folder}, and the others were computed")
    elif n_stored:
        print_message(f"nothing was resumed: the fits in {folder} are of other data or parameters, and are deleted")
    checkpoint.clear()


def expected_size(data: Dataset) -> int:
    """Return an upper estimate of the size of a model file in bytes: scores, weights, landmarks and 400 trees."""
    (n, d), l = data.X.shape, data.Y.shape[1]
    trees = 400 * 2 * min(n / 5, 64) * (l + 6)
    return int(8 * (3 * n * l + 2 * d * l + 300 * min(d, 10_000) + trees)) + 1_000_000


def _class_priors(model: Any, data: Dataset) -> dict[str, Any]:
    """Return the estimated fractions of positives of the labels without an observed negative, if there are any."""
    priors = zip(data.label_names, getattr(model, "class_prior_", ()), strict=False)
    estimated = {str(name): round(float(prior), 6) for name, prior in priors if not np.isnan(prior)}
    return {"class_prior": estimated} if estimated else {}


def _decision(model: Any, data: Dataset) -> dict[str, Any]:
    """Return the decision, and the thresholds and held-out precisions of labels with a decision of their own."""
    if "decision" not in model.get_params():
        return {}
    precisions = {
        data.label_names[label] if isinstance(label, int) else label: {
            name: None if np.isnan(value) else round(value, 6) for name, value in result._asdict().items()
        }
        for label, result in model.decision_rule_.label_precisions_.items()
    }
    if not precisions:
        return {"decision": model.decision}
    return {"decision": dict(zip(precisions, model.decision.values(), strict=True)), "precision": precisions}


def _estimates(model: Any, data: Dataset) -> dict[str, Any]:
    """Return the number of trusted entries, and the mean noise rates if they are above 0."""
    estimates: dict[str, Any] = {}
    if data.trusted is not None and uses_trusted(model):
        estimates["trusted_entries"] = int(data.trusted.sum())
    for name in NOISE_RATES:
        if np.any(rates := getattr(model, f"{name}_", 0)):
            estimates[name] = round(float(np.mean(rates)), 6)
    return estimates
