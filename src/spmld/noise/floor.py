r"""The floor of the frequency of positives: the rate with the highest marginal likelihood, and its evidence.

The probability that a label is observed as positive is

.. math:: P = \alpha + (1 - \alpha - \beta) \frac{1}{1 + e^{-(a_j s + b_j)}}

with its out-of-fold score s and the slopes and shifts of `PooledCalibration`. The evidence of rates is the increase of
the marginal log-likelihood, in which slopes and shifts are integrated out. Labels that differ in strength and frequency
are explained by their slopes and shifts, which costs likelihood; a floor that all labels share costs none.

The floor :math:`\alpha` is a fact about the scores: certain negatives are observed as positive with this frequency.
Label noise has a floor, but so have labels with causes that the features do not show, and observed labels alone do not
tell one from the other. A floor with clear evidence is therefore used to predict observed labels, and is no claim about
errors. The ceiling :math:`1 - \beta` is below 1 for every label that the features do not determine; in the likelihood,
:math:`\beta = \alpha`, as if entries were flipped.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from spmld.noise.calibration import PooledCalibration
from spmld.noise.likelihood import NoiseRates

_Floats = NDArray[np.float64]
_Signs = NDArray[np.int8]

EVIDENCE = 5.0
"""Minimum evidence of rates: the logarithm of a Bayes factor of 150, "very strong" (Kass and Raftery 1995)."""
MAX_RATE = 0.98
"""Maximum sum of the rates of false positives and false negatives."""
RATES = 0.005 * 2.0 ** np.arange(7)
"""Rates from which the search of the best one starts."""
N_BINS = 128
"""Number of points of the frequency of positives of each label, as a function of its score."""
LIKELIHOOD_TOL = 1e-7
"""Tolerance of the calibrations whose likelihoods are compared."""


class RateFit(NamedTuple):
    """The rate with the highest marginal likelihood, and its evidence."""

    rate: float
    log_likelihood: float
    evidence: float


class Points(NamedTuple):
    """Numbers of observed positives and negatives as a function of the score: rows of scores, signs and counts."""

    scores: _Floats
    signs: _Signs
    counts: _Floats

    def log_likelihood(self, alpha: _Floats | float, beta: _Floats | float) -> float:
        """Return the marginal log-likelihood of rates, which broadcast against the points."""
        rates = NoiseRates(*(np.broadcast_to(rate, self.signs.shape) for rate in (alpha, beta)))
        return PooledCalibration(tol=LIKELIHOOD_TOL).fit(self.scores, self.signs, self.counts, rates).log_likelihood_


def summarize(scores: _Floats, signs: _Signs, weights: _Floats | None = None) -> Points:
    """Return the positives and negatives of each label in bins of equally many entries."""
    weights = (signs != 0) * np.asarray(1.0 if weights is None else weights, dtype=float)
    n, l = signs.shape
    if n <= 2 * N_BINS:
        return Points(np.where(signs == 0, 0.0, scores), signs, weights)
    means = np.zeros((N_BINS, l))
    counts = np.zeros((2, N_BINS, l))
    for j in range(l):
        rows = np.flatnonzero(weights[:, j])
        rows = rows[np.argsort(scores[rows, j], kind="stable")]
        bins = np.arange(len(rows)) * N_BINS // max(len(rows), 1)
        weight = weights[rows, j]
        for part, sign in zip(counts, (1, -1), strict=True):
            part[:, j] = np.bincount(bins, weight * (signs[rows, j] == sign), N_BINS)
        total = np.maximum(counts[:, :, j].sum(axis=0), np.finfo(float).tiny)
        means[:, j] = np.bincount(bins, weight * scores[rows, j], N_BINS) / total
    signs = np.repeat(np.array([1, -1], dtype=np.int8), N_BINS)[:, None] * (counts.reshape(-1, l) > 0)
    return Points(np.vstack([means, means]), signs.astype(np.int8), counts.reshape(-1, l))


def fit_rate(points: Points, direction: tuple[float, float]) -> RateFit:
    """Return the best rate of all labels in a direction (alpha, beta)."""
    u, v = direction

    def loss(rate: float) -> float:
        return -points.log_likelihood(rate * u, rate * v)

    grid = np.append(0.0, RATES)
    losses = [loss(0.0)]
    for rate in RATES:
        losses.append(loss(rate))
        if losses[-1] > losses[-2]:  # the likelihood has one maximum
            break
    best = int(np.argmin(losses))
    if best == 0:
        return RateFit(0.0, -losses[0], 0.0)
    bounds = grid[best - 1], grid[best + 1] if best + 1 < len(grid) else MAX_RATE / (u + v)
    result = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 0.02 * grid[best]})
    return RateFit(float(result.x), -float(result.fun), losses[0] - float(result.fun))


def label_frequency(scores: _Floats, observed: NDArray[np.bool_], weights: _Floats | None = None) -> float:
    """Estimate the fraction of positives that are observed, where negatives are never observed.

    This is the ceiling of their frequency as a function of the score. It is 1 without clear evidence of a lower one.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_labels)
        Out-of-fold log-odds that the label is observed.
    observed : ndarray of bool of shape (n_samples, n_labels)
        Which positives are observed.
    weights : ndarray of shape (n_samples, n_labels), optional
        Weights of the entries.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.noise.floor import label_frequency
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(scale=4, size=(3000, 2))
    >>> positive = rng.random(scores.shape) < 1 / (1 + np.exp(-scores))
    >>> round(label_frequency(scores, positive & (rng.random(scores.shape) < 0.6)), 1)
    0.6
    """
    if observed.all() or not observed.any():
        return 1.0
    ceiling = fit_rate(summarize(scores, np.where(observed, 1, -1).astype(np.int8), weights), (0.0, 1.0))
    return 1 - ceiling.rate if ceiling.evidence > EVIDENCE else 1.0
