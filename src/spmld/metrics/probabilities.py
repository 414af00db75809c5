"""Metrics of predicted probabilities: log loss, Brier score, calibration error and the reliability curve."""

from typing import Any

import numpy as np

from spmld._validation import check_scalar_integer
from spmld.metrics._averaging import Average, average_defined, average_entries, ratio
from spmld.metrics._inputs import Floats, Signs, read_probabilities, weigh


def log_loss(
    Y_true: Any, probabilities: Any, mask: Any = None, *, entry_weight: Any = None, average: str | None = "mean"
) -> Average:
    r"""Compute the logarithmic loss, averaged over the observed entries.

    .. math:: -y_{ij} \log p_{ij} - (1 - y_{ij}) \log (1 - p_{ij})

    Probabilities are clipped to [eps, 1 - eps], where eps is the machine epsilon of float64, about 2.2e-16.

    Values are at least 0; lower is better. ``average=None`` returns the values of all entries.

    Parameters
    ----------
    Y_true, mask, average
        As in `ranking_loss`.
    probabilities : array-like of shape (n_samples, n_labels)
        Predicted probabilities of the positive class.
    entry_weight
        As in `macro_auc`.

    Returns
    -------
    float, or ndarray if `average` is None

    Examples
    --------
    >>> from spmld.metrics import log_loss
    >>> log_loss([[1, 0], [None, 1]], [[0.5, 0.5], [0.9, 1.0]], average=None)
    array([[6.93147181e-01, 6.93147181e-01],
           [           nan, 2.22044605e-16]])
    """
    arrays = read_probabilities(Y_true, probabilities, mask)
    return average_entries(_log_loss, *arrays, entry_weight, average, "log_loss")


def _log_loss(signs: Signs, probabilities: Floats) -> Floats:
    eps = np.finfo(np.float64).eps
    return -np.log(np.clip(np.where(signs > 0, probabilities, 1 - probabilities), eps, 1 - eps))


def brier_score(
    Y_true: Any, probabilities: Any, mask: Any = None, *, entry_weight: Any = None, average: str | None = "mean"
) -> Average:
    r"""Compute the squared error of the probabilities, averaged over the observed entries.

    The error is :math:`(y_{ij} - p_{ij})^2`. Values are in [0, 1]; lower is better. Samples or labels without an
    observed entry are left out.

    The parameters are those of `log_loss`.

    Examples
    --------
    >>> from spmld.metrics import brier_score
    >>> brier_score([[1, 0], [None, 1]], [[0.5, 0.5], [0.9, 1.0]], average=None)
    array([[0.25, 0.25],
           [ nan, 0.  ]])
    """
    arrays = read_probabilities(Y_true, probabilities, mask)
    return average_entries(_brier_score, *arrays, entry_weight, average, "brier_score")


def _brier_score(signs: Signs, probabilities: Floats) -> Floats:
    return np.square(probabilities - (signs > 0))


def expected_calibration_error(
    Y_true: Any, probabilities: Any, mask: Any = None, *, entry_weight: Any = None, n_bins: int = 10
) -> float:
    r"""Compute the mean difference between predicted probabilities and fractions of positives.

    .. math:: \sum_b \frac{|B_b|}{N} \left| \bar p_b - \bar y_b \right|

    :math:`B_b` are the observed entries whose probability is in bin `b`, :math:`\bar p_b` their mean probability,
    :math:`\bar y_b` their fraction of positives, and `N` is the number of observed entries. The differences are those
    of `reliability_curve`. The value is in [0, 1]; lower is better.

    Parameters
    ----------
    Y_true, probabilities, mask, entry_weight
        As in `log_loss`.
    n_bins : int, default=10
        Number of bins of equal width in [0, 1].

    Returns
    -------
    float

    Examples
    --------
    >>> from spmld.metrics import expected_calibration_error
    >>> expected_calibration_error([[1, 0], [None, 1]], [[0.75, 0.25], [0.5, 0.75]], n_bins=2)
    0.25
    """
    bins = reliability_curve(Y_true, probabilities, mask, entry_weight=entry_weight, n_bins=n_bins)
    mean_probability, positive_fraction, counts = bins
    total = (counts * np.abs(mean_probability - positive_fraction)).sum()
    return float(average_defined(ratio(total, counts.sum()), "mean", "expected_calibration_error"))


def reliability_curve(
    Y_true: Any, probabilities: Any, mask: Any = None, *, entry_weight: Any = None, n_bins: int = 10
) -> tuple[Floats, Floats, Floats]:
    """Compute the fraction of positives among entries with similar predicted probabilities.

    The parameters are those of `expected_calibration_error`.

    Returns
    -------
    mean_probability, positive_fraction : ndarray of shape (n_nonempty_bins,)
        Mean predicted probability and fraction of positives of the observed entries in each bin that is not empty.
    counts : ndarray of shape (n_nonempty_bins,)
        Number of observed entries in each of these bins, or the sum of their weights.

    Examples
    --------
    >>> from spmld.metrics.probabilities import reliability_curve
    >>> reliability_curve([[1, 0], [None, 1]], [[0.9, 0.1], [0.5, 0.8]], n_bins=2)
    (array([0.1 , 0.85]), array([0., 1.]), array([1., 2.]))
    """
    n_bins = check_scalar_integer("n_bins", n_bins, minimum=1)
    signs, values = read_probabilities(Y_true, probabilities, mask)
    signs, weights = weigh(signs, entry_weight)
    p = values[signs != 0]
    positive = signs[signs != 0] > 0
    w = np.ones(len(p)) if weights is None else weights[signs != 0]
    bins = np.minimum((p * n_bins).astype(int), n_bins - 1)
    sums = np.stack([np.bincount(bins, w * amounts, n_bins) for amounts in (1.0, p, positive)])
    counts, p_sums, positives = sums[:, sums[0] > 0]
    return p_sums / counts, positives / counts, counts
