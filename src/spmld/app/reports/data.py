"""Data of a model report: the model, its predictions and metrics, the label audit and the completed labels."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _num_samples

from spmld._response import as_frame, predict_all
from spmld._validation import check_same_samples, check_scalar_integer
from spmld.audit import LabelIssues, find_label_issues
from spmld.estimators import Completion, ThresholdClassifier
from spmld.estimators.model_parts import find_part, label_names_of
from spmld.labels import read_labels
from spmld.metrics import Evaluation, evaluate
from spmld.model_selection import DecisionRule

MIN_AUDITED = 10
"""Minimum number of samples of an audit."""


@dataclass(eq=False)
class ReportData:
    """Fitted model, samples that it is evaluated on, and samples whose labels are audited and completed.

    The fields are the parameters of `spmld.app.reports.model_report`.

    Attributes
    ----------
    Y : ndarray of shape (n_samples, n_labels)
        Labels that the model is evaluated on: 0, 1, NaN where missing.
    predictions : Predictions
        Predictions of the model for these samples.
    training : bool
        Whether the audited samples are the training samples, because these are available.
    X_audited, labels_audited, Y_audited
        Samples whose labels are audited and completed, their labels as they were passed, and as 0, 1 and NaN.
    label_names, audited_names : list of str
        Names of labels and of audited samples.
    """

    model: Any
    X: Any
    Y: Any
    X_train: Any
    Y_train: Any
    label_names: Any
    feature_names: Sequence[str] | None
    top: int
    audit: bool
    random_state: int

    def __post_init__(self) -> None:
        if not hasattr(self.model, "predict"):
            raise ValueError(f"model must be a fitted estimator with predict, got {self.model!r}")
        if (self.X_train is None) != (self.Y_train is None):
            raise ValueError("X_train and Y_train must be passed together, got only one of them")
        check_scalar_integer("top", self.top, minimum=1)
        self.training = self.X_train is not None
        self.X_audited, self.labels_audited = (self.X_train, self.Y_train) if self.training else (self.X, self.Y)
        self.Y, names = _read_labels(self.model, self.X, self.Y, "Y")
        self.Y_audited, other_names = _read_labels(self.model, self.X_audited, self.labels_audited, "Y_train")
        index = self.labels_audited.index if hasattr(self.labels_audited, "iloc") else range(len(self.Y_audited))
        self.audited_names = [str(name) for name in index]
        n_labels = self.Y.shape[1]
        known = [given for given in (self.label_names, names, other_names, range(n_labels)) if given is not None]
        self.label_names = [str(name) for name in known[0]]
        if {len(self.label_names), self.Y_audited.shape[1]} != {n_labels}:
            raise ValueError(
                f"label_names must have one name for each of the {n_labels} labels, got {len(self.label_names)}"
            )
        self.predictions = predict_all(self.model, self.X)
        if self.predictions.positive.shape != self.Y.shape:
            raise ValueError(
                f"Y must have the {self.predictions.positive.shape[1]} labels of the model, got {n_labels}"
            )

    @cached_property
    def evaluation(self) -> Evaluation:
        """All metrics."""
        return evaluate(self.Y, self.predictions.scores, self.predictions.positive, self.predictions.probabilities)

    @cached_property
    def decision_rule(self) -> DecisionRule | None:
        """Rule for decisions of the model; None if labels with positive scores are predicted."""
        model = find_part(self.model, "decision_rule_")
        return None if model is None else model.decision_rule_

    @cached_property
    def thresholds(self) -> NDArray[np.float64] | None:
        """Thresholds of the probabilities of each label, or their means if they depend on the sample."""
        rule = self.decision_rule
        p = self.predictions.probabilities
        if rule is None or p is None or isinstance(rule.decision, Integral):
            return None
        return rule.thresholds_ if rule.thresholds_ is not None else (p - rule.margins(p)).mean(axis=0)

    @cached_property
    def issues(self) -> LabelIssues | None:
        """Result of the audit; None without an audit, or if there are too few samples for its folds."""
        if not self.audit or len(self.Y_audited) < MIN_AUDITED:
            return None
        names = self.label_names
        return find_label_issues(
            None, self.X_audited, self.labels_audited, label_names=names, random_state=self.random_state
        )

    @cached_property
    def completion(self) -> Completion | None:
        """Completed labels; None if no labels are missing, or the model has no `complete`.

        They are those of ``spmld complete``, without the decision rule of a `ThresholdClassifier`.
        """
        model: Any = self.model.estimator_ if isinstance(self.model, ThresholdClassifier) else self.model
        if not np.isnan(self.Y_audited).any() or not hasattr(model, "complete"):
            return None
        return model.complete(as_frame(model, self.X_audited), self.labels_audited)

    @property
    def audited_samples(self) -> str:
        """Description of the audited samples."""
        return "the training samples" if self.training else "these samples"


def _read_labels(model: Any, X: Any, Y: Any, name: str) -> tuple[NDArray[np.float64], list[str] | None]:
    """Return labels as 0, 1 and NaN, and their names, which must be those of the model."""
    labels = read_labels(Y, name=name)
    n_samples = _num_samples(X)
    check_same_samples(n_samples, len(labels.signs), name)
    names = None if labels.names is None else [str(label) for label in labels.names]
    fitted = label_names_of(model)
    if names is not None and fitted is not None and names != fitted:
        raise ValueError(f"{name} must have the labels of the model in their order, {fitted}, got {names}")
    return np.where(labels.observed, labels.signs > 0, np.nan), fitted or names
