"""Metrics of predicted probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np

from spmld.metrics._base import Floats, Signs, average_entries, read_probabilities


def log_loss(
    Y_true: Any, probabilities: Any, mask: Any = None, *, over: str = "entries", average: str | None = "mean"
) -> Any:
    r"""Logarithmic loss, on average over the observed entries.

    .. math:: -y_{ij} \log p_{ij} - (1 - y_{ij}) \log (1 - p_{ij})

    Probabilities are kept a rounding unit of double precision, about 2.2e-16, away from 0 and 1.

    Parameters
    ----------
    Y_true : labels in any form of `spmld.labels.read_labels`
        True labels.
    probabilities : array-like of shape (n_samples, n_labels)
        Probabilities that labels are positive.
    mask : array-like of bool of the same shape, optional
        True where a label is observed.
    over : {"entries", "samples", "labels"}
        What to average over: all observed entries alike, or means of samples, or means of labels.
    average : {"mean"} or None
        None gives the value of each entry, sample or label, NaN where nothing is observed.

    Returns
    -------
    float or ndarray
        At least 0, lower is better. Samples or labels without an observed entry are left out.

    Examples
    --------
    >>> from spmld.metrics import log_loss
    >>> log_loss([[1, 0], [None, 1]], [[0.5, 0.5], [0.9, 1.0]], over="labels", average=None)
    array([0.69314718, 0.34657359])
    """
    signs, values = read_probabilities(Y_true, probabilities, mask)
    return average_entries(_log_loss, signs, values, over, average, "log_loss")


def _log_loss(signs: Signs, probabilities: Floats) -> Any:
    eps = np.finfo(np.float64).eps
    return -np.log(np.clip(np.where(signs > 0, probabilities, 1 - probabilities), eps, 1 - eps))


def brier_score(
    Y_true: Any, probabilities: Any, mask: Any = None, *, over: str = "entries", average: str | None = "mean"
) -> Any:
    r"""Squared error of the probabilities, on average over the observed entries.

    .. math:: (y_{ij} - p_{ij})^2

    Parameters
    ----------
    Y_true : labels in any form of `spmld.labels.read_labels`
        True labels.
    probabilities : array-like of shape (n_samples, n_labels)
        Probabilities that labels are positive.
    mask : array-like of bool of the same shape, optional
        True where a label is observed.
    over : {"entries", "samples", "labels"}
        What to average over: all observed entries alike, or means of samples, or means of labels.
    average : {"mean"} or None
        None gives the value of each entry, sample or label, NaN where nothing is observed.

    Returns
    -------
    float or ndarray
        In [0, 1], lower is better. Samples or labels without an observed entry are left out.

    Examples
    --------
    >>> from spmld.metrics import brier_score
    >>> brier_score([[1, 0], [None, 1]], [[0.5, 0.5], [0.9, 1.0]], over="samples", average=None)
    array([0.25, 0.  ])
    """
    signs, values = read_probabilities(Y_true, probabilities, mask)
    return average_entries(_brier_score, signs, values, over, average, "brier_score")


def _brier_score(signs: Signs, probabilities: Floats) -> Any:
    return np.square(probabilities - (signs > 0))
