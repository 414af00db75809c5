"""Metrics of the labels ranked first."""

from __future__ import annotations

from typing import Any

import numpy as np

from spmld.labels import read_labels
from spmld.metrics._base import Floats, Signs, average_defined, by_rows, ratio, read_k, read_scores
from spmld.metrics._order import top


def one_error(Y_true: Any, scores: Any, mask: Any = None, *, average: str | None = "mean") -> Any:
    r"""Share of the samples whose highest-scored label is not a positive.

    .. math:: 1 - \text{precision@}1

    Parameters
    ----------
    Y_true : labels in any form of `spmld.labels.read_labels`
        True labels.
    scores : array-like of shape (n_samples, n_labels)
        Scores, higher for labels held more likely. Of equal scores the first column counts as the highest.
    mask : array-like of bool of the same shape, optional
        True where a label is observed.
    average : {"mean"} or None
        None gives the value of each sample, NaN where it is undefined.

    Returns
    -------
    float, or ndarray of shape (n_samples,)
        In [0, 1], lower is better. Samples without an observed positive are left out.

    Examples
    --------
    >>> from spmld.metrics import one_error
    >>> one_error([[1, 0, 0, None], [0, 1, 1, 0]], [[0.5, 0.7, 0.1, 0.9], [0.1, 0.8, 0.9, 0.2]])
    0.5
    """
    return average_defined(1 - precision_at_k(Y_true, scores, mask, k=1, average=None), average, "one_error")


def precision_at_k(Y_true: Any, scores: Any, mask: Any = None, *, k: int = 5, average: str | None = "mean") -> Any:
    r"""Share of positives among the `k` highest-scored observed labels of a sample.

    .. math:: \frac{|P_i \cap T_i|}{|T_i|}

    :math:`T_i` are the `k` observed labels with the highest scores, or all if fewer are observed.

    Parameters
    ----------
    Y_true : labels in any form of `spmld.labels.read_labels`
        True labels.
    scores : array-like of shape (n_samples, n_labels)
        Scores, higher for labels held more likely. Equal scores go by column.
    mask : array-like of bool of the same shape, optional
        True where a label is observed.
    k : int
        How many labels to look at.
    average : {"mean"} or None
        None gives the value of each sample, NaN where it is undefined.

    Returns
    -------
    float, or ndarray of shape (n_samples,)
        In [0, 1], higher is better. Samples without an observed positive, which no scores could get right, are
        left out.

    Examples
    --------
    >>> from spmld.metrics import precision_at_k
    >>> precision_at_k([[1, 0, 0, None], [0, 1, 1, 0]], [[0.5, 0.7, 0.1, 0.9], [0.1, 0.8, 0.9, 0.2]], k=2)
    0.75
    """
    k = read_k(k)

    def precision(signs: Signs, scores: Floats) -> Floats:
        listed = np.minimum(k, (signs != 0).sum(axis=1))
        return ratio(top(signs, scores, k)[0].sum(axis=1), listed * (signs > 0).any(axis=1))

    return average_defined(by_rows(precision, *read_scores(Y_true, scores, mask)), average, "precision_at_k")


def recall_at_k(Y_true: Any, scores: Any, mask: Any = None, *, k: int = 5, average: str | None = "mean") -> Any:
    r"""Share of the positives of a sample that are among its `k` highest-scored observed labels.

    .. math:: \frac{|P_i \cap T_i|}{|P_i|}

    :math:`T_i` are the `k` observed labels with the highest scores, or all if fewer are observed.

    Parameters
    ----------
    Y_true : labels in any form of `spmld.labels.read_labels`
        True labels.
    scores : array-like of shape (n_samples, n_labels)
        Scores, higher for labels held more likely. Equal scores go by column.
    mask : array-like of bool of the same shape, optional
        True where a label is observed.
    k : int
        How many labels to look at.
    average : {"mean"} or None
        None gives the value of each sample, NaN where it is undefined.

    Returns
    -------
    float, or ndarray of shape (n_samples,)
        In [0, 1], higher is better. Samples without an observed positive are left out.

    Examples
    --------
    >>> from spmld.metrics import recall_at_k
    >>> recall_at_k([[1, 0, 0, None], [0, 1, 1, 0]], [[0.5, 0.7, 0.1, 0.9], [0.1, 0.8, 0.9, 0.2]], k=1)
    0.25
    """
    k = read_k(k)

    def recall(signs: Signs, scores: Floats) -> Floats:
        return ratio(top(signs, scores, k)[0].sum(axis=1), (signs > 0).sum(axis=1))

    return average_defined(by_rows(recall, *read_scores(Y_true, scores, mask)), average, "recall_at_k")


