"""Fitting with a progress bar, and saving the model with a summary of the fit."""

import time
from typing import Any

import numpy as np

import spmld
from spmld.cli.loading import Source, frames
from spmld.cli.methods import NOISE_RATES, uses_trusted
from spmld.cli.progress import progress_bar
from spmld.datasets import Dataset
from spmld.estimators.progress import max_iterations


def fit_model(model: Any, data: Dataset, method: str) -> float:
    """Fit a model with a progress bar if it has iterations, otherwise with a spinner, and return the seconds."""
    X, Y = frames(data)
    verified = {"trusted": data.trusted} if data.trusted is not None and uses_trusted(model) else {}
    start, total = time.perf_counter(), max_iterations(model)
    # Most fits end before the maximum number of iterations, so the time left on the bar is an upper bound.
    with progress_bar(total, f"fitting {method}") as advance:
        if total is None:
            model.fit(X, Y, **verified)
        else:
            model.set_params(callback=lambda record: advance("")).fit(X, Y, **verified).set_params(callback=None)
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
        **_estimates(model, data),
        **details,
    }
    spmld.save(model, path, label_names=data.label_names, feature_names=data.feature_names, summary=summary)
    return summary


def _class_priors(model: Any, data: Dataset) -> dict[str, Any]:
    """Return the estimated fractions of positives of the labels without an observed negative, if there are any."""
    priors = zip(data.label_names, getattr(model, "class_prior_", ()), strict=False)
    estimated = {str(name): round(float(prior), 6) for name, prior in priors if not np.isnan(prior)}
    return {"class_prior": estimated} if estimated else {}


def _estimates(model: Any, data: Dataset) -> dict[str, Any]:
    """Return the number of trusted entries, the mean noise rates if they are above 0, and the decision."""
    estimates: dict[str, Any] = {}
    if data.trusted is not None and uses_trusted(model):
        estimates["trusted_entries"] = int(data.trusted.sum())
    for name in NOISE_RATES:
        if np.any(rates := getattr(model, f"{name}_", 0)):
            estimates[name] = round(float(np.mean(rates)), 6)
    if "decision" in model.get_params():
        estimates["decision"] = model.decision
    return estimates


def describe_estimates(summary: dict[str, Any]) -> list[str]:
    """Return lines about the trusted entries, the noise rates and the decision in the summary of a fit.

    Examples
    --------
    >>> from spmld.cli.fitting import describe_estimates
    >>> describe_estimates({"trusted_entries": 200, "false_positive_rate": 0.0812, "decision": "f1"})
    ['trusted entries: 200, mean false positive rate: 0.081, decision: f1']
    """
    rates = [f"mean {name.replace('_', ' ')}: {summary[name]:.2g}" for name in NOISE_RATES if name in summary]
    trusted, decision = (
        [f"{name.replace('_', ' ')}: {summary[name]}"] if name in summary else []
        for name in ("trusted_entries", "decision")
    )
    lines = [", ".join([*trusted, *rates, *decision])]
    if rates and not summary.get("trusted_entries"):
        lines.append(
            "Rates for each label need verified samples; about 50 give most of the gain. Mark them in a column, "
            "and pass its name with --trusted."
        )
    return [line for line in lines if line]
