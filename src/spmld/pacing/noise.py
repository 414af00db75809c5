r"""Label noise: how often labels are wrong, and which of them are right, given a score for each.

Label j of sample i has the score :math:`s_{ij}` and is truly positive with probability
:math:`\pi = 1 / (1 + e^{-(c s + d)})`; with :math:`c = 1, d = 0` the scores are log-odds as they are. It is written
down wrong with the rates of its label,

.. math:: \alpha_j = P(+ \mid \text{truly} -), \qquad \beta_j = P(- \mid \text{truly} +).

An observed label y is then right with probability :math:`p = 1 / (1 + r e^{-y (c s + d)})`, where r is
:math:`\alpha / (1 - \beta)` for a positive and :math:`\beta / (1 - \alpha)` for a negative. In terms of the logistic
loss :math:`\ell = \log(1 + e^{-y (c s + d)})` this is :math:`p = 1 / (1 + r (e^{\ell} - 1))`: a self-paced weight. It
falls from 1 as the loss rises and is one half at the loss :math:`\log(1 + 1 / r)`, a threshold that comes from the
data.

The rates are estimated in two steps. First come rates that all labels have in common: a share
:math:`\rho` of the labels is drawn anew with the frequency :math:`f_j` of the label, whatever the sample, as where rows
are mixed up; of the others a share a of the truly negative and b of the truly positive is turned,

.. math:: \alpha_j = \rho f_j + (1 - \rho) a, \qquad \beta_j = \rho (1 - f_j) + (1 - \rho) b,

while c and d are kept near 1 and 0. Then each label moves away from these rates as far as its own entries say, by the
EM algorithm; see `noise_rates`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray
from scipy.optimize import minimize

from spmld.core.losses import Array, logistic

__all__ = [
    "NoiseRates",
    "correct_probability",
    "error_log_odds",
    "label_rates",
    "log_likelihood",
    "noise_rates",
    "shared_rates",
]

LEAST = 1e-7
"""NoiseRates stay this far from 0 and 1, where the EM algorithm could not leave again."""
START = np.array([-3.0, -4.0, -2.0, 0.0, 0.0])
"""Where the search for common rates starts: few errors, and scores as they are."""


class NoiseRates(NamedTuple):
    """How often labels are wrong, and how scores are read.

    Attributes
    ----------
    alpha : array of shape (l,)
        Share of the truly negative that are written as positive, for each label.
    beta : array of shape (l,)
        Share of the truly positive that are written as negative.
    slope, shift : float
        c and d.
    """

    alpha: Array
    beta: Array
    slope: float = 1.0
    shift: float = 0.0


def error_log_odds(scores: Array, signs: Array, rates: NoiseRates) -> Array:
    """Log-odds that each label is wrong, log r - y (c s + d); of no meaning where the sign is 0.

    Parameters
    ----------
    scores : array of shape (n, l)
        The higher, the more likely is the label truly positive.
    signs : array of shape (n, l)
        The labels: 1, -1, and 0 where unobserved.
    rates : NoiseRates
        None of them 0 or 1.

    Returns
    -------
    array of shape (n, l)

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.pacing.noise import NoiseRates, error_log_odds
    >>> rates = NoiseRates(np.array([0.2]), np.array([0.2]))
    >>> error_log_odds(np.array([[2.0], [2.0]]), np.array([[1], [-1]]), rates).round(2)
    array([[-3.39],
           [ 0.61]])
    """
    xp = array_namespace(scores)
    odds = rates.slope * scores + rates.shift
    positive = xp.log(rates.alpha) - xp.log1p(-rates.beta)
    negative = xp.log(rates.beta) - xp.log1p(-rates.alpha)
    return xp.where(signs > 0, positive - odds, negative + odds)


def correct_probability(scores: Array, signs: Array, rates: NoiseRates) -> Array:
    """Probability that each label is right, and 0 where it is unobserved: a weight for a fit.

    Parameters
    ----------
    scores, signs, rates
        As in `error_log_odds`.

    Returns
    -------
    array of shape (n, l)

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.pacing.noise import NoiseRates, correct_probability
    >>> rates = NoiseRates(np.array([0.2]), np.array([0.2]))
    >>> correct_probability(np.array([[2.0], [2.0], [2.0]]), np.array([[1], [-1], [0]]), rates).round(2)
    array([[0.97],
           [0.35],
           [0.  ]])
    """
    xp = array_namespace(scores)
    p = logistic(-error_log_odds(scores, signs, rates))
    return xp.where(signs == 0, xp.zeros_like(p), p)


def log_likelihood(scores: Array, signs: Array, rates: NoiseRates) -> Array:
    r"""Log-likelihood of the observed labels of each column, given the scores.

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
    xp = array_namespace(scores)
    pi = logistic(rates.slope * scores + rates.shift)
    chance = _chance(pi, signs, rates.alpha, rates.beta)
    return xp.sum(xp.where(signs == 0, xp.zeros_like(pi), xp.log(chance)), axis=0)


