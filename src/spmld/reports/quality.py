"""Sections on the quality of a model: metrics, labels, samples, likely label errors, missing labels, calibration."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from spmld._table import TableCell, TextTable, format_number, format_rate
from spmld.audit.issues import RANGE_NOTE
from spmld.metrics import label_ranking_average_precision, macro_auc, macro_average_precision, macro_f1, ranking_loss
from spmld.plotting import ReliabilityDisplay
from spmld.plotting.style import metric_label
from spmld.reports.data import ReportData
from spmld.reports.page import Facts, Section, Tiles, picture

_HEADLINES = ("ranking_loss", "macro_auc", "label_ranking_average_precision", "micro_f1", "macro_f1")
_FEW = 5


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


def labels(data: ReportData) -> Section:
    """Return the metrics of each label."""
    text = (
        "AUC is the probability that a positive sample has a higher score than a negative sample. It is undefined (-) "
        "without observed labels of both kinds."
    )
    return Section("labels", "Labels", text, [TextTable.from_records(_label_rows(data), "All labels")])


def _label_rows(data: ReportData) -> list[dict[str, Any]]:
    observed, predictions = ~np.isnan(data.Y), data.predictions
    columns: dict[str, Any] = {
        "label": data.label_names,
        "observed": observed.sum(axis=0).tolist(),
        "positives": np.nansum(data.Y, axis=0).astype(int).tolist(),
        "predicted positives": np.where(observed, predictions.positive, 0).sum(axis=0).tolist(),
    }
    if predictions.scores is not None:
        columns["AUC"] = data.values(macro_auc, predictions.scores).tolist()
        columns["average precision"] = data.values(macro_average_precision, predictions.scores).tolist()
    columns["F1"] = data.values(macro_f1, predictions.positive).tolist()
    if data.thresholds is not None:
        columns["threshold"] = data.thresholds.tolist()
    if data.issues is not None:
        columns["wrong, at most"] = [row["at_most"] for row in data.issues.label_rows()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def samples(data: ReportData) -> Section | None:
    """Return the samples with the highest ranking loss."""
    scores = data.predictions.scores
    if scores is None or data.Y.shape[1] < 2:
        return None
    loss, precision = (data.values(metric, scores) for metric in (ranking_loss, label_ranking_average_precision))
    text = (
        "The ranking loss of a sample is the fraction of its pairs of a positive and a negative label that are ranked "
        "incorrectly."
    )
    if not np.nansum(loss):
        return Section("samples", "Samples", text + " It is 0 for all samples.")
    # In case of ties, samples with more positives come first, as they are harder to rank.
    order = np.lexsort((-np.nansum(data.Y, axis=1), precision, -loss))
    rows = [
        {
            "sample": data.sample_names[i],
            "ranking loss": float(loss[i]),
            "average precision": float(precision[i]),
            "labels": _join([data.label_names[j] for j in np.flatnonzero(data.Y[i] == 1)]),
            "highest scores": _join([data.label_names[j] for j in np.argsort(-scores[i])[:_FEW]]),
        }
        for i in order[: data.top]
        if loss[i] > 0
    ]
    return Section("samples", "Samples", text, [TextTable.from_records(rows, "Hardest samples")])


def _join(names: list[str]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def likely_errors(data: ReportData) -> Section | None:
    """Return the results of the audit."""
    if data.issues is None:
        return None
    rows = []
    for entry in data.issues.entries(data.top):
        row = {**entry, "sample": data.audited_names[entry["sample"]]}
        for name in ("probability", "error_probability"):
            row[name] = TableCell(format_rate(entry[name]), entry[name])
        rows.append(row)
    labels = sorted(data.issues.label_rows(), key=lambda row: -row["at_most"])
    text = (
        f"Labels of {data.audited_samples} that out-of-fold models flag as likely errors: "
        f"{data.issues.summary()}. Error probabilities are those of the upper end."
    )
    tables = [
        TextTable.from_records(rows, "Most likely errors"),
        TextTable.from_records(labels, "Wrong entries by label", RANGE_NOTE),
    ]
    return Section("errors", "Likely label errors", text, tables)


def missing_labels(data: ReportData) -> Section | None:
    """Return the missing labels that the model predicts to be positive."""
    if data.completion is None:
        return None
    added = data.completion.suggestions(data.Y_audited)
    rows = [
        {"sample": data.audited_names[i], "label": data.label_names[j], "confidence": confidence}
        for i, j, confidence in added[: data.top]
    ]
    count = int(np.isnan(data.Y_audited).sum())
    text = (
        f"Of {count} missing labels of {data.audited_samples}, {len(added)} are predicted positive. They are listed by "
        "decreasing confidence."
    )
    tables = [TextTable.from_records(rows, "Predicted positives")] if rows else []
    return Section("missing", "Missing labels", text, tables)


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
    observed = ~np.isnan(data.Y)
    expected = np.where(observed, p, 0).sum(axis=0).tolist()
    columns = {
        "label": data.label_names,
        "observed": observed.sum(axis=0).tolist(),
        "positives": np.nansum(data.Y, axis=0).astype(int).tolist(),
        "expected positives": [TableCell(f"{total:.1f}", total) for total in expected],
    }
    note = "The expected number of positives is the sum of the probabilities of the observed entries."
    rows = list(zip(*columns.values(), strict=True))
    table = TextTable(list(columns), rows, "Calibration of labels", note)
    return Section("calibration", "Calibration", text.strip(), [picture(draw, alt, caption, size=(4.6, 4.6)), table])
