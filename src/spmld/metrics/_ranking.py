"""Ranking metrics: ranking loss, coverage, areas under curves, average precision, and metrics of the top k labels."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld._arrays import lowest_columns
from spmld._validation import check_scalar_integer
from spmld.metrics._averaging import Average, average_defined, by_columns, by_rows, ratio
from spmld.metrics._inputs import Floats, Signs, read_scores

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class SortedLabels:
    """Labels of each row, sorted by ascending score. Missing labels have a position but are not counted.

    Attributes
    ----------
    positive, negative : ndarray
        Weight of each sorted entry if it is positive or negative, else 0; 1 and 0 as bool without weights.
    first : ndarray of bool or None
        Which sorted entries are the first of a run of equal scores; None if there are no ties.
    """

    positive: NDArray[Any]
    negative: NDArray[Any]
    first: Bools | None

    @property
    def n_pairs(self) -> NDArray[Any]:
        """Number, or weight, of the pairs of a positive and a negative of each row."""
        return self.positive.sum(axis=1) * self.negative.sum(axis=1)

    def below(self, counted: NDArray[Any]) -> NDArray[Any]:
        """Return, for each sorted entry, the number, or weight, of the entries of its row with a lower score."""
        counts = np.cumsum(counted, axis=1, dtype=np.int32 if counted.dtype == bool else float) - counted
        if self.first is None:
            return counts
        # Counts increase along a row, so the running maximum repeats the count of the first of equal scores.
        return np.maximum.accumulate(np.where(self.first, counts, 0), axis=1)


def sort_rows(signs: Signs, scores: Floats, weights: Floats | None = None) -> SortedLabels:
    """Sort each row of labels, and of their weights, by its scores."""
    order = np.argsort(scores, axis=1)
    scores = np.take_along_axis(scores, order, axis=1)
    signs = np.take_along_axis(signs, order, axis=1)
    first = np.ones(scores.shape, dtype=bool)
    np.not_equal(scores[:, 1:], scores[:, :-1], out=first[:, 1:])
    ties = None if first.all() else first
    if weights is None:
        return SortedLabels(signs > 0, signs < 0, ties)
    weights = np.take_along_axis(weights, order, axis=1)
    return SortedLabels((signs > 0) * weights, (signs < 0) * weights, ties)


def count_misordered(order: SortedLabels) -> tuple[Any, Any]:
    """Count, for each row, the pairs in which a negative is not below a positive, and is strictly above it."""
    not_below = order.n_pairs - _total(order.below(order.negative), order.positive)
    if order.first is None:
        return not_below, not_below
    return not_below, _total(order.below(order.positive), order.negative)


def auc(signs: Signs, scores: Floats, weights: Floats | None = None) -> Floats:
    """Return the fraction of correctly ordered pairs of each row; a tie counts one half."""
    not_below, above = count_misordered(order := sort_rows(signs, scores, weights))
    return 1 - ratio((not_below + above) / 2, order.n_pairs)


def average_precision(signs: Signs, scores: Floats, weights: Floats | None = None) -> Floats:
    """Return the average precision of each row: the mean of the precisions at the scores of its positives."""
    order = sort_rows(signs, scores, weights)
    observed = order.positive + order.negative
    n_positive = order.positive.sum(axis=1, keepdims=True)
    n_observed = observed.sum(axis=1, keepdims=True)
    rows, columns = np.nonzero(order.positive)
    positives_above = (n_positive - order.below(order.positive))[rows, columns]
    observed_above = (n_observed - order.below(observed))[rows, columns]
    precisions = order.positive[rows, columns] * positives_above / observed_above
    return ratio(np.bincount(rows, weights=precisions, minlength=len(signs)), n_positive[:, 0])


def top_k(signs: Signs, scores: Floats, k: int) -> tuple[Bools, NDArray[np.intp]]:
    """Return which of the k highest-scored labels of each row are positive, and their columns.

    Ties are broken by column. Missing labels come last and are never positive.
    """
    # NaN is sorted last, also after an observed score of minus infinity.
    keys = np.where(signs != 0, -scores, np.nan)
    columns = lowest_columns(keys, k)
    return np.take_along_axis(signs, columns, axis=1) > 0, columns


def _total(counts: NDArray[Any], where: NDArray[Any]) -> NDArray[Any]:
    return np.multiply(counts, where).sum(axis=1, dtype=None if counts.dtype == float else np.int64)


def ranking_loss(Y_true: Any, scores: Any, mask: Any = None, *, average: str | None = "mean") -> Average:
    r"""Compute the fraction of incorrectly ordered pairs of a positive and a negative label of a sample.

    .. math:: \frac{|\{(p, q) \in P_i \times N_i : s_{iq} \ge s_{ip}\}|}{|P_i| \, |N_i|}

    :math:`P_i` and :math:`N_i` as in `sample_auc`. A tie counts as incorrect. Values are in [0, 1]; lower is better.
    Samples without an observed positive or without an observed negative are left out.

    Parameters
    ----------
    Y_true : labels in any form accepted by `spmld.labels.read_labels`
        True labels.
    scores : array-like of shape (n_samples, n_labels)
        Scores, higher for more likely labels.
    mask : array-like of bool of shape (n_samples, n_labels), optional
        True where a label is observed. By default, the entries of `Y_true` that are not missing.
    average : {"mean"} or None, default="mean"
        None returns the value of each sample, label or entry, NaN where it is undefined.

    Returns
    -------
    float, or ndarray if `average` is None

    Examples
    --------
    >>> from spmld.metrics import ranking_loss
    >>> ranking_loss([[1, 0, 0, None], [0, 1, 1, 0]], [[0.5, 0.7, 0.1, 0.9], [0.1, 0.8, 0.9, 0.2]])
    0.25
    """
    return average_defined(by_rows(_ranking_loss, *read_scores(Y_true, scores, mask)), average, "ranking_loss")


def _ranking_loss(signs: Signs, scores: Floats) -> Floats:
    not_below, _ = count_misordered(order := sort_rows(signs, scores))
    return ratio(not_below, order.n_pairs)


def coverage(Y_true: Any, scores: Any, mask: Any = None, *, average: str | None = "mean") -> Average:
    r"""Compute how far down the ranked labels of a sample one has to go to cover all of its positives.

    .. math:: |\{j \text{ observed} : s_{ij} \ge \min_{p \in P_i} s_{ip}\}| - 1

    It counts from 0, as in the literature, and is one less than scikit-learn's. Ties get the worst rank.

    Values range from 0 to the number of labels minus 1; lower is better. Samples without an observed positive are
    left out.

    The parameters are those of `ranking_loss`.

    Examples
    --------
    >>> from spmld.metrics import coverage
    >>> coverage([[1, 0, 0, None], [0, 1, 1, 0]], [[0.5, 0.7, 0.1, 0.9], [0.1, 0.8, 0.9, 0.2]])
    1.0
    """
    return average_defined(by_rows(_coverage, *read_scores(Y_true, scores, mask)), average, "coverage")


def _coverage(signs: Signs, scores: Floats) -> Floats:
    positive = signs > 0
    lowest = np.min(scores, axis=1, where=positive, initial=np.inf, keepdims=True)
    covered = ((scores >= lowest) & (signs != 0)).sum(axis=1)
    return np.where(positive.any(axis=1), covered - 1.0, np.nan)


def sample_auc(Y_true: Any, scores: Any, mask: Any = None, *, average: str | None = "mean") -> Average:
    r"""Compute the fraction of correctly ordered pairs of a positive and a negative label of a sample.

    .. math:: \frac{|\{(p, q) \in P_i \times N_i : s_{ip} > s_{iq}\}|
              + \frac12 |\{(p, q) \in P_i \times N_i : s_{ip} = s_{iq}\}|}{|P_i| \, |N_i|}

    :math:`P_i` and :math:`N_i` are the observed positives and negatives of sample `i`. A tie counts one half.

    Values are in [0, 1]; higher is better. Samples without an observed positive or without an observed negative are
    left out.

    The parameters are those of `ranking_loss`.

    Examples
    --------
    >>> from spmld.metrics import sample_auc
    >>> sample_auc([[1, 0, 0, None], [0, 1, 1, 0]], [[0.5, 0.7, 0.1, 0.9], [0.1, 0.8, 0.9, 0.2]])
    0.75
    """
    return average_defined(by_rows(auc, *read_scores(Y_true, scores, mask)), average, "sample_auc")


def macro_auc(
    Y_true: Any, scores: Any, mask: Any = None, *, entry_weight: Any = None, average: str | None = "mean"
) -> Average:
    r"""Compute the fraction of correctly ordered pairs of a positive and a negative sample of a label.

    .. math:: \frac{|\{(p, q) \in P_j \times N_j : s_{pj} > s_{qj}\}|
              + \frac12 |\{(p, q) \in P_j \times N_j : s_{pj} = s_{qj}\}|}{|P_j| \, |N_j|}

    :math:`P_j` and :math:`N_j` are the samples for which label `j` is observed, and positive or negative. With
    `entry_weight`, a pair counts with the product of its weights.

    Values are in [0, 1]; higher is better. Labels without an observed positive or without an observed negative are
    left out.

    Parameters
    ----------
    Y_true, scores, mask, average
        As in `ranking_loss`.
    entry_weight : array-like of shape (n_samples, n_labels) or (n_samples,), optional
        Weights of the observed entries, such as the inverse of the probability that an entry is observed. 0 is
        equivalent to missing.

    Returns
    -------
    float, or ndarray if `average` is None

    Examples
    --------
    >>> from spmld.metrics import macro_auc
    >>> macro_auc([[1, 0], [0, 1], [1, None]], [[0.9, 0.1], [0.5, 0.8], [0.2, 0.9]], average=None)
    array([0.5, 1. ])
    """
    arrays = read_scores(Y_true, scores, mask, entry_weight)
    return average_defined(by_columns(auc, *arrays), average, "macro_auc")


def micro_auc(Y_true: Any, scores: Any, mask: Any = None, *, entry_weight: Any = None) -> float:
    r"""Compute the fraction of correctly ordered pairs of a positive and a negative entry, over all samples and labels.

    .. math:: \frac{|\{(p, q) \in P \times N : s_p > s_q\}| + \frac12 |\{(p, q) \in P \times N : s_p = s_q\}|}
              {|P| \, |N|}

    :math:`P` and :math:`N` are all observed positive and negative entries.

    The value is in [0, 1]; higher is better. It is NaN, with a warning, if there is no observed positive or no observed
    negative.

    The parameters are those of `macro_auc`, without `average`.

    Examples
    --------
    >>> from spmld.metrics import micro_auc
    >>> micro_auc([[1, 0], [0, 1], [1, None]], [[0.9, 0.1], [0.5, 0.8], [0.2, 0.9]])
    0.8333333333333334
    """
    arrays = read_scores(Y_true, scores, mask, entry_weight)
    return float(average_defined(auc(*(array.reshape(1, -1) for array in arrays)), "mean", "micro_auc"))


def label_ranking_average_precision(
    Y_true: Any, scores: Any, mask: Any = None, *, average: str | None = "mean"
) -> Average:
    r"""Compute the average precision of the ranked labels of a sample.

    .. math:: \frac{1}{|P_i|} \sum_{p \in P_i}
              \frac{|\{q \in P_i : s_{iq} \ge s_{ip}\}|}{|\{j \text{ observed} : s_{ij} \ge s_{ip}\}|}

    :math:`P_i` are the observed positives of sample `i`.

    Values are in (0, 1]; higher is better. Samples without an observed positive are left out.

    The parameters are those of `ranking_loss`.

    Examples
    --------
    >>> from spmld.metrics import label_ranking_average_precision
    >>> label_ranking_average_precision([[1, 0, 0, None], [0, 1, 1, 0]], [[5, 7, 1, 9], [1, 8, 9, 2]])
    0.75
    """
    values = by_rows(average_precision, *read_scores(Y_true, scores, mask))
    return average_defined(values, average, "label_ranking_average_precision")


def macro_average_precision(
    Y_true: Any, scores: Any, mask: Any = None, *, entry_weight: Any = None, average: str | None = "mean"
) -> Average:
    r"""Compute the average precision of the ranked samples of a label.

    .. math:: \frac{1}{|P_j|} \sum_{p \in P_j}
              \frac{|\{q \in P_j : s_{qj} \ge s_{pj}\}|}{|\{i \text{ observed} : s_{ij} \ge s_{pj}\}|}

    :math:`P_j` are the samples for which label `j` is observed and positive.

    Values are in (0, 1]; higher is better. Labels without an observed positive are left out.

    The parameters are those of `macro_auc`.

    Examples
    --------
    >>> from spmld.metrics import macro_average_precision
    >>> macro_average_precision([[1, 0], [0, 1], [1, None]], [[0.9, 0.1], [0.5, 0.8], [0.2, 0.9]], average=None)
    array([0.83333333, 1.        ])
    """
    arrays = read_scores(Y_true, scores, mask, entry_weight)
    return average_defined(by_columns(average_precision, *arrays), average, "macro_average_precision")


def micro_average_precision(Y_true: Any, scores: Any, mask: Any = None, *, entry_weight: Any = None) -> float:
    r"""Compute the average precision of all ranked entries.

    .. math:: \frac{1}{|P|} \sum_{p \in P}
              \frac{|\{q \in P : s_q \ge s_p\}|}{|\{e \text{ observed} : s_e \ge s_p\}|}

    :math:`P` are all observed positive entries, of any samples and labels.

    The value is in (0, 1]; higher is better. It is NaN, with a warning, if there is no observed positive.

    The parameters are those of `macro_auc`, without `average`.

    Examples
    --------
    >>> from spmld.metrics import micro_average_precision
    >>> micro_average_precision([[1, 0], [0, 1], [1, None]], [[0.9, 0.1], [0.5, 0.8], [0.2, 0.9]])
    0.9166666666666666
    """
    arrays = read_scores(Y_true, scores, mask, entry_weight)
    value = average_precision(*(array.reshape(1, -1) for array in arrays))
    return float(average_defined(value, "mean", "micro_average_precision"))


def one_error(Y_true: Any, scores: Any, mask: Any = None, *, average: str | None = "mean") -> Average:
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


def precision_at_k(Y_true: Any, scores: Any, mask: Any = None, *, k: int = 5, average: str | None = "mean") -> Average:
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


def recall_at_k(Y_true: Any, scores: Any, mask: Any = None, *, k: int = 5, average: str | None = "mean") -> Average:
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


def ndcg_at_k(Y_true: Any, scores: Any, mask: Any = None, *, k: int = 5, average: str | None = "mean") -> Average:
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
