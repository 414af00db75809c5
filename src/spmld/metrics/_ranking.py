"""Metrics of how the labels of a sample are ranked."""

from __future__ import annotations

from typing import Any

import numpy as np

from spmld.metrics._base import Floats, Signs, average_defined, by_columns, by_rows, ratio, read_scores
from spmld.metrics._order import average_precision, misordered, sort_rows


def ranking_loss(Y_true: Any, scores: Any, mask: Any = None, *, average: str | None = "mean") -> Any:
    r"""Share of the pairs of a positive and a negative label of a sample that are ordered wrongly.

    .. math:: \frac{|\{(p, q) \in P_i \times N_i : s_{iq} \ge s_{ip}\}|}{|P_i| \, |N_i|}

    :math:`P_i` and :math:`N_i` are the observed positives and negatives of sample `i`. A tie counts as wrong.

    Parameters
    ----------
    Y_true : labels in any form of `spmld.labels.read_labels`
        True labels.
    scores : array-like of shape (n_samples, n_labels)
        Scores, higher for labels held more likely.
    mask : array-like of bool of the same shape, optional
        True where a label is observed.
    average : {"mean"} or None
        None gives the value of each sample, NaN where it is undefined.

    Returns
    -------
    float, or ndarray of shape (n_samples,)
        In [0, 1], lower is better. Samples without an observed positive or without an observed negative are
        left out.

    Examples
    --------
    >>> from spmld.metrics import ranking_loss
    >>> ranking_loss([[1, 0, 0, None], [0, 1, 1, 0]], [[0.5, 0.7, 0.1, 0.9], [0.1, 0.8, 0.9, 0.2]])
    0.25
    """
    return average_defined(by_rows(_ranking_loss, *read_scores(Y_true, scores, mask)), average, "ranking_loss")


def _ranking_loss(signs: Signs, scores: Floats) -> Floats:
    not_below, _ = misordered(order := sort_rows(signs, scores))
    return ratio(not_below, order.positive.sum(axis=1) * order.negative.sum(axis=1))


def coverage(
    Y_true: Any, scores: Any, mask: Any = None, *, normalised: bool = False, average: str | None = "mean"
) -> Any:
    r"""Steps down the ranked labels of a sample until all its positives are covered.

    .. math:: |\{j \text{ observed} : s_{ij} \ge \min_{p \in P_i} s_{ip}\}| - 1

    It counts from 0, as the literature does, and is one less than scikit-learn's. Ties take the worst rank.

    Parameters
    ----------
    Y_true : labels in any form of `spmld.labels.read_labels`
        True labels.
    scores : array-like of shape (n_samples, n_labels)
        Scores, higher for labels held more likely.
    mask : array-like of bool of the same shape, optional
        True where a label is observed.
    normalised : bool
        Divide by the most there can be, the number of observed labels of the sample minus 1, so that values lie
        in [0, 1]. Samples with a single observed label are then left out too.
    average : {"mean"} or None
        None gives the value of each sample, NaN where it is undefined.

    Returns
    -------
    float, or ndarray of shape (n_samples,)
        From 0 to the number of labels minus 1, lower is better. Samples without an observed positive are left out.

    Examples
    --------
    >>> from spmld.metrics import coverage
    >>> coverage([[1, 0, 0, None], [0, 1, 1, 0]], [[0.5, 0.7, 0.1, 0.9], [0.1, 0.8, 0.9, 0.2]])
    1.0
    """
    signs, values = read_scores(Y_true, scores, mask)
    steps = by_rows(_coverage, signs, values)
    if normalised:
        steps = ratio(steps, (signs != 0).sum(axis=1) - 1)
    return average_defined(steps, average, "coverage")


def _coverage(signs: Signs, scores: Floats) -> Floats:
    positive = signs > 0
    lowest = np.min(scores, axis=1, where=positive, initial=np.inf, keepdims=True)
    covered = ((scores >= lowest) & (signs != 0)).sum(axis=1)
    return np.where(positive.any(axis=1), covered - 1.0, np.nan)


