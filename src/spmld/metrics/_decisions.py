"""Metrics of predicted labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld.metrics._base import Floats, Signs, average_defined, average_entries, ratio, read_predictions


def hamming_loss(
    Y_true: Any, predictions: Any, mask: Any = None, *, over: str = "entries", average: str | None = "mean"
) -> Any:
    r"""Share of the observed entries that are predicted wrongly.

    .. math:: [\hat y_{ij} \ne y_{ij}]

    on average over the observed entries.

    Parameters
    ----------
    Y_true : labels in any form of `spmld.labels.read_labels`
        True labels.
    predictions : array-like or sparse matrix of shape (n_samples, n_labels)
        Predicted labels as 0/1, -1/+1 or bool.
    mask : array-like of bool of the same shape, optional
        True where a label is observed.
    over : {"entries", "samples", "labels"}
        What to average over: all observed entries alike, or shares of samples, or shares of labels.
    average : {"mean"} or None
        None gives the value of each entry, sample or label, NaN where nothing is observed.

    Returns
    -------
    float or ndarray
        In [0, 1], lower is better. Samples or labels without an observed entry are left out.

    Examples
    --------
    >>> from spmld.metrics import hamming_loss
    >>> hamming_loss([[1, 0], [None, 1]], [[1, 1], [0, 1]])
    0.3333333333333333
    """
    signs, predicted = read_predictions(Y_true, predictions, mask)
    return average_entries(_wrong, signs, predicted, over, average, "hamming_loss")


def _wrong(signs: Signs, predicted: NDArray[np.bool_]) -> Any:
    return predicted != (signs > 0)


def subset_accuracy(Y_true: Any, predictions: Any, mask: Any = None, *, average: str | None = "mean") -> Any:
    r"""Share of the samples all of whose observed labels are predicted rightly.

    .. math:: [\hat y_{ij} = y_{ij} \text{ for all observed } j]

    Parameters
    ----------
    Y_true : labels in any form of `spmld.labels.read_labels`
        True labels.
    predictions : array-like or sparse matrix of shape (n_samples, n_labels)
        Predicted labels as 0/1, -1/+1 or bool.
    mask : array-like of bool of the same shape, optional
        True where a label is observed.
    average : {"mean"} or None
        None gives the value of each sample, NaN where it is undefined.

    Returns
    -------
    float, or ndarray of shape (n_samples,)
        In [0, 1], higher is better. Samples without an observed entry are left out.

    Examples
    --------
    >>> from spmld.metrics import subset_accuracy
    >>> subset_accuracy([[1, 0], [None, 1]], [[1, 1], [0, 1]])
    0.5
    """
    signs, predicted = read_predictions(Y_true, predictions, mask)
    right = ~(_wrong(signs, predicted) & (signs != 0)).any(axis=1)
    return average_defined(np.where(signs.any(axis=1), right, np.nan), average, "subset_accuracy")


def sample_f1(Y_true: Any, predictions: Any, mask: Any = None, *, average: str | None = "mean") -> Any:
    r"""F1 of the labels predicted for a sample.

    .. math:: \frac{2 \, TP_i}{2 \, TP_i + FP_i + FN_i}

    over the observed entries of sample `i`.

    Parameters
    ----------
    Y_true : labels in any form of `spmld.labels.read_labels`
        True labels.
    predictions : array-like or sparse matrix of shape (n_samples, n_labels)
        Predicted labels as 0/1, -1/+1 or bool.
    mask : array-like of bool of the same shape, optional
        True where a label is observed.
    average : {"mean"} or None
        None gives the value of each sample, NaN where it is undefined.

    Returns
    -------
    float, or ndarray of shape (n_samples,)
        In [0, 1], higher is better. Samples with neither a positive nor a predicted positive among their observed
        entries are left out.

    Examples
    --------
    >>> from spmld.metrics import sample_f1
    >>> sample_f1([[1, 0, None], [0, 1, 1], [0, 0, 0]], [[1, 1, 1], [0, 1, 1], [0, 0, 0]], average=None)
    array([0.66666667, 1.        ,        nan])
    """
    return average_defined(_f1(*_count(Y_true, predictions, mask, axis=1)), average, "sample_f1")


def macro_f1(Y_true: Any, predictions: Any, mask: Any = None, *, average: str | None = "mean") -> Any:
    r"""F1 of the samples for which a label is predicted.

    .. math:: \frac{2 \, TP_j}{2 \, TP_j + FP_j + FN_j}

    over the observed entries of label `j`.

    Parameters
    ----------
    Y_true : labels in any form of `spmld.labels.read_labels`
        True labels.
    predictions : array-like or sparse matrix of shape (n_samples, n_labels)
        Predicted labels as 0/1, -1/+1 or bool.
    mask : array-like of bool of the same shape, optional
        True where a label is observed.
    average : {"mean"} or None
        None gives the value of each label, NaN where it is undefined.

    Returns
    -------
    float, or ndarray of shape (n_labels,)
        In [0, 1], higher is better. Labels with neither a positive nor a predicted positive among their observed
        entries are left out.

    Examples
    --------
    >>> from spmld.metrics import macro_f1
    >>> macro_f1([[1, 0, None], [0, 1, 1], [0, 0, 0]], [[1, 1, 1], [0, 1, 1], [0, 0, 0]], average=None)
    array([1.        , 0.66666667, 1.        ])
    """
    return average_defined(_f1(*_count(Y_true, predictions, mask, axis=0)), average, "macro_f1")


def micro_f1(Y_true: Any, predictions: Any, mask: Any = None) -> float:
    r"""F1 of all entries together.

    .. math:: \frac{2 \, TP}{2 \, TP + FP + FN}

    over all observed entries.

    Parameters
    ----------
    Y_true : labels in any form of `spmld.labels.read_labels`
        True labels.
    predictions : array-like or sparse matrix of shape (n_samples, n_labels)
        Predicted labels as 0/1, -1/+1 or bool.
    mask : array-like of bool of the same shape, optional
        True where a label is observed.

    Returns
    -------
    float
        In [0, 1], higher is better. NaN, with a warning, if no observed entry is positive or predicted positive.

    Examples
    --------
    >>> from spmld.metrics import micro_f1
    >>> micro_f1([[1, 0, None], [0, 1, 1], [0, 0, 0]], [[1, 1, 1], [0, 1, 1], [0, 0, 0]])
    0.8571428571428571
    """
    return float(average_defined(_f1(*_count(Y_true, predictions, mask, axis=None)), "mean", "micro_f1"))


def _count(Y_true: Any, predictions: Any, mask: Any, axis: int | None) -> tuple[Any, Any, Any]:
    """True positives, predicted positives and positives among the observed entries."""
    signs, predicted = read_predictions(Y_true, predictions, mask)
    positive = signs > 0
    return (
        np.count_nonzero(positive & predicted, axis=axis),
        np.count_nonzero(predicted & (signs != 0), axis=axis),
        np.count_nonzero(positive, axis=axis),
    )


def _f1(true_positive: Any, predicted: Any, positive: Any) -> Floats:
    return ratio(2 * true_positive, predicted + positive)
