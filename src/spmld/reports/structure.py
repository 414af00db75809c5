"""Sections on learned structure: the curriculum, label correlations and label dependencies."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld._table import TextTable
from spmld.plotting import CorrelationDisplay, ObjectiveDisplay, PacingDisplay
from spmld.reports.data import ReportData, find_model, view_note
from spmld.reports.parts import Figure, Section
from spmld.reports.pictures import picture, plot


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


def correlations(data: ReportData) -> Section | None:
    """Return heat maps of the label correlations, and the pairs with the strongest correlations."""
    model = find_model(data.model, "label_correlation")
    if model is None or len(data.label_names) < 2:
        return None
    try:
        overall = model.label_correlation()
    except ValueError:  # both correlation terms are disabled
        return None
    parts: list[Any] = [_map(overall, data.label_names, "all samples"), _strongest_pairs(overall, data)]
    sizes = np.asarray(model.group_sizes_).ravel()
    if len(sizes) > 1:
        for group, size in enumerate(sizes):
            samples = f"group {group + 1} of {len(sizes)}, {int(size)} samples"
            parts.append(_map(model.label_correlation(group), data.label_names, samples))
    text = (
        "Positive correlations are red, negative ones blue. Correlated labels are next to each other. The correlations "
        "of labels that are related to no other label, such as rare labels, are arbitrary and not zero."
    ) + view_note(data.model, model)
    return Section("correlations", "Label correlations", text, parts)


def dependencies(data: ReportData) -> Section | None:
    """Return the effect of the probability of each label on the scores of the others, for `SelfPacedEnsemble`."""
    model = find_model(data.model, "label_dependencies_")
    if model is None or len(data.label_names) < 2 or not model.dependency_weight:
        return None
    M, names = model.label_dependencies_, data.label_names
    sources, targets = np.nonzero(~np.eye(len(M), dtype=bool))
    order = np.argsort(-np.abs(M[sources, targets]), kind="stable")[: data.top]
    pairs = zip(sources[order], targets[order], strict=True)
    rows = [{"label": names[k], "affects": names[j], "weight": float(M[k, j])} for k, j in pairs]
    alt = (
        f"Heat map of the effect of each of {len(names)} labels on the scores of the others, from {M.min():.2f} to "
        f"{M.max():.2f}."
    )
    figure = _figure(CorrelationDisplay(M, names, None, "Effect of a label (row) on others (columns)"), alt)
    text = (
        "Effect of the probability of a label on the scores of the others, estimated on held-out labels. Predictions "
        f"use it with weight {model.dependency_weight:g}."
    )
    return Section(
        "dependencies", "Label dependencies", text, [figure, TextTable.from_records(rows, "Strongest effects")]
    )


def _map(correlation: NDArray[np.float64], names: list[str], samples: str) -> Figure:
    rows, columns = np.triu_indices(len(correlation), 1)
    order = np.argsort(correlation[rows, columns], kind="stable")
    (i, p), (j, q) = rows[order[[0, -1]]], columns[order[[0, -1]]]
    alt = (
        f"Heat map of the correlations of {len(names)} labels, {samples}: from {correlation[i, j]:.2f} "
        f"({names[i]} and {names[j]}) to {correlation[p, q]:.2f} ({names[p]} and {names[q]})."
    )
    return _figure(CorrelationDisplay(correlation, names, title=samples.capitalize()), alt)


def _figure(display: CorrelationDisplay, alt: str) -> Figure:
    side = float(np.clip(2.6 + 0.14 * len(display.names), 3.6, 8.0))
    return picture(plot(display), alt, size=(side + 0.7, side))


def _strongest_pairs(correlation: NDArray[np.float64], data: ReportData) -> TextTable:
    rows, columns = np.triu_indices(len(correlation), 1)
    order = np.argsort(-np.abs(correlation[rows, columns]), kind="stable")[: data.top]
    pairs = [
        {"label": data.label_names[i], "and": data.label_names[j], "correlation": float(correlation[i, j])}
        for i, j in zip(rows[order], columns[order], strict=True)
    ]
    return TextTable.from_records(pairs, "Strongest pairs")
