"""What estimators return: probabilities, labels with the highest scores, completed labels, and data frames."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spmld._arrays import Array, lowest_columns, namespace, to_numpy
from spmld._frames import DataFrame
from spmld._io import need
from spmld.core.losses import LOSSES, logistic
from spmld.labels import read_labels
from spmld.labels.encoding import Labels

BEND = 0.05
"""Probabilities of losses other than the logistic are linear in the score up to 1 - BEND, see `score_probabilities`."""


def score_probabilities(scores: Any, loss: str = "logistic") -> Array:
    """Convert scores to probabilities.

    For the logistic loss this is the logistic function. For other losses the score is mapped linearly from [-1, 1] to
    [0, 1]. Beyond 0.95 the map bends, with a continuous slope, and approaches 1 without reaching it, so that the order
    of scores is kept.

    Parameters
    ----------
    scores : array
        Scores.
    loss : str, default="logistic"
        Name of the loss that was minimized.

    Returns
    -------
    array of the shape of `scores`

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.estimators.outputs import score_probabilities
    >>> score_probabilities(np.array([-0.5, 0.0, 0.5, 3.0]), "squared").round(2)
    array([0.25, 0.5 , 0.75, 1.  ])
    """
    if LOSSES[loss].scores_are_log_odds:
        return logistic(scores)
    xp = namespace(scores)
    excess = xp.clip(xp.abs(scores) - (1 - BEND), 0)
    size = xp.where(excess > 0, 1 - BEND**2 / (BEND + excess), xp.abs(scores))
    return 0.5 * (1 + xp.sign(scores) * size)


def log_odds(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log(p / (1 - p)), with probabilities clipped to the open interval (0, 1).

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.estimators.outputs import log_odds
    >>> log_odds(np.array([0.5, 0.75, 1.0])).round(1)
    array([ 0. ,  1.1, 36. ])
    """
    p = np.clip(p, np.finfo(float).eps, 1 - np.finfo(float).eps)
    return np.log(p) - np.log1p(-p)


class TopLabels(NamedTuple):
    """The labels with the highest scores of each sample, highest first.

    Attributes
    ----------
    labels : ndarray of shape (n_samples, k)
        Columns of the labels. Ties are broken by column.
    scores : ndarray of shape (n_samples, k)
        Their scores.

    Examples
    --------
    >>> from spmld import LabelPrior
    >>> LabelPrior().fit([[0], [1]], [[0, 1, 0], [1, 1, 0]]).top_labels([[2]], k=2).labels
    array([[1, 0]])
    """

    labels: NDArray[np.intp]
    scores: NDArray[Any]


def find_top_labels(scores: Any, k: int) -> TopLabels:
    """Return the k labels with the highest scores of each row."""
    scores = to_numpy(scores)
    columns = lowest_columns(-scores, k)
    return TopLabels(columns, np.take_along_axis(scores, columns, axis=1))


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


def prediction_frame(values: NDArray[Any], X: Any, labels: Labels, library: str) -> DataFrame:
    """Return predictions of X as a data frame or series of "pandas" or "polars", whose columns are the labels."""
    names: Any = labels.classes if labels.one_dimensional else labels.names
    if library == "polars":
        polars = need("polars", extra=None)
        if values.ndim == 1:
            return polars.Series(values)
        columns = range(values.shape[1]) if names is None else names
        return polars.DataFrame(values, schema=[str(name) for name in columns])
    pandas = need("pandas")
    index = X.index if hasattr(X, "iloc") else None
    if values.ndim == 1:
        return pandas.Series(values, index=index)
    return pandas.DataFrame(values, index=index, columns=names)
