r"""The noise model: the likelihood of labels that are observed with errors.

Label j of a sample with the log-odds f is truly positive with probability :math:`\pi = 1 / (1 + e^{-f})`. The observed
label is wrong with the noise rates of its label,

.. math:: \alpha_j = P(\text{observed} + \mid \text{true} -), \qquad \beta_j = P(\text{observed} - \mid \text{true} +),

so that it is positive with probability :math:`\alpha_j + (1 - \alpha_j - \beta_j) \pi`. As the log-odds decrease, this
probability levels off at the floor :math:`\alpha_j`; as they increase, at the ceiling :math:`1 - \beta_j`.
"""

from dataclasses import dataclass
from typing import NamedTuple

from spmld._arrays import Array, namespace
from spmld.core.losses import LOSSES, TINY, Loss, logistic, softplus


class NoiseRates(NamedTuple):
    """Noise rates of the labels.

    Attributes
    ----------
    alpha : array of shape (l,)
        Probability that a true negative is observed as positive, for each label.
    beta : array of shape (l,)
        Probability that a true positive is observed as negative, for each label.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.noise import NoiseRates
    >>> NoiseRates(np.array([0.1, 0.2]), np.zeros(2)).unless(np.array([[True, False]])).alpha
    array([[0. , 0.2]])
    """

    alpha: Array
    beta: Array

    def loss(self) -> Loss:
        """Return the negative log-likelihood, which is the logistic loss if there is no noise."""
        return NoisyLogistic(*self) if self.any() else LOSSES["logistic"]

    def any(self) -> bool:
        """Return whether some rate is above 0."""
        return bool(self.alpha.any() or self.beta.any())

    def observed_log_odds(self, log_odds: Array) -> Array:
        r"""Return the log-odds of the observed labels, given those of the true labels.

        The probability is :math:`q = \alpha (1 - p) + (1 - \beta) p`.

        Examples
        --------
        >>> import numpy as np
        >>> from spmld.noise import NoiseRates
        >>> rates = NoiseRates(np.array([0.1]), np.array([0.4]))
        >>> (1 / (1 + np.exp(-rates.observed_log_odds(np.array([-50.0, 0.0, 50.0]))))).round(2)
        array([0.1 , 0.35, 0.6 ])
        """
        if not self.any():
            return log_odds
        xp = namespace(log_odds)
        positive = xp.logaddexp(xp.log(self.alpha + TINY), xp.log1p(-self.beta) + log_odds)
        return positive - xp.logaddexp(xp.log1p(-self.alpha), xp.log(self.beta + TINY) + log_odds)

    def true_probability(self, observed: Array) -> Array:
        r"""Return the probability of a label that is observed as positive with some probability.

        The inverse of :math:`q = \alpha (1 - p) + (1 - \beta) p`. It is outside of [0, 1] if the noise alone explains
        more, or less, observed positives.

        Examples
        --------
        >>> import numpy as np
        >>> from spmld.noise import NoiseRates
        >>> NoiseRates(np.array([0.1]), np.array([0.4])).true_probability(np.array([0.35]))
        array([0.5])
        """
        return (observed - self.alpha) / (1 - self.alpha - self.beta)

    def rows(self, keep: Array | slice) -> "NoiseRates":
        """Return the rates of some samples, if they depend on the sample."""
        return NoiseRates(*(rate[keep, :] if rate.ndim == 2 else rate for rate in self))

    def unless(self, trusted: Array | None) -> "NoiseRates":
        """Return rates that are 0 for verified entries."""
        if trusted is None:
            return self
        xp = namespace(self.alpha)
        return NoiseRates(*(xp.where(trusted, xp.zeros_like(rate), rate) for rate in self))


@dataclass(frozen=True)
class NoisyLogistic(Loss):
    r"""Negative log-likelihood of a label that is observed with noise, for the log-odds f of the true label.

    Rates are arrays that broadcast against the scores. At rates of 0 this is the logistic loss. The slope is
    :math:`\pi - t` with t the probability that the true label is positive given f and y, so the logistic loss of
    the soft label t majorizes this loss, as in the EM algorithm.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.noise.likelihood import NoisyLogistic
    >>> np.exp(-NoisyLogistic(np.array(0.1), np.array(0.2)).value(np.array([1.0, 1.0]), np.array([-50.0, 50.0])))
    array([0.1, 0.8])
    """

    alpha: Array
    beta: Array
    scores_are_log_odds = True

    def rows(self, keep: slice) -> "NoisyLogistic":
        """Return the loss of some samples."""
        return NoisyLogistic(*NoiseRates(self.alpha, self.beta).rows(keep))

    def columns(self, keep: Array | slice) -> "NoisyLogistic":
        """Return the loss of some labels."""
        return NoisyLogistic(self.alpha[..., keep], self.beta[..., keep])

    def at(self, rows: Array, columns: Array) -> "NoisyLogistic":
        """Return the loss of entries at some rows of some labels."""
        rates = (rate[rows, columns] if rate.ndim == 2 else rate[columns] for rate in (self.alpha, self.beta))
        return NoisyLogistic(*rates)

    def value(self, y: Array, f: Array) -> Array:
        """Return the loss of each entry."""
        xp = namespace(f)
        floor = xp.where(y > 0, self.alpha + 0 * f, self.beta + 0 * f)
        return -xp.log(floor + (1 - self.alpha - self.beta) * xp.exp(-softplus(-y * f)) + TINY)

    def derivatives(self, y: Array, f: Array) -> tuple[Array, Array]:
        """Return the slope and the expected second derivative, which is positive."""
        xp = namespace(f)
        scale = 1 - self.alpha - self.beta
        positive = xp.exp(-softplus(-f))
        negative = xp.exp(-softplus(f))
        p, q = self.alpha + scale * positive, self.beta + scale * negative
        in_score = scale * positive * negative
        return -in_score / xp.where(y > 0, p + TINY, -q - TINY), in_score**2 / (p * q + TINY**2)

    def model(self, y: Array, f: Array, safe: bool = True) -> tuple[Array, Array]:
        """Return slope and curvature of a model that touches the loss at f and, with `safe`, majorizes it."""
        soft_label = 2 * (logistic(f) - self.slope(y, f)) - 1
        return LOSSES["logistic"].model(soft_label, f, safe)


def error_log_odds(log_odds: Array, signs: Array, rates: NoiseRates) -> Array:
    r"""Return the log-odds that each observed label is wrong; meaningless where the sign is 0.

    They are :math:`\log r - y f`, where r is :math:`\alpha / (1 - \beta)` for a positive and
    :math:`\beta / (1 - \alpha)` for a negative.

    Parameters
    ----------
    log_odds : array of shape (n, l)
        Log-odds that the label is truly positive.
    signs : array of shape (n, l)
        Observed labels: 1, -1, and 0 where missing.
    rates : NoiseRates
        Noise rates, below 1.

    Returns
    -------
    array of shape (n, l)

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.noise import NoiseRates
    >>> from spmld.noise.likelihood import error_log_odds
    >>> error_log_odds(np.array([2.0, 2.0]), np.array([1, -1]), NoiseRates(np.array(0.2), np.array(0.2))).round(2)
    array([-3.39,  0.61])
    """
    xp = namespace(log_odds)
    alpha, beta = (rate + TINY for rate in rates)
    positive = xp.log(alpha) - xp.log1p(-beta)
    negative = xp.log(beta) - xp.log1p(-alpha)
    return xp.where(signs > 0, positive - log_odds, negative + log_odds)
