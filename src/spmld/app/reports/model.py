"""Report on a model: the page, and its sections on features and the model card."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from spmld._response import as_frame
from spmld._table import TextTable, format_rate
from spmld.app.reports.data import ReportData
from spmld.app.reports.page import Section, page
from spmld.app.reports.quality import calibration, labels, likely_errors, metrics, missing_labels, summary
from spmld.inspection import top_features
from spmld.inspection.model_parts import find_part
from spmld.labels import read_labels
from spmld.labels.single_class import find_single_class, list_labels, single_class_messages
from spmld.model_selection import DecisionRule
from spmld.plotting.style import metric_label

MAX_EXPLAINED = 200
"""Maximum number of samples over which contributions are averaged."""
FEW_POSITIVES = 10
"""Labels with fewer observed positives are listed as limitations."""


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
    >>> from spmld.app.reports import model_report
    >>> data = make_planted(n_samples=200, n_labels=4, random_state=0)
    >>> model = GLOCAL(random_state=0).fit(data.X[::2], data.Y[::2])
    >>> html = model_report(model, data.X[1::2], data.Y[1::2], label_names=["sad", "calm", "loud", "fast"])
    >>> html.startswith("<!doctype html>"), "calm" in html
    (True, True)
    """
    data = ReportData(model, X, Y, X_train, Y_train, label_names, feature_names, top, audit, random_state)
    sections = [summary(data, facts or {}), *(section(data) for section in _SECTIONS)]
    return page(title or type(model).__name__, "Metrics, likely label errors and missing labels.", sections)


def features(data: ReportData) -> Section | None:
    """Return the features with the largest contributions to the scores of each label, if the model can be explained."""
    X: Any = data.X_audited
    step = -(-_num_samples(X) // MAX_EXPLAINED)
    X = as_frame(data.model, _safe_indexing(X, list(range(0, _num_samples(X), step))))
    try:
        table = top_features(data.model, X, feature_names=data.feature_names).table()
    except ValueError:  # neither an ensemble nor a linear predictor
        return None
    if all(set(row[1:]) == {"-"} for row in table.rows):
        return None
    rows = [[name, *row[1:]] for name, row in zip(data.label_names, table.rows, strict=True)]
    text = (
        f"Features whose contributions to the scores of each label vary most, on {data.audited_samples}. Of two "
        "correlated features, either may get the contribution."
    )
    return Section("features", "Top features", text, [type(table)(table.columns, rows, "Features of each label")])


def model_card(data: ReportData) -> Section:
    """Return facts about the model, its data and its decisions, and its limitations."""
    kind = "training data" if data.training else "data"
    Y = data.Y_audited
    facts = [
        ("model", " ".join(repr(data.model).split())),
        ("output", f"scores{', probabilities' if data.predictions.probabilities is not None else ''} and labels"),
        (kind, f"{len(Y)} samples, {Y.shape[1]} labels, {np.isnan(Y).mean():.1%} of the labels missing"),
        (f"positives in the {kind}", f"{np.nanmean(Y):.1%} of the observed labels"),
        ("decision", _decision(data.decision_rule)),
        ("noise model", _noise(data)),
        *_views(find_part(data.model, "view_weights_")),
    ]
    limits = TextTable(["limitation"], [[text] for text in _limitations(data)], "Limitations")
    text = "Intended use, ethical considerations and a contact should be added by the owner of the model."
    return Section("card", "Model card", text, [limits], facts=facts)


def _decision(rule: DecisionRule | None) -> str:
    if rule is None:
        return "labels with positive scores, or the decision of the classifier"
    if isinstance(rule.decision, Integral):
        return f"the {rule.decision} most probable labels of each sample"
    if isinstance(rule.decision, Real):
        return f"labels with a probability above {rule.decision:g}"
    if isinstance(rule.decision, str) and rule.decision.endswith("f1"):
        return f"labels that maximize the expected {metric_label(rule.decision)}"
    if isinstance(rule.decision, dict):
        single = [f"{label} above {result.threshold:.3g}" for label, result in rule.label_precisions_.items()]
        return f"{'; '.join(single)}; of the others, labels that maximize the expected F1"
    return f"{rule.decision} for each label, with probability 0.9"


def _views(ensemble: Any) -> list[tuple[str, str]]:
    """Return the weights of the views of an ensemble, and the fraction of positives that trimming keeps."""
    if ensemble is None:
        return []
    weights = [(f"weight of the view {view}", f"{weight:.2f}") for view, weight in ensemble.view_weights_.items()]
    return [*weights, ("kept fraction of positives", f"{ensemble.keep_fraction_:g}")]


def _noise(data: ReportData) -> str:
    model = find_part(data.model, "false_positive_rate_")
    if model is None:
        return "none"
    rates = (format_rate(float(np.mean(rate))) for rate in (model.false_positive_rate_, model.false_negative_rate_))
    return "estimated rates of false positives and false negatives: {} and {}".format(*rates)


def _limitations(data: ReportData) -> list[str]:
    """Return what the data do not support."""
    labels = replace(read_labels(data.labels_audited), names=list(data.label_names))
    single = find_single_class(labels.signs)
    positives = (labels.signs > 0).sum(axis=0)
    cases = [
        (single.positive_only, "no observed negative: false positives are not counted"),
        ((positives > 0) & (positives < FEW_POSITIVES), f"fewer than {FEW_POSITIVES} observed positives: uncertain"),
    ]
    limits = [f"{list_labels(labels, chosen)}: {text}" for chosen, text in cases if chosen.any()]
    limits += single_class_messages(labels, single)
    if not data.training:
        limits.append("The training samples are not part of this report.")
    return [*limits, "Top features describe the data and the model; they are not causes."]


_SECTIONS: tuple[Callable[[ReportData], Section | None], ...] = (
    metrics,
    labels,
    calibration,
    likely_errors,
    missing_labels,
    features,
    model_card,
)
"""Sections after the summary, in their order."""
