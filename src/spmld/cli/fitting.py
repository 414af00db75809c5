"""Fitting with a progress bar, and saving the model with a summary of the fit."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import spmld
from spmld.cli.loading import data_name, frames
from spmld.cli.options import used_options
from spmld.cli.progress import progress_bar, spinner
from spmld.datasets import Dataset
from spmld.estimators.progress import max_iterations

__all__ = ["fit_model", "save_model", "training_summary"]


def fit_model(model: Any, data: Dataset, method: str) -> float:
    """Fit a model with a progress bar if it has iterations, otherwise with a spinner, and return the seconds."""
    X, Y = frames(data)
    start, total = time.perf_counter(), max_iterations(model)
    if total is None:
        with spinner(f"fitting {method}"):
            model.fit(X, Y)
    else:
        # Most fits end before the maximum number of iterations, so the time left on the bar is an upper bound.
        with progress_bar(total, f"fitting {method}") as advance:
            model.set_params(callback=lambda record: advance("")).fit(X, Y)
        model.set_params(callback=None)
    return time.perf_counter() - start


def training_summary(
    source: str, data: Dataset, method: str, seconds: float, options: dict[str, Any]
) -> dict[str, Any]:
    """Return the description of a fit that a model file stores."""
    prefix = used_options(options).get("prefix")
    return {
        "data": data_name(source),
        "method": method,
        "n_samples": int(data.X.shape[0]),
        "n_features": int(data.X.shape[1]),
        "n_labels": int(data.Y.shape[1]),
        "observed": round(float(1 - np.isnan(data.Y).mean()), 6),
        "seconds": round(seconds, 3),
        **({"prefix": prefix} if prefix else {}),
    }


def save_model(model: Any, path: str, data: Dataset, summary: dict[str, Any]) -> None:
    """Write a model with the names of its features and labels."""
    spmld.save(model, path, label_names=data.label_names, feature_names=data.feature_names, summary=summary)
