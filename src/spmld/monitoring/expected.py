"""Expected metrics of predictions whose labels are unknown."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from spmld.core.losses import logistic
from spmld.monitoring.metric_estimates import MICRO_METRICS, estimate_metrics
from spmld.monitoring.reference import Reference


class ExpectedMetric(NamedTuple):
    """Expected value of a metric on new samples.

    Attributes
    ----------
    name : str
        Name of the metric.
    value, low, high : float
        Expected value, and limits between which the metric of the new samples is expected to be. They are NaN if the
        metric is unknown, as precision if no labels are predicted for the new samples.
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
    scores: NDArray[np.float64], reference: Reference, confidence: float = 0.9
) -> list[ExpectedMetric]:
    r"""Return expected micro F1, precision and recall of new samples.

    A metric is that of the out-of-fold predictions of the training data, plus the difference :math:`\Delta` between
    new samples and those of the reference according to the linear scores: with probabilities p and decisions d, micro
    F1 is about :math:`2 \sum p d / (\sum p + \sum d)`. The linear model was fitted to neither of them. Probabilities of
    the final model are not used: it is fitted to more samples than the models of the folds, on which calibration is
    based, and is more confident.

    The difference is multiplied by :math:`w = \max(0, 1 - \sigma^2 / \Delta^2)`, where :math:`\sigma` is its standard
    error if nothing has changed: :math:`\Delta^2 - \sigma^2` is an unbiased estimate of the square of the true
    difference. The variance of the result is that of the metric in the training data and in the new samples, plus
    :math:`w^2 \sigma^2`.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_labels)
        Log-odds of new samples by the linear model, see `Reference.linear_scores`.
    reference : Reference
        Summary of the training data.
    confidence : float, default=0.9
        Confidence level of the intervals.

    Examples
    --------
    See `monitor`.
    """
    new, _ = estimate_metrics(logistic(scores), scores > reference.thresholds, reference.evaluated)
    training, variance = reference.metrics
    old, old_variance = reference.linear_metrics
    difference = new - old  # NaN for precision if no labels are predicted
    squared_error = old_variance * (1 + len(reference.scores) / len(scores))
    weight = np.maximum(1 - squared_error / np.maximum(difference**2, np.finfo(float).tiny), 0.0)
    value = training + weight * difference
    total = variance * (1 + reference.n_observed / len(scores)) + weight**2 * squared_error
    margin = ndtri((1 + confidence) / 2) * np.sqrt(total)
    rows = np.clip([value, value - margin, value + margin, training], 0, 1).T.tolist()
    return [ExpectedMetric(name, *row) for name, row in zip(MICRO_METRICS, rows, strict=True)]
