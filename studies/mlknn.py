"""MLkNN: multi-label nearest neighbors (Zhang and Zhou, 2007) with missing labels."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
import sklearn
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from spmld._arrays import MEMORY, features_to_numpy, largest_value, move, row_slices
from spmld._validation import Positive, PositiveInt
from spmld.estimators.base import MultiLabelEstimator
from spmld.estimators.label_prior import smoothed_frequency
from spmld.estimators.outputs import log_odds
from spmld.model_selection.samples import Samples


@dataclass(kw_only=True, eq=False, repr=False)
class MLkNN(MultiLabelEstimator):
    r"""Multi-label k-nearest neighbors with missing labels.

    For each label, the k nearest neighbors of a sample are selected from the training samples where this label is
    observed. The number c of neighbors with the label is the evidence in Bayes' rule:

    .. math::

        P(H_1 | c) \propto P(H_1)\, P(c | H_1), \qquad
        P(H_1) = \frac{s + N_1}{2 s + N_0 + N_1}, \qquad
        P(c | H_b) = \frac{s + N_b(c)}{(k + 1) s + \sum_{c'} N_b(c')}

    where :math:`H_1` and :math:`H_0` are the hypotheses that the sample has the label or not, :math:`N_b` is the number
    of training samples of either kind, :math:`N_b(c)` the number of those with c positive neighbors, not counting
    themselves, and s is the smoothing. If all labels are observed this is ML-kNN as published [1]_.

    Scores are the log-odds of the posterior, :math:`\log P(H_1 | c) / P(H_0 | c)`.

    Parameters
    ----------
    n_neighbors : int, default=10
        k. For a label with fewer observed samples, c is k times the fraction of positive ones, rounded.
    smoothing : float, default=1.0
        s.
    metric : str or callable, default="euclidean"
        Distance between samples, as in `sklearn.neighbors.NearestNeighbors`, except "precomputed".
    n_jobs : int or None, default=None
        Number of parallel jobs of the search.

    Attributes
    ----------
    prior_ : ndarray of shape (n_labels,)
        :math:`P(H_1)` of each label.
    likelihood_ : ndarray of shape (n_labels, 2, n_neighbors + 1)
        :math:`P(c | H_b)` of each label, b = 0, 1 and c = 0, ..., k.

    See Also
    --------
    MultiLabelEstimator : The attributes that all estimators share.

    Notes
    -----
    With ``entry_weight``, c is k times the weighted fraction of positive neighbors, rounded half up. In :math:`N_b` the
    weight of an entry is divided by the mean weight of its label, so that only the ratios of weights within a label
    matter.

    The only observed sample of a label has no neighbor and does not contribute to :math:`P(c | H_b)`. A label without
    observed entries has probability 1/2 and score 0.

    Ties between samples at the same distance are broken arbitrarily by the search.

    References
    ----------
    .. [1] Zhang, M.-L. and Zhou, Z.-H. (2007). ML-KNN: A lazy learning approach to multi-label learning. Pattern
       Recognition 40(7), 2038-2048.

    Examples
    --------
    >>> from spmld.datasets import make_planted
    >>> from studies.mlknn import MLkNN
    >>> data = make_planted(n_samples=300, observed_fraction=0.5, random_state=0)
    >>> model = MLkNN().fit(data.X, data.Y)
    >>> model.predict_proba(data.X[:2]).shape
    (2, 12)
    """

    n_neighbors: PositiveInt = 10
    smoothing: Positive = 1.0
    metric: str | Callable[..., float] = "euclidean"
    n_jobs: int | None = None

    def _check_parameters(self) -> None:
        if self.metric == "precomputed":
            raise ValueError(
                "metric must be the name of a distance other than 'precomputed' or a function of two samples, "
                "got 'precomputed'"
            )

    def _fit(self, samples: Samples) -> None:
        X, labels, weights = samples.X, samples.labels, samples.weights
        X = features_to_numpy(X)
        _check_underflow(X)
        self._samples = X
        self.__dict__.pop("_search", None)  # of the last fit
        self._weighted_signs = labels.signs if weights.dtype == bool else labels.signs * _relative(weights)
        signs, k, s = self._weighted_signs, self.n_neighbors, self.smoothing
        # Missing labels need no neighbors, and a sample is not its own neighbor.
        n_neighbors = np.where(signs != 0, np.minimum(k, np.count_nonzero(signs, axis=0) - 1), 0)
        count = self._positive_neighbors(X, k, n_neighbors, training=True)
        self.prior_ = smoothed_frequency(signs, np.abs(signs), s)
        tables = np.zeros((signs.shape[1], 2, k + 1))
        i, j = np.nonzero(n_neighbors)
        np.add.at(tables, (j, (signs[i, j] > 0).astype(np.intp), count[i, j]), np.abs(signs[i, j]))
        self.likelihood_ = (s + tables) / (s * (k + 1) + tables.sum(axis=2, keepdims=True))

    @cached_property
    def _search(self) -> NearestNeighbors:
        return NearestNeighbors(metric=self.metric, n_jobs=self.n_jobs).fit(self._samples)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the search tree, which is compiled and cannot be validated when a file is loaded."""
        return {name: value for name, value in super().__getstate__().items() if name != "_search"}

    def _scores(self, X: Any) -> Any:
        samples = features_to_numpy(X)
        k = self.likelihood_.shape[2] - 1
        n_neighbors = np.minimum(k, np.count_nonzero(self._weighted_signs, axis=0))
        count = self._positive_neighbors(samples, k, np.tile(n_neighbors, (X.shape[0], 1)))
        evidence = np.log(self.likelihood_[:, 1]) - np.log(self.likelihood_[:, 0])
        return move(log_odds(self.prior_) + evidence[np.arange(len(evidence)), count], X)

    def _positive_neighbors(
        self, X: Any, k: int, n_neighbors: NDArray[Any], *, training: bool = False
    ) -> NDArray[np.intp]:
        """Return the number of positive neighbors among k, of shape (n_samples, n_labels).

        `n_neighbors` is the number of available neighbors, at most k; where it is 0 the result is meaningless. All
        labels share one list of nearest neighbors. If the list of a sample is too short for some labels, the search
        is repeated for these labels with twice the length.
        """
        n = self._weighted_signs.shape[0]
        count = np.zeros(n_neighbors.shape, dtype=np.intp)
        samples, labels = np.flatnonzero(n_neighbors.any(axis=1)), np.flatnonzero(n_neighbors.any(axis=0))
        for length in _list_lengths(k * self._weighted_signs.size / np.count_nonzero(self._weighted_signs), n):
            if len(samples) == 0:
                break
            signs = self._weighted_signs[:, labels]
            incomplete = np.zeros((len(samples), len(labels)), dtype=bool)
            for part in row_slices(len(samples), length * len(labels), MEMORY):
                with sklearn.config_context(working_memory=MEMORY * 8 / 2**20):  # of distances, in MiB
                    near = self._search.kneighbors(self._as_fitted(X[samples[part]]), length, return_distance=False)
                itself = near == samples[part, None] if training else np.zeros_like(near, dtype=bool)
                near_signs = np.where(itself[:, :, None], 0, signs[near])
                n_observed = np.cumsum(near_signs != 0, axis=1, dtype=np.int32)
                near_signs = np.where(n_observed <= k, near_signs, 0)
                total = np.abs(near_signs).sum(axis=1)
                fraction = np.maximum(near_signs, 0).sum(axis=1) / np.where(total > 0, total, 1)
                entries = np.ix_(samples[part], labels)
                # Rounding errors in a sum of weights must not affect how a half is rounded.
                count[entries] = np.floor(k * fraction + 0.5 + 1e-9)
                incomplete[part] = n_observed[:, -1] < n_neighbors[entries]
            samples, labels = samples[incomplete.any(axis=1)], labels[incomplete.any(axis=0)]
        return count

    def _as_fitted(self, X: Any) -> Any:
        """Return samples in the format of the fit, as the search may not accept sparse features after a dense fit."""
        return X.toarray() if sp.issparse(X) and not sp.issparse(self._samples) else X


def _check_underflow(X: Any) -> None:
    """Raise ValueError if the squares of all features vanish."""
    largest = largest_value(X)
    if 0 < largest < 1e3 * float(np.finfo(X.dtype).smallest_normal) ** 0.5:
        raise ValueError(
            f"X contains only values too small for {X.dtype}, up to {largest:.3g}; scale the features first"
        )


def _relative(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide the weights of each label by the mean of the positive ones."""
    total = weights.sum(axis=0)
    return weights / np.where(total > 0, total / np.maximum(np.count_nonzero(weights, axis=0), 1), 1)


def _list_lengths(expected: float, n: int) -> Iterator[int]:
    """Yield lengths of neighbor lists: the length expected to contain k observed labels, then doubled up to n."""
    length = int(np.ceil(expected)) + 1
    while length < n:
        yield length
        length *= 2
    yield n
