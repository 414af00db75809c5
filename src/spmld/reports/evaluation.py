"""A model and what it says of samples: what the sections of its report draw from, found once."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

from spmld._response import Answers, answers, with_names
from spmld.audit import find_label_issues
from spmld.audit.issues import LabelIssues
from spmld.estimators import Completion
from spmld.labels import read_labels
from spmld.metrics import Evaluation, evaluate
from spmld.persistence.names import label_names_of

__all__ = ["Judged", "holder", "judge", "of_a_view"]


@dataclass(frozen=True, eq=False)
class Judged:
    """A fitted model with the samples it is judged on, and those that are searched for wrong and missing labels.

    Attributes
    ----------
    model : fitted estimator
        The model.
    Y : ndarray of shape (n_samples, n_labels)
        Labels of the samples it is judged on: 0, 1, NaN where missing.
    said : Answers
        What the model says of these samples.
    X_own, Y_own
        Samples to look for wrong and missing labels in: those of the training, if they were given.
    label_names, sample_names, own_names : list of str
        Names of labels, of the samples judged, and of those searched.
    training : bool
        Whether the samples searched are those of the training.
    top : int
        How many rows the lists have.
    audit : bool
        Whether to look for wrong labels.
    seed : int
        Seed of the audit's folds.
    """

    model: Any
    Y: NDArray[np.float64]
    said: Answers
    X_own: Any
    Y_own: NDArray[np.float64]
    label_names: list[str]
    sample_names: list[str]
    own_names: list[str]
    training: bool
    top: int
    audit: bool
    seed: int

    @cached_property
    def evaluation(self) -> Evaluation:
        """All metrics."""
        return evaluate(self.Y, self.said.scores, self.said.positive, self.said.probabilities)

    def each(self, metric: Any, judged: Any) -> NDArray[np.float64]:
        """A metric of each label or sample, NaN where it is not defined."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            return metric(self.Y, judged, average=None)

    @cached_property
    def issues(self) -> LabelIssues | None:
        """How likely each label is wrong; None if that was not asked for, or the samples are too few for folds."""
        if not self.audit or len(self.Y_own) < 10:
            return None
        names = self.label_names
        return find_label_issues(None, self.X_own, self.Y_own, label_names=names, random_state=self.seed)

    @cached_property
    def completion(self) -> Completion | None:
        """The gaps filled; None if there are none, or the model cannot."""
        if not np.isnan(self.Y_own).any() or not hasattr(self.model, "complete"):
            return None
        return self.model.complete(with_names(self.model, self.X_own), _as_fitted(self.model, self.Y_own))

    def where(self) -> str:
        """What the samples searched are called."""
        return "the training samples" if self.training else "these samples"


def judge(
    model: Any,
    X: Any,
    Y: Any,
    X_train: Any,
    Y_train: Any,
    label_names: Sequence[Any] | None,
    top: int,
    audit: bool,
    random_state: int,
) -> Judged:
    """Check what is given, and ask the model."""
    if not hasattr(model, "predict"):
        raise ValueError(f"model must be a fitted estimator with predict, got {model!r}")
    if (X_train is None) != (Y_train is None):
        raise ValueError("X_train and Y_train must be given both or neither, got one")
    if isinstance(top, bool) or not isinstance(top, (int, np.integer)) or top < 1:
        raise ValueError(f"top must be an integer of 1 or more, got {top!r}")
    signs, samples = _signs(X, Y, "Y")
    training = X_train is not None
    own, own_names = _signs(X_train, Y_train, "Y_train") if training else (signs, samples)
    known, own_columns = label_names_of(model), [_columns(each) for each in (Y, Y_train)]
    for given, name in zip(own_columns, ("Y", "Y_train"), strict=True):
        if known is not None and given is not None and given != known:
            raise ValueError(f"{name} must have the labels of the model in their order, {known}, got {given}")
    found = [names for names in (label_names, known, *own_columns) if names is not None]
    names = [str(name) for name in (found[0] if found else range(signs.shape[1]))]
    if {len(names), own.shape[1]} != {signs.shape[1]}:
        raise ValueError(f"label_names must have one for each of the {signs.shape[1]} labels, got {len(names)}")
    said = answers(model, X)
    if said.positive.shape != signs.shape:
        raise ValueError(f"Y must have the labels of the model, {said.positive.shape[1]}, got {signs.shape[1]}")
    X_own = X_train if training else X
    return Judged(
        model, signs, said, X_own, own, names, samples, own_names, training, int(top), bool(audit), random_state
    )


def holder(model: Any, attribute: str) -> Any:
    """The model or the first one inside it that has the attribute, None if none has."""
    if model is None or getattr(model, attribute, None) is not None:
        return model
    views, steps = getattr(model, "estimators_", None), getattr(model, "steps", None)
    inner = list(views.values()) if isinstance(views, dict) else [getattr(model, "estimator_", None)]
    if steps:
        inner = [steps[-1][1]]
    return next((found for each in inner if (found := holder(each, attribute)) is not None), None)


def of_a_view(model: Any, inner: Any) -> str:
    """A sentence that says so, if what is shown is that of one of several views."""
    views = getattr(holder(model, "view_weights_"), "estimators_", {})
    name = next((view for view, each in views.items() if each is inner), None) if isinstance(views, dict) else None
    return f" Figures are those of the view {name!r}, which is one of several." if name else ""


def _signs(X: Any, Y: Any, name: str) -> tuple[NDArray[np.float64], list[str]]:
    """Labels as 0, 1 and NaN, and the names of the samples."""
    labels = read_labels(Y, name=name)
    count = X.shape[0] if hasattr(X, "shape") else len(X)
    if count != len(labels.signs):
        raise ValueError(f"X and {name} must have as many samples, got {count} and {len(labels.signs)}")
    index = getattr(Y, "index", None) if hasattr(Y, "iloc") else None
    names = [str(each) for each in (range(count) if index is None else index)]
    return np.where(labels.observed, labels.signs > 0, np.nan), names


def _columns(Y: Any) -> list[str] | None:
    """Names of the labels, if they are named."""
    names = read_labels(Y).names if Y is not None else None
    return None if names is None else [str(name) for name in names]


def _as_fitted(model: Any, Y: NDArray[np.float64]) -> Any:
    """Labels written as the model was given them."""
    written = np.where(np.isnan(Y), np.nan, np.where(Y > 0, *np.asarray(model.classes_, dtype=float)[::-1]))
    return written[:, 0] if getattr(getattr(model, "_labels", None), "one_dimensional", False) else written