def noise_rates(
    scores: Array,
    signs: Array,
    *,
    trust: float = 0.2,
    strength: float = 30.0,
    max_iter: int = 100,
    tol: float = 1e-4,
) -> NoiseRates:
    r"""NoiseRates of wrong labels: common ones, and from there those of each label by the EM algorithm.

    Parameters
    ----------
    scores, signs
        As in `error_log_odds`.
    trust : float
        How strongly c is kept near 1 and d near 0: the penalty is :math:`\frac{\kappa}{2} (\log^2 c + d^2)`, with
        :math:`\kappa` this number for each observed positive. Infinite: scores are log-odds as they are.
    strength : float
        How strongly a label is kept near the common rates: as if it had shown this many errors of either kind at
        those rates. Infinite: all labels have the common rates.
    max_iter : int
        Most iterations of either step.
    tol : float
        Stop when an iteration raises the log-likelihood by less than this much for each observed positive.

    Returns
    -------
    NoiseRates

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.pacing.noise import noise_rates
    >>> rng = np.random.default_rng(0)
    >>> scores = 4 * rng.standard_normal((4000, 2))
    >>> truth = rng.random((4000, 2)) < 1 / (1 + np.exp(-scores))
    >>> wrong = rng.random((4000, 2)) < np.where(truth, 0.3, 0.1)
    >>> rates = noise_rates(scores, np.where(truth != wrong, 1, -1))
    >>> rates.alpha.round(1), rates.beta.round(1)
    (array([0.1, 0.1]), array([0.3, 0.3]))
    """
    common = shared_rates(scores, signs, trust=trust, max_iter=max_iter)
    return label_rates(scores, signs, common, strength=strength, max_iter=max_iter, tol=tol)


