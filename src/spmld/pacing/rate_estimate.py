r"""Estimation of the noise rates of labels from out-of-fold scores.

The noise model has three parameters that all labels share. A fraction :math:`\rho` of the labels is redrawn with the
frequency :math:`f_j` of the label, independently of the sample, as if samples were mixed up; of the others, true
negatives are flipped at the rate a and true positives at the rate b,

.. math:: \alpha_j = \rho f_j + (1 - \rho) a, \qquad \beta_j = \rho (1 - f_j) + (1 - \rho) b.

Wrong labels are hard to distinguish from labels that the features do not predict. Three groups of entries give upper
bounds of the rates, which hold for any scores:

- observed positives of rare labels with low scores bound a, see `spmld.pacing.noise.false_positive_rate`;
- the fraction of negatives among the entries with the highest scores bounds :math:`\beta_j`;
- the positives among the entries with the lowest scores, relative to those of random entries, bound :math:`\rho`.

Even without label noise, some of these entries are predicted wrongly. The bounds are discounted for this ambiguity, so
that the estimates are near 0 if there is little evidence of errors. Within the bounds, the rates maximize the
likelihood.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from spmld.pacing.noise import MIN_RATE, NoiseRates, false_positive_rate

_Floats = NDArray[np.float64]

EXTREME_FRACTION = 0.1
"""Fraction of the positives among the highest scores, and of the expected positives among the lowest."""
TOP_AMBIGUITY, LOW_AMBIGUITY = 0.2, 0.15
"""Fractions of wrong predictions among the highest and lowest scores that are not unusual without label noise."""
WEAK_AMBIGUITY = 0.3
"""The same for the lowest scores if features are only weakly related to the labels."""
FALSE_POSITIVE_AMBIGUITY = 0.08
"""The same for positives with scores like those of negatives, as a fraction of the positives."""
CALIBRATION_BOUNDS = [(-2.0, 2.0), (-4.0, 4.0)]
"""Bounds of log c and d."""


def noise_rates(scores: _Floats, signs: NDArray[np.int8], *, rate_penalty: float = 10.0) -> NoiseRates:
    r"""Estimate the noise rates of all labels.

    The rate a is that of `spmld.pacing.noise.false_positive_rate`, discounted. Two explanations of the remaining errors
    are fitted together with the calibration c, d: false negatives (b) or mixed-up samples (:math:`\rho`). The one with
    the higher likelihood is used. Then :math:`\rho` is raised to the excess of wrong predictions, at both the highest
    and the lowest scores, that neither a nor b explains. If :math:`\rho` explains the false positives, a is 0. Finally,
    b is raised to a: a positive is flipped at least as often as a negative.

    Parameters
    ----------
    scores : ndarray of shape (n, l)
        Out-of-fold scores of a model whose regularization suits the data. Errors of an overfitted model look like label
        noise.
    signs : ndarray of shape (n, l)
        Observed labels: 1, -1, and 0 where missing.
    rate_penalty : float, default=10.0
        Penalty of :math:`\rho` and b in units of the log-likelihood, which keeps them small without evidence.

    Returns
    -------
    NoiseRates

    Notes
    -----
    The noise rates depend on the label only through its frequency. Rates of individual labels cannot be identified
    without verified entries.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.pacing.rate_estimate import noise_rates
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(-6, 6, size=(8000, 2))
    >>> truth = rng.random(scores.shape) < 1 / (1 + np.exp(-scores))
    >>> noise_rates(scores, np.where(truth, 1, -1)).alpha.round(2)
    array([0., 0.])
    >>> wrong = rng.random(scores.shape) < np.where(truth, 0.4, 0.1)
    >>> rates = noise_rates(scores, np.where(truth != wrong, 1, -1))
    >>> rates.alpha.round(1), rates.beta.round(1)
    (array([0.1, 0.1]), array([0.4, 0.4]))
    """
    observed = signs != 0
    n_observed, n_positives = observed.sum(axis=0), (signs > 0).sum(axis=0)
    # Half a positive and half a negative keep the frequencies of labels with few entries away from 0 and 1.
    frequency = (n_positives + 0.5) / (n_observed + 1)
    if n_positives.sum() in (0, n_observed.sum()):
        nothing = np.full(signs.shape[1], MIN_RATE)
        return NoiseRates(nothing, nothing)
    entry_frequency = (np.zeros(signs.shape) + frequency)[observed]
    entries = _Entries(scores[observed], signs[observed] > 0, entry_frequency, rate_penalty)
    n_negatives_per_positive = (n_observed - n_positives).sum() / n_positives.sum()
    false_fraction = n_negatives_per_positive * false_positive_rate(scores, signs)
    a = _discount(false_fraction, FALSE_POSITIVE_AMBIGUITY) / n_negatives_per_positive
    top, top_lift, low_lift = entries.extremes(a)
    max_rho = min(_discount(top_lift, TOP_AMBIGUITY), _discount(low_lift, LOW_AMBIGUITY))
    _, rho, b = min(entries.fit(a, max_b=_discount(top, TOP_AMBIGUITY)), entries.fit(a, max_rho=max_rho))
    unexplained = top_lift * (1 - b / top) if top > 0 else 0.0
    rho = max(rho, min(_discount(unexplained, TOP_AMBIGUITY), _discount(low_lift, WEAK_AMBIGUITY)))
    if false_fraction - rho < FALSE_POSITIVE_AMBIGUITY:
        a = 0.0
    b = max(b, a)
    alpha, beta = (np.clip(rate, MIN_RATE, 1 - MIN_RATE) for rate in _label_rates(frequency, a, rho, b))
    return calibrate(scores, signs, NoiseRates(alpha, beta))


def calibrate(
    scores: _Floats, signs: NDArray[np.int8], rates: NoiseRates, trusted: NDArray[np.bool_] | None = None
) -> NoiseRates:
    """Return noise rates with the slope c and the shift d of maximum likelihood.

    Parameters
    ----------
    scores, signs
        As in `noise_rates`.
    rates : NoiseRates
        Noise rates. Their slope and shift are ignored.
    trusted : ndarray of bool of shape (n, l), optional
        Verified entries, whose noise rates are 0.

    Returns
    -------
    NoiseRates

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.pacing.noise import NoiseRates
    >>> from spmld.pacing.rate_estimate import calibrate
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(scale=4, size=(4000, 2))
    >>> truth = rng.random((4000, 2)) < 1 / (1 + np.exp(-scores))
    >>> noisy = truth & (rng.random((4000, 2)) < 0.7)
    >>> round(calibrate(scores / 2, np.where(noisy, 1, -1), NoiseRates(np.zeros(2), np.full(2, 0.3))).slope)
    2
    """
    observed = signs != 0
    noisy = np.ones(signs.shape) if trusted is None else 1.0 - trusted
    alpha, beta = ((noisy * rate)[observed] for rate in (rates.alpha, rates.beta))
    s, positive = scores[observed], signs[observed] > 0

    def loss(point: _Floats) -> tuple[float, _Floats]:
        value, _, _, in_calibration = _negative_log_likelihood(s, positive, alpha, beta, *point)
        return value / len(s), in_calibration / len(s)

    result = minimize(loss, np.zeros(2), jac=True, method="L-BFGS-B", bounds=CALIBRATION_BOUNDS)
    return rates._replace(slope=float(np.exp(result.x[0])), shift=float(result.x[1]))


def _label_rates(frequency: _Floats, a: float, rho: float, b: float) -> tuple[_Floats, _Floats]:
    """Return alpha and beta of labels with these frequencies."""
    return rho * frequency + (1 - rho) * a, rho * (1 - frequency) + (1 - rho) * b


def _discount(fraction: float, ambiguity: float) -> float:
    """Return the fraction of errors beyond the usual ambiguity: 0 below it, and close to `fraction` far above it."""
    return fraction * (1 - (ambiguity / fraction) ** 8) if fraction > ambiguity else 0.0


def _negative_log_likelihood(
    scores: _Floats, positive: NDArray[np.bool_], alpha: _Floats, beta: _Floats, log_slope: float, shift: float
) -> tuple[float, _Floats, _Floats, _Floats]:
    """Return the value, its derivatives in alpha and beta of each entry, and its gradient in log c and d."""
    slope = np.exp(log_slope)
    pi = expit(slope * scores + shift)
    p = alpha + (1 - alpha - beta) * pi
    likelihood = np.where(positive, p, 1 - p) + MIN_RATE**2
    in_p = np.where(positive, -1, 1) / likelihood
    in_odds = in_p * (1 - alpha - beta) * pi * (1 - pi)
    gradient = np.array([slope * (in_odds @ scores), in_odds.sum()])
    return float(-np.log(likelihood).sum()), in_p * (1 - pi), -in_p * pi, gradient


@dataclass(frozen=True)
class _Entries:
    """Scores of the observed entries, whether they are positive, the frequencies of their labels, and the penalty."""

    scores: _Floats
    positive: NDArray[np.bool_]
    frequency: _Floats
    rate_penalty: float

    def extremes(self, a: float) -> tuple[float, float, float]:
        r"""Return the fractions of wrong predictions among the highest and lowest scores.

        These are the fraction of negatives among the highest scores, less its standard error; the same relative to
        random entries of these labels; and the positives among the lowest scores, less those that a explains, relative
        to random entries. The lowest scores are those that are lowest relative to the log-odds of the frequency.
        """
        f, positive = self.frequency, self.positive
        order = np.argsort(-self.scores, kind="stable")
        top = order[: _count_until(positive[order])]
        order = np.argsort(self.scores - np.log(f / (1 - f)), kind="stable")
        low = order[: _count_until(f[order])]
        fraction = float((~positive[top]).mean())
        fraction = max(fraction - np.sqrt(fraction * (1 - fraction) / len(top)), 0.0)
        n_positives = max(float(positive[low].sum()) - a * len(low), 0.0)
        return fraction, fraction / float((1 - f[top]).mean()), n_positives / float(f[low].sum())

    def fit(self, a: float, *, max_rho: float = 0.0, max_b: float = 0.0) -> tuple[float, float, float]:
        """Maximize the penalized likelihood in rho, b, log c and d; return the loss, rho and b."""
        f, n_positives = self.frequency, self.positive.sum()

        def loss(point: _Floats) -> tuple[float, _Floats]:
            rho, b, *calibration = point
            rates = _label_rates(f, a, rho, b)
            value, in_alpha, in_beta, in_calibration = _negative_log_likelihood(
                self.scores, self.positive, *rates, *calibration
            )
            in_rho, in_b = in_alpha @ (f - a) + in_beta @ (1 - f - b), (1 - rho) * in_beta.sum()
            gradient = np.array([in_rho + self.rate_penalty, in_b + self.rate_penalty, *in_calibration])
            return (value + self.rate_penalty * (rho + b)) / n_positives, gradient / n_positives

        bounds, start = [(0.0, max_rho), (0.0, max_b), *CALIBRATION_BOUNDS], np.array([max_rho / 2, max_b / 2, 0, 0])
        result = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds)
        return float(result.fun), float(result.x[0]), float(result.x[1])


def _count_until(values: NDArray[np.bool_] | _Floats) -> int:
    """Return the number of leading values whose sum reaches `EXTREME_FRACTION` of the total."""
    total = np.cumsum(values)
    return int(np.searchsorted(total, EXTREME_FRACTION * total[-1])) + 1
