r"""Label noise: noise rates of labels, and probabilities that observed labels are correct, from scores.

Label j of sample i has the score :math:`s_{ij}` and is truly positive with probability
:math:`\pi = 1 / (1 + e^{-(c s + d)})`; with :math:`c = 1, d = 0` the scores are log-odds. The observed label is wrong
with the noise rates of its label,

.. math:: \alpha_j = P(\text{observed} + \mid \text{true} -), \qquad \beta_j = P(\text{observed} - \mid \text{true} +).

An observed label y is then correct with probability :math:`p = 1 / (1 + r e^{-y (c s + d)})`, where r is
:math:`\alpha / (1 - \beta)` for a positive and :math:`\beta / (1 - \alpha)` for a negative. In terms of the logistic
loss :math:`\ell = \log(1 + e^{-y (c s + d)})` this is :math:`p = 1 / (1 + r (e^{\ell} - 1))`, a self-paced weight: it
decreases from 1 as the loss increases, and is 1/2 at the loss :math:`\log(1 + 1 / r)`, a threshold estimated from the
data.

`spmld.pacing.rate_estimate` estimates the noise rates.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincinv, pdtrc

from spmld._arrays import namespace
from spmld.core.losses import Array, logistic

MIN_RATE = 1e-7
"""Minimum distance of rates from 0 and 1, which are fixed points of the EM algorithm."""
SIGNIFICANCE = 0.05
"""Significance level at which a label contradicts a rate of false positives, corrected for the number of labels."""
EXCESS_PROBABILITY = 0.2
"""Minimum probability of at least as many low positives as observed, for a label that a rate explains."""


class NoiseRates(NamedTuple):
    """Noise rates of the labels, and the calibration of the scores.

    Attributes
    ----------
    alpha : array of shape (l,)
        Probability that a true negative is observed as positive, for each label.
    beta : array of shape (l,)
        Probability that a true positive is observed as negative, for each label.
    slope, shift : float or array of shape (l,)
        c and d.
    """

    alpha: Array
    beta: Array
    slope: Array | float = 1.0
    shift: Array | float = 0.0


def error_log_odds(scores: Array, signs: Array, rates: NoiseRates) -> Array:
    """Return the log-odds that each label is wrong, log r - y (c s + d); meaningless where the sign is 0.

    Parameters
    ----------
    scores : array of shape (n, l)
        Scores; the higher, the more likely the label is truly positive.
    signs : array of shape (n, l)
        Observed labels: 1, -1, and 0 where missing.
    rates : NoiseRates
        Noise rates, in the open interval (0, 1).

    Returns
    -------
    array of shape (n, l)

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.pacing.noise import NoiseRates, correct_probability, error_log_odds
    >>> scores, signs, rates = np.array([2.0, 2.0, 2.0]), np.array([1, -1, 0]), NoiseRates(np.array(0.2), np.array(0.2))
    >>> error_log_odds(scores, signs, rates)[:2].round(2)
    array([-3.39,  0.61])
    >>> correct_probability(scores, signs, rates).round(2)
    array([0.97, 0.35, 0.  ])
    """
    xp = namespace(scores)
    odds = rates.slope * scores + rates.shift
    positive = xp.log(rates.alpha) - xp.log1p(-rates.beta)
    negative = xp.log(rates.beta) - xp.log1p(-rates.alpha)
    return xp.where(signs > 0, positive - odds, negative + odds)


def correct_probability(scores: Array, signs: Array, rates: NoiseRates) -> Array:
    """Return the probability that each label is correct, 0 where it is missing; used as a weight in a fit.

    Parameters and examples are those of `error_log_odds`.
    """
    xp = namespace(scores)
    p = logistic(-error_log_odds(scores, signs, rates))
    return xp.where(signs == 0, xp.zeros_like(p), p)


def log_likelihood(scores: Array, signs: Array, rates: NoiseRates) -> Array:
    r"""Return the log-likelihood of the observed labels given the scores, for each label.

    .. math:: \sum_{i: y_{ij} = 1} \log((1 - \beta_j) \pi_{ij} + \alpha_j (1 - \pi_{ij}))
              + \sum_{i: y_{ij} = -1} \log(\beta_j \pi_{ij} + (1 - \alpha_j) (1 - \pi_{ij}))

    Parameters
    ----------
    scores, signs, rates
        As in `error_log_odds`.

    Returns
    -------
    array of shape (l,)

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.pacing.noise import NoiseRates, log_likelihood
    >>> rates = NoiseRates(np.array([0.5]), np.array([0.5]))
    >>> log_likelihood(np.array([[2.0], [-1.0]]), np.array([[1], [-1]]), rates) / np.log(2)
    array([-2.])
    """
    xp = namespace(scores)
    pi = logistic(rates.slope * scores + rates.shift)
    likelihood = label_likelihood(pi, signs, rates.alpha, rates.beta)
    return xp.sum(xp.where(signs == 0, xp.zeros_like(pi), xp.log(likelihood)), axis=0)


def label_rates(
    scores: Array, signs: Array, shared: NoiseRates, *, shrinkage: float, max_iter: int, tol: float
) -> NoiseRates:
    r"""Estimate the rates of each label by the EM algorithm, shrunk toward shared rates.

    The scores must be calibrated, for instance on verified entries. Otherwise, the errors of a label cannot be
    distinguished from a label that is hard to predict.

    With fp, tn, fn and tp the expected numbers of false positives, true negatives, false negatives and true positives
    among the observed entries of label j, and m the shrinkage, an iteration sets

    .. math:: \alpha_j = \frac{fp + m}{fp + tn + m / \alpha_j^0}, \qquad
              \beta_j = \frac{fn + m}{fn + tp + m / \beta_j^0}

    with the shared rates :math:`\alpha_j^0` and :math:`\beta_j^0`. This never decreases the log-likelihood plus
    :math:`m (\log \alpha_j + (1 / \alpha_j^0 - 1) \log(1 - \alpha_j))` and the same for :math:`\beta_j`.
    """
    xp = namespace(scores)
    if shrinkage == float("inf"):
        return shared
    rates, m = shared, shrinkage
    positive, negative = xp.astype(signs > 0, scores.dtype), xp.astype(signs < 0, scores.dtype)
    n_positive = max(_total(positive), 1.0)
    value = _total(log_likelihood(scores, signs, rates))
    for _ in range(max_iter):
        p = correct_probability(scores, signs, rates)
        fp, tn = xp.sum(positive * (1 - p), axis=0), xp.sum(negative * p, axis=0)
        fn, tp = xp.sum(negative * (1 - p), axis=0), xp.sum(positive * p, axis=0)
        # Without entries and without shrinkage, a label keeps its rates.
        alpha = (fp + m + MIN_RATE * shared.alpha) / (fp + tn + m / shared.alpha + MIN_RATE)
        beta = (fn + m + MIN_RATE * shared.beta) / (fn + tp + m / shared.beta + MIN_RATE)
        alpha, beta = (xp.clip(rate, MIN_RATE, 1 - MIN_RATE) for rate in (alpha, beta))
        rates = shared._replace(alpha=alpha, beta=beta)
        last, value = value, _total(log_likelihood(scores, signs, rates))
        if abs(value - last) <= tol * n_positive:
            break
    return rates


def false_positive_rate(scores: NDArray[np.float64], signs: NDArray[np.int8]) -> float:
    r"""Estimate the rate of false positives that all labels share, from observed positives with low scores.

    True positives seldom have a score below the median of the negatives, and half of the false positives do. With
    :math:`M_j` negatives of label j below their median, the number of positives there is at least about Poisson
    distributed with mean :math:`r M_j`, for every label, where :math:`r = \alpha / (1 - \alpha)` because true negatives
    stay negative with probability :math:`1 - \alpha`. The largest r that no label contradicts is lowered to the pooled
    ratio of the labels that have no more such positives than it explains. Labels that are rare or easy to predict
    determine the result. It does not depend on the calibration of the scores.

    Parameters
    ----------
    scores : ndarray of shape (n, l)
        Out-of-fold scores. They need not be comparable between labels.
    signs : ndarray of shape (n, l)
        Observed labels: 1, -1, and 0 where missing.

    Returns
    -------
    float
        :math:`\alpha`; 0 if no label has observed negatives.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.pacing.noise import false_positive_rate
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random((2000, 20)) < 0.05
    >>> scores = rng.normal(size=truth.shape) + 3 * truth
    >>> flipped = ~truth & (rng.random(truth.shape) < 0.03)
    >>> round(false_positive_rate(scores, np.where(truth, 1, -1)), 3)
    0.0
    >>> round(false_positive_rate(scores, np.where(truth | flipped, 1, -1)), 2)
    0.03
    """
    labels = np.flatnonzero((signs < 0).any(axis=0))
    low = np.array([_count_low(scores[:, j], signs[:, j]) for j in labels]).reshape(-1, 2)
    positives, negatives = low[low[:, 1] > 0].T
    if len(positives) == 0:
        return 0.0
    ratio = highest = float(np.min(gammaincinv(positives + 1, 1 - SIGNIFICANCE / len(positives)) / negatives))
    for _ in range(50):
        is_explained = pdtrc(np.ceil(positives) - 1, ratio * negatives) >= EXCESS_PROBABILITY
        is_explained |= positives == 0
        if not is_explained.any():
            break
        last, ratio = ratio, min(float(positives[is_explained].sum() / negatives[is_explained].sum()), highest)
        if ratio == last:
            break
    return ratio / (1 + ratio)


def _count_low(scores: NDArray[np.float64], signs: NDArray[np.int8]) -> tuple[float, float]:
    """Return the numbers of positives and of negatives below the median of the negatives; ties count as half."""
    median = np.median(scores[signs < 0])
    below = (scores < median) + 0.5 * (scores == median)
    return float(below @ (signs > 0)), float(below @ (signs < 0))


def label_likelihood(pi: Array, signs: Array, alpha: Array | float, beta: Array | float) -> Array:
    """Return the probability of each observed label, given the probability pi that it is truly positive."""
    xp = namespace(pi)
    return xp.where(signs > 0, (1 - beta) * pi + alpha * (1 - pi), beta * pi + (1 - alpha) * (1 - pi))


def _total(A: Array) -> float:
    return float(namespace(A).sum(A))
