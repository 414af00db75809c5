"""Estimate of the floor of the frequency of positives and of noise rates, which only verified entries identify.

Verified labels are correct, and they have a floor of their own. The other entries are noisy only if there is evidence
that they have higher rates.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from spmld.core.losses import logistic
from spmld.noise.calibration import PooledCalibration, has_both_classes, trusted_weight
from spmld.noise.floor import EVIDENCE, MAX_RATE, RATES, Points, fit_rate, summarize
from spmld.noise.likelihood import NoiseRates, error_log_odds

_Floats = NDArray[np.float64]
_Signs = NDArray[np.int8]

SIMPLEX = 0.02
"""Smallest edge of the initial simplex of the search of noise rates."""
N_ITERATIONS = 100
"""Number of iterations of the EM algorithm."""
SHRINKAGE = 3.0
"""Strength of the prior that shrinks the rates of a label to those of all labels, in errors."""


@dataclass(frozen=True, eq=False)
class NoiseEstimate:
    """Floor of the frequency of positives, and noise rates.

    Attributes
    ----------
    floor : NoiseRates
        Rates of the likelihood of observed labels, without a claim about errors; 0 without clear evidence.
    evidence : float
        Increase of the marginal log-likelihood by the floor, which is clear above `spmld.noise.floor.EVIDENCE`.
    rates : NoiseRates
        Noise rates of each label; 0 unless verified entries identify them.
    verified : bool
        Whether there are verified positives and negatives.

    Examples
    --------
    See `estimate_noise`.
    """

    floor: NoiseRates
    evidence: float
    rates: NoiseRates
    verified: bool

    @property
    def identified(self) -> bool:
        """Whether verified entries show that other entries are wrong."""
        return self.rates.any()

    @property
    def likelihood_rates(self) -> NoiseRates:
        """Rates of the likelihood: those of the noise if it is identified, otherwise those of the floor."""
        return self.rates if self.identified else self.floor


def estimate_noise(
    scores: _Floats,
    signs: _Signs,
    trusted: NDArray[np.bool_] | None = None,
    *,
    alternatives: Callable[[], Sequence[_Floats]] | None = None,
    certain_negatives: bool = False,
) -> NoiseEstimate:
    """Estimate the floor of the frequency of positives and, with verified entries, noise rates.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_labels)
        Out-of-fold scores of a logistic model.
    signs : ndarray of shape (n_samples, n_labels)
        Observed labels: 1, -1, and 0 where missing.
    trusted : ndarray of bool of shape (n_samples, n_labels), optional
        Verified entries, which have no noise. Verified positives and negatives identify the noise rates of the other
        entries. Each label gets rates of its own, shrunk to those of all labels.
    alternatives : callable, optional
        Function that returns out-of-fold scores of more flexible models. A model that is not flexible enough can cause
        a floor, which is lower for these scores. The evidence is therefore the lowest one, and the rates are those of
        the scores with the highest likelihood.
    certain_negatives : bool, default=False
        Whether negatives are correct, so that the ceiling is 1.

    Returns
    -------
    NoiseEstimate

    Examples
    --------
    Labels are flipped. Without verified entries there is a floor, with them there are noise rates:

    >>> import numpy as np
    >>> from spmld.noise import estimate_noise
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(-2, 3, size=(1000, 4))
    >>> truth = rng.random(scores.shape) < 1 / (1 + np.exp(-scores))
    >>> trusted = np.arange(1000)[:, None] + np.zeros(4) < 50
    >>> observed = np.where(truth != ((rng.random(scores.shape) < 0.1) & ~trusted), 1, -1)
    >>> estimate = estimate_noise(scores, observed)
    >>> estimate.identified, estimate.floor.alpha.round(1)
    (False, array([0.1, 0.1, 0.1, 0.1]))
    >>> estimate = estimate_noise(scores, observed, trusted)
    >>> estimate.identified, estimate.rates.alpha.round(1)
    (True, array([0.1, 0.1, 0.1, 0.1]))
    """
    nothing = NoiseRates(*np.zeros((2, signs.shape[1])))
    if not has_both_classes(signs.reshape(-1, 1)).all():
        return NoiseEstimate(nothing, 0.0, nothing, False)
    direction = (1.0, 0.0) if certain_negatives else (1.0, 1.0)
    fits = [fit_rate(summarize(scores, signs), direction)]
    if fits[0].evidence > EVIDENCE and alternatives is not None:
        fits += [fit_rate(summarize(other, signs), direction) for other in alternatives()]
    best = max(fits, key=lambda fit: fit.log_likelihood)
    evidence = min(fit.evidence for fit in fits)
    rate = best.rate * (evidence > EVIDENCE)
    floor = NoiseRates(*np.outer(direction, np.full(signs.shape[1], rate)))
    if trusted is None or not has_both_classes((signs * trusted).reshape(-1, 1)).all():
        return NoiseEstimate(floor, evidence, nothing, False)
    rates = identify_noise(scores, signs, trusted, certain_negatives=certain_negatives)
    return NoiseEstimate(floor, evidence, rates, True)


def identify_noise(
    scores: _Floats, signs: _Signs, trusted: NDArray[np.bool_], *, certain_negatives: bool = False
) -> NoiseRates:
    """Return the noise rates of each label, given verified positives and negatives; 0 without clear evidence.

    Parameters
    ----------
    scores, signs, trusted, certain_negatives
        As in `estimate_noise`.

    Examples
    --------
    See `estimate_noise`.
    """
    shared = _fit_noise(scores, signs, trusted, certain_negatives)
    if not shared.any():
        return shared
    weight = trusted_weight(signs, trusted)
    calibration = PooledCalibration().fit(scores, signs, weight, shared.unless(trusted))
    return label_rates(calibration.transform(scores), np.where(trusted, 0, signs), shared)


def _fit_noise(scores: _Floats, signs: _Signs, checked: NDArray[np.bool_], certain_negatives: bool) -> NoiseRates:
    """Return the rates of entries that are not verified, shared by all labels; 0 without clear evidence."""
    correct = summarize(scores, np.where(checked, signs, 0))
    others = summarize(scores, np.where(checked, 0, signs))
    points = Points(*map(np.concatenate, zip(*(correct, others), strict=True)))  # type: ignore[arg-type]
    noisy = np.arange(len(points.scores))[:, None] >= len(correct.scores)
    n_rates = 1 if certain_negatives else 2

    def loss(rates: _Floats) -> float:
        """Return the loss of the floor and the ceiling that all entries have, and of the rates of the others."""
        floor, ceiling, alpha, beta = np.clip(np.append(rates, np.zeros(4 - len(rates))), 0.0, MAX_RATE / 2)
        scale = 1 - floor - ceiling
        return -points.log_likelihood(floor + scale * alpha * noisy, ceiling + scale * beta * noisy)

    def search(*starts: _Floats) -> Any:
        start = min(starts, key=loss)
        simplex = np.vstack([start, start + np.diag(np.maximum(start, SIMPLEX))])
        options = {"initial_simplex": simplex, "xatol": RATES[0], "fatol": 0.1}
        return minimize(loss, start, method="Nelder-Mead", options=options)

    floor = fit_rate(points, (1.0, 1.0)).rate
    correct_only = search(np.array([floor, 0.0]), np.array([floor, floor]))
    noise = np.full(n_rates, max(floor, RATES[0]))
    best = search(
        np.append(correct_only.x, 0.0 * noise), np.append([0.0, 0.0], noise), np.append(correct_only.x, noise)
    )
    clear = correct_only.fun - best.fun > EVIDENCE
    alpha, beta = np.clip(np.append(best.x[2:], 0.0)[:2], 0.0, MAX_RATE / 2) * clear
    return NoiseRates(np.full(signs.shape[1], alpha), np.full(signs.shape[1], beta))


def label_rates(log_odds: _Floats, signs: _Signs, shared: NoiseRates) -> NoiseRates:
    r"""Estimate the rates of each label by the EM algorithm, shrunk toward shared rates.

    With fp, tn, fn and tp the expected numbers of false positives, true negatives, false negatives and true positives
    among the observed entries of label j, and m the shrinkage, an iteration sets

    .. math:: \alpha_j = \frac{fp + m}{fp + tn + m / \alpha_j^0}, \qquad
              \beta_j = \frac{fn + m}{fn + tp + m / \beta_j^0}

    with the shared rates :math:`\alpha_j^0` and :math:`\beta_j^0`; a shared rate of 0 stays 0. This never decreases the
    log-likelihood plus :math:`m (\log \alpha_j + (1 / \alpha_j^0 - 1) \log(1 - \alpha_j))` and the same for
    :math:`\beta_j`.

    Parameters
    ----------
    log_odds : ndarray of shape (n, l)
        Log-odds of the true labels, calibrated on verified entries.
    signs : ndarray of shape (n, l)
        Observed labels: 1, -1, and 0 where missing or verified.
    shared : NoiseRates
        Rates of all labels.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.noise import NoiseRates
    >>> from spmld.noise.estimate import label_rates
    >>> rng = np.random.default_rng(0)
    >>> log_odds = rng.normal(scale=3, size=(3000, 2))
    >>> truth = rng.random(log_odds.shape) < 1 / (1 + np.exp(-log_odds))
    >>> noisy = truth | (rng.random(log_odds.shape) < [0.1, 0.3])
    >>> shared = NoiseRates(np.full(2, 0.2), np.zeros(2))
    >>> label_rates(log_odds, np.where(noisy, 1, -1), shared).alpha.round(1)
    array([0.1, 0.3])
    """
    rates = shared
    priors = [np.where(rate > 0, SHRINKAGE / np.maximum(rate, 1e-12), 0.0) for rate in shared]
    for _ in range(N_ITERATIONS):
        wrong = logistic(error_log_odds(log_odds, signs, rates))
        fp = ((signs > 0) * wrong).sum(axis=0)
        tp = ((signs > 0) * (1 - wrong)).sum(axis=0)
        fn = ((signs < 0) * wrong).sum(axis=0)
        tn = ((signs < 0) * (1 - wrong)).sum(axis=0)
        steps = zip(shared, priors, (fp, fn), (tn, tp), strict=True)
        alpha, beta = (
            np.where(rate > 0, (errors + SHRINKAGE) / (errors + correct + prior + (rate == 0)), 0.0)
            for rate, prior, errors, correct in steps
        )
        total = np.maximum((alpha + beta) / MAX_RATE, 1.0)
        rates = NoiseRates(alpha / total, beta / total)
    return rates


def with_given_rates(estimated: NoiseRates, *given: float | str) -> NoiseRates:
    """Return the given noise rates, and the estimates in place of "auto".

    Parameters
    ----------
    estimated : NoiseRates
        Estimates of the rates.
    *given : float or "auto"
        False positive rate and false negative rate.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.noise import NoiseRates
    >>> from spmld.noise.estimate import with_given_rates
    >>> with_given_rates(NoiseRates(np.array([0.1]), np.array([0.2])), "auto", 0.0)
    NoiseRates(alpha=array([0.1]), beta=array([0.]))
    """
    alpha, beta = (
        estimate if rate == "auto" else np.full(len(estimate), float(rate))
        for rate, estimate in zip(given, estimated, strict=True)
    )
    if given[0] == "auto":
        alpha = np.minimum(alpha, MAX_RATE - beta)
    return NoiseRates(alpha, np.minimum(beta, MAX_RATE - alpha))
