"""Section on the curriculum: self-paced weights and the objective."""

from __future__ import annotations

from typing import Any

import numpy as np

from spmld._table import TextTable
from spmld.plotting import ObjectiveDisplay, PacingDisplay
from spmld.reports.data import ReportData, find_model, view_note
from spmld.reports.parts import Figure, Section
from spmld.reports.pictures import picture

__all__ = ["curriculum"]


def curriculum(data: ReportData) -> Section | None:
    """Return the self-paced weights and the objective by iteration, or the weights of a trimmed ensemble."""
    model = find_model(data.model, "history_")
    parts: list[Any] = [] if model is None else [_pacing(model), _objective(model)]
    parts = [part for part in [*parts, _weights(data)] if part is not None]
    if not parts:
        return None
    text = "Weights of the training entries, and the objective of the fit." + view_note(data.model, model)
    return Section("curriculum", "Curriculum", text, parts)


def _main_records(model: Any) -> list[dict[str, Any]]:
    return [record for record in model.history_ if record.get("stage", "main") == "main"]


def _pacing(model: Any) -> Figure | None:
    records = _main_records(model)
    keys = {"mean_weight_per_label": "label", "mean_weight_per_component": "latent label"}
    key = next((key for key in keys if records and key in records[0]), None)
    if key is None:
        return None
    weights = np.array([record[key] for record in records])
    if (weights >= 1).all():  # GLOCAL has iterations, but no pacing
        return None
    alt = (
        f"Heat map: mean weight of each {keys[key]} over {len(records)} iterations, "
        f"{weights[0].mean():.0%} on average in the first and {weights[-1].mean():.0%} in the last."
    )
    height = min(3 + 0.12 * weights.shape[1], 9)
    caption = f"One row for each {keys[key]}; those that were included first are at the top."
    return picture(lambda ax: PacingDisplay.from_estimator(model, ax=ax), alt, caption, size=(6.8, height))


def _objective(model: Any) -> Figure | None:
    totals = [record.get("objective") for record in _main_records(model)]
    if len(totals) < 2 or None in totals:
        return None
    alt = f"Objective and its terms over {len(totals)} iterations, from {totals[0]:.4g} to {totals[-1]:.4g}."
    caption = "Objective of the fit by iteration."
    if any(record.get("threshold") is not None for record in model.history_):
        caption += " It changes with the pacing schedule; the pacing term is negative while entries are left out."
    return picture(lambda ax: ObjectiveDisplay.from_estimator(model, ax=ax), alt, caption, size=(6.8, 4))


def _weights(data: ReportData) -> TextTable | None:
    """Return the mean weight of the observed entries of each label in a trimmed `SelfPacedEnsemble`."""
    # The weights of other models are for latent labels, or are shown in the heat map.
    model = find_model(data.model, "keep_fraction_")
    if model is None or model.keep_fraction_ == 1 or not data.training:
        return None
    weights, observed = model.self_paced_weights_, ~np.isnan(data.Y_audited)
    if weights.shape != observed.shape:
        return None
    rows = [
        {
            "label": name,
            "observed": int(mask.sum()),
            "mean weight": float(column[mask].mean()) if mask.any() else None,
            "weight below one half": int((column[mask] < 0.5).sum()),
        }
        for name, column, mask in zip(data.label_names, weights.T, observed.T, strict=True)
    ]
    return TextTable.from_records(rows, "Final weights", "Weights of the observed labels of the training samples.")
