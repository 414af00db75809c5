"""Whether probabilities are what they say."""

from __future__ import annotations

from spmld.plotting import ReliabilityDisplay
from spmld.reports.evaluation import Judged, holder
from spmld.reports.parts import Section, shown
from spmld.reports.pictures import picture

__all__ = ["calibration"]


def calibration(judged: Judged) -> Section | None:
    """Reliability of the probabilities, and where labels are cut."""
    p = judged.said.probabilities
    cut = holder(judged.model, "thresholds_") is not None
    told = "Thresholds were tuned for each label; the table of labels has them." if cut else ""
    if p is None:
        return Section("calibration", "Thresholds", told) if cut else None
    values = judged.evaluation.to_dict()
    alt = (
        f"Reliability: share of positives beside the probability they were given; the Brier score is "
        f"{shown(values['brier_score']).text}."
    )

    def draw(ax: object) -> None:
        ReliabilityDisplay.from_predictions(judged.Y, p, ax=ax)

    caption = (
        "On the dashed line, labels are positive as often as the model says. Larger points stand for more entries."
    )
    text = (
        f"The Brier score is {shown(values['brier_score']).text}, the log loss {shown(values['log_loss']).text}. {told}"
    )
    return Section("calibration", "Calibration", text.strip(), [picture(draw, alt, caption, size=(4.6, 4.6))])
