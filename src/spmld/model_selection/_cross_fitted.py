"""Base class of the classifiers that are calibrated on out-of-fold scores of a base estimator."""

import warnings
from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from spmld._response import label_scores
from spmld._validation import COMMON_CONSTRAINTS, indexable
from spmld.labels import Labels, read_labels
from spmld.labels.output import PredictionOutputMixin
from spmld.labels.single_class import list_labels
from spmld.metrics import subset_accuracy
from spmld.model_selection.cross_fitting import cross_fit
from spmld.model_selection.label_decisions import label_decisions
from spmld.model_selection.splitters import check_splitter
from spmld.model_selection.thresholds import Decision, DecisionRule
from spmld.noise.calibration import CALIBRATIONS, has_both_classes

_RESPONSE_METHODS = ["decision_function", "predict_proba"]


@dataclass(eq=False, repr=False)
class CrossFittedClassifier(PredictionOutputMixin, ClassifierMixin, MetaEstimatorMixin, BaseEstimator, ABC):
    """Base class of classifiers with probabilities calibrated on out-of-fold scores, and decisions based on them.

    Subclasses implement `_settings`, which names the calibration and the decision.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = COMMON_CONSTRAINTS
    smallest_probability: ClassVar[float] = 1e-3

    estimator: Any
    _: KW_ONLY
    cv: Any = 5
    n_jobs: int | None = None
    random_state: int | np.random.RandomState | None = None

    def fit(self, X: Any, y: Any, mask: Any = None) -> Self:
        """Fit the base estimator, and calibrate its out-of-fold scores.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : labels in any form accepted by `spmld.labels.read_labels`
            Labels, NaN where missing.
        mask : array-like of bool of the shape of `y`, optional
            True where a label is observed. Other entries of y are ignored.

        Returns
        -------
        self
        """
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        self._validate_params()
        self.response_method_ = self._choose_response_method()
        X, y, mask = indexable(X, y, mask)
        labels = read_labels(y, mask)
        label_decisions(self._settings()[1], labels.shape[1], labels.names)
        self._form = Labels(labels.signs[:0], labels.classes, labels.names, labels.one_dimensional)
        self.classes_ = self._fitted_classes = labels.classes
        prefit = isinstance(self.cv, str) and self.cv == "prefit"
        if prefit:
            check_is_fitted(self.estimator)
        if mask is not None and not prefit:
            y = labels.write_with_missing(y)
            self._fitted_classes = read_labels(y).classes
        if prefit:
            scores, signs = self._score(self.estimator, X), labels.signs
        else:
            scores, signs = self._out_of_fold_scores(X, y, labels)
        self.estimator_ = self.estimator if prefit else clone(self.estimator).fit(X, y)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        self._calibrate(scores, signs)
        return self

    @abstractmethod
    def _settings(self) -> tuple[str, Decision]:
        """Return the name of the calibration and the decision."""

    def _out_of_fold_scores(self, X: Any, y: Any, labels: Labels) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
        """Return scores and signs of the test samples of all folds, fold after fold.

        If a label has no observed positive or no observed negative in the training samples of a fold, the scores of the
        fold are unrelated to the label: its signs are set to 0. A fold in which this holds for all labels is not
        fitted.
        """
        splitter = check_splitter(self.cv, len(labels.signs), self.random_state, other=' or "prefit"')
        folds = list(splitter.split(X, y))
        learned = [has_both_classes(labels.signs[train]) for train, _ in folds]
        used = [(fold, both) for fold, both in zip(folds, learned, strict=True) if both.any()]
        if not used:
            return np.empty((0, labels.signs.shape[1])), labels.signs[:0]
        result = cross_fit(self.estimator, X, y, [fold for fold, _ in used], score=self._score, n_jobs=self.n_jobs)
        signs = [labels.signs[test] * both for (_, test), both in used]
        return np.concatenate(result.fold_scores), np.concatenate(signs)

    def _calibrate(self, scores: NDArray[np.float64], signs: NDArray[np.int8]) -> None:
        """Fit the calibration and the decision rule."""
        method, decision = self._settings()
        both = has_both_classes(signs)
        if not ((signs > 0).any() and (signs < 0).any()):
            scores, signs = scores[:0], signs[:0]
            self._warn("scores are used as log-odds, with a threshold of 0.5", ~both)
        elif method != "pooled" and not both.all():
            self._warn("the calibration of all labels is used", ~both)
        self.calibration_ = CALIBRATIONS[method]().fit(scores, signs)
        observed = replace(self._form, signs=signs)
        self.decision_rule_ = DecisionRule(decision=decision).fit(self.calibration_.probabilities(scores), observed)

    def _warn(self, instead: str, affected: NDArray[np.bool_]) -> None:
        """Warn about labels without a calibration of their own; `instead` states what is used for them."""
        warnings.warn(
            f"{list_labels(self._form, affected)}: not calibrated, because there is no observed positive or no "
            f"observed negative with an out-of-fold score; {instead}",
            UserWarning,
            stacklevel=4,
        )

    def _choose_response_method(self) -> str:
        for name in _RESPONSE_METHODS:
            if hasattr(self.estimator, name):
                return name
        raise ValueError(f"estimator must have {' or '.join(_RESPONSE_METHODS)}, got {self.estimator!r}")

    def _score(self, estimator: Any, X: Any) -> NDArray[np.float64]:
        """Return scores; those of `predict_proba` are log-odds of probabilities, bounded by a small constant."""
        n_labels = self._form.signs.shape[1]
        scores = label_scores(estimator, X, self.response_method_, self._fitted_classes, n_labels)
        if self.response_method_ == "decision_function":
            return scores
        return np.asarray(np.log((scores + self.smallest_probability) / (1 - scores + self.smallest_probability)))

    def _probabilities(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        return self.calibration_.probabilities(self._score(self.estimator_, X))

    def predict_proba(self, X: Any) -> Any:
        """Return the calibrated probability of each label or, if `y` was a vector, of its two classes.

        Parameters
        ----------
        X
            As in `predict`.
        """
        P = self._probabilities(X)
        return self._wrap(np.hstack([1 - P, P]) if self._form.one_dimensional else P, X)

    def predict(self, X: Any) -> Any:
        """Predict labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_labels), or (n_samples,) if `y` was a vector
            Labels in the encoding of `y` in `fit`.
        """
        positive = self._positive(X)
        return self._wrap(self._form.write(positive), X)

    def _label_form(self) -> Labels:
        return self._form

    def score(self, X: Any, y: Any, mask: Any = None) -> float:
        """Return the fraction of samples with all observed labels correct (the accuracy for one label).

        Parameters
        ----------
        X, y, mask
            As in `fit`. Samples without an observed label are ignored.

        Returns
        -------
        float
        """
        positive = self._positive(X)
        return float(subset_accuracy(read_labels(y, mask, classes=self.classes_, name="y"), positive))

    def _positive(self, X: Any) -> NDArray[np.bool_]:
        probabilities = self._probabilities(X)
        return self.decision_rule_.positive(probabilities)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags.pairwise = inner.input_tags.pairwise
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.target_tags.multi_output = inner.target_tags.multi_output
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = inner.classifier_tags is not None and inner.classifier_tags.multi_label
        return tags
