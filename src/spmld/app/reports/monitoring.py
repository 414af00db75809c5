"""Report on the monitoring of a model on samples without labels."""

from dataclasses import replace
from typing import Any

import numpy as np

from spmld.app.reports.page import Figure, Section, page, picture
from spmld.monitoring import Monitoring, Shifts

TEXTS = {
    "Label frequencies": "Frequencies of labels that are estimated from the scores of training and new samples.",
    "Scores": "Mean scores, in log-odds, of a linear model that was not fitted to the compared training samples.",
    "Features": "Fractions of samples with a value above the most different quantile; of words, with the word.",
}


def monitoring_report(result: Monitoring, *, title: str = "Monitoring", top: int = 20) -> str:
    """Return a report on the result of `spmld.monitoring.monitor` as one HTML page.

    Parameters
    ----------
    result : Monitoring
        Result.
    title : str, default="Monitoring"
        Title of the page.
    top : int, default=20
        Maximum number of rows of each table.

    Examples
    --------
    >>> from spmld import SelfPacedEnsemble
    >>> from spmld.datasets import make_planted
    >>> from spmld.monitoring import monitor
    >>> from spmld.app.reports import monitoring_report
    >>> data = make_planted(n_samples=400, n_labels=4, random_state=0)
    >>> model = SelfPacedEnsemble(views=("linear",), random_state=0).fit(data.X[::2], data.Y[::2])
    >>> "No shift was found" in monitoring_report(monitor(model, data.X[1::2]))
    True
    """
    text = f"{result.summary} The probability of a false alarm is at most {result.false_alarm_rate:g}."
    sections: list[Section | None] = [Section("summary", "Summary", text)]
    for name, shift in result.shifts.items():
        if shift.names:
            figure = _figure(shift) if name == "Label frequencies" else None
            table = replace(shift.table(name, top), title="Smallest p-values")
            sections.append(Section(name.lower().replace(" ", "-"), name, TEXTS[name], [table], figure=figure))
    return page(title, "Changes since the training.", sections)


def _figure(shift: Shifts) -> Figure:
    def draw(axis: Any) -> None:
        colors = np.where(shift.alarm, "#D55E00", "#0072B2")
        largest = float(np.nan_to_num([shift.training, shift.new]).max(initial=0.01))
        axis.plot([0, largest], [0, largest], color="#9A9A9A", ls="--")
        axis.scatter(shift.training, shift.new, c=colors)
        axis.set(xlabel="training", ylabel="new samples")

    return picture(
        draw, "Label frequencies in training and new samples", "Labels with an alarm are orange.", size=(4, 3)
    )
