"""Reference: what monitoring needs to know about the training data, in a few numbers per feature and label."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spmld._arrays import CACHE, Matrix, features_to_numpy, row_slices
from spmld.labels import read_labels
from spmld.noise import PooledCalibration
from spmld.noise.calibration import has_both_classes

_Floats = NDArray[np.float64]

QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
"""Quantiles of a feature at which its distributions are compared."""
MAX_SAMPLES = 2000
"""Maximum number of samples whose scores are stored."""
MAX_WEIGHTS = 500
"""Maximum number of features in the score of a label."""


@dataclass(frozen=True)
class Reference:
    """Summary of the training data of a model.

    Attributes
    ----------
    n_samples : int
        Number of training samples.
    edges : ndarray of shape (n_quantiles, n_features + 1)
        Distinct quantiles of each feature, NaN where there are fewer. Zero is the only one of a feature that is zero in
        more than 90 % of the samples, such as a word. The last column is of the number of zeros among the features of a
        sample.
    below : ndarray of shape (n_quantiles, n_features + 1)
        Number of samples that do not exceed the quantile.
    weights : csc_array of shape (n_features, n_labels)
        Weights of the linear scores that are compared, at most 500 for each label.
    offsets : ndarray of shape (n_labels,)
        Their offsets, with which the scores are log-odds.
    scores : ndarray of shape (n_scored, n_labels)
        Scores of at most 2,000 samples to which the weights were not fitted.
    tested : ndarray of bool of shape (n_labels,)
        Labels whose frequencies are tested: those with observed positives and negatives.

    Examples
    --------
    See `monitor`.
    """

    n_samples: int
    edges: _Floats
    below: NDArray[np.int32]
    weights: Any
    offsets: _Floats
    scores: NDArray[np.float32]
    tested: NDArray[np.bool_]

    def linear_scores(self, X: Any) -> _Floats:
        """Return the log-odds of samples by the linear model.

        They are rounded to single precision, like `scores`, so that identical samples have identical scores.
        """
        return _linear_scores(X, self.weights, self.offsets)


def make_reference(X: Any, Y: Any, *, coef: Any, held_out: NDArray[np.bool_]) -> Reference:
    """Return the summary of training data to which new samples are compared.

    `SelfPacedEnsemble` stores it as `reference_`.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Features of the training samples.
    Y : labels in any form accepted by `spmld.labels.read_labels`
        Labels of the training samples.
    coef : ndarray of shape (n_labels, n_features)
        Coefficients of a linear model that was not fitted to the samples `held_out`. Its scores of these and of new
        samples have the same distribution if nothing has changed. Out-of-fold scores do not have the distribution of
        the scores of the model, which is fitted to more samples.
    held_out : ndarray of bool of shape (n_samples,)
        Samples to which the linear model was not fitted, chosen at random. Those of a fold are not random if identical
        samples, or those of a group, are in the same fold.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld import MaskedLogistic
    >>> from spmld.datasets import make_planted
    >>> from spmld.monitoring import make_reference, monitor
    >>> data = make_planted(n_samples=900, n_labels=4, random_state=0)
    >>> X, Y, held_out = data.X[::2], data.Y[::2], np.arange(450) % 2 == 0
    >>> model = MaskedLogistic().fit(X[~held_out], Y[~held_out])
    >>> reference = make_reference(X, Y, coef=model.coef_, held_out=held_out)
    >>> monitor(model, data.X[1::2], reference).alarm
    False
    """
    X = features_to_numpy(X)
    X = X.tocsc() if sp.issparse(X) else np.asarray(X, dtype=float)
    signs = read_labels(Y).signs
    rest = np.flatnonzero(held_out)
    weights = _largest(np.asarray(coef, dtype=float).T)
    raw = _product(X[rest], weights)
    n_positives = (signs[rest] > 0).sum(axis=0)
    n_negatives = (signs[rest] < 0).sum(axis=0)
    shift = np.log((n_positives + 0.5) / (n_negatives + 0.5)) - raw.mean(axis=0)
    calibration = PooledCalibration().fit(raw + shift, signs[rest])
    weights = sp.csc_array(weights.multiply(calibration.slopes_))
    offsets = calibration.transform(shift[None])[0]
    step = -(-len(rest) // MAX_SAMPLES)
    scores = _linear_scores(X[rest[::step]], weights, offsets)
    counted = append_zeros(X)
    edges = _find_edges(counted)
    return Reference(
        n_samples=X.shape[0],
        edges=edges,
        below=count_below(counted, edges),
        weights=weights,
        offsets=offsets,
        scores=scores.astype(np.float32),
        tested=has_both_classes(signs),
    )


def _largest(W: _Floats) -> Matrix:
    """Return the weights as a sparse matrix, without those that are not among the largest ones of their label."""
    if len(W) > MAX_WEIGHTS:
        limit = np.partition(np.abs(W), -MAX_WEIGHTS, axis=0)[-MAX_WEIGHTS]
        W = np.where(np.abs(W) >= limit, W, 0.0)
    return sp.csc_array(W)


def _product(X: Any, weights: Any) -> _Floats:
    """Return the product of features and sparse weights as an array."""
    scores = X @ weights
    return np.asarray(scores.toarray() if sp.issparse(scores) else scores, dtype=float)


def _linear_scores(X: Any, weights: Any, offsets: _Floats) -> _Floats:
    return (_product(X, weights) + offsets).astype(np.float32).astype(float)


def append_zeros(X: Any) -> Matrix:
    """Return the features and, as the last column, how many of those of a sample are zero.

    A category, or a word, that is not in the training data has no feature of its own.
    """
    zeros = X.shape[1] - np.asarray((X != 0).sum(axis=1)).reshape(-1, 1)
    return sp.hstack([X, sp.csr_array(zeros)], format="csc") if sp.issparse(X) else np.hstack([X, zeros])


def count_below(X: Any, edges: _Floats) -> NDArray[np.int32]:
    """Return the number of samples whose feature does not exceed each edge."""
    if not sp.issparse(X):
        return np.array([(row >= X).sum(axis=0) for row in edges], dtype=np.int32)
    X = X.tocsc()
    column = np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
    stored = [np.bincount(column, X.data <= row[column], minlength=X.shape[1]) for row in edges]
    return np.array(stored + (X.shape[0] - np.diff(X.indptr)) * (edges >= 0), dtype=np.int32)


def _find_edges(X: Any) -> NDArray[np.float64]:
    """Return the distinct quantiles of each feature; other places are NaN."""
    n, d = X.shape
    edges = np.zeros((len(QUANTILES), d))
    if not sp.issparse(X):
        for columns in row_slices(d, n, CACHE):
            values = X[:, columns]
            edges[:, columns] = np.quantile(values, QUANTILES, axis=0, method="inverted_cdf") if n else np.nan
    else:
        for j in np.flatnonzero(np.diff(X.indptr) > min(QUANTILES) * n):
            edges[:, j] = np.quantile(X[:, [j]].toarray(), QUANTILES, method="inverted_cdf")
    edges[1:][edges[1:] == edges[:-1]] = np.nan
    return edges
