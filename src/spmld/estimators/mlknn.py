"""ML-kNN: each label from its neighbours' labels (Zhang and Zhou, 2007), with neighbours whose label is observed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.neighbors import NearestNeighbors

from spmld._arrays import features_to_numpy, move
from spmld.estimators._base import MultiLabelEstimator
from spmld.estimators._inputs import is_integer, is_number, refuse_overflow, require
from spmld.estimators.label_prior import log_odds, smoothed_share
from spmld.labels import Labels

__all__ = ["MLkNN"]

_CELLS = 2**21  # entries, rows x neighbours x labels, worked on at once


class MLkNN(MultiLabelEstimator):
    r"""Multi-label k-nearest neighbours on partly observed labels.

    For each label, the k nearest neighbours of a sample are sought among the training samples where this label is
    observed. The number c of them that have the label is the evidence of Bayes' rule:

    .. math::

        P(H_1 | c) \propto P(H_1)\, P(c | H_1), \qquad
        P(H_1) = \frac{s + N_1}{2 s + N_0 + N_1}, \qquad
        P(c | H_b) = \frac{s + N_b(c)}{(k + 1) s + \sum_{c'} N_b(c')}

    where :math:`H_1` is "the sample has the label" and :math:`H_0` that it has not, :math:`N_b` counts the training
    samples of either kind, :math:`N_b(c)` those among them with c such neighbours, themselves left out, and s is the
    smoothing. Where all labels are observed this is ML-kNN as published [1]_.

    Scores are the log-odds of the posterior, :math:`\log P(H_1 | c) / P(H_0 | c)`.

    Parameters
    ----------
    n_neighbors : int, default=10
        k. Where a label has fewer observed samples, c is k times the share of those that have the label, rounded.
    smoothing : float, default=1.0
        s.
    metric : str or callable, default="euclidean"
        Distance between samples, one of those of `sklearn.neighbors.NearestNeighbors`, but not "precomputed".
    n_jobs : int or None, default=None
        Threads or processes of the search.

    Attributes
    ----------
    prior_ : ndarray of shape (n_labels,)
        :math:`P(H_1)` of each label.
    likelihood_ : ndarray of shape (n_labels, 2, n_neighbors + 1)
        :math:`P(c | H_b)` of each label, b = 0, 1 and c = 0, ..., k.
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

    Notes
    -----
    With ``entry_weight`` a neighbour votes with the weight of its entry: c is k times the positive share of the votes,
    rounded, halves upwards. In :math:`N_b` an entry counts as its weight over the mean weight of its label, so only
    the ratios of a label's weights matter.

    A sample that is the only one with its label observed has no neighbour and says nothing about
    :math:`P(c | H_b)`. A label never observed has probability 1/2 and score 0.

    Which of several samples at the same distance are neighbours is left to the search.

    References
    ----------
    .. [1] Zhang, M.-L. and Zhou, Z.-H. (2007). ML-KNN: A lazy learning approach to multi-label learning. Pattern
       Recognition 40(7), 2038-2048.

    Examples
    --------
    >>> from spmld import MLkNN
    >>> from spmld.datasets import make_planted
    >>> from spmld.labels import hide_labels
    >>> data = make_planted(n_samples=300, random_state=0)
    >>> Y = hide_labels(data.Y, observed_fraction=0.5, random_state=0)
    >>> model = MLkNN().fit(data.X, Y)
    >>> model.predict_proba(data.X[:2]).shape
    (2, 12)
    """

    def __init__(
        self,
        *,
        n_neighbors: int = 10,
        smoothing: float = 1.0,
        metric: str | Callable[..., float] = "euclidean",
        n_jobs: int | None = None,
    ):
        self.n_neighbors = n_neighbors
        self.smoothing = smoothing
        self.metric = metric
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        k = self.n_neighbors
        require(self, "n_neighbors", "an integer of 1 or more", is_integer(k) and k >= 1)
        require(self, "smoothing", "positive", is_number(self.smoothing) and self.smoothing > 0)
        named = isinstance(self.metric, str) and self.metric != "precomputed"
        require(self, "metric", "the name of a distance or a function of two samples", named or callable(self.metric))

    def _fit(self, X: Any, labels: Labels, weights: Any) -> None:
        X = features_to_numpy(X)
        refuse_overflow(X)
        self._search = NearestNeighbors(metric=self.metric, n_jobs=self.n_jobs).fit(X)
        self._sparse = sp.issparse(X)
        self._votes = labels.signs if weights.dtype == bool else labels.signs * _relative(weights)
        own, k, s = self._votes, self.n_neighbors, self.smoothing
        # A missing label needs no neighbours, and its sample is not its own.
        wanted = np.where(own != 0, np.minimum(k, np.count_nonzero(own, axis=0) - 1), 0)
        count = self._positive_neighbours(X, k, wanted, training=True)
        self.prior_ = smoothed_share(own, np.abs(own), s)
        tables = np.zeros((own.shape[1], 2, k + 1))
        row, label = np.nonzero(wanted)
        vote = own[row, label]
        np.add.at(tables, (label, (vote > 0).astype(np.intp), count[row, label]), np.abs(vote))
        self.likelihood_ = (s + tables) / (s * (k + 1) + tables.sum(axis=2, keepdims=True))

    def __getstate__(self) -> dict[str, Any]:
        """The samples without the tree of the search, which is compiled and cannot be checked when it is read."""
        state = dict(super().__getstate__())
        if "_search" in state:
            state |= {"_search": clone(self._search), "_samples": self._search._fit_X}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "_samples" in self.__dict__:
            self._search.fit(self.__dict__.pop("_samples"))

    def _scores(self, X: Any) -> Any:
        rows = features_to_numpy(X)
        refuse_overflow(rows)
        k = self.likelihood_.shape[2] - 1
        wanted = np.minimum(k, np.count_nonzero(self._votes, axis=0))
        count = self._positive_neighbours(rows, k, np.tile(wanted, (X.shape[0], 1)))
        evidence = np.log(self.likelihood_[:, 1]) - np.log(self.likelihood_[:, 0])
        return move(log_odds(self.prior_) + evidence[np.arange(len(evidence)), count], X)

    def _positive_neighbours(self, X: Any, k: int, wanted: NDArray[Any], *, training: bool = False) -> NDArray[np.intp]:
        """How many of k neighbours of each row have each label, (n_rows, n_labels).

        `wanted` says how many neighbours there are to be found, at most k. Where it is 0 the answer means nothing.
        One list of nearest neighbours serves all labels. Rows where it is too short for some label get one twice as
        long, for these labels.
        """
        n = self._votes.shape[0]
        count = np.zeros(wanted.shape, dtype=np.intp)
        rows, labels = np.flatnonzero(wanted.any(axis=1)), np.flatnonzero(wanted.any(axis=0))
        for length in _lengths(k * self._votes.size / np.count_nonzero(self._votes), n):
            if len(rows) == 0:
                break
            votes = self._votes[:, labels]
            short = np.zeros((len(rows), len(labels)), dtype=bool)
            size = max(1, _CELLS // (length * len(labels)))
            for part in (slice(i, i + size) for i in range(0, len(rows), size)):
                near = self._search.kneighbors(self._as_fitted(X[rows[part]]), length, return_distance=False)
                itself = near == rows[part, None] if training else np.zeros_like(near, dtype=bool)
                cast = np.where(itself[:, :, None], 0, votes[near])
                seen = np.cumsum(cast != 0, axis=1, dtype=np.int32)
                cast = np.where(seen <= k, cast, 0)
                total = np.abs(cast).sum(axis=1)
                share = np.maximum(cast, 0).sum(axis=1) / np.where(total > 0, total, 1)
                cells = np.ix_(rows[part], labels)
                # Rounding errors in a sum of weights must not decide which way a half goes.
                count[cells] = np.floor(k * share + 0.5 + 1e-9)
                short[part] = seen[:, -1] < wanted[cells]
            rows, labels = rows[short.any(axis=1)], labels[short.any(axis=0)]
        return count

    def _as_fitted(self, X: Any) -> Any:
        """Rows as the search takes them: one fitted on dense features may take no sparse ones."""
        return X.toarray() if sp.issparse(X) and not self._sparse else X


def _relative(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights over the mean of those of their label that are not 0."""
    total = weights.sum(axis=0)
    return weights / np.where(total > 0, total / np.maximum(np.count_nonzero(weights, axis=0), 1), 1)


def _lengths(expected: float, n: int) -> Iterator[int]:
    """Lengths of neighbour lists: first one in which k observed labels are expected, then doubled up to all n."""
    length = int(np.ceil(expected)) + 1
    while length < n:
        yield length
        length *= 2
    yield n
