"""Sections on labels and samples, likely label errors and missing labels."""

from typing import Any

import numpy as np

from spmld._table import TableCell, TextTable, format_rate
from spmld.audit.issues import RANGE_NOTE
from spmld.metrics import label_ranking_average_precision, macro_auc, macro_average_precision, macro_f1, ranking_loss
from spmld.reports.data import ReportData
from spmld.reports.parts import Section

_FEW = 5


def labels(data: ReportData) -> Section:
    """Return the metrics of each label, and the labels with the highest and the lowest F1."""
    rows = _label_rows(data)
    parts = []
    defined = [row for row in rows if not np.isnan(row["AUC"]) and not np.isnan(row["F1"])]
    ordered = sorted(defined, key=lambda row: (-row["F1"], -row["AUC"]))
    if len(ordered) > 2 * _FEW:
        short = [{name: row[name] for name in ("label", "positives", "F1", "AUC")} for row in ordered]
        for title, some in (("Easiest labels", short[:_FEW]), ("Hardest labels", short[: -_FEW - 1 : -1])):
            parts.append(TextTable.from_records(some, title))
    text = (
        "AUC is the probability that a positive sample has a higher score than a negative sample. It is undefined (-) "
        "without observed labels of both kinds."
    )
    return Section("labels", "Labels", text, [*parts, TextTable.from_records(rows, "All labels")])


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
    else:
        columns["AUC"] = [float("nan")] * len(data.label_names)
    columns["F1"] = data.values(macro_f1, predictions.positive).tolist()
    if data.thresholds is not None:
        columns["threshold"] = data.thresholds.tolist()
    if data.issues is not None:
        columns["wrong, at most"] = [row["at_most"] for row in data.issues.label_rows()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def samples(data: ReportData) -> Section | None:
    """Return the samples with the lowest and the highest ranking loss."""
    scores = data.predictions.scores
    if scores is None or data.Y.shape[1] < 2:
        return None
    loss = data.values(ranking_loss, scores)
    precision = data.values(label_ranking_average_precision, scores)
    positives = np.nansum(data.Y, axis=1)
    defined = np.flatnonzero(~np.isnan(loss))
    if len(defined) < 2:
        return None

    def row(i: int) -> dict[str, Any]:
        return {
            "sample": data.sample_names[i],
            "ranking loss": float(loss[i]),
            "average precision": float(precision[i]),
            "labels": _join([data.label_names[j] for j in np.flatnonzero(data.Y[i] == 1)]),
            "highest scores": _join([data.label_names[j] for j in np.argsort(-scores[i])[:_FEW]]),
        }

    # In case of ties, samples with more positives come first, as they are harder to rank.
    best = defined[np.lexsort((-positives[defined], -precision[defined], loss[defined]))]
    worst = defined[np.lexsort((-positives[defined], precision[defined], -loss[defined]))]
    count = data.top // 2 or 1
    tables = [
        TextTable.from_records([row(i) for i in order[:count]], title)
        for title, order in (("Hardest samples", worst[loss[worst] > 0]), ("Easiest samples", best))
        if len(order)
    ]
    text = (
        "The ranking loss of a sample is the fraction of its pairs of a positive and a negative label that are ranked "
        "incorrectly."
    )
    if not loss[defined].any():
        text += " It is 0 for all samples."
    return Section("samples", "Samples", text, tables)


def _join(names: list[str]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def _probability(value: float) -> TableCell:
    return TableCell(format_rate(value), value)


_PROBABILITIES = ("probability", "error_probability")


def likely_errors(data: ReportData) -> Section | None:
    """Return the results of the audit."""
    if data.issues is None:
        return None
    rows = [
        {
            **row,
            "sample": data.audited_names[row["sample"]],
            **{name: _probability(row[name]) for name in _PROBABILITIES},
        }
        for row in data.issues.entries(data.top)
    ]
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
