"""Completion: a label matrix without missing entries."""

from typing import Any, NamedTuple

import numpy as np

from spmld.labels import read_labels


class Completion(NamedTuple):
    """A label matrix without missing entries.

    Attributes
    ----------
    labels : ndarray or DataFrame of shape (n_samples, n_labels)
        The observed labels, and predictions of the missing ones, in the encoding of the observed labels.
    confidences : ndarray or DataFrame of shape (n_samples, n_labels)
        Probability of each predicted label; 1 for observed labels. It is at least 0.5, unless the estimator has a rule
        for decisions that predicts a label with a lower probability.

    Examples
    --------
    >>> from spmld import LabelPrior
    >>> X, Y = [[0], [1], [2], [3]], [[1, 0], [1, None], [None, 0], [0, 1]]
    >>> completion = LabelPrior().fit(X, Y).complete(X, Y)
    >>> completion.labels[1], completion.confidences[1]
    (array([1, 0]), array([1. , 0.6]))
    """

    labels: Any
    confidences: Any

    def predictions(
        self, y: Any, mask: Any = None, *, min_confidence: float = 0.5
    ) -> list[tuple[int, int, bool, float]]:
        """Return the predictions of the missing entries, in descending order of confidence.

        Parameters
        ----------
        y, mask
            The labels that were completed.
        min_confidence : float, default=0.5
            Minimum confidence.

        Returns
        -------
        list of (int, int, bool, float)
            Index of the sample, index of the label, whether it is predicted to be positive, and confidence.

        Examples
        --------
        >>> from spmld.estimators import Completion
        >>> Completion([[1, 1], [0, 1]], [[1, 0.7], [0.6, 0.9]]).predictions([[1, None], [None, 1]])
        [(0, 1, True, 0.7), (1, 0, False, 0.6)]
        """
        labels = read_labels(y, mask)
        shape = labels.signs.shape
        confidences = np.asarray(self.confidences, dtype=float).reshape(shape)
        positive = np.asarray(self.labels).reshape(shape) == labels.classes[1]
        i, j = np.nonzero(~labels.observed & (confidences >= min_confidence))
        order = np.argsort(-confidences[i, j], kind="stable")
        places = zip(i[order].tolist(), j[order].tolist(), strict=True)
        return [(i, j, bool(positive[i, j]), float(confidences[i, j])) for i, j in places]

    def suggestions(self, y: Any, mask: Any = None, *, min_confidence: float = 0.5) -> list[tuple[int, int, float]]:
        """Return the missing entries that are predicted to be positive, in descending order of confidence.

        Parameters
        ----------
        y, mask, min_confidence
            As in `predictions`.

        Returns
        -------
        list of (int, int, float)
            Index of the sample, index of the label, and confidence of each suggestion.

        Examples
        --------
        >>> from spmld.estimators import Completion
        >>> Completion([[1, 1], [0, 1]], [[1, 0.7], [0.6, 0.9]]).suggestions([[1, None], [None, None]])
        [(1, 1, 0.9), (0, 1, 0.7)]
        """
        predictions = self.predictions(y, mask, min_confidence=min_confidence)
        return [(i, j, confidence) for i, j, positive, confidence in predictions if positive]
