"""Report on a model."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from spmld.reports.data import ReportData, collect_data
from spmld.reports.features import features
from spmld.reports.labels_and_samples import labels, likely_errors, missing_labels, samples
from spmld.reports.metrics import calibration, metrics, summary
from spmld.reports.model_card import model_card
from spmld.reports.model_selection import model_selection
from spmld.reports.page import page
from spmld.reports.parts import Section
from spmld.reports.structure import correlations, dependencies, self_paced_weights

_SECTIONS: tuple[Callable[[ReportData], Section | None], ...] = (
    metrics,
    labels,
    samples,
    features,
    self_paced_weights,
    correlations,
    dependencies,
    likely_errors,
    missing_labels,
    calibration,
    model_selection,
    model_card,
)


def model_report(
    model: Any,
    X: Any,
    Y: Any,
    *,
    X_train: Any = None,
    Y_train: Any = None,
    label_names: Sequence[Any] | None = None,
    feature_names: Sequence[str] | None = None,
    title: str | None = None,
    facts: Mapping[str, Any] | None = None,
    audit: bool = True,
    top: int = 20,
    random_state: int = 0,
) -> str:
    """Return a report on a fitted model as one HTML page. Sections that do not apply are left out.

    Parameters
    ----------
    model : fitted estimator
        Estimator with `predict`. Reports on the estimators of this package have additional sections.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Samples for the evaluation, which should not be training samples.
    Y : labels in any form accepted by `spmld.labels.read_labels`
        Labels of these samples. The index of a DataFrame provides the names of the samples.
    X_train, Y_train : optional
        Training samples, whose labels are audited and completed. By default, the labels Y are audited and completed.
    label_names : sequence, optional
        Names of the labels, if neither the model nor Y has them.
    feature_names : sequence of str, optional
        Names of the features, if X has none.
    title : str, optional
        Title of the page. By default, the name of the model.
    facts : mapping, optional
        Additional facts for the summary, such as the name of the data.
    audit : bool, default=True
        Whether to audit the labels by `spmld.audit.find_label_issues`, which fits additional models.
    top : int, default=20
        Maximum number of rows in lists.
    random_state : int, default=0
        Seed for the folds of the audit.

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
    data = collect_data(model, X, Y, X_train, Y_train, label_names, feature_names, top, audit, random_state)
    sections = [summary(data, facts or {}), *(section(data) for section in _SECTIONS)]
    return page(title or type(model).__name__, "Metrics, learned structure and likely label errors.", sections)
