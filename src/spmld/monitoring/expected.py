"""Expected metrics of predictions whose labels are unknown."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from spmld.monitoring.reference import Reference

_Floats = NDArray[np.float64]

_TERMS = {"F1": (2.0, 1.0, 1.0), "precision": (1.0, 1.0, 0.0), "recall": (1.0, 0.0, 1.0)}
"""Coefficients c, a and b of the metrics c A / (a D + b P)."""


class ExpectedMetric(NamedTuple):
    """Expected value of a metric on new samples.

    Attributes
    ----------
    name : str
        Name of the metric.
    value, low, high : float
        Expected value, and limits between which the true value is expected to be.
    training : float
        Value on the observed entries of the training data, by out-of-fold predictions.

    Examples
    --------
    See `monitor`.
    """

    name: str
    value: float
    low: float
    high: float
    training: float


def expected_metrics(
    p: _Floats, predicted: NDArray[np.bool_], reference: Reference, confidence: float = 0.9
) -> list[ExpectedMetric]:
    r"""Return expected F1, precision and recall of predictions.

    With the probabilities p and the predictions d, the expected numbers of true positives and of positives are
    :math:`A = \sum p d` and :math:`P = \sum p`, so that micro F1 is about :math:`2 A / (\sum d + P)`. Macro F1 is the
    mean over the labels, weighted by the probability that they have a positive or a prediction.

    The difference between observed and expected values on out-of-fold predictions of the training data, as far as it
    exceeds its standard error, is added: :math:`\Delta \max(0, 1 - \sigma^2 / \Delta^2)` (James and Stein 1961). The
    variance of a metric is that of the labels of the new samples, given the probabilities, plus :math:`\sigma^2`.

    Parameters
    ----------
    p : ndarray of shape (n_samples, n_labels)
        Calibrated probabilities of new samples.
    predicted : ndarray of bool of shape (n_samples, n_labels)
        Predictions.
    reference : Reference
        Summary of the training data.
    confidence : float, default=0.9
        Confidence level of the intervals.

    Examples
    --------
    See `monitor`.
    """
    d = np.asarray(predicted, dtype=float)
    labels = np.stack([(p * d).mean(axis=0), p.mean(axis=0), d.mean(axis=0)])
    share = np.where(d.any(axis=0), 1.0, 1 - np.prod(1 - p, axis=0))
    share = share / max(share.sum(), np.finfo(float).tiny)
    ratio, results = float(reference.n_observed.mean()) / len(p), []
    for name, terms in _TERMS.items():
        value, gradient = _ratio(labels.sum(axis=1), terms)
        bias, variance = gradient @ reference.residuals.sum(axis=1), gradient @ reference.covariance @ gradient
        training, _ = _ratio(reference.means.sum(axis=1), terms)
        results.append(_correct(f"micro {name}", value, bias, variance, ratio, training, confidence))
    values, gradients = _ratio(labels, _TERMS["F1"])
    bias = share @ (gradients * reference.residuals).sum(axis=0)
    squares = np.stack([gradients[0] * (gradients[0] + 2 * gradients[1]), gradients[1] ** 2])
    of_labels = (squares * reference.variances).sum(axis=0) / np.maximum(reference.n_observed, 1)
    of_training = np.nanmean(_ratio(reference.means, _TERMS["F1"])[0])
    return [*results, _correct("macro F1", share @ values, bias, share**2 @ of_labels, ratio, of_training, confidence)]


def _ratio(rates: _Floats, terms: tuple[float, float, float]) -> tuple[_Floats, _Floats]:
    """Return c A / (a D + b P) for the rates A of hits, P of positives and D of predictions; its gradient in A and P.

    It is NaN if the denominator is 0.
    """
    (hits, positives, chosen), (c, a, b) = rates, terms
    denominator = np.maximum(a * chosen + b * positives, 0.0)
    scale = np.divide(1.0, denominator, out=np.full(np.shape(denominator), np.nan), where=denominator > 0)
    value = c * hits * scale
    return value, np.stack([c * scale, -b * value * scale])


def _correct(
    name: str, value: Any, bias: Any, variance: Any, ratio: float, training: Any, confidence: float
) -> ExpectedMetric:
    """Return a metric with its correction and interval; `ratio` is the variance of new samples to that of the bias."""
    corrected = float(value + bias * max(0.0, 1 - variance / bias**2)) if bias else float(value)
    margin = float(ndtri((1 + confidence) / 2) * np.sqrt(variance * (1 + ratio)))
    low, middle, high = np.clip([corrected - margin, corrected, corrected + margin], 0, 1).tolist()
    return ExpectedMetric(name, middle, low, high, float(training))
