"""The labels of a sample with the highest scores."""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, check_is_fitted

from spmld._arrays import lowest_columns, row_slices, to_numpy
from spmld._validation import check_scalar_integer


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


class TopLabelsMixin(ABC):
    """Mixin of estimators with scores in `_scores`."""

    n_labels_: int

    def top_labels(self, X: Any, k: int = 5) -> TopLabels:
        """Return the `k` labels of each sample with the highest scores, or all labels if there are fewer.

        Scores are computed in blocks of samples: the scores of all samples and labels are never in memory.

        Parameters
        ----------
        X
            As in `decision_function`.
        k : int, default=5
            Number of labels.

        Returns
        -------
        TopLabels
            ``labels``, the columns of the labels, and ``scores``, both of shape (n_samples, k), highest scores first.
        """
        check_is_fitted(self)
        k = check_scalar_integer("k", k, minimum=1)
        X = self._read_features(X)
        blocks = row_slices(_num_samples(X), self.n_labels_)
        parts = [find_top_labels(self._scores(_safe_indexing(X, rows)), k) for rows in blocks]
        return TopLabels(*map(np.concatenate, zip(*parts, strict=True)))

    @abstractmethod
    def _read_features(self, X: Any) -> Any:
        """Return validated features of new samples."""

    @abstractmethod
    def _scores(self, X: Any) -> Any:
        """Return the scores of validated features, of shape (n_samples, n_labels)."""


def find_top_labels(scores: Any, k: int) -> TopLabels:
    """Return the k labels with the highest scores of each row."""
    scores = to_numpy(scores)
    columns = lowest_columns(-scores, k)
    return TopLabels(columns, np.take_along_axis(scores, columns, axis=1))
