"""Sections on the quality of a model: metrics, labels, likely label errors, missing labels, calibration."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

from spmld._response import Predictions
from spmld._table import TableCell, TextTable, format_number, format_rate
from spmld.app.reports.data import ReportData
from spmld.app.reports.page import Section, picture
from spmld.audit.issues import RANGE_NOTE
from spmld.metrics import macro_auc, macro_f1
from spmld.plotting import ReliabilityDisplay
from spmld.plotting.style import metric_label

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
    return Section("summary", "Summary", "Missing labels are ignored in all metrics.", tiles=tiles, facts=shown)


def metrics(data: ReportData) -> Section:
    """Return all metrics."""
    columns = ["metric", "value", "better", "averaged over", "used", "left out"]
    rows = [[metric_label(r.name), r.value, r.better, r.over, r.used, r.left_out] for r in data.evaluation.rows]
    text = (
        "Metrics are averaged over samples or labels, or computed over all entries. Samples and labels for which a "
        "metric is undefined are left out."
    )
    return Section("metrics", "Metrics", text, [TextTable(columns, rows, "All metrics")])


def label_quality(Y: NDArray[np.float64], predictions: Predictions, names: list[str]) -> dict[str, list[Any]]:
    """Return the counts, precision, recall, F1 and AUC of each label as columns of a table; NaN where undefined.

    Parameters
    ----------
    Y : ndarray of shape (n_samples, n_labels)
        Labels as 0 and 1, NaN where missing.
    predictions : Predictions
        Predictions of the samples.
    names : list of str
        Names of the labels.
    """
    observed = ~np.isnan(Y)
    positive = Y == 1
    predicted = observed & (predictions.positive == 1)
    hits, n_positive, n_predicted = (part.sum(axis=0) for part in (predicted & positive, positive, predicted))
    with warnings.catch_warnings(), np.errstate(invalid="ignore", divide="ignore"):
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        values = {"precision": hits / n_predicted, "recall": hits / n_positive}
        values["F1"] = macro_f1(Y, predictions.positive, average=None)
        if predictions.scores is not None:
            values["AUC"] = macro_auc(Y, predictions.scores, average=None)
    counts = {"observed": observed.sum(axis=0), "positives": n_positive, "predicted": n_predicted}
    return {"label": names, **{name: np.asarray(column).tolist() for name, column in {**counts, **values}.items()}}


def labels(data: ReportData) -> Section:
    """Return the metrics of each label."""
    columns = label_quality(data.Y, data.predictions, data.label_names)
    if data.thresholds is not None:
        columns["threshold"] = data.thresholds.tolist()
    text = (
        "AUC is the probability that a positive sample has a higher score than a negative sample. It is undefined (-) "
        "without observed labels of both kinds."
    )
    rows = list(zip(*columns.values(), strict=True))
    return Section("labels", "Labels", text, [TextTable(list(columns), rows, "All labels")])


def likely_errors(data: ReportData) -> Section | None:
    """Return the results of the audit."""
    if data.issues is None:
        return None
    entries = data.issues.table(data.top)
    for name in ("probability", "error_probability"):
        entries[name] = [TableCell(format_rate(value), value) for value in entries[name]]
    ranges = data.issues.per_label().sort_values("at_most", ascending=False, kind="stable")
    text = (
        f"Labels of {data.audited_samples} that out-of-fold models flag as likely errors: "
        f"{data.issues.summary()}. Error probabilities are those of the upper end."
    )
    tables = [
        TextTable.from_frame(entries, "Most likely errors"),
        TextTable.from_frame(ranges, "Wrong entries by label", RANGE_NOTE),
    ]
    return Section("errors", "Likely label errors", text, tables)


def missing_labels(data: ReportData) -> Section | None:
    """Return the missing labels that the model predicts to be positive."""
    if data.completion is None:
        return None
    added = data.completion.suggestions(data.labels_audited)
    rows = [
        {"sample": data.audited_names[i], "label": data.label_names[j], "confidence": confidence}
        for i, j, confidence in added[: data.top]
    ]
    text = (
        f"Of {np.isnan(data.Y_audited).sum()} missing labels of {data.audited_samples}, {len(added)} are predicted "
        "positive. They are listed by decreasing confidence."
    )
    tables = [TextTable.from_records(rows, "Predicted positives")] if rows else []
    return Section("missing", "Missing labels", text, tables)


def calibration(data: ReportData) -> Section | None:
    """Return the reliability diagram of the probabilities."""
    p = data.predictions.probabilities
    if p is None:
        return None
    brier, log_loss = (format_number(data.evaluation[name]) for name in ("brier_score", "log_loss"))
    figure = picture(
        lambda ax: ReliabilityDisplay.from_predictions(data.Y, p, ax=ax),
        f"Reliability diagram: fraction of positives by predicted probability; the Brier score is {brier}.",
        "Perfectly calibrated probabilities are on the dashed line. Larger points are bins with more entries.",
        size=(4.6, 4.6),
    )
    return Section("calibration", "Calibration", f"The Brier score is {brier}, the log loss {log_loss}.", figure=figure)
