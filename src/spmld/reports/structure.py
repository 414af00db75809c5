"""Sections on learned structure: self-paced weights, label correlations and label dependencies."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import hypergeom

from spmld._table import TextTable
from spmld.plotting import CorrelationDisplay, ObjectiveDisplay, PacingDisplay
from spmld.reports.data import ReportData, find_model, view_note
from spmld.reports.page import Figure, Section, picture, plot


def self_paced_weights(data: ReportData) -> Section | None:
    """Return the self-paced weights and the objective by iteration, or the weights of a trimmed ensemble."""
    model = find_model(data.model, "history_")
    parts: list[Any] = [] if model is None else [_pacing(model), _objective(model)]
    parts = [part for part in [*parts, _weights(data)] if part is not None]
    if not parts:
        return None
    text = "Weights of the training entries, and the objective of the fit." + view_note(data.model, model)
    return Section("weights", "Self-paced weights", text, parts)


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
    return picture(lambda ax: PacingDisplay.from_estimator(model, ax=ax), alt, caption, size=(4.8, height))


def _objective(model: Any) -> Figure | None:
    totals = [record.get("objective") for record in _main_records(model)]
    if len(totals) < 2 or None in totals:
        return None
    alt = f"Objective and its terms over {len(totals)} iterations, from {totals[0]:.4g} to {totals[-1]:.4g}."
    caption = "Objective of the fit by iteration."
    if any(record.get("threshold") is not None for record in model.history_):
        caption += " It changes with the pacing schedule; the pacing term is negative while entries are left out."
    return picture(lambda ax: ObjectiveDisplay.from_estimator(model, ax=ax), alt, caption, size=(4.8, 3.6))


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
    """Return the correlations of the observed labels, and the pairs with the strongest ones."""
    if len(data.label_names) < 2:
        return None
    phi, supported = label_correlations(data.Y_audited)
    rows, columns = np.nonzero(np.triu(supported, 1))
    if len(rows) == 0:
        return None
    order = np.argsort(-np.abs(phi[rows, columns]), kind="stable")[: data.top]
    model = _correlated_model(data.model)
    learned = None if model is None else model.label_correlation()
    names, pairs = data.label_names, []
    for i, j in zip(rows[order], columns[order], strict=True):
        values = {"correlation": float(phi[i, j])} | ({} if learned is None else {"learned": float(learned[i, j])})
        pairs.append({"label": names[i], "and": names[j], **values})
    shown = np.where(supported | np.eye(len(names), dtype=bool), phi, 0)
    first = pairs[0]
    alt = (
        f"Heat map of the correlations of {len(names)} labels; the strongest is that of {first['label']} and "
        f"{first['and']}, {first['correlation']:.2f}."
    )
    text = (
        f"Correlations (phi coefficients) of the observed labels of {data.audited_samples}. Positive ones are red, "
        "negative ones blue. Pairs whose correlation is not significant (Fisher's exact test at the 5 % level, with "
        "Bonferroni's correction) are white, and not listed."
    )
    if learned is not None:
        text += " The learned correlations of the model may differ from those of the labels."
    figure = _figure(CorrelationDisplay(shown, names), alt)
    return Section(
        "correlations", "Label correlations", text, [figure, TextTable.from_records(pairs, "Strongest pairs")]
    )


def _correlated_model(model: Any) -> Any:
    """Return the model with learned label correlations, None if there is none."""
    inner = find_model(model, "label_correlation")
    active = inner is not None and (inner.global_correlation > 0 or inner.local_correlation > 0)
    return inner if active else None


def label_correlations(Y: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the phi coefficients of pairs of labels, and which of them are significant.

    Parameters
    ----------
    Y : ndarray of shape (n_samples, n_labels)
        Labels as 0 and 1, NaN where missing. A pair is compared on the samples for which both are observed.

    Returns
    -------
    phi : ndarray of shape (n_labels, n_labels)
        Phi coefficients, 1 on the diagonal and 0 where they are undefined.
    significant : ndarray of bool of shape (n_labels, n_labels)
        Whether Fisher's exact test rejects independence at the 5 % level, with Bonferroni's correction.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.reports.structure import label_correlations
    >>> phi, significant = label_correlations(np.array([[1, 0, 1], [0, 1, 1], [1, 0, 0], [0, 1, 0]] * 5, dtype=float))
    >>> phi.round(1).tolist()
    [[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    >>> significant[0].tolist()
    [False, True, False]
    """
    positive, negative = (Y == 1).astype(float), (Y == 0).astype(float)
    both, neither, first = positive.T @ positive, negative.T @ negative, positive.T @ negative
    second, n = first.T, both + neither + first + first.T
    rows, columns = both + first, both + second
    product = rows * (n - rows) * columns * (n - columns)
    phi = np.divide(both * neither - first * second, np.sqrt(product), out=np.zeros_like(both), where=product > 0)
    np.fill_diagonal(phi, 1)
    tail = np.minimum(hypergeom.cdf(both, n, rows, columns), hypergeom.sf(both - 1, n, rows, columns))
    n_pairs = max(len(both) * (len(both) - 1) / 2, 1)
    significant = (2 * tail * n_pairs < 0.05) & (product > 0) & ~np.eye(len(both), dtype=bool)
    return phi, significant


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
    figure = _figure(CorrelationDisplay(M, names, None, "Effects of rows on columns"), alt)
    text = (
        "Effect of the probability of a label on the scores of the others, estimated on held-out labels. Predictions "
        f"use it with weight {model.dependency_weight:g}."
    )
    return Section(
        "dependencies", "Label dependencies", text, [figure, TextTable.from_records(rows, "Strongest effects")]
    )


def _figure(display: CorrelationDisplay, alt: str) -> Figure:
    side = float(np.clip(2.6 + 0.14 * len(display.names), 3.6, 8.0))
    return picture(plot(display), alt, size=(side + 0.7, side))
