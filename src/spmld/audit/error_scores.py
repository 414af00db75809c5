r"""Error probabilities of observed labels, and the range of the number of errors, from out-of-fold scores.

**Order.** A label is suspicious if an out-of-fold model assigns a high probability to its opposite, which is called low
self-confidence. This is the best order if positives and negatives are flipped at the same rate. If there is clear
evidence of another pattern of errors, see `spmld.noise.estimate_noise`, the order is that of the mean of two
probabilities: the error probability under that pattern, and the probability of the opposite, lowered for positives and
for negatives until their sums are at most the upper bounds of false positives and false negatives.

**Probabilities.** What the data bound is the number of errors, not the error of a single label. The log-odds of the
order are lowered until the sum of the probabilities is at most the upper end of the range. With verified entries,
error probabilities are those of the noise rates that the verified entries determine.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import logit

from spmld.core.losses import logistic
from spmld.noise import NoiseEstimate, NoiseRates, PooledCalibration, estimate_noise
from spmld.noise.bounds import bound_errors
from spmld.noise.calibration import trusted_weight
from spmld.noise.likelihood import error_log_odds

_Floats = NDArray[np.float64]
_Signs = NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class ErrorScores:
    """Error probabilities of entries and ranges of the number of errors.

    Attributes
    ----------
    log_odds : ndarray of shape (n_samples, n_labels)
        Out-of-fold log-odds that each label is positive, also of missing labels.
    error_log_odds : ndarray of shape (n_samples, n_labels)
        Log-odds that a label is wrong, NaN where missing and -inf where verified.
    label_range : ndarray of shape (n_labels, 2)
        Lower and upper end of the number of wrong entries of each label.
    total_range : tuple of float
        Lower and upper end of the number of all wrong entries. The lower end is 0 unless noise is identified.
    weak : bool
        Whether the features predict the labels too weakly to judge them: no noise is identified, and more than half of
        the positives may be wrong.
    noise : NoiseEstimate
        Estimate of the noise rates.
    """

    log_odds: _Floats
    error_log_odds: _Floats
    label_range: _Floats
    total_range: tuple[float, float]
    weak: bool
    noise: NoiseEstimate


def score_errors(
    scores: _Floats,
    signs: _Signs,
    trusted: NDArray[np.bool_] | None = None,
    positive_only: NDArray[np.bool_] | None = None,
    *,
    alternatives: Callable[[], Sequence[_Floats]] | None = None,
) -> ErrorScores:
    """Return error probabilities and ranges.

    Parameters
    ----------
    scores, signs, trusted, alternatives
        As in `spmld.noise.estimate_noise`.
    positive_only : ndarray of bool of shape (n_labels,), optional
        Labels whose negatives are missing entries, which are not counted as errors.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.audit.error_scores import score_errors
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(-2, 6, size=(2000, 4))
    >>> truth = rng.random(scores.shape) < 1 / (1 + np.exp(-scores))
    >>> wrong = rng.random(scores.shape) < 0.05
    >>> errors = score_errors(scores, np.where(truth != wrong, 1, -1))
    >>> lower, upper = errors.total_range
    >>> bool(0 < lower < wrong.sum() < upper)
    True
    """
    audited = signs if positive_only is None else np.where(positive_only, 0, signs).astype(np.int8)
    noise = estimate_noise(scores, audited, trusted, alternatives=alternatives)
    log_odds = noise.calibration.transform(scores)
    if positive_only is not None and positive_only.any():
        own = PooledCalibration().fit(scores[:, positive_only], signs[:, positive_only])
        log_odds[:, positive_only] = own.transform(scores[:, positive_only])
    counted = (signs != 0) & (audited == signs if positive_only is None else (audited == signs) | (signs > 0))
    counted &= True if trusted is None else ~trusted
    # Missing entries of positive-only labels show how many of the positives are false, but are not errors themselves.
    positives = bound_errors(scores, np.where(counted | (audited != signs), signs, 0).astype(np.int8))
    negatives = bound_errors(scores, np.where(counted, audited, 0).astype(np.int8))
    limits = positives.total_false_positives, negatives.total_false_negatives
    n_negatives = (np.where(counted, audited, 0) < 0).sum(axis=0)
    lower = np.minimum(noise.lowest_rate / (1 - noise.lowest_rate) * n_negatives, positives.false_positives)
    upper = positives.false_positives + negatives.false_negatives
    total = float(lower.sum()), max(sum(limits), float(lower.sum()))
    if noise.verified and noise.identified:
        weight, rates = trusted_weight(audited, trusted), noise.rates.unless(trusted)
        log_odds = PooledCalibration().fit(scores, audited, weight, rates).transform(scores)
        errors = error_log_odds(log_odds, signs, noise.rates)
    else:
        errors = _limit(_suspicion(log_odds, signs, noise, limits), counted, total[1])
    errors = np.where(signs == 0, np.nan, errors)
    if trusted is not None:
        errors[trusted] = -np.inf
    weak = not noise.identified and bool(limits[0] > (counted & (signs > 0)).sum() / 2)
    return ErrorScores(log_odds, errors, np.column_stack([lower, np.maximum(lower, upper)]), total, weak, noise)


def _suspicion(log_odds: _Floats, signs: _Signs, noise: NoiseEstimate, limits: tuple[float, float]) -> _Floats:
    """Return the log-odds by which entries are ordered; the limits are the bounds of positive and negative errors."""
    opposite = -signs * log_odds
    if noise.pattern == "flipped":
        return opposite
    for sign, limit in zip((1, -1), limits, strict=True):
        opposite = np.where(signs == sign, _limit(opposite, signs == sign, limit), opposite)
    curve = noise.curve
    rates = NoiseRates(np.asarray(curve.alpha), np.asarray(curve.beta))
    pattern = error_log_odds(curve.slope * log_odds + curve.shift, signs, rates)
    tiny = np.finfo(float).tiny
    return logit(np.clip((logistic(opposite) + logistic(pattern)) / 2, tiny, 1 - np.finfo(float).eps))


def _limit(log_odds: _Floats, observed: NDArray[np.bool_], limit: float) -> _Floats:
    """Return log-odds that are lowered by the same number until the sum of the probabilities is at most the limit."""
    values = log_odds[observed]

    def excess(shift: float) -> float:
        return float(logistic(values - shift).sum()) - limit

    if len(values) == 0 or excess(0.0) <= 0:
        return log_odds
    highest = float(values.max()) + 50.0
    return log_odds - (brentq(excess, 0.0, highest) if excess(highest) < 0 else highest)
