"""LabelPrior: the frequency of each label, the same for all samples."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags

from spmld._arrays import Array, move
from spmld._validation import Positive
from spmld.estimators.base import MultiLabelEstimator
from spmld.estimators.outputs import log_odds
from spmld.model_selection.samples import Samples


def smoothed_frequency(signs: NDArray[Any], weights: NDArray[Any], smoothing: float = 1.0) -> NDArray[np.float64]:
    """Return (s + weight of the positives) / (2 s + weight of the entries) of each label."""
    positives = np.where(signs > 0, weights, 0).sum(axis=0)
    return (smoothing + positives) / (2 * smoothing + weights.sum(axis=0))


@dataclass(kw_only=True, eq=False, repr=False)
class LabelPrior(MultiLabelEstimator):
    r"""Baseline that predicts the frequency of each label among its observed entries and ignores the features.

    Any model that uses the features should be better than this baseline:

    .. math::

        p_j = \frac{s + \sum_i J_{ij} [Y_{ij} = 1]}{2 s + \sum_i J_{ij}}

    with the weights :math:`J` of the entries, 0 where missing, and the smoothing s. The score of label j is
    :math:`\log(p_j / (1 - p_j))`. A label without observed entries has probability 1/2 and score 0; it is not
    predicted.

    Parameters
    ----------
    smoothing : float, default=1.0
        s, the number of positives and of negatives added to each label.

    Attributes
    ----------
    prior_ : ndarray of shape (n_labels,)
        p, the probability of each label.

    See Also
    --------
    MultiLabelEstimator : The attributes that all estimators share.

    Examples
    --------
    >>> from spmld import LabelPrior
    >>> model = LabelPrior().fit([[0], [1], [2], [3]], [[1, 0], [1, None], [None, 0], [0, 1]])
    >>> model.prior_
    array([0.6, 0.4])
    """

    smoothing: Positive = 1.0

    def _fit(self, samples: Samples) -> None:
        self.prior_ = smoothed_frequency(samples.signs, samples.weights, self.smoothing)

    def _scores(self, X: Any) -> Array:
        return move(np.tile(log_odds(self.prior_), (X.shape[0], 1)), X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags
