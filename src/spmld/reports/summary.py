"""Sections with a summary and all metrics."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from spmld._table import TextTable, format_number
from spmld.plotting.style import metric_label
from spmld.reports.data import ReportData
from spmld.reports.parts import Facts, Section, Tiles

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
    rows = [
        {
            "metric": metric_label(row.name),
            "value": row.value,
            "better": row.better,
            "averaged over": row.over,
            "used": row.used,
            "left out": row.left_out,
        }
        for row in data.evaluation.rows
    ]
    text = (
        "Metrics are averaged over samples or labels, or computed over all entries. Samples and labels for which a "
        "metric is undefined are left out."
    )
    return Section("metrics", "Metrics", text, [TextTable.from_records(rows, "All metrics")])


def _changed_params(model: Any) -> str:
    """Return the parameters that differ from the defaults, as in the repr of the model."""
    if not isinstance(model, BaseEstimator):
        return ""
    inside = re.fullmatch(r"\w+\((.*)\)", " ".join(repr(model).split()))
    return inside[1] if inside else ""
