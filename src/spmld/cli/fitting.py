"""Fitting with a progress bar, and saving the model with a summary of the fit."""

import time
from typing import Any

import numpy as np

import spmld
from spmld.cli.loading import Source, frames
from spmld.cli.progress import progress_bar
from spmld.datasets import Dataset
from spmld.estimators.progress import max_iterations


def fit_model(model: Any, data: Dataset, method: str) -> float:
    """Fit a model with a progress bar if it has iterations, otherwise with a spinner, and return the seconds."""
    X, Y = frames(data)
    start, total = time.perf_counter(), max_iterations(model)
    # Most fits end before the maximum number of iterations, so the time left on the bar is an upper bound.
    with progress_bar(total, f"fitting {method}") as advance:
        if total is None:
            model.fit(X, Y)
        else:
            model.set_params(callback=lambda record: advance("")).fit(X, Y).set_params(callback=None)
    return time.perf_counter() - start


def save_model(
    model: Any, path: str, source: Source, data: Dataset, method: str, seconds: float, **details: Any
) -> dict[str, Any]:
    """Write a model with the names of its features and labels and a summary of the fit, and return the summary."""
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
        **_class_priors(model, data),
        **details,
    }
    spmld.save(model, path, label_names=data.label_names, feature_names=data.feature_names, summary=summary)
    return summary


def _class_priors(model: Any, data: Dataset) -> dict[str, Any]:
    """Return the estimated fractions of positives of the labels without an observed negative, if there are any."""
    priors = zip(data.label_names, getattr(model, "class_prior_", ()), strict=False)
    estimated = {str(name): round(float(prior), 6) for name, prior in priors if not np.isnan(prior)}
    return {"class_prior": estimated} if estimated else {}
