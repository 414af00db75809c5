"""Metrics of the highest-scored labels of a sample: precision, recall and NDCG at k, and one-error."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from spmld._validation import check_scalar_integer
from spmld.labels import read_labels
from spmld.metrics._averaging import average_defined, by_rows, ratio
from spmld.metrics._docstrings import documented
from spmld.metrics._inputs import Floats, Signs, read_scores
from spmld.metrics._sorting import top_k


@documented
def one_error(Y_true: Any, scores: Any, mask: Any = None, *, average: str | None = "mean") -> Any:
    r"""Compute the fraction of samples whose highest-scored observed label is negative.

    .. math:: 1 - \text{precision@}1

    Ties are broken by column index. Values are in [0, 1]; lower is better. Samples without an observed positive are
    left out.

    {parameters, returns and examples}

    >>> one_error([[1, 0, 0, None], [0, 1, 1, 0]], [[0.5, 0.7, 0.1, 0.9], [0.1, 0.8, 0.9, 0.2]])
    0.5
    """
    return average_defined(1 - precision_at_k(Y_true, scores, mask, k=1, average=None), average, "one_error")


@documented
def precision_at_k(Y_true: Any, scores: Any, mask: Any = None, *, k: int = 5, average: str | None = "mean") -> Any:
    r"""Compute the fraction of positives among the `k` highest-scored observed labels of a sample.

    .. math:: \frac{|P_i \cap T_i|}{|T_i|}

    :math:`P_i` are the observed positives, and :math:`T_i` the `k` observed labels with the highest scores, or all if
    fewer are observed. Values are in [0, 1]; higher is better. Samples without an observed positive are left out.

    {parameters, returns and examples}

    >>> precision_at_k([[1, 0, 0, None], [0, 1, 1, 0]], [[0.5, 0.7, 0.1, 0.9], [0.1, 0.8, 0.9, 0.2]], k=2)
    0.75
    """
    return average_defined(_at_k(_precision, Y_true, scores, mask, k), average, "precision_at_k")


def _precision(signs: Signs, scores: Floats, k: int) -> Floats:
    n_considered = np.minimum(k, (signs != 0).sum(axis=1))
    return ratio(top_k(signs, scores, k)[0].sum(axis=1), n_considered * (signs > 0).any(axis=1))


@documented
def recall_at_k(Y_true: Any, scores: Any, mask: Any = None, *, k: int = 5, average: str | None = "mean") -> Any:
    r"""Compute the fraction of the positives of a sample that are among its `k` highest-scored observed labels.

    .. math:: \frac{|P_i \cap T_i|}{|P_i|}

    :math:`P_i` and :math:`T_i` as in `precision_at_k`. Values are in [0, 1]; higher is better. Samples without an
    observed positive are left out.

    {parameters, returns and examples}

    >>> recall_at_k([[1, 0, 0, None], [0, 1, 1, 0]], [[0.5, 0.7, 0.1, 0.9], [0.1, 0.8, 0.9, 0.2]], k=1)
    0.25
    """
    return average_defined(_at_k(_recall, Y_true, scores, mask, k), average, "recall_at_k")


def _recall(signs: Signs, scores: Floats, k: int) -> Floats:
    return ratio(top_k(signs, scores, k)[0].sum(axis=1), (signs > 0).sum(axis=1))


@documented
def ndcg_at_k(Y_true: Any, scores: Any, mask: Any = None, *, k: int = 5, average: str | None = "mean") -> Any:
    r"""Compute the normalized discounted cumulative gain of the `k` highest-scored observed labels of a sample.

    .. math:: \frac{\sum_{r=1}^{k} [t_r \in P_i] / \log_2(r + 1)}{\sum_{r=1}^{\min(k, |P_i|)} 1 / \log_2(r + 1)}

    :math:`t_r` is the observed label with the `r`-th highest score.

    Values are in [0, 1]; higher is better. Samples without an observed positive are left out.

    {parameters, returns and examples}

    >>> ndcg_at_k([[1, 0, 0, None], [0, 1, 1, 0]], [[0.5, 0.7, 0.1, 0.9], [0.1, 0.8, 0.9, 0.2]], k=3)
    0.8154648767857288
    """
    return average_defined(_at_k(_ndcg, Y_true, scores, mask, k), average, "ndcg_at_k")


def _ndcg(signs: Signs, scores: Floats, k: int) -> Floats:
    hits, _ = top_k(signs, scores, k)
    discounts = 1 / np.log2(np.arange(2, hits.shape[1] + 2))
    best = np.append(0, np.cumsum(discounts))
    return ratio(hits @ discounts, best[np.minimum(hits.shape[1], (signs > 0).sum(axis=1))])


def _at_k(metric: Callable[..., Floats], Y_true: Any, scores: Any, mask: Any, k: int) -> Floats:
    metric = partial(metric, k=check_scalar_integer("k", k, minimum=1))
    return by_rows(metric, *read_scores(Y_true, scores, mask))


@documented
def propensity_scored_precision_at_k(
    Y_true: Any, scores: Any, mask: Any = None, *, propensities: Any, k: int = 5, average: str | None = "mean"
) -> Any:
    r"""Compute precision at `k` with positives weighted by inverse propensity, relative to the maximum.

    .. math:: \frac{\sum_i \sum_{j \in P_i \cap T_i} 1 / p_j}
              {\sum_i \max_{T \subseteq P_i, |T| \le k} \sum_{j \in T} 1 / p_j}

    :math:`T_i` are the `k` observed labels with the highest scores. :math:`p_j` is the propensity of label `j`, the
    probability that a true positive is recorded. Rare labels, which are recorded less often, have larger weights.
    ``average=None`` returns the contribution of each sample: its weighted hits divided by the mean of their maximum.

    Values are in [0, 1]; higher is better. Samples without an observed positive are left out.

    {parameters, returns and examples}

    >>> propensity_scored_precision_at_k([[1, 0], [0, 1]], [[2, 1], [2, 1]], k=1, propensities=[0.5, 0.25])
    0.3333333333333333
    """
    k = check_scalar_integer("k", k, minimum=1)
    signs, values = read_scores(Y_true, scores, mask)
    weights = 1 / _read_propensities(propensities, signs.shape[1])

    def achieved(signs: Signs, scores: Floats) -> Any:
        hits, columns = top_k(signs, scores, k)
        return np.sum(weights[columns], axis=1, where=hits)

    def attainable(signs: Signs) -> Any:
        return np.sort(np.where(signs > 0, weights, 0), axis=1)[:, -k:].sum(axis=1)

    best = by_rows(attainable, signs)
    mean_best = best.sum() / max(1, (best > 0).sum())
    contributions = ratio(by_rows(achieved, signs, values), np.where(best > 0, mean_best, 0))
    return average_defined(contributions, average, "propensity_scored_precision_at_k")


def propensities(Y_train: Any, mask: Any = None, *, a: float = 0.55, b: float = 1.5) -> Floats:
    r"""Estimate the propensity of each label with the model of Jain, Prabhu and Varma (KDD 2016).

    .. math:: p_j = \frac{1}{1 + C (n_j + b)^{-a}}, \quad C = (\log n - 1) (b + 1)^a

    The propensity :math:`p_j` is the probability that a true positive of label `j` is recorded; :math:`n_j` is its
    number of observed positives in `n` training samples. `C` is at least 0.

    Parameters
    ----------
    Y_train : labels in any form accepted by `spmld.labels.read_labels`
        Training labels.
    mask : array-like of bool of shape (n_samples, n_labels), optional
        True where a label is observed.
    a, b : float, default=0.55 and 1.5
        Constants of the model. Its authors use 0.5 and 0.4 for Wikipedia, 0.6 and 2.6 for Amazon.

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


def _read_propensities(propensities: Any, n_labels: int) -> Floats:
    values = np.asarray(propensities, dtype=np.float64)
    if values.shape != (n_labels,):
        raise ValueError(f"propensities must have shape ({n_labels},), one per label, got {values.shape}")
    if not ((values > 0) & (values <= 1)).all():
        raise ValueError(f"propensities must be in (0, 1], got values from {values.min():.6g} to {values.max():.6g}")
    return values
