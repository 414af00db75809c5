"""Ranking loss, coverage, area under the ROC curve and average precision."""

from typing import Any

import numpy as np

from spmld.metrics._averaging import average_defined, by_columns, by_rows, ratio
from spmld.metrics._inputs import Floats, Signs, read_scores
from spmld.metrics._sorting import auc, average_precision, count_misordered, sort_rows


def ranking_loss(Y_true: Any, scores: Any, mask: Any = None, *, average: str | None = "mean") -> Any:
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


def coverage(Y_true: Any, scores: Any, mask: Any = None, *, average: str | None = "mean") -> Any:
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


def sample_auc(Y_true: Any, scores: Any, mask: Any = None, *, average: str | None = "mean") -> Any:
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
) -> Any:
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


def label_ranking_average_precision(Y_true: Any, scores: Any, mask: Any = None, *, average: str | None = "mean") -> Any:
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
) -> Any:
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
