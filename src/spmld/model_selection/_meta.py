"""What the meta-estimators of this package share: scores of rows an estimator was not fitted on, and delegation."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import _safe_indexing, get_tags, indexable
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from spmld._response import label_scores
from spmld.labels import Labels, read_labels
from spmld.metrics import subset_accuracy
from spmld.model_selection.splitters import check_splitter

__all__ = ["CrossFitted"]


class CrossFitted(ClassifierMixin, MetaEstimatorMixin, BaseEstimator, ABC):
    """A meta-estimator that learns something for each label from scores of rows the estimator was not fitted on.

    Subclasses have the parameters declared below, `_responses` gives the methods to take scores from, the best first,
    and `_positive` decides.
    """

    estimator: Any
    cv: Any
    n_jobs: int | None
    random_state: int | np.random.RandomState | None

    def _responses(self) -> list[str]:
        return ["decision_function", "predict_proba"]

    @abstractmethod
    def _positive(self, X: Any) -> NDArray[np.bool_]:
        """Which labels are positive, (n_samples, n_labels)."""

    def _fit_estimator(self, X: Any, Y: Any, mask: Any, *, cross_fit: bool) -> tuple[Labels, Any, Any]:
        """Fit `estimator_`; give the labels, and the scores and signs to learn from if `cross_fit`."""
        if Y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        self._response = self._choose_response()
        X, Y, mask = indexable(X, Y, mask)
        labels = read_labels(Y, mask)
        self._form = Labels(labels.signs[:0], labels.classes, labels.names, labels.one_dimensional)
        self.classes_ = self._inner_classes = labels.classes
        self.tuned_ = np.zeros(labels.signs.shape[1], dtype=bool)
        scores = signs = None
        if isinstance(self.cv, str) and self.cv == "prefit":
            check_is_fitted(self.estimator)
            self.estimator_ = self.estimator
            if cross_fit:
                self.tuned_ = _has_both(labels.signs)
                scores, signs = self._scores(X), labels.signs
        else:
            if mask is not None:
                Y = labels.write_with_missing(Y)
                self._inner_classes = read_labels(Y).classes
            if cross_fit:
                scores, signs = self._out_of_fold(X, Y, labels)
            self.estimator_ = clone(self.estimator).fit(X, Y)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return labels, scores, signs

    def _out_of_fold(self, X: Any, Y: Any, labels: Labels) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
        """Scores and signs of the test rows of all folds, one under the other.

        A label is tuned only if the estimators of all folds saw a positive and a negative of it: the scores of one
        that did not are no scores of this label. If that leaves no label, no fold is fitted.
        """
        splitter = check_splitter(self.cv, len(labels.signs), self.random_state, other=' or "prefit"')
        splits = list(splitter.split(X, Y))
        signs = labels.signs[np.concatenate([test for _, test in splits])]
        self.tuned_ = np.logical_and.reduce([_has_both(s) for s in (signs, *(labels.signs[t] for t, _ in splits))])
        if not self.tuned_.any():
            return np.zeros(signs.shape), signs
        scores = Parallel(n_jobs=self.n_jobs)(delayed(self._score_fold)(X, Y, train, test) for train, test in splits)
        return np.concatenate(scores), signs

    def _score_fold(self, X: Any, Y: Any, train: Any, test: Any) -> NDArray[np.float64]:
        fitted = clone(self.estimator).fit(_safe_indexing(X, train), _safe_indexing(Y, train))
        return self._scores(_safe_indexing(X, test), fitted)

    def _choose_response(self) -> str:
        for name in self._responses():
            if hasattr(self.estimator, name):
                return name
        raise ValueError(f"estimator must have {' or '.join(self._responses())}, got {self.estimator!r}")

    def _scores(self, X: Any, fitted: Any = None, response: str | None = None) -> NDArray[np.float64]:
        if fitted is None:
            check_is_fitted(self)
            fitted = self.estimator_
        return label_scores(fitted, X, response or self._response, self._inner_classes, self._form.signs.shape[1])

    def _warn_of_untuned(self, labels: Labels, instead: str) -> None:
        """Say which labels were not tuned, and what is done instead."""
        untuned = np.flatnonzero(~self.tuned_)
        if len(untuned) == 0:
            return
        names = [str(labels.names[j]) if labels.names else str(j) for j in untuned[:10]]
        more = f" and {len(untuned) - 10} more" if len(untuned) > 10 else ""
        warnings.warn(
            f"Label{'s' if len(untuned) > 1 else ''} {', '.join(names)}{more}: not tuned, because there are too few "
            f"observed positives or negatives (one of each is needed, in every part fitted on); {instead}",
            UserWarning,
            stacklevel=3,
        )

    def predict(self, X: Any) -> NDArray[Any]:
        """Decide each label.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_labels), or (n_samples,) for a fit on a vector y
            Labels written as those given to `fit`.
        """
        positive = self._positive(X)
        return self._form.write(positive)

    def score(self, X: Any, y: Any, mask: Any = None) -> float:
        """Share of the rows with all observed labels right (for one label, the accuracy).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : labels in any form of `spmld.labels.read_labels`
            True labels. Rows without an observed label are left out.
        mask : array-like of bool of the shape of `y`, optional
            True where a label is observed.

        Returns
        -------
        float
        """
        positive = self._positive(X)
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
    """Which labels have an observed positive and an observed negative."""
    return np.logical_and((signs > 0).any(axis=0), (signs < 0).any(axis=0))