def shared_rates(scores: Array, signs: Array, *, trust: float = 0.2, max_iter: int = 100) -> NoiseRates:
    r"""The first step of `noise_rates`: rho, a, b, c and d that all labels have in common.

    They maximise the log-likelihood less the penalty that `trust` names, by L-BFGS.
    """
    xp = array_namespace(scores)
    seen = signs != 0
    y = 2 * xp.astype(signs[seen] > 0, scores.dtype) - 1
    s, count = scores[seen], max(_total(xp.astype(y > 0, scores.dtype)), 1.0)
    observed, found = xp.astype(seen, scores.dtype), xp.astype(signs > 0, scores.dtype)
    # One entry with the frequency over all labels keeps those with few entries off 0 and 1.
    f = (xp.sum(found, axis=0) + count / max(s.shape[0], 1)) / (xp.sum(observed, axis=0) + 1)
    f = xp.clip(f, LEAST, 1 - LEAST)
    each = (xp.zeros_like(scores) + f)[seen]
    fixed = trust == float("inf")

    def rates(rho: float, a: float, b: float, f: Array) -> tuple[Array, Array]:
        return rho * f + (1 - rho) * a, rho * (1 - f) + (1 - rho) * b

    def loss(point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """The objective and its slope, for a point of the log-odds of rho, a and b, log c, and d."""
        rho, a, b = (1 / (1 + np.exp(-point[:3]))).tolist()
        c, d = float(np.exp(point[3])), float(point[4])
        alpha, beta = rates(rho, a, b, each)
        pi = logistic(c * s + d)
        chance = _chance(pi, y, alpha, beta)
        by_positive = -y / chance  # the slope in the probability of a positive
        by_alpha, by_beta = by_positive * (1 - pi), -by_positive * pi
        by_odds = by_positive * (1 - alpha - beta) * pi * (1 - pi)
        slope = [
            rho * (1 - rho) * _total(by_alpha * (each - a) + by_beta * (1 - each - b)),
            (1 - rho) * a * (1 - a) * _total(by_alpha),
            (1 - rho) * b * (1 - b) * _total(by_beta),
            0.0 if fixed else c * _total(by_odds * s) + trust * count * point[3],
            0.0 if fixed else _total(by_odds) + trust * count * d,
        ]
        penalty = 0.0 if fixed else 0.5 * trust * count * (point[3] ** 2 + d * d)
        return (penalty - _total(xp.log(chance))) / count, np.asarray(slope) / count

    # A share redrawn or turned beyond one half would say that labels mean their opposite.
    bounds = [(-9, 0), (-12, 0), (-12, 1), (-2, 2), (-4, 4)]
    best = minimize(loss, START, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": max_iter}).x
    rho, a, b = (1 / (1 + np.exp(-best[:3]))).tolist()
    return NoiseRates(*rates(rho, a, b, f), float(np.exp(best[3])), float(best[4]))


def label_rates(
    scores: Array, signs: Array, common: NoiseRates, *, strength: float, max_iter: int, tol: float
) -> NoiseRates:
    r"""The second step of `noise_rates`: rates of each label, near the common ones.

    With fp, tn, fn and tp the expected numbers of entries of label j that are wrong positives, right negatives, wrong
    negatives and right positives, and m the strength, an iteration sets

    .. math:: \alpha_j = \frac{fp + m}{fp + tn + m / \alpha_j^0}, \qquad
              \beta_j = \frac{fn + m}{fn + tp + m / \beta_j^0}

    with the common rates :math:`\alpha_j^0` and :math:`\beta_j^0`. This never lowers the log-likelihood plus
    :math:`m (\log \alpha_j + (1 / \alpha_j^0 - 1) \log(1 - \alpha_j))` and the same for :math:`\beta_j`.
    """
    xp = array_namespace(scores)
    if strength == float("inf"):
        return common
    rates, m = common, strength
    positive, negative = xp.astype(signs > 0, scores.dtype), xp.astype(signs < 0, scores.dtype)
    count = max(_total(positive), 1.0)
    value = _total(log_likelihood(scores, signs, rates))
    for _ in range(max_iter):
        p = correct_probability(scores, signs, rates)
        fp, tn = xp.sum(positive * (1 - p), axis=0), xp.sum(negative * p, axis=0)
        fn, tp = xp.sum(negative * (1 - p), axis=0), xp.sum(positive * p, axis=0)
        # A label without entries, at strength 0, keeps its rates.
        alpha = (fp + m + LEAST * common.alpha) / (fp + tn + m / common.alpha + LEAST)
        beta = (fn + m + LEAST * common.beta) / (fn + tp + m / common.beta + LEAST)
        rates = common._replace(alpha=xp.clip(alpha, LEAST, 1 - LEAST), beta=xp.clip(beta, LEAST, 1 - LEAST))
        before, value = value, _total(log_likelihood(scores, signs, rates))
        if abs(value - before) <= tol * count:
            break
    return rates


def _chance(pi: Array, signs: Array, alpha: Array, beta: Array) -> Array:
    """Probability of each label as it is written down."""
    xp = array_namespace(pi)
    return xp.where(signs > 0, (1 - beta) * pi + alpha * (1 - pi), beta * pi + (1 - alpha) * (1 - pi))


def _total(A: Array) -> float:
    return float(array_namespace(A).sum(A))