def ndcg_at_k(Y_true: Any, scores: Any, mask: Any = None, *, k: int = 5, average: str | None = "mean") -> Any:
    r"""Discounted gain of the `k` highest-scored observed labels of a sample, over the best attainable.

    .. math:: \left. \sum_{r=1}^{k} \frac{[t_r \in P_i]}{\log_2(r + 1)} \middle/
              \sum_{r=1}^{\min(k, |P_i|)} \frac{1}{\log_2(r + 1)} \right.

    :math:`t_r` is the observed label with the `r`-th highest score.

    Parameters
    ----------
    Y_true : labels in any form of `spmld.labels.read_labels`
        True labels.
    scores : array-like of shape (n_samples, n_labels)
        Scores, higher for labels held more likely. Equal scores go by column.
    mask : array-like of bool of the same shape, optional
        True where a label is observed.
    k : int
        How many labels to look at.
    average : {"mean"} or None
        None gives the value of each sample, NaN where it is undefined.

    Returns
    -------
    float, or ndarray of shape (n_samples,)
        In [0, 1], higher is better. Samples without an observed positive are left out.

    Examples
    --------
    >>> from spmld.metrics import ndcg_at_k
    >>> ndcg_at_k([[1, 0, 0, None], [0, 1, 1, 0]], [[0.5, 0.7, 0.1, 0.9], [0.1, 0.8, 0.9, 0.2]], k=3)
    0.8154648767857288
    """
    k = read_k(k)

    def ndcg(signs: Signs, scores: Floats) -> Floats:
        hits, _ = top(signs, scores, k)
        discounts = 1 / np.log2(np.arange(2, hits.shape[1] + 2))
        best = np.append(0, np.cumsum(discounts))
        return ratio(hits @ discounts, best[np.minimum(hits.shape[1], (signs > 0).sum(axis=1))])

    return average_defined(by_rows(ndcg, *read_scores(Y_true, scores, mask)), average, "ndcg_at_k")


def propensity_scored_precision_at_k(
    Y_true: Any, scores: Any, mask: Any = None, *, propensities: Any, k: int = 5, average: str | None = "mean"
) -> Any:
    r"""Precision at `k` with each positive weighted by the inverse of its propensity, over the best attainable.

    .. math:: \left. \sum_i \sum_{j \in P_i \cap T_i} \frac{1}{p_j} \middle/
              \sum_i \max_{T \subseteq P_i, |T| \le k} \sum_{j \in T} \frac{1}{p_j} \right.

    :math:`T_i` are the `k` observed labels with the highest scores and :math:`p_j` is the propensity of label `j`:
    how likely it is to be recorded where it holds. Rare labels, which go unrecorded more often, count more.

    Parameters
    ----------
    Y_true : labels in any form of `spmld.labels.read_labels`
        True labels.
    scores : array-like of shape (n_samples, n_labels)
        Scores, higher for labels held more likely. Equal scores go by column.
    mask : array-like of bool of the same shape, optional
        True where a label is observed.
    propensities : array-like of shape (n_labels,)
        Propensities in (0, 1], as `propensities` computes them from training labels.
    k : int
        How many labels to look at.
    average : {"mean"} or None
        None gives what each sample contributes: its weighted hits over the mean of the best attainable ones, NaN
        where it is undefined.

    Returns
    -------
    float, or ndarray of shape (n_samples,)
        In [0, 1], higher is better. Samples without an observed positive are left out.

    Examples
    --------
    >>> from spmld.metrics import propensity_scored_precision_at_k
    >>> propensity_scored_precision_at_k([[1, 0], [0, 1]], [[2, 1], [2, 1]], k=1, propensities=[0.5, 0.25])
    0.3333333333333333
    """
    k = read_k(k)
    signs, values = read_scores(Y_true, scores, mask)
    weights = 1 / _read_propensities(propensities, signs.shape[1])

    def gained(signs: Signs, scores: Floats) -> Any:
        hits, columns = top(signs, scores, k)
        return np.sum(weights[columns], axis=1, where=hits)

    def attainable(signs: Signs) -> Any:
        return np.sort(np.where(signs > 0, weights, 0), axis=1)[:, -k:].sum(axis=1)

    best = by_rows(attainable, signs)
    contributions = ratio(by_rows(gained, signs, values), np.where(best > 0, best.sum() / max(1, (best > 0).sum()), 0))
    return average_defined(contributions, average, "propensity_scored_precision_at_k")


def propensities(Y_train: Any, mask: Any = None, *, a: float = 0.55, b: float = 1.5) -> Floats:
    r"""How likely each label is to be recorded where it holds, by the model of Jain, Prabhu and Varma (KDD 2016).

    .. math:: p_j = \frac{1}{1 + C (n_j + b)^{-a}}, \quad C = (\log n - 1) (b + 1)^a

    with :math:`n_j` observed positives of label `j` in `n` training samples. `C` is at least 0.

    Parameters
    ----------
    Y_train : labels in any form of `spmld.labels.read_labels`
        Training labels.
    mask : array-like of bool of the same shape, optional
        True where a label is observed.
    a, b : float
        Constants of the model. Its authors fit 0.5 and 0.4 to Wikipedia, 0.6 and 2.6 to Amazon.

    Returns
    -------
    ndarray of shape (n_labels,)
        Propensities in (0, 1].

    Examples
    --------
    >>> from spmld.metrics import propensities
    >>> propensities([[1, 1], [1, 0], [1, 0], [0, 0]]).round(3)
    array([0.782, 0.721])
    """
    signs = read_labels(Y_train, mask, name="Y_train").signs
    C = max(0.0, np.log(len(signs)) - 1) * (b + 1) ** a
    values: Floats = 1 / (1 + C * ((signs > 0).sum(axis=0) + b) ** -a)
    return values


def _read_propensities(given: Any, n_labels: int) -> Floats:
    values = np.asarray(given, dtype=np.float64)
    if values.shape != (n_labels,):
        raise ValueError(f"propensities must be one per label, shape ({n_labels},), got {values.shape}")
    if not ((values > 0) & (values <= 1)).all():
        raise ValueError(f"propensities must lie in (0, 1], got values from {values.min():.6g} to {values.max():.6g}")
    return values
