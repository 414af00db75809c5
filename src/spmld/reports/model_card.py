"""Section with a model card: what the model is, what it was trained on, how it decides, and what limits it."""

from numbers import Integral

import numpy as np

import spmld
from spmld._table import TextTable, format_number, format_rate
from spmld.labels import Labels
from spmld.labels.single_class import find_single_class, list_labels
from spmld.model_selection import DecisionRule
from spmld.reports.data import ReportData, find_model
from spmld.reports.parts import Facts, Section

FEW_POSITIVES = 10
"""Labels with fewer observed positives are listed as limitations."""
_DECISIONS = {
    "f1": "labels that maximize an expected F1, a compromise between micro, macro and sample F1",
    "micro_f1": "labels that maximize the expected micro F1",
    "macro_f1": "labels that maximize the expected macro F1",
    "sample_f1": "labels that maximize the expected F1 of each sample",
}


def model_card(data: ReportData) -> Section:
    """Return facts about the model, its data, its decisions and its quality, and its limitations."""
    kind = "training data" if data.training else "data"
    Y = data.Y_audited
    facts = [
        ("model", f"{_name(data)}, spmld {spmld.__version__}"),
        ("output", f"scores{', probabilities' if data.predictions.probabilities is not None else ''} and labels"),
        (kind, f"{len(Y)} samples, {Y.shape[1]} labels, {np.isnan(Y).mean():.1%} of the labels missing"),
        (f"positives in the {kind}", f"{np.nanmean(Y):.1%} of the observed labels"),
        ("decision", _decision(data.decision_rule)),
        ("noise model", _noise(data)),
        ("quality", _quality(data)),
    ]
    limits = TextTable(["limitation"], [[text] for text in _limitations(data)], "Limitations")
    text = "Intended use, ethical considerations and a contact should be added by the owner of the model."
    return Section("card", "Model card", text, [Facts(facts), limits])


def _name(data: ReportData) -> str:
    inner = find_model(data.model, "label_names_")
    outer = type(data.model).__name__
    return outer if inner is None or inner is data.model else f"{outer} with {type(inner).__name__}"


def _decision(rule: DecisionRule | None) -> str:
    if rule is None:
        return "labels with positive scores, or the decision of the classifier"
    if isinstance(rule.decision, Integral):
        return f"the {rule.decision} most probable labels of each sample"
    if isinstance(rule.decision, str):
        return _DECISIONS[rule.decision]
    if isinstance(rule.decision, dict):
        single = [f"{label} above {result.threshold:.3g}" for label, result in rule.label_precisions_.items()]
        return f"{'; '.join(single)}; of the others, {_DECISIONS['f1']}"
    return f"labels with a probability above {rule.decision:g}"


def _noise(data: ReportData) -> str:
    model = find_model(data.model, "false_positive_rate_")
    if model is None:
        return "none"
    rates = (format_rate(float(np.mean(rate))) for rate in (model.false_positive_rate_, model.false_negative_rate_))
    return "estimated rates of false positives and false negatives: {} and {}".format(*rates)


def _quality(data: ReportData) -> str:
    rows = {row.name: row.value for row in data.evaluation.rows}
    names = {"macro_auc": "macro AUC", "micro_f1": "micro F1", "expected_calibration_error": "calibration error"}
    shown = [f"{text} {format_number(rows[name])}" for name, text in names.items() if name in rows]
    return ", ".join(shown)


def _limitations(data: ReportData) -> list[str]:
    """Return what the data do not support."""
    Y = data.Y_audited
    signs = np.where(np.isnan(Y), 0, np.where(Y > 0, 1, -1)).astype(np.int8)
    labels, single = Labels(signs, np.array([0, 1]), list(data.label_names)), find_single_class(signs)
    positives = (signs > 0).sum(axis=0)
    cases = [
        (single.unobserved, "no observed entry: the predictions carry no information"),
        (single.negative, "no observed positive: only negatives can be learned"),
        (single.positive | single.positive_only, "no observed negative: false positives are not counted"),
        ((positives > 0) & (positives < FEW_POSITIVES), f"fewer than {FEW_POSITIVES} observed positives: uncertain"),
    ]
    limits = [f"{list_labels(labels, chosen)}: {text}" for chosen, text in cases if chosen.any()]
    if not data.training:
        limits.append("The training samples are not part of this report.")
    return [*limits, "Correlations and top features describe the data and the model; they are not causes."]