def label_ranking_average_precision(Y_true: Any, scores: Any, mask: Any = None, *, average: str | None = "mean") -> Any:
    r"""Share of positives among the labels ranked as high or higher, on average over the positives of a sample.

    .. math:: \frac{1}{|P_i|} \sum_{p \in P_i}
              \frac{|\{q \in P_i : s_{iq} \ge s_{ip}\}|}{|\{j \text{ observed} : s_{ij} \ge s_{ip}\}|}

    Parameters
    ----------
    Y_true : labels in any form of `spmld.labels.read_labels`
        True labels.
    scores : array-like of shape (n_samples, n_labels)
        Scores, higher for labels held more likely.
    mask : array-like of bool of the same shape, optional
        True where a label is observed.
    average : {"mean"} or None
        None gives the value of each sample, NaN where it is undefined.

    Returns
    -------
    float, or ndarray of shape (n_samples,)
        In (0, 1], higher is better. Samples without an observed positive are left out.

    Examples
    --------
    >>> from spmld.metrics import label_ranking_average_precision
    >>> label_ranking_average_precision([[1, 0, 0, None], [0, 1, 1, 0]], [[5, 7, 1, 9], [1, 8, 9, 2]])
    0.75
    """
    values = by_rows(average_precision, *read_scores(Y_true, scores, mask))
    return average_defined(values, average, "label_ranking_average_precision")


def macro_average_precision(Y_true: Any, scores: Any, mask: Any = None, *, average: str | None = "mean") -> Any:
    r"""Share of positives among the samples scored as high or higher, on average over the positives of a label.

    .. math:: \frac{1}{|P_j|} \sum_{p \in P_j}
              \frac{|\{q \in P_j : s_{qj} \ge s_{pj}\}|}{|\{i \text{ observed} : s_{ij} \ge s_{pj}\}|}

    :math:`P_j` are the samples for which label `j` is observed and positive.

    Parameters
    ----------
    Y_true : labels in any form of `spmld.labels.read_labels`
        True labels.
    scores : array-like of shape (n_samples, n_labels)
        Scores, higher for labels held more likely.
    mask : array-like of bool of the same shape, optional
        True where a label is observed.
    average : {"mean"} or None
        None gives the value of each label, NaN where it is undefined.

    Returns
    -------
    float, or ndarray of shape (n_labels,)
        In (0, 1], higher is better. Labels without an observed positive are left out.

    Examples
    --------
    >>> from spmld.metrics import macro_average_precision
    >>> macro_average_precision([[1, 0], [0, 1], [1, None]], [[0.9, 0.1], [0.5, 0.8], [0.2, 0.9]], average=None)
    array([0.83333333, 1.        ])
    """
    values = by_columns(average_precision, *read_scores(Y_true, scores, mask))
    return average_defined(values, average, "macro_average_precision")


def micro_average_precision(Y_true: Any, scores: Any, mask: Any = None) -> float:
    r"""Share of positives among the entries scored as high or higher, on average over all positive entries.

    .. math:: \frac{1}{|P|} \sum_{p \in P}
              \frac{|\{q \in P : s_q \ge s_p\}|}{|\{e \text{ observed} : s_e \ge s_p\}|}

    :math:`P` are all observed positive entries, of any samples and labels.

    Parameters
    ----------
    Y_true : labels in any form of `spmld.labels.read_labels`
        True labels.
    scores : array-like of shape (n_samples, n_labels)
        Scores, higher for labels held more likely.
    mask : array-like of bool of the same shape, optional
        True where a label is observed.

    Returns
    -------
    float
        In (0, 1], higher is better. NaN, with a warning, without an observed positive.

    Examples
    --------
    >>> from spmld.metrics import micro_average_precision
    >>> micro_average_precision([[1, 0], [0, 1], [1, None]], [[0.9, 0.1], [0.5, 0.8], [0.2, 0.9]])
    0.9166666666666666
    """
    signs, values = read_scores(Y_true, scores, mask)
    one_row = average_precision(signs.reshape(1, -1), values.reshape(1, -1))
    return float(average_defined(one_row, "mean", "micro_average_precision"))
