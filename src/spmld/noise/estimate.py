r"""Floors of the frequency of positives, and noise rates, which only verified entries identify.

The probability that a label is observed as positive is

.. math:: P = \alpha + (1 - \alpha - \beta) \frac{1}{1 + e^{-(a_j s + b_j)}}

with its out-of-fold score s and the slopes and shifts of `PooledCalibration`. The evidence of rates is the increase of
the marginal log-likelihood, in which slopes and shifts are integrated out. Labels that differ in strength and frequency
are explained by their slopes and shifts, which costs likelihood; a floor that all labels share costs none.

**The floor** :math:`\alpha` is a fact about the scores: certain negatives are observed as positive with this frequency.
Label noise has a floor, but so have labels with causes that the features do not show, and observed labels alone do not
tell one from the other. A floor with clear evidence is therefore used to predict observed labels, and is no claim about
errors. The ceiling :math:`1 - \beta` is below 1 for every label that the features do not determine; in the likelihood,
:math:`\beta = \alpha`, as if entries were flipped.

**Noise rates** are identified by verified entries. Their labels are correct, and they have a floor of their own. The
other entries are noisy only if there is evidence that they have higher rates.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar

from spmld.core.losses import logistic
from spmld.noise.calibration import PooledCalibration, has_both_classes, trusted_weight
from spmld.noise.likelihood import NoiseRates, error_log_odds

_Floats = NDArray[np.float64]
_Signs = NDArray[np.int8]

EVIDENCE = 5.0
"""Minimum evidence of rates: the logarithm of a Bayes factor of 150, "very strong" (Kass and Raftery 1995)."""
MAX_RATE = 0.98
"""Maximum sum of the rates of false positives and false negatives."""
RATES = 0.005 * 2.0 ** np.arange(7)
"""Rates from which the search of the best one starts."""
SIMPLEX = 0.02
"""Smallest edge of the initial simplex of the search of noise rates."""
N_BINS = 128
"""Number of points of the frequency of positives of each label, as a function of its score."""
LIKELIHOOD_TOL = 1e-7
"""Tolerance of the calibrations whose likelihoods are compared."""
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
        Increase of the marginal log-likelihood by the floor, which is clear above `EVIDENCE`.
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
    fits = [_fit_rate(summarize(scores, signs), direction)]
    if fits[0].evidence > EVIDENCE and alternatives is not None:
        fits += [_fit_rate(summarize(other, signs), direction) for other in alternatives()]
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


class _RateFit(NamedTuple):
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


def _fit_rate(points: Points, direction: tuple[float, float]) -> _RateFit:
    """Return the best rate of all labels in a direction (alpha, beta)."""
    u, v = direction

    def loss(rate: float) -> float:
        return -points.log_likelihood(rate * u, rate * v)

    grid = np.append(0.0, RATES)
    losses = [loss(rate) for rate in grid]
    best = int(np.argmin(losses))
    if best == 0:
        return _RateFit(0.0, -losses[0], 0.0)
    bounds = grid[best - 1], grid[best + 1] if best + 1 < len(grid) else MAX_RATE / (u + v)
    result = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 0.02 * grid[best]})
    return _RateFit(float(result.x), -float(result.fun), losses[0] - float(result.fun))


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

    floor = _fit_rate(points, (1.0, 1.0)).rate
    correct_only = search(np.array([floor, 0.0]), np.array([floor, floor]))
    noise = np.full(n_rates, max(floor, RATES[0]))
    best = search(
        np.append(correct_only.x, 0.0 * noise), np.append([0.0, 0.0], noise), np.append(correct_only.x, noise)
    )
    clear = correct_only.fun - best.fun > EVIDENCE
    alpha, beta = np.clip(np.append(best.x[2:], 0.0)[:2], 0.0, MAX_RATE / 2) * clear
    return NoiseRates(np.full(signs.shape[1], alpha), np.full(signs.shape[1], beta))


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
    >>> from spmld.noise.estimate import label_frequency
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(scale=4, size=(3000, 2))
    >>> positive = rng.random(scores.shape) < 1 / (1 + np.exp(-scores))
    >>> round(label_frequency(scores, positive & (rng.random(scores.shape) < 0.6)), 1)
    0.6
    """
    if observed.all() or not observed.any():
        return 1.0
    ceiling = _fit_rate(summarize(scores, np.where(observed, 1, -1).astype(np.int8), weights), (0.0, 1.0))
    return 1 - ceiling.rate if ceiling.evidence > EVIDENCE else 1.0


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
