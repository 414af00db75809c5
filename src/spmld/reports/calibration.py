"""Section on calibration and thresholds."""

from __future__ import annotations

from spmld._table import format_number
from spmld.plotting import ReliabilityDisplay
from spmld.reports.data import ReportData, find_model
from spmld.reports.parts import Section
from spmld.reports.pictures import picture


def calibration(data: ReportData) -> Section | None:
    """Return the reliability diagram of the probabilities, and whether thresholds were tuned."""
    p = data.predictions.probabilities
    tuned = find_model(data.model, "thresholds_") is not None
    thresholds = "The threshold of each label was tuned; the table of labels lists them." if tuned else ""
    if p is None:
        return Section("calibration", "Thresholds", thresholds) if tuned else None
    brier, log_loss = (format_number(data.evaluation[name]) for name in ("brier_score", "log_loss"))
    alt = f"Reliability diagram: fraction of positives by predicted probability; the Brier score is {brier}."

    def draw(ax: object) -> None:
        ReliabilityDisplay.from_predictions(data.Y, p, ax=ax)

    caption = "Perfectly calibrated probabilities are on the dashed line. Larger points are bins with more entries."
    text = f"The Brier score is {brier}, the log loss {log_loss}. {thresholds}"
    return Section("calibration", "Calibration", text.strip(), [picture(draw, alt, caption, size=(4.6, 4.6))])
