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
likelihood. Labels get rates of false positives of their own if this increases the likelihood far more than usual.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from spmld.pacing.noise import MIN_RATE, NoiseRates, false_positive_rate, label_likelihood

_Floats = NDArray[np.float64]
Bounds = tuple[float, float]

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
MAX_RATE = 0.5
"""Maximum rate of false positives of a label with a rate of its own."""
EVIDENCE_PER_LABEL, EVIDENCE_PER_POSITIVE = 5.0, 0.02
"""Minimum increase of the log-likelihood by which labels get rates of their own."""
MIN_POSITIVES = 30
"""Minimum number of positives of such a label."""
SHIFT_PENALTY = 10.0
"""Penalty of the shifts of labels, as in `spmld.model_selection.PooledCalibration`."""


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
    Rates of individual labels are not well identified without verified entries: a label with many errors looks like a
    label that is hard to predict. Without strong evidence, they depend on the label only through its frequency.

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
    a, rho, b = entries.shared_parameters(false_positive_rate(scores, signs))
    alpha, beta = _label_rates(frequency, a, rho, b)
    own = _own_rates(scores, signs, alpha, beta)
    rates = NoiseRates(*(np.clip(rate, MIN_RATE, 1 - MIN_RATE) for rate in (own, np.maximum(own, beta))))
    return calibrate(scores, signs, rates)


def _own_rates(scores: _Floats, signs: NDArray[np.int8], alpha: _Floats, beta: _Floats) -> _Floats:
    """Return the rates of false positives of each label: the shared ones, or higher ones if the evidence is strong."""
    own, gain = alpha.copy(), 0.0
    for j in np.flatnonzero(((signs > 0).sum(axis=0) >= MIN_POSITIVES) & (signs < 0).any(axis=0)):
        s, positive = scores[signs[:, j] != 0, j], signs[signs[:, j] != 0, j] > 0
        entries = _Entries(s, positive, np.zeros(len(s)), 0.0)
        bounds = ((alpha[j], max(alpha[j], high)) for high in (MAX_RATE, 0.0))
        free, shared = (entries.fit(a=bound, b=(beta[j], beta[j])) for bound in bounds)
        own[j], gain = free.a, gain + (shared.loss - free.loss) * positive.sum()
    threshold = EVIDENCE_PER_LABEL * len(own) + EVIDENCE_PER_POSITIVE * (signs > 0).sum()
    return own if gain > threshold else alpha


