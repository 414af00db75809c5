"""Base class of the classifiers that are tuned on out-of-fold scores of a base estimator."""

import warnings
from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags, indexable
from sklearn.utils.validation import check_is_fitted

from spmld._response import label_scores
from spmld._validation import COMMON_CONSTRAINTS
from spmld.labels import Labels, read_labels
from spmld.labels.single_class import list_labels
from spmld.metrics import subset_accuracy
from spmld.model_selection.cross_fitting import cross_fit
from spmld.model_selection.splitters import check_splitter

_RESPONSE_METHODS = ["decision_function", "predict_proba"]


@dataclass(eq=False, repr=False)
class CrossFittedClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator, ABC):
    """Base class of classifiers that transform the scores of a base estimator, tuned on its out-of-fold scores.

    Subclasses implement `_fit_scores`, which learns the function, and `_predict_positive`, which applies it.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = COMMON_CONSTRAINTS

    estimator: Any
    _: KW_ONLY
    cv: Any = 5
    n_jobs: int | None = None
    random_state: int | np.random.RandomState | None = None

    def fit(self, X: Any, y: Any, mask: Any = None) -> Self:
        """Fit the base estimator, and tune on its out-of-fold scores.

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
        self._form = Labels(labels.signs[:0], labels.classes, labels.names, labels.one_dimensional)
        self.classes_ = self._fitted_classes = labels.classes
        self.tuned_ = np.zeros(labels.signs.shape[1], dtype=bool)
        prefit = isinstance(self.cv, str) and self.cv == "prefit"
        if prefit:
            check_is_fitted(self.estimator)
        if mask is not None and not prefit:
            y = labels.write_with_missing(y)
            self._fitted_classes = read_labels(y).classes
        scores, signs = self._held_out_scores(X, y, labels, prefit) if self._needs_scores() else (None, None)
        self.estimator_ = self.estimator if prefit else clone(self.estimator).fit(X, y)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        self._fit_scores(scores, signs, labels)
        return self

    @abstractmethod
    def _fit_scores(self, scores: Any, signs: Any, labels: Labels) -> None:
        """Tune on out-of-fold scores and signs of the labels in `tuned_`; both are None unless `_needs_scores`."""

    @abstractmethod
    def _predict_positive(self, X: Any) -> NDArray[np.bool_]:
        """Return which labels are positive, of shape (n_samples, n_labels)."""

    def _needs_scores(self) -> bool:
        return True

    def _held_out_scores(
        self, X: Any, y: Any, labels: Labels, prefit: bool
    ) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
        """Return scores and signs of the test samples of all folds, fold after fold; set `tuned_`.

        A label is tuned only if all folds have an observed positive and an observed negative to fit on: otherwise the
        scores of a fold are unrelated to the label. If no label is left, no fold is fitted.
        """
        if prefit:
            self.tuned_ = _has_both(labels.signs)
            return self._score(self.estimator, X), labels.signs
        splitter = check_splitter(self.cv, len(labels.signs), self.random_state, other=' or "prefit"')
        folds = list(splitter.split(X, y))
        signs = labels.signs[np.concatenate([test for _, test in folds])]
        fitted_on = (labels.signs[train] for train, _ in folds)
        self.tuned_ = np.logical_and.reduce([_has_both(subset) for subset in (signs, *fitted_on)])
        if not self.tuned_.any():
            return np.zeros(signs.shape), signs
        result = cross_fit(self.estimator, X, y, folds, score=self._score, n_jobs=self.n_jobs)
        return np.concatenate(result.fold_scores), signs

    def _response_methods(self) -> list[str]:
        """Return the accepted methods of the base estimator; the first that it has is used."""
        return _RESPONSE_METHODS

    def _choose_response_method(self) -> str:
        for name in self._response_methods():
            if hasattr(self.estimator, name):
                return name
        raise ValueError(f"estimator must have {' or '.join(self._response_methods())}, got {self.estimator!r}")

    def _score(self, estimator: Any, X: Any, response_method: str | None = None) -> NDArray[np.float64]:
        response_method = response_method or self.response_method_
        return label_scores(estimator, X, response_method, self._fitted_classes, self._form.signs.shape[1])

    def _estimator_scores(self, X: Any, response_method: str | None = None) -> NDArray[np.float64]:
        check_is_fitted(self)
        return self._score(self.estimator_, X, response_method)

    def _warn_of_untuned(self, labels: Labels, instead: str) -> None:
        """Warn about labels that were not tuned; `instead` states what is used for them."""
        if self.tuned_.all():
            return
        warnings.warn(
            f"{list_labels(labels, ~self.tuned_)}: not tuned, because a fold has no observed positive or no observed "
            f"negative to fit on; {instead}",
            UserWarning,
            stacklevel=4,
        )

    def predict(self, X: Any) -> NDArray[Any]:
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
        positive = self._predict_positive(X)
        return self._form.write(positive)

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
        positive = self._predict_positive(X)
        return float(subset_accuracy(read_labels(y, mask, classes=self.classes_, name="y"), positive))

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


def _has_both(signs: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Return which labels have an observed positive and an observed negative."""
    return np.logical_and((signs > 0).any(axis=0), (signs < 0).any(axis=0))
