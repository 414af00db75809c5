"""Reference: what monitoring needs to know about the training data, in a few numbers per feature and label."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spmld._arrays import features_to_numpy
from spmld.core.losses import logistic
from spmld.labels import read_labels
from spmld.noise import NoiseRates, PooledCalibration
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
    edges : ndarray of shape (n_quantiles, n_features)
        Distinct quantiles of each feature, NaN where there are fewer. Zero is the only one of a feature that is zero in
        more than 90 % of the samples, such as a word.
    below : ndarray of shape (n_quantiles, n_features)
        Number of samples that do not exceed the quantile.
    weights : csc_array of shape (n_features, n_labels)
        Weights of the linear scores that are compared, at most 500 for each label.
    offsets : ndarray of shape (n_labels,)
        Their offsets, with which the scores are log-odds.
    scores : ndarray of shape (n_scored, n_labels)
        Scores of at most 2,000 samples to which the weights were not fitted.
    means : ndarray of shape (3, n_labels)
        Out-of-fold fractions of true positives, of positives and of predicted positives among the observed entries.
    residuals : ndarray of shape (2, n_labels)
        Mean of label minus probability, over predicted and over all observed entries, divided by the number of the
        latter.
    variances : ndarray of shape (2, n_labels)
        Their variances for one sample.
    covariance : ndarray of shape (2, 2)
        Covariance of the sums of `residuals` over the labels. Labels of the same sample may be dependent.
    n_observed : ndarray of shape (n_labels,)
        Number of observed entries; 0 for a label without a negative, whose residuals are unknown.

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
    means: _Floats
    residuals: _Floats
    variances: _Floats
    covariance: _Floats
    n_observed: NDArray[np.int32]


def make_reference(
    X: Any,
    Y: Any,
    scores: _Floats,
    predicted: Any,
    *,
    coef: Any,
    held_out: NDArray[np.bool_],
    rates: NoiseRates | None = None,
) -> Reference:
    """Return the summary of training data to which new samples are compared.

    `SelfPacedEnsemble` stores it as `reference_`. For other models, pass out-of-fold scores, see
    `spmld.model_selection.cross_fit`.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Features of the training samples.
    Y : labels in any form accepted by `spmld.labels.read_labels`
        Labels of the training samples.
    scores : ndarray of shape (n_samples, n_labels)
        Calibrated out-of-fold log-odds.
    predicted : array-like of shape (n_samples, n_labels)
        Which labels are predicted from them.
    coef : ndarray of shape (n_labels, n_features)
        Coefficients of a linear model that was not fitted to the samples `held_out`. Its scores of these and of new
        samples have the same distribution if nothing has changed. Out-of-fold scores do not have the distribution of
        the scores of the model, which is fitted to more samples.
    held_out : ndarray of bool of shape (n_samples,)
        Samples to which the linear model was not fitted.
    rates : NoiseRates, optional
        Noise rates of the labels, by default 0.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld import MaskedLogistic
    >>> from spmld.datasets import make_planted
    >>> from spmld.monitoring import make_reference, monitor
    >>> data = make_planted(n_samples=900, n_labels=4, random_state=0)
    >>> X, Y, held_out = data.X[::2], 1.0 * data.Y[::2], np.arange(450) % 2 == 0
    >>> model = MaskedLogistic().fit(X[~held_out], Y[~held_out])
    >>> scores, predicted = model.decision_function(X), model.predict(X)
    >>> Y[~held_out] = np.nan  # their scores are not out-of-fold
    >>> reference = make_reference(X, Y, scores, predicted, coef=model.coef_, held_out=held_out)
    >>> monitor(model, data.X[1::2], reference).alarm
    False
    """
    X, signs, logits = features_to_numpy(X), read_labels(Y).signs, np.asarray(scores, dtype=float)
    X = X.tocsc() if sp.issparse(X) else np.asarray(X, dtype=float)
    edges, rest = _find_edges(X), np.flatnonzero(held_out)
    weights = _largest(np.asarray(coef, dtype=float).T)
    raw = linear_scores(X[rest], weights)
    n_positives, n_negatives = ((signs[rest] * sign > 0).sum(axis=0) for sign in (1, -1))
    shift = np.log((n_positives + 0.5) / (n_negatives + 0.5)) - raw.mean(axis=0)
    calibration = PooledCalibration().fit(raw + shift, signs[rest], rates=rates)
    log_odds = calibration.transform(raw + shift)[:: -(-len(rest) // MAX_SAMPLES)]
    d = np.asarray(predicted, dtype=float)
    y = (signs > 0).astype(float) if rates is None else rates.true_probability(1.0 * (signs > 0))
    seen = (signs != 0) & has_both_classes(signs)
    count = seen.sum(axis=0)
    residual = np.where(seen, y - logistic(logits), 0.0)
    of_labels = np.stack([residual * d, residual]) / np.maximum(count, 1)
    of_samples = of_labels.sum(axis=2)
    return Reference(
        n_samples=X.shape[0],
        edges=edges,
        below=count_below(X, edges),
        weights=weights * float(calibration.slope_),
        offsets=calibration.transform(shift[None])[0],
        scores=log_odds.astype(np.float32),
        means=np.where(seen, np.stack([y * d, y, d]), 0.0).sum(axis=1) / np.maximum(count, 1),
        residuals=of_labels.sum(axis=1),
        variances=(of_labels**2).sum(axis=1) * count,
        covariance=of_samples @ of_samples.T,
        n_observed=count.astype(np.int32),
    )


def _largest(W: _Floats) -> Any:
    """Return the weights as a sparse matrix, without those that are not among the largest ones of their label."""
    if len(W) > MAX_WEIGHTS:
        limit = np.partition(np.abs(W), -MAX_WEIGHTS, axis=0)[-MAX_WEIGHTS]
        W = np.where(np.abs(W) >= limit, W, 0.0)
    return sp.csc_array(W)


def linear_scores(X: Any, weights: Any) -> _Floats:
    """Return the product of features and sparse weights as an array."""
    scores = X @ weights
    return np.asarray(scores.toarray() if sp.issparse(scores) else scores, dtype=float)


def count_below(X: Any, edges: _Floats) -> NDArray[np.int32]:
    """Return the number of samples whose feature does not exceed each edge.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.monitoring.reference import count_below
    >>> count_below(np.array([[0.0], [1.0], [3.0]]), np.array([[0.0], [1.0]], dtype=np.float32)).ravel()
    array([1, 2], dtype=int32)
    """
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
        edges[:] = np.quantile(X, QUANTILES, axis=0, method="inverted_cdf") if n else np.nan
    else:
        for j in np.flatnonzero(np.diff(X.indptr) > min(QUANTILES) * n):
            edges[:, j] = np.quantile(X[:, [j]].toarray(), QUANTILES, method="inverted_cdf")
    edges[1:][edges[1:] == edges[:-1]] = np.nan
    return edges
