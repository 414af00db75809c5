"""What all estimators share: from scores to probabilities, predictions, a score and completed labels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from spmld._arrays import move, namespace, to_numpy
from spmld.core.losses import logistic
from spmld.estimators._inputs import check_features, check_labels, check_weights
from spmld.labels import Labels, read_labels
from spmld.labels.read import like
from spmld.metrics import subset_accuracy

__all__ = ["BEND", "Completion", "MultiLabelEstimator"]

BEND = 0.05
"""How far below 1 the scores of a loss that is not logistic begin to bend, see `predict_proba`."""


class Completion(NamedTuple):
    """A label matrix without gaps.

    Attributes
    ----------
    labels : ndarray or DataFrame of shape (n_samples, n_labels)
        The observed labels, and predictions where there were none, written as the labels were given.
    confidences : ndarray or DataFrame of shape (n_samples, n_labels)
        Probability of each recovered label, from 0.5 to 1; 1 for observed ones.

    Examples
    --------
    >>> from spmld import LabelPrior
    >>> X, Y = [[0], [1], [2]], [[1, 0], [1, None], [None, 0]]
    >>> found = LabelPrior().fit(X, Y).complete(X, Y)
    >>> found.labels[1], found.confidences[1]
    (array([1, 0]), array([1.  , 0.75]))
    """

    labels: Any
    confidences: Any

    def added(self, y: Any, mask: Any = None, *, at_least: float = 0.5) -> list[tuple[int, int, float]]:
        """The missing labels to add: those recovered as positive, the surest first.

        Parameters
        ----------
        y, mask
            What was completed.
        at_least : float, default=0.5
            Least confidence.

        Returns
        -------
        list of (int, int, float)
            Row, column and confidence of each.

        Examples
        --------
        >>> from spmld.estimators._base import Completion
        >>> Completion([[1, 1], [0, 1]], [[1, 0.7], [0.6, 0.9]]).added([[1, None], [None, None]])
        [(1, 1, 0.9), (0, 1, 0.7)]
        """
        labels = read_labels(y, mask)
        shape = labels.signs.shape
        confidences = np.asarray(self.confidences, dtype=float).reshape(shape)
        positive = np.asarray(self.labels).reshape(shape) == labels.classes[1]
        rows, columns = np.nonzero(~labels.observed & positive & (confidences >= at_least))
        order = np.argsort(-confidences[rows, columns], kind="stable")
        return [(int(i), int(j), float(confidences[i, j])) for i, j in zip(rows[order], columns[order], strict=True)]


class MultiLabelEstimator(ClassifierMixin, BaseEstimator, ABC):
    """Base of all estimators. A subclass gives `_fit` and `_scores`, and all else follows.

    Scores are positive where a label is predicted. Their probabilities are those of the loss that the attribute
    `loss` names, unless the subclass knows better and overrides `_probabilities`, or `_probabilities_for` where they
    are no function of the scores.

    Examples
    --------
    Every label by its mean sign, whatever the features:

    >>> import numpy as np
    >>> from spmld.estimators import MultiLabelEstimator
    >>> class Mean(MultiLabelEstimator):
    ...     def _fit(self, X, labels, weights):
    ...         self.mean_ = np.average(labels.signs, axis=0, weights=weights)
    ...     def _scores(self, X):
    ...         return np.tile(self.mean_, (X.shape[0], 1))
    >>> Mean().fit([[0], [1], [2]], [[1, 0], [1, None], [0, 0]]).predict([[3]])
    array([[1, 0]])
    """

    loss = "logistic"

    @abstractmethod
    def _fit(self, X: Any, labels: Labels, weights: Any) -> None:
        """Learn from checked features, labels and the weight of each entry, which is 0 where unobserved."""

    @abstractmethod
    def _scores(self, X: Any) -> Any:
        """Scores of checked features, (n_samples, n_labels)."""

    def _check_parameters(self) -> None:
        """Refuse constructor parameters out of range."""

    def _completed_scores(self, X: Any, labels: Labels) -> Any:
        """Scores for samples with some labels known. A model that can learn from those says how."""
        return self._scores(X)

    def _probabilities_for(self, X: Any, labels: Labels | None = None) -> Any:
        """Probabilities of checked features; `labels` are what is known of their labels, if it matters."""
        return self._probabilities(self._scores(X) if labels is None else self._completed_scores(X, labels))

    def fit(self, X: Any, y: Any, mask: Any = None, entry_weight: Any = None) -> Any:
        """Learn from samples whose labels are partly known.

        Parameters
        ----------
        X : array-like, sparse matrix or torch tensor of shape (n_samples, n_features)
            Samples.
        y : array-like, DataFrame, masked array or sparse matrix of shape (n_samples, n_labels) or (n_samples,)
            Labels: 0/1, -1/+1 or bool; NaN, None or ``pd.NA`` where missing. See `spmld.labels`.
        mask : array-like of bool of shape (n_samples, n_labels), optional
            True where a label is observed. What stands elsewhere in y is not read.
        entry_weight : array-like of shape (n_samples, n_labels) or (n_samples,), optional
            How much each label, or each sample, counts: 0 or more. A label of weight 0 is as good as missing.

        Returns
        -------
        self
        """
        self._check_parameters()
        X = check_features(self, X, reset=True)
        labels, weights = check_weights(entry_weight, check_labels(self, X, y, mask))
        self._fit(X, labels, weights)
        self._set_labels(labels)
        return self

    def _set_labels(self, labels: Labels) -> None:
        self._labels = Labels(labels.signs[:0], labels.classes, labels.names, labels.one_dimensional)
        self.classes_ = labels.classes
        self.n_labels_ = labels.signs.shape[1]
        self.label_names_ = labels.names if labels.names is not None else list(range(self.n_labels_))

    def decision_function(self, X: Any) -> Any:
        """Scores, positive where a label is predicted.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_labels), or (n_samples,) for a fit on a vector y
            An array of the library of X.
        """
        scores = self._all_scores(X)
        return scores[:, 0] if self._labels.one_dimensional else scores

    def _all_scores(self, X: Any) -> Any:
        """Scores as a matrix, whatever the fit was on."""
        check_is_fitted(self)
        return self._scores(check_features(self, X, reset=False))

    def predict_proba(self, X: Any) -> Any:
        """Probability of each label.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            For a fit on a vector y: of shape (n_samples, 2), the two classes in the order of `classes_`.
        """
        check_is_fitted(self)
        p = self._probabilities_for(check_features(self, X, reset=False))
        return namespace(p).concat([1 - p, p], axis=1) if self._labels.one_dimensional else p

    def _probabilities(self, scores: Any) -> Any:
        """The logistic function of a score; for other losses the score itself, moved from [-1, 1] to [0, 1].

        Scores beyond 0.95 bend, with slope 1 there, towards 1 which they never reach, so that order is kept.
        """
        xp = namespace(scores)
        if self.loss == "logistic":
            return logistic(scores)
        excess = xp.clip(xp.abs(scores) - (1 - BEND), 0)
        size = xp.where(excess > 0, 1 - BEND**2 / (BEND + excess), xp.abs(scores))
        return 0.5 * (1 + xp.sign(scores) * size)

    def predict(self, X: Any) -> Any:
        """Labels, written as they were given to `fit`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_labels), or (n_samples,) for a fit on a vector y
        """
        scores = self._all_scores(X)
        return move(self._labels.write(to_numpy(scores)), scores)

    def score(self, X: Any, y: Any, mask: Any = None) -> float:
        """Share of the samples whose observed labels are all predicted right.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.
        y : labels in any form accepted by `fit`
            Their labels. Unobserved entries are skipped.
        mask : array-like of bool, optional
            True where a label is observed.

        Returns
        -------
        float
        """
        return float(subset_accuracy(*self._as_signs(X, y, mask)))

    def _as_signs(self, X: Any, Y: Any, mask: Any) -> tuple[np.ndarray, np.ndarray]:
        labels = self._known_labels(X, Y, mask)
        truth = np.where(labels.observed, (labels.signs > 0).astype(float), np.nan)
        return truth, (to_numpy(self._all_scores(X)) > 0).astype(int)

    def _known_labels(self, X: Any, Y: Any, mask: Any) -> Labels:
        check_is_fitted(self)
        X = check_features(self, X, reset=False)
        labels = check_labels(self, X, Y, mask, classes=self.classes_)
        if labels.signs.shape[1] != self.n_labels_:
            raise ValueError(f"Y must have the {self.n_labels_} labels of the fit, got {labels.signs.shape[1]}")
        if labels.names is not None and self._labels.names is not None and labels.names != self._labels.names:
            raise ValueError(
                f"the names of the labels must match those of the fit, {self._labels.names}, got {labels.names}"
            )
        return labels

    def complete(self, X: Any, y: Any, mask: Any = None) -> Completion:
        """Fill the gaps of a label matrix.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples, of the training data or new.
        y : labels in any form accepted by `fit`
            What is known of their labels.
        mask : array-like of bool, optional
            True where a label is observed.

        Returns
        -------
        Completion
            ``labels``, with the observed ones kept, and ``confidences``.
        """
        labels = self._known_labels(X, y, mask)
        p = to_numpy(self._probabilities_for(check_features(self, X, reset=False), labels))
        signs = np.where(labels.observed, labels.signs, np.where(p > 0.5, 1, -1))
        confidences = np.where(labels.observed, 1.0, np.maximum(p, 1 - p))
        if labels.one_dimensional:
            confidences = confidences[:, 0]
        return Completion(like(y, labels.write(signs)), like(y, confidences))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        return tags
