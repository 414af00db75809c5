"""LabelPrior: how often each label is positive, whatever the sample."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld._arrays import move
from spmld.estimators._base import MultiLabelEstimator
from spmld.estimators._inputs import is_number, require
from spmld.labels import Labels

__all__ = ["LabelPrior", "log_odds", "smoothed_share"]


def smoothed_share(signs: NDArray[Any], weights: NDArray[Any], smoothing: float = 1.0) -> NDArray[np.float64]:
    """Share of positives of each label, (s + weight of its positives) / (2 s + weight of its entries)."""
    positives = np.where(signs > 0, weights, 0).sum(axis=0)
    return (smoothing + positives) / (2 * smoothing + weights.sum(axis=0))


def log_odds(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """The score whose logistic function is p, finite: probabilities of 0 and 1 are moved inside by a rounding error."""
    p = np.clip(p, np.finfo(float).eps, 1 - np.finfo(float).eps)
    return np.log(p) - np.log1p(-p)


class LabelPrior(MultiLabelEstimator):
    r"""The share of positives of each label among its observed entries. It does not look at the features.

    What a method that has learned something from the features must beat:

    .. math::

        p_j = \frac{s + \sum_i J_{ij} [Y_{ij} = 1]}{2 s + \sum_i J_{ij}}

    with the weights :math:`J` of the entries, 0 where unobserved, and the smoothing s. The score of label j is
    :math:`\log p_j / (1 - p_j)`. A label never observed has probability 1/2 and score 0, and is not predicted.

    Parameters
    ----------
    smoothing : float, default=1.0
        s, positives and negatives added to those of each label.

    Attributes
    ----------
    prior_ : ndarray of shape (n_labels,)
        p, the probability of each label.
    classes_ : ndarray of shape (2,)
        How a negative and a positive label are written.
    n_labels_ : int
        Number of labels.
    label_names_ : list
        Their names, or numbers.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray
        Their names, where X had string ones.

    Examples
    --------
    >>> from spmld import LabelPrior
    >>> model = LabelPrior().fit([[0], [1], [2]], [[1, 0], [1, None], [None, 0]])
    >>> model.prior_
    array([0.75, 0.25])
    """

    def __init__(self, *, smoothing: float = 1.0):
        self.smoothing = smoothing

    def _check_parameters(self) -> None:
        require(self, "smoothing", "positive", is_number(self.smoothing) and self.smoothing > 0)

    def _fit(self, X: Any, labels: Labels, weights: Any) -> None:
        self.prior_ = smoothed_share(labels.signs, weights, self.smoothing)

    def _scores(self, X: Any) -> Any:
        return move(np.tile(log_odds(self.prior_), (X.shape[0], 1)), X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags
