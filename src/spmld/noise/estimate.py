r"""Estimation of noise rates from out-of-fold scores, which abstains where the data do not identify them.

The frequency of observed positives is a curve of the calibrated log-odds f of all labels together,

.. math:: P = \alpha + (1 - \alpha - \beta) \frac{1}{1 + e^{-(c f + d)}}, \qquad (\alpha, \beta) = \theta (u, v).

Four *patterns* (u, v) of errors are compared: positives are "added" to samples (1, 0) or "dropped" (0, 1), entries are
"flipped" (1, 1), or positives are "moved" to other labels, (p, 1 - p) with the frequency p of all positives, which this
keeps. The rate :math:`\theta`, the slope c and the shift d maximize the likelihood, for each pattern and for
:math:`\theta = 0`.

What the data identify is the floor :math:`\alpha` of the curve: most entries of multi-label data are certain negatives,
and without false positives their frequency of positives falls to 0. The ceiling :math:`1 - \beta` does not show false
negatives, because it is below 1 for every label that the features do not determine. Noise is therefore identified only
if a floor increases the log-likelihood by more than `EVIDENCE`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spmld.core.losses import logistic
from spmld.noise.calibration import PooledCalibration, has_both_classes, trusted_weight
from spmld.noise.curve import EVIDENCE, MAX_RATE, Curve, CurveFit
from spmld.noise.likelihood import NoiseRates, error_log_odds

_Floats = NDArray[np.float64]
_Signs = NDArray[np.int8]

N_ITERATIONS = 100
"""Number of iterations of the EM algorithm."""
SHRINKAGE = 3.0
"""Strength of the prior that shrinks the rates of a label to those of all labels, in errors."""


@dataclass(frozen=True, eq=False)
class NoiseEstimate:
    """Noise rates of labels, and the pattern of their errors.

    Attributes
    ----------
    rates : NoiseRates
        Rates of each label; 0 if the noise is not identified.
    evidence : float
        Increase of the log-likelihood by a floor of the curve. Noise is identified if it is above `EVIDENCE`.
    lowest_rate : float
        Lower limit of the rate of false positives: the lowest floor whose log-likelihood is at most `EVIDENCE` below
        the maximum. It is 0 if the noise is not identified.
    pattern : {"flipped", "added", "dropped", "moved"}
        Pattern of the errors: "flipped", unless the log-likelihood of another one is higher by more than `EVIDENCE`.
    curve : CurveFit
        Curve of that pattern, with its rates, even if the noise is not identified.
    calibration : PooledCalibration
        Calibration of the scores to the observed labels.
    verified : bool
        Whether there are verified positives and negatives, which identify all rates.

    Examples
    --------
    See `estimate_noise`.
    """

    rates: NoiseRates
    evidence: float
    lowest_rate: float
    pattern: str
    curve: CurveFit
    calibration: PooledCalibration
    verified: bool = False

    @property
    def identified(self) -> bool:
        """Whether there is clear evidence of noise."""
        return self.evidence > EVIDENCE


def estimate_noise(
    scores: _Floats,
    signs: _Signs,
    trusted: NDArray[np.bool_] | None = None,
    *,
    alternatives: Callable[[], Sequence[_Floats]] | None = None,
    certain_negatives: bool = False,
) -> NoiseEstimate:
    """Estimate noise rates.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_labels)
        Out-of-fold scores of a logistic model.
    signs : ndarray of shape (n_samples, n_labels)
        Observed labels: 1, -1, and 0 where missing.
    trusted : ndarray of bool of shape (n_samples, n_labels), optional
        Verified entries, which have no noise. With verified positives and negatives, false negatives are identified,
        too, and each label gets rates of its own, shrunk to those of all labels.
    alternatives : callable, optional
        Function that returns out-of-fold scores of more flexible models. A model that is not flexible enough can cause
        a floor, which is lower for these scores. The evidence is therefore the lowest one, and the rates are those of
        the scores with the highest likelihood.
    certain_negatives : bool, default=False
        Whether negatives are correct, so that the only pattern of errors is "added".

    Returns
    -------
    NoiseEstimate

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.noise import estimate_noise
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(-2, 3, size=(2000, 4))
    >>> truth = rng.random(scores.shape) < 1 / (1 + np.exp(-scores))
    >>> estimate_noise(scores, np.where(truth, 1, -1)).identified
    False
    >>> flipped = truth != (rng.random(scores.shape) < 0.1)
    >>> estimate = estimate_noise(scores, np.where(flipped, 1, -1))
    >>> estimate.identified, estimate.pattern, estimate.rates.alpha.round(2)
    (True, 'flipped', array([0.1, 0.1, 0.1, 0.1]))
    """
    calibration = PooledCalibration().fit(scores, signs)
    n_labels = signs.shape[1]
    nothing = NoiseRates(np.zeros(n_labels), np.zeros(n_labels))
    if not has_both_classes(signs.reshape(-1, 1)).all():
        return NoiseEstimate(nothing, 0.0, 0.0, "flipped", CurveFit(0.0, 0.0, 0.0, 1.0, 0.0), calibration)
    checked = np.zeros(signs.shape, dtype=bool) if trusted is None else trusted
    verified = bool(has_both_classes((signs * checked).reshape(-1, 1)).all())
    curve = Curve.from_entries(calibration.transform(scores), signs, checked if verified else None)
    patterns = {"added": (1.0, 0.0)} if certain_negatives else curve.patterns()
    fits = {name: curve.fit(pattern) for name, pattern in patterns.items()}
    none = curve.fit((1.0, 0.0), rate=0.0).log_likelihood
    pattern = max(fits, key=lambda name: fits[name].log_likelihood)
    if "flipped" in fits and fits[pattern].log_likelihood <= fits["flipped"].log_likelihood + EVIDENCE:
        pattern = "flipped"
    evidence = fits[pattern if verified else "added"].log_likelihood - none
    if evidence <= EVIDENCE:
        return NoiseEstimate(nothing, evidence, 0.0, pattern, fits[pattern], calibration, verified)
    floor = "flipped" if pattern == "dropped" and not verified else pattern
    rates = fits[floor].rates(n_labels)
    if verified:
        log_odds = PooledCalibration().fit(scores, signs, trusted_weight(signs, checked), rates.unless(checked))
        rates = label_rates(log_odds.transform(scores), np.where(checked, 0, signs), rates)
    lowest = curve.lowest_rate(fits["added"])
    estimate = NoiseEstimate(rates, evidence, lowest, pattern, fits[pattern], calibration, verified)
    if verified or alternatives is None:
        return estimate
    others = [estimate_noise(other, signs, certain_negatives=certain_negatives) for other in alternatives()]
    best = max([estimate, *others], key=lambda other: other.curve.log_likelihood)
    evidence = min(evidence, *(other.evidence for other in others))
    identified = evidence > EVIDENCE
    return replace(
        estimate,
        rates=best.rates if identified else nothing,
        evidence=evidence,
        lowest_rate=min(lowest, *(other.lowest_rate for other in others)) if identified else 0.0,
    )


def label_frequency(scores: _Floats, observed: NDArray[np.bool_], weights: _Floats | None = None) -> float:
    """Estimate the fraction of positives that are observed, where negatives are never observed.

    This is the ceiling of the curve. It is 1 unless a lower ceiling increases the log-likelihood by more than
    `EVIDENCE`.

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
    >>> from spmld.noise.estimate import label_frequency
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(scale=4, size=(3000, 2))
    >>> positive = rng.random(scores.shape) < 1 / (1 + np.exp(-scores))
    >>> round(label_frequency(scores, positive & (rng.random(scores.shape) < 0.6)), 1)
    0.6
    """
    if observed.all() or not observed.any():
        return 1.0
    curve = Curve.from_entries(scores, np.where(observed, 1, -1).astype(np.int8), weights=weights)
    dropped = curve.fit((0.0, 1.0))
    none = curve.fit((0.0, 1.0), rate=0.0)
    return 1 - dropped.beta if dropped.log_likelihood > none.log_likelihood + EVIDENCE else 1.0


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
