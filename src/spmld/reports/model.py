"""The report of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from spmld.reports.calibration import calibration
from spmld.reports.choices import choices
from spmld.reports.correlations import additions, correlations
from spmld.reports.curriculum import curriculum
from spmld.reports.difficulty import labels, samples
from spmld.reports.evaluation import judge
from spmld.reports.label_errors import recovered, suspicious
from spmld.reports.page import page
from spmld.reports.summary import metrics, summary

__all__ = ["model_report"]


def model_report(
    model: Any,
    X: Any,
    Y: Any,
    *,
    X_train: Any = None,
    Y_train: Any = None,
    label_names: Sequence[Any] | None = None,
    title: str | None = None,
    facts: Mapping[str, Any] | None = None,
    audit: bool = True,
    top: int = 20,
    random_state: int = 0,
) -> str:
    """What a model has learned and how well, as one HTML page. Sections that do not apply are left out.

    Parameters
    ----------
    model : fitted estimator
        Any with `predict`. Those of this package show more.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Samples to judge it on, which it was not fitted on.
    Y : labels in any form of `spmld.labels.read_labels`
        Their labels. A DataFrame gives the samples their names.
    X_train, Y_train : optional
        What it was fitted on, to look for wrong and missing labels in. None: X and Y are searched.
    label_names : sequence, optional
        Names of the labels, if neither the model nor Y has them.
    title : str, optional
        Title of the page. None: the name of the model.
    facts : mapping, optional
        What else to say in the summary, such as the name of the data.
    audit : bool, default=True
        Look for wrong labels, by `spmld.audit.find_label_issues`, which fits models of its own.
    top : int, default=20
        How many rows the lists have.
    random_state : int, default=0
        Seed of the audit's folds.

    Returns
    -------
    str
        HTML. Write it to a file and open that in a browser.

    Examples
    --------
    >>> from spmld import GLOCAL
    >>> from spmld.datasets import make_planted
    >>> from spmld.reports import model_report
    >>> data = make_planted(n_samples=200, n_labels=4, random_state=0)
    >>> model = GLOCAL(random_state=0).fit(data.X[::2], data.Y[::2])
    >>> html = model_report(model, data.X[1::2], data.Y[1::2], label_names=["sad", "calm", "loud", "fast"])
    >>> html.startswith("<!doctype html>"), "calm" in html
    (True, True)
    """
    judged = judge(model, X, Y, X_train, Y_train, label_names, top, audit, random_state)
    sections = [
        summary(judged, facts or {}),
        metrics(judged),
        labels(judged),
        samples(judged),
        curriculum(judged),
        correlations(judged),
        additions(judged),
        suspicious(judged),
        recovered(judged),
        calibration(judged),
        choices(judged),
    ]
    return page(title or type(model).__name__, "What was learned, and how well.", sections)
