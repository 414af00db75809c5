"""Sections with a summary, all metrics, and calibration."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from spmld._table import TableCell, TextTable, format_number
from spmld.plotting import ReliabilityDisplay
from spmld.plotting.style import metric_label
from spmld.reports.data import ReportData
from spmld.reports.parts import Facts, Section, Tiles
from spmld.reports.pictures import picture

_HEADLINES = ("ranking_loss", "macro_auc", "label_ranking_average_precision", "micro_f1", "macro_f1")


def summary(data: ReportData, facts: Mapping[str, Any]) -> Section:
    """Return the main metrics, and facts about the model and the data."""
    rows = {row.name: row for row in data.evaluation.rows}
    tiles = [
        (metric_label(name), format_number(rows[name].value), f"{rows[name].better} is better")
        for name in _HEADLINES
        if name in rows
    ]
    n_samples, n_labels = data.Y.shape
    shown = [("model", type(data.model).__name__), *((name, str(value)) for name, value in facts.items())]
    shown.append(("evaluated on", f"{n_samples} samples, {n_labels} labels"))
    shown.append(("observed labels", f"{1 - np.isnan(data.Y).mean():.1%}"))
    if data.training:
        shown.append(("trained on", f"{len(data.Y_audited)} samples"))
        shown.append(("observed training labels", f"{1 - np.isnan(data.Y_audited).mean():.1%}"))
    if params := _changed_params(data.model):
        shown.append(("parameters", params))
    return Section("summary", "Summary", "Missing labels are ignored in all metrics.", [Tiles(tiles), Facts(shown)])


def metrics(data: ReportData) -> Section:
    """Return all metrics."""
    columns = ["metric", "value", "better", "averaged over", "used", "left out"]
    rows = [[metric_label(r.name), r.value, r.better, r.over, r.used, r.left_out] for r in data.evaluation.rows]
    text = (
        "Metrics are averaged over samples or labels, or computed over all entries. Samples and labels for which a "
        "metric is undefined are left out."
    )
    return Section("metrics", "Metrics", text, [TextTable(columns, rows, "All metrics")])


def _changed_params(model: Any) -> str:
    """Return the parameters that differ from the defaults, as in the repr of the model."""
    if not isinstance(model, BaseEstimator):
        return ""
    inside = re.fullmatch(r"\w+\((.*)\)", " ".join(repr(model).split()))
    return inside[1] if inside else ""


def calibration(data: ReportData) -> Section | None:
    """Return the reliability diagram of the probabilities, and whether labels have thresholds."""
    p = data.predictions.probabilities
    if p is None:
        return None
    thresholds = ""
    if data.thresholds is not None and data.decision_rule is not None:
        means = "" if data.decision_rule.thresholds_ is not None else "means of the "
        depend = ", which depend on the sample" if means else ""
        thresholds = f"The table of labels lists the {means}thresholds of the probabilities{depend}."
    brier, log_loss = (format_number(data.evaluation[name]) for name in ("brier_score", "log_loss"))
    alt = f"Reliability diagram: fraction of positives by predicted probability; the Brier score is {brier}."

    def draw(ax: object) -> None:
        ReliabilityDisplay.from_predictions(data.Y, p, ax=ax)

    caption = "Perfectly calibrated probabilities are on the dashed line. Larger points are bins with more entries."
    text = f"The Brier score is {brier}, the log loss {log_loss}. {thresholds}"
    parts: list[Any] = [picture(draw, alt, caption, size=(4.6, 4.6)), _label_calibration(data, p)]
    return Section("calibration", "Calibration", text.strip(), parts)


def _label_calibration(data: ReportData, p: NDArray[np.float64]) -> TextTable:
    """Return the number of positives of each label, beside the number that the probabilities predict."""
    observed = ~np.isnan(data.Y)
    expected = np.where(observed, p, 0).sum(axis=0).tolist()
    columns = {
        "label": data.label_names,
        "observed": observed.sum(axis=0).tolist(),
        "positives": np.nansum(data.Y, axis=0).astype(int).tolist(),
        "expected positives": [TableCell(f"{total:.1f}", total) for total in expected],
    }
    rows = list(zip(*columns.values(), strict=True))
    note = "The expected number of positives is the sum of the probabilities of the observed entries."
    return TextTable(list(columns), rows, "Calibration of labels", note)
