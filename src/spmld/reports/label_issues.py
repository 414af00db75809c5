"""Sections on likely label errors and on missing labels."""

from __future__ import annotations

import numpy as np

from spmld._table import TextTable
from spmld.reports.data import ReportData
from spmld.reports.parts import Section

__all__ = ["likely_errors", "missing_labels"]

_RATES = "alpha: rate of false positives among true negatives. beta: rate of false negatives among true positives."


def likely_errors(data: ReportData) -> Section | None:
    """Return the results of the audit."""
    if data.issues is None:
        return None
    rows = [{**row, "sample": data.audited_names[row["sample"]]} for row in data.issues.entries(data.top)]
    expected = sorted(data.issues.label_rows(), key=lambda row: -(row["error_rate"] or 0))
    text = (
        f"Labels of {data.audited_samples} that out-of-fold models flag as likely errors. The order is more "
        "reliable than the probabilities."
    )
    tables = [
        TextTable.from_records(rows, "Most likely errors"),
        TextTable.from_records(expected, "Expected errors", _RATES),
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
