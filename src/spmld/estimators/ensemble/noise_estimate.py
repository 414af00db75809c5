"""Noise rates of the labels and calibration of scores, both from out-of-fold scores of noisy labels."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld.estimators.ensemble.training_data import Scores, evenly_spaced
from spmld.model_selection.calibration import PooledCalibration, has_both_classes
from spmld.pacing.noise import MIN_RATE, NoiseRates, correct_probability, false_positive_rate, label_rates

N_ITER = 10
"""Number of iterations of the EM algorithm."""
MIN_FALSE, MAX_FALSE = 0.2, 0.8
"""Minimum fraction of all positives, and maximum fraction of those of a label, that a shared rate declares false."""
SHRINKAGE = 3.0
"""Strength of the prior that shrinks the rates of a label to those of all labels, in errors."""


def estimate_rates(
    scores: Scores, signs: NDArray[np.int8], trusted: NDArray[np.bool_] | None = None
) -> tuple[Scores, Scores]:
    """Estimate the noise rates of each label.

    Without verified entries, rates that differ between labels cannot be told from labels that are hard to predict. The
    estimate is a rate of false positives that all labels share, see `spmld.pacing.noise.false_positive_rate`, and no
    false negatives. It is 0 unless there is strong evidence: the rate explains a fifth of the positives, and nearly all
    of those of the rarest label. At most 0.8 of the positives of a label are explained as false.

    With verified entries, the scores are calibrated on them, and the rates of each label maximize the likelihood of the
    other entries.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_labels)
        Out-of-fold scores.
    signs : ndarray of shape (n_samples, n_labels)
        Observed labels: 1, -1, and 0 where missing.
    trusted : ndarray of bool of shape (n_samples, n_labels), optional
        Verified entries.

    Returns
    -------
    alpha, beta : ndarray of shape (n_labels,)
        Rates of false positives and of false negatives.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.estimators.ensemble import estimate_rates
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(scale=3, size=(3000, 4))
    >>> truth = rng.random(scores.shape) < 1 / (1 + np.exp(-scores))
    >>> noisy = truth | (rng.random(scores.shape) < [0.0, 0.1, 0.2, 0.3])
    >>> trusted = np.arange(3000)[:, None] < 200
    >>> signs = np.where(np.where(trusted, truth, noisy), 1, -1)
    >>> estimate_rates(scores, signs, trusted & (signs != 0))[0].round(1)
    array([0. , 0.1, 0.2, 0.3])
    """
    n_labels = signs.shape[1]
    if trusted is None:
        scores, signs = evenly_spaced(scores, signs)
    unverified = signs if trusted is None else np.where(trusted, 0, signs)
    if trusted is None or not has_both_classes(np.where(trusted, signs, 0).reshape(-1, 1)).all():
        return _shared_rate(scores, unverified), np.zeros(n_labels)
    log_odds = PooledCalibration(penalty=1.0).fit(scores, np.where(trusted, signs, 0)).transform(scores)
    start = NoiseRates(np.full(1, 0.05), np.full(1, 0.05))
    common = label_rates(
        log_odds.reshape(-1, 1), unverified.reshape(-1, 1), start, shrinkage=0.0, max_iter=100, tol=1e-6
    )
    shared = NoiseRates(np.repeat(common.alpha, n_labels), np.repeat(common.beta, n_labels))
    rates = label_rates(log_odds, unverified, shared, shrinkage=SHRINKAGE, max_iter=100, tol=1e-6)
    return np.minimum(rates.alpha, 0.9), np.minimum(rates.beta, 0.9 * (1 - np.minimum(rates.alpha, 0.9)))


def _shared_rate(scores: Scores, signs: NDArray[np.int8]) -> Scores:
    """Return the rate of false positives of each label, or zeros without strong evidence."""
    positives, negatives = (signs > 0).sum(axis=0), (signs < 0).sum(axis=0)
    frequency = positives / np.maximum(positives + negatives, 1)
    rate = false_positive_rate(scores, signs)
    rarest = frequency[positives + negatives > 0].min(initial=1.0)
    n_false = rate / (1 - rate) * negatives.sum()
    if n_false < MIN_FALSE * positives.sum() or rate < MAX_FALSE * rarest:
        return np.zeros(len(frequency))
    return np.minimum(rate, MAX_FALSE * frequency)


def fit_calibration(
    calibration: Any,
    scores: Scores,
    signs: NDArray[np.int8],
    entry_weight: Scores,
    rates: tuple[Scores, Scores],
    trusted: NDArray[np.bool_] | None = None,
) -> Any:
    """Fit a calibration so that probabilities are those of the true labels.

    The EM algorithm: each observed label is used with its sign and the opposite one, weighted by the probabilities that
    it is correct and that it is wrong. Verified entries get the same total weight as the others, because the rates may
    differ from sample to sample, and a wrong model of the noise would spoil the probabilities.

    Parameters
    ----------
    calibration : PooledCalibration
        The calibration to fit.
    scores, signs, trusted
        As in `estimate_rates`.
    entry_weight : ndarray of shape (n_samples, n_labels)
        Weights of the entries.
    rates : tuple of ndarray
        Result of `estimate_rates`.

    Returns
    -------
    PooledCalibration
        The fitted calibration.
    """
    if trusted is None:
        scores, signs, entry_weight = evenly_spaced(scores, signs, entry_weight)
    else:
        n_others, n_trusted = (float((entry_weight * chosen).sum()) for chosen in ((signs != 0) & ~trusted, trusted))
        ratio = n_others / n_trusted if n_trusted > 0 else 1.0
        entry_weight = np.where(trusted, max(ratio, 1.0) * entry_weight, entry_weight)
    calibration.fit(scores, signs, entry_weight)
    if not any(rate.any() for rate in rates):
        return calibration
    clipped = NoiseRates(*(np.clip(rate, MIN_RATE, 1 - MIN_RATE) for rate in rates))
    twice, signs_and_opposite = np.concatenate([scores, scores]), np.concatenate([signs, -signs])
    for _ in range(N_ITER):
        p = correct_probability(calibration.transform(scores), signs, clipped)
        p = p if trusted is None else np.where(trusted, 1.0, p)
        calibration.fit(twice, signs_and_opposite, np.concatenate([entry_weight * p, entry_weight * (1 - p)]))
    return calibration
