"""Labels that may be wrong, and labels that may be missing."""

from __future__ import annotations

import numpy as np

from spmld.reports.evaluation import Judged
from spmld.reports.parts import Section, Table

__all__ = ["recovered", "suspicious"]

_RATES = (
    "alpha: share of the truly negative written as positive. beta: share of the truly positive written as negative."
)


def suspicious(judged: Judged) -> Section | None:
    """What the audit has found."""
    if judged.issues is None:
        return None
    rows = [{**row, "sample": judged.own_names[row["sample"]]} for row in judged.issues.entries(judged.top)]
    expected = sorted(judged.issues.label_rows(), key=lambda row: -(row["error_rate"] or 0))
    text = (
        f"Labels of {judged.where()} that models which have not seen the sample hold for wrong. Suspicion is the "
        "probability that a label is wrong. Trust the order more than the numbers."
    )
    parts = [Table.of("Most suspicious", rows), Table.of("Errors to expect", expected, _RATES)]
    return Section("suspicious", "Suspicious labels", text, parts)


def recovered(judged: Judged) -> Section | None:
    """The missing labels that the model would add."""
    if judged.completion is None:
        return None
    added = judged.completion.suggestions(judged.Y_own)
    rows = [
        {"sample": judged.own_names[i], "label": judged.label_names[j], "confidence": confidence}
        for i, j, confidence in added[: judged.top]
    ]
    missing = int(np.isnan(judged.Y_own).sum())
    text = f"Of {missing} missing labels of {judged.where()}, {len(added)} are probably there. The surest come first."
    parts = [Table.of("To be added", rows)] if rows else []
    return Section("recovered", "Recovered labels", text, parts)
