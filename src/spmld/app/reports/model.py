"""Report on a model: the page and its sections."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from spmld._response import Predictions, as_frame
from spmld._table import TableCell, TextTable, format_number, format_rate
from spmld.app.reports.data import ReportData
from spmld.app.reports.page import Section, page, picture
from spmld.audit.issues import LIMITS_NOTE, LIMITS_TITLE, LISTS
from spmld.estimators.model_parts import find_part
from spmld.inspection import top_features
from spmld.labels import read_labels
from spmld.labels.single_class import find_single_class, list_labels, single_class_messages
from spmld.metrics import macro_auc, macro_f1
from spmld.model_selection import DecisionRule
from spmld.plotting import ReliabilityDisplay
from spmld.plotting.displays import metric_label

_HEADLINES = ("ranking_loss", "macro_auc", "label_ranking_average_precision", "micro_f1", "macro_f1")
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
    parts = (metrics, labels, calibration, likely_errors, missing_labels, features, model_card)
    sections = [summary(data, facts or {}), *(part(data) for part in parts)]
    return page(title or type(model).__name__, "Metrics, likely label errors and missing labels.", sections)


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
    return Section("summary", "Summary", "Missing labels are ignored in all metrics.", tiles=tiles, facts=shown)


def metrics(data: ReportData) -> Section:
    """Return all metrics."""
    columns = ["metric", "value", "better", "averaged over", "used", "left out"]
    rows = [[metric_label(r.name), r.value, r.better, r.over, r.used, r.left_out] for r in data.evaluation.rows]
    text = (
        "Metrics are averaged over samples or labels, or computed over all entries. Samples and labels for which a "
        "metric is undefined are left out."
    )
    return Section("metrics", "Metrics", text, [TextTable(columns, rows, "All metrics")])


def label_quality(Y: NDArray[np.float64], predictions: Predictions, names: list[str]) -> dict[str, list[Any]]:
    """Return the counts, precision, recall, F1 and AUC of each label as columns of a table; NaN where undefined."""
    observed = ~np.isnan(Y)
    positive = Y == 1
    predicted = observed & (predictions.positive == 1)
    hits = (predicted & positive).sum(axis=0)
    n_positive = positive.sum(axis=0)
    n_predicted = predicted.sum(axis=0)
    with warnings.catch_warnings(), np.errstate(invalid="ignore", divide="ignore"):
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        values = {"precision": hits / n_predicted, "recall": hits / n_positive}
        values["F1"] = macro_f1(Y, predictions.positive, average=None)
        if predictions.scores is not None:
            values["AUC"] = macro_auc(Y, predictions.scores, average=None)
    counts = {"observed": observed.sum(axis=0), "positives": n_positive, "predicted": n_predicted}
    return {"label": names, **{name: np.asarray(column).tolist() for name, column in {**counts, **values}.items()}}


def labels(data: ReportData) -> Section:
    """Return the metrics of each label."""
    columns = label_quality(data.Y, data.predictions, data.label_names)
    if data.thresholds is not None:
        columns["threshold"] = data.thresholds.tolist()
    text = (
        "AUC is the probability that a positive sample has a higher score than a negative sample. It is undefined (-) "
        "without observed labels of both kinds."
    )
    rows = list(zip(*columns.values(), strict=True))
    return Section("labels", "Labels", text, [TextTable(list(columns), rows, "All labels")])


def likely_errors(data: ReportData) -> Section | None:
    """Return the results of the audit."""
    if data.issues is None:
        return None
    lists = []
    for kind in ("present", "absent"):
        entries = data.issues.table(data.top, kind=kind)
        entries["label_quality"] = [TableCell(format_rate(value), value) for value in entries["label_quality"]]
        lists.append(TextTable.from_frame(entries, LISTS[kind]))
    limits = data.issues.per_label().sort_values("at_most", ascending=False, kind="stable")
    text = (
        f"Labels of {data.audited_samples} that out-of-fold models contradict: {data.issues.summary()}. The label "
        "quality is the probability of the observed label, and not that the label is correct."
    )
    tables = [*lists, TextTable.from_frame(limits, LIMITS_TITLE, LIMITS_NOTE)]
    return Section("errors", "Likely label errors", text, tables)


def missing_labels(data: ReportData) -> Section | None:
    """Return the missing labels that the model predicts to be positive."""
    if data.completion is None:
        return None
    added = data.completion.suggestions(data.labels_audited)
    rows = [
        {"sample": data.audited_names[i], "label": data.label_names[j], "confidence": confidence}
        for i, j, confidence in added[: data.top]
    ]
    text = (
        f"Of {np.isnan(data.Y_audited).sum()} missing labels of {data.audited_samples}, {len(added)} are predicted "
        "positive. They are listed by decreasing confidence."
    )
    tables = [TextTable.from_records(rows, "Predicted positives")] if rows else []
    return Section("missing", "Missing labels", text, tables)


def calibration(data: ReportData) -> Section | None:
    """Return the reliability diagram of the probabilities."""
    p = data.predictions.probabilities
    if p is None:
        return None
    brier, log_loss = (format_number(data.evaluation[name]) for name in ("brier_score", "log_loss"))
    figure = picture(
        lambda ax: ReliabilityDisplay.from_predictions(data.Y, p, ax=ax),
        f"Reliability diagram: fraction of positives by predicted probability; the Brier score is {brier}.",
        "Perfectly calibrated probabilities are on the dashed line. Larger points are bins with more entries.",
        size=(4.6, 4.6),
    )
    return Section("calibration", "Calibration", f"The Brier score is {brier}, the log loss {log_loss}.", figure=figure)


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
    noise = "none"
    part = find_part(data.model, "false_positive_rate_")
    if part is not None and (part.false_positive_rate_.any() or part.false_negative_rate_.any()):
        false_positives = format_rate(float(np.mean(part.false_positive_rate_)))
        false_negatives = format_rate(float(np.mean(part.false_negative_rate_)))
        noise = f"rates of false positives and false negatives: {false_positives} and {false_negatives}"
    facts = [
        ("model", " ".join(repr(data.model).split())),
        ("output", f"scores{', probabilities' if data.predictions.probabilities is not None else ''} and labels"),
        (kind, f"{len(Y)} samples, {Y.shape[1]} labels, {np.isnan(Y).mean():.1%} of the labels missing"),
        (f"positives in the {kind}", f"{np.nanmean(Y):.1%} of the observed labels"),
        ("decision", _decision(data.decision_rule)),
        ("noise model", noise),
    ]
    if (ensemble := find_part(data.model, "view_weights_")) is not None:
        facts += [(f"weight of the view {view}", f"{weight:.2f}") for view, weight in ensemble.view_weights_.items()]
        facts.append(("kept fraction of positives", f"{ensemble.keep_fraction_:g}"))
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
