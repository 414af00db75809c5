"""Metrics of the highest-scored labels of a sample: precision, recall and NDCG at k, and one-error."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from spmld._validation import check_scalar_integer
from spmld.metrics._averaging import average_defined, by_rows, ratio
from spmld.metrics._inputs import Floats, Signs, read_scores
from spmld.metrics._sorting import top_k


def one_error(Y_true: Any, scores: Any, mask: Any = None, *, average: str | None = "mean") -> Any:
    r"""Compute the fraction of samples whose highest-scored observed label is negative.

    .. math:: 1 - \text{precision@}1

    Ties are broken by column index. Values are in [0, 1]; lower is better. Samples without an observed positive are
    left out.

    The parameters are those of `ranking_loss`.

    Examples
    --------
    >>> from spmld.metrics import one_error
    >>> one_error([[1, 0, 0, None], [0, 1, 1, 0]], [[0.5, 0.7, 0.1, 0.9], [0.1, 0.8, 0.9, 0.2]])
    0.5
    """
    return average_defined(1 - precision_at_k(Y_true, scores, mask, k=1, average=None), average, "one_error")


def precision_at_k(Y_true: Any, scores: Any, mask: Any = None, *, k: int = 5, average: str | None = "mean") -> Any:
    r"""Compute the fraction of positives among the `k` highest-scored observed labels of a sample.

    .. math:: \frac{|P_i \cap T_i|}{|T_i|}

    :math:`P_i` are the observed positives, and :math:`T_i` the `k` observed labels with the highest scores, or all if
    fewer are observed. Values are in [0, 1]; higher is better. Samples without an observed positive are left out.

    Parameters
    ----------
    Y_true, scores, mask, average
        As in `ranking_loss`.
    k : int, default=5
        Number of highest-scored labels to consider. Ties are broken by column index.

    Returns
    -------
    float, or ndarray if `average` is None

    Examples
    --------
    >>> from spmld.metrics import precision_at_k
    >>> precision_at_k([[1, 0, 0, None], [0, 1, 1, 0]], [[0.5, 0.7, 0.1, 0.9], [0.1, 0.8, 0.9, 0.2]], k=2)
    0.75
    """
    return average_defined(_at_k(_precision, Y_true, scores, mask, k), average, "precision_at_k")


def _precision(signs: Signs, scores: Floats, k: int) -> Floats:
    n_considered = np.minimum(k, (signs != 0).sum(axis=1))
    return ratio(top_k(signs, scores, k)[0].sum(axis=1), n_considered * (signs > 0).any(axis=1))


def recall_at_k(Y_true: Any, scores: Any, mask: Any = None, *, k: int = 5, average: str | None = "mean") -> Any:
    r"""Compute the fraction of the positives of a sample that are among its `k` highest-scored observed labels.

    .. math:: \frac{|P_i \cap T_i|}{|P_i|}

    :math:`P_i` and :math:`T_i` as in `precision_at_k`. Values are in [0, 1]; higher is better. Samples without an
    observed positive are left out.

    The parameters are those of `precision_at_k`.

    Examples
    --------
    >>> from spmld.metrics import recall_at_k
    >>> recall_at_k([[1, 0, 0, None], [0, 1, 1, 0]], [[0.5, 0.7, 0.1, 0.9], [0.1, 0.8, 0.9, 0.2]], k=1)
    0.25
    """
    return average_defined(_at_k(_recall, Y_true, scores, mask, k), average, "recall_at_k")


def _recall(signs: Signs, scores: Floats, k: int) -> Floats:
    return ratio(top_k(signs, scores, k)[0].sum(axis=1), (signs > 0).sum(axis=1))


def ndcg_at_k(Y_true: Any, scores: Any, mask: Any = None, *, k: int = 5, average: str | None = "mean") -> Any:
    r"""Compute the normalized discounted cumulative gain of the `k` highest-scored observed labels of a sample.

    .. math:: \frac{\sum_{r=1}^{k} [t_r \in P_i] / \log_2(r + 1)}{\sum_{r=1}^{\min(k, |P_i|)} 1 / \log_2(r + 1)}

    :math:`t_r` is the observed label with the `r`-th highest score.

    Values are in [0, 1]; higher is better. Samples without an observed positive are left out.

    The parameters are those of `precision_at_k`.

    Examples
    --------
    >>> from spmld.metrics import ndcg_at_k
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
