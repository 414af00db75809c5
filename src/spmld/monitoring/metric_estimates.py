"""Metrics of labels, or of probabilities of labels, with their sampling variances."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

MICRO_METRICS = {"micro F1": (2.0, 1.0, 1.0), "micro precision": (1.0, 0.0, 1.0), "micro recall": (1.0, 1.0, 0.0)}
"""Coefficients c, a and b of the metrics c A / (a P + b D)."""


def estimate_metrics(y: Any, predicted: Any, used: Any) -> NDArray[np.float64]:
    r"""Return micro F1, precision and recall in the first row, and their variances in the second one.

    The metrics are :math:`2 A / (P + D)`, :math:`A / D` and :math:`A / P` of the mean numbers A of true positives, P of
    positives and D of predictions of a sample; NaN if the denominator is 0. The variances are those of independent
    samples by the delta method; labels of the same sample may be dependent.

    `y` has labels, 0 or 1, or their probabilities; `used` is True for the entries, or the labels, to use. The means of
    a label are those of its entries.
    """
    used = np.broadcast_to(used, np.shape(y))
    n = np.maximum(used.sum(axis=0), 1)
    y = np.where(used, y, 0.0)
    d = np.where(used, predicted, 0.0)
    counts = np.stack([y * d, y, d])
    means = counts.sum(axis=1) / n
    deviations = (counts - used * means[:, None]) @ (1 / n)
    covariance = deviations @ deviations.T
    hits, positives, chosen = means.sum(axis=1)
    results = []
    for c, a, b in MICRO_METRICS.values():
        denominator = a * positives + b * chosen or np.nan
        value = c * hits / denominator
        gradient = np.array([c, -a * value, -b * value]) / denominator
        results.append((value, gradient @ covariance @ gradient))
    return np.array(results).T
