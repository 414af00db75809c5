"""How the fit went: which labels were in use when, and the objective."""

from __future__ import annotations

from typing import Any

import numpy as np

from spmld.plotting import ObjectiveDisplay, PacingDisplay
from spmld.reports.evaluation import Judged, holder, of_a_view
from spmld.reports.parts import Figure, Section, Table
from spmld.reports.pictures import picture

__all__ = ["curriculum"]


def curriculum(judged: Judged) -> Section | None:
    """The pacing and the objective of the rounds, or the weights that a pacing without rounds has given."""
    parts: list[Any] = []
    model = holder(judged.model, "history_")
    if model is not None:
        parts += [_pacing(model), _objective(model)]
    parts.append(_weights(judged))
    parts = [part for part in parts if part is not None]
    if not parts:
        return None
    text = "What the fit learned from, and when." + of_a_view(judged.model, model)
    return Section("curriculum", "Curriculum", text, parts)


def _pacing(model: Any) -> Figure | None:
    rounds = [record for record in model.history_ if record.get("stage", "main") == "main"]
    key = next(
        (key for key in ("mean_weight_per_label", "mean_weight_per_component") if rounds and key in rounds[0]), None
    )
    if key is None:
        return None
    shares = np.array([record[key] for record in rounds])
    if (shares >= 1).all():  # GLOCAL has rounds, but no pacing
        return None
    what = "label" if key == "mean_weight_per_label" else "latent label"
    alt = (
        f"Heat map: the share of each {what} in use over {len(rounds)} rounds, "
        f"{shares[0].mean():.0%} on average in the first and {shares[-1].mean():.0%} in the last."
    )
    height = min(3 + 0.12 * shares.shape[1], 9)
    caption = f"A row for each {what}, those that came into use first on top."
    return picture(lambda ax: PacingDisplay.from_estimator(model, ax=ax), alt, caption, size=(6.8, height))


def _objective(model: Any) -> Figure | None:
    totals = [record.get("objective") for record in model.history_ if record.get("stage", "main") == "main"]
    if len(totals) < 2 or None in totals:
        return None
    alt = f"Lines: the objective and its terms over {len(totals)} rounds, from {totals[0]:.4g} to {totals[-1]:.4g}."
    caption = "What the fit minimises, round by round."
    if any(record.get("threshold") is not None for record in model.history_):
        caption += " The pacing changes it as it goes: while it leaves entries out, its own term is below 0."
    return picture(lambda ax: ObjectiveDisplay.from_estimator(model, ax=ax), alt, caption, size=(6.8, 4))


def _weights(judged: Judged) -> Table | None:
    """Mean weight of the known entries of each label, by a pacing that has no rounds: that of `SelfPacedEnsemble`."""
    # Weights of other models belong to latent labels, or the heat map has them; a share of 1 is no pacing.
    model = holder(judged.model, "share_")
    if (
        model is None
        or model.share_ == 1
        or not judged.training
        or model.self_paced_weights_.shape != judged.Y_own.shape
    ):
        return None
    P, known = model.self_paced_weights_, ~np.isnan(judged.Y_own)
    rows = [
        {
            "label": name,
            "known": int(seen.sum()),
            "mean weight": float(p[seen].mean()) if seen.any() else None,
            "weight below one half": int((p[seen] < 0.5).sum()),
        }
        for name, p, seen in zip(judged.label_names, P.T, known.T, strict=True)
    ]
    return Table.of("Weights at the end", rows, "How much the known labels of the training samples count.")