def calibrate(
    scores: _Floats, signs: NDArray[np.int8], rates: NoiseRates, trusted: NDArray[np.bool_] | None = None
) -> NoiseRates:
    """Return noise rates with the slope c and the shift d of maximum likelihood; d has a shrunk part of each label.

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
    rows, labels = np.nonzero(signs)
    n_labels, s, positive = signs.shape[1], scores[rows, labels], signs[rows, labels] > 0
    noisy = 1.0 if trusted is None else 1.0 - trusted[rows, labels]
    alpha, beta = noisy * rates.alpha[labels], noisy * rates.beta[labels]

    def loss(point: _Floats) -> tuple[float, _Floats]:
        slope, shifts = np.exp(point[0]), point[2:]
        value, in_odds, _, _ = _negative_log_likelihood(slope * s + point[1] + shifts[labels], positive, alpha, beta)
        in_shifts = np.bincount(labels, in_odds, minlength=n_labels) + SHIFT_PENALTY * shifts
        gradient = np.array([slope * (in_odds @ s), in_odds.sum(), *in_shifts])
        return (value + SHIFT_PENALTY / 2 * float(shifts @ shifts)) / len(s), gradient / len(s)

    bounds = [*CALIBRATION_BOUNDS, *[(None, None)] * n_labels]
    point = minimize(loss, np.zeros(n_labels + 2), jac=True, method="L-BFGS-B", bounds=bounds).x
    return rates._replace(slope=float(np.exp(point[0])), shift=point[1] + point[2:])


def _label_rates(frequency: _Floats, a: float, rho: float, b: float) -> tuple[_Floats, _Floats]:
    """Return alpha and beta of labels with these frequencies."""
    return rho * frequency + (1 - rho) * a, rho * (1 - frequency) + (1 - rho) * b


def _discount(fraction: float, ambiguity: float) -> float:
    """Return the fraction of errors beyond the usual ambiguity: 0 below it, and close to `fraction` far above it."""
    return fraction * (1 - (ambiguity / fraction) ** 8) if fraction > ambiguity else 0.0


def _negative_log_likelihood(
    log_odds: _Floats, positive: NDArray[np.bool_], alpha: _Floats | float, beta: _Floats | float
) -> tuple[float, _Floats, _Floats, _Floats]:
    """Return the value, and its derivatives in the log-odds, alpha and beta of each entry."""
    pi = expit(log_odds)
    likelihood = label_likelihood(pi, positive, alpha, beta) + MIN_RATE**2
    in_p = np.where(positive, -1, 1) / likelihood
    return float(-np.log(likelihood).sum()), in_p * (1 - alpha - beta) * pi * (1 - pi), in_p * (1 - pi), -in_p * pi


@dataclass(frozen=True)
class _Entries:
    """Scores of the observed entries, whether they are positive, the frequencies of their labels, and the penalty."""

    scores: _Floats
    positive: NDArray[np.bool_]
    frequency: _Floats
    rate_penalty: float

    def shared_parameters(self, false_positive_rate: float) -> tuple[float, float, float]:
        """Return a, rho and b, see `noise_rates`."""
        n_negatives_per_positive = (~self.positive).sum() / self.positive.sum()
        false_fraction = float(n_negatives_per_positive * false_positive_rate)
        a = float(_discount(false_fraction, FALSE_POSITIVE_AMBIGUITY) / n_negatives_per_positive)
        top, top_lift, low_lift = self.extremes(a)
        max_b = _discount(top, TOP_AMBIGUITY)
        max_rho = min(_discount(top_lift, TOP_AMBIGUITY), _discount(low_lift, LOW_AMBIGUITY))
        _, rho, _, b = min(self.fit(a=(a, a), b=(0.0, max_b)), self.fit(a=(a, a), rho=(0.0, max_rho)))
        unexplained = top_lift * (1 - b / top) if top > 0 else 0.0
        rho = max(rho, min(_discount(unexplained, TOP_AMBIGUITY), _discount(low_lift, WEAK_AMBIGUITY)))
        if false_fraction - rho < FALSE_POSITIVE_AMBIGUITY:
            a = 0.0
        return a, rho, max(b, a)

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

    def fit(self, *, rho: Bounds = (0.0, 0.0), a: Bounds = (0.0, 0.0), b: Bounds = (0.0, 0.0)) -> "_RateFit":
        """Maximize the penalized likelihood in rho, a, b, log c and d within bounds."""
        f, n_positives = self.frequency, self.positive.sum()
        penalty = self.rate_penalty * np.array([1.0, 0.0, 1.0])

        def loss(point: _Floats) -> tuple[float, _Floats]:
            rho, a, b, log_slope, shift = point
            alpha, beta = _label_rates(f, a, rho, b)
            log_odds = np.exp(log_slope) * self.scores + shift
            value, in_odds, in_alpha, in_beta = _negative_log_likelihood(log_odds, self.positive, alpha, beta)
            in_rho = in_alpha @ (f - a) + in_beta @ (1 - f - b)
            in_rates = np.array([in_rho, (1 - rho) * in_alpha.sum(), (1 - rho) * in_beta.sum()]) + penalty
            gradient = np.array([*in_rates, in_odds @ (log_odds - shift), in_odds.sum()])
            return (value + float(penalty @ point[:3])) / n_positives, gradient / n_positives

        start = np.array([*(0.5 * (low + high) for low, high in (rho, a, b)), 0.0, 0.0])
        bounds = [rho, a, b, *CALIBRATION_BOUNDS]
        result = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds)
        return _RateFit(float(result.fun), *result.x[:3].tolist())


class _RateFit(NamedTuple):
    """Penalized negative log-likelihood per positive, and shared parameters of the noise model."""

    loss: float
    rho: float
    a: float
    b: float


def _count_until(values: NDArray[np.bool_] | _Floats) -> int:
    """Return the number of leading values whose sum reaches `EXTREME_FRACTION` of the total."""
    total = np.cumsum(values)
    return int(np.searchsorted(total, EXTREME_FRACTION * total[-1])) + 1
