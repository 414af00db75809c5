"""Area under the ROC curve: of each sample, of each label, and of all entries."""

from typing import Any

import numpy as np

from spmld.metrics._averaging import average_defined, by_columns, by_rows, ratio
from spmld.metrics._docstrings import documented
from spmld.metrics._inputs import Floats, Signs, read_scores, weigh
from spmld.metrics._sorting import count_misordered, sort_rows
from spmld.metrics._weighted import of_columns, weighted_auc


@documented
def sample_auc(Y_true: Any, scores: Any, mask: Any = None, *, average: str | None = "mean") -> Any:
    r"""Compute the fraction of correctly ordered pairs of a positive and a negative label of a sample.

    .. math:: \frac{|\{(p, q) \in P_i \times N_i : s_{ip} > s_{iq}\}|
              + \frac12 |\{(p, q) \in P_i \times N_i : s_{ip} = s_{iq}\}|}{|P_i| \, |N_i|}

    :math:`P_i` and :math:`N_i` are the observed positives and negatives of sample `i`. A tie counts one half.

    Values are in [0, 1]; higher is better. Samples without an observed positive or without an observed negative are
    left out.

    {parameters, returns and examples}

    >>> sample_auc([[1, 0, 0, None], [0, 1, 1, 0]], [[0.5, 0.7, 0.1, 0.9], [0.1, 0.8, 0.9, 0.2]])
    0.75
    """
    return average_defined(by_rows(_auc, *read_scores(Y_true, scores, mask)), average, "sample_auc")


@documented
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

    {parameters, returns and examples}

    >>> macro_auc([[1, 0], [0, 1], [1, None]], [[0.9, 0.1], [0.5, 0.8], [0.2, 0.9]], average=None)
    array([0.5, 1. ])
    """
    signs, values = read_scores(Y_true, scores, mask)
    signs, weights = weigh(signs, entry_weight)
    by_label = by_columns(_auc, signs, values) if weights is None else of_columns(weighted_auc, signs, values, weights)
    return average_defined(by_label, average, "macro_auc")


@documented
def micro_auc(Y_true: Any, scores: Any, mask: Any = None, *, entry_weight: Any = None) -> float:
    r"""Compute the fraction of correctly ordered pairs of a positive and a negative entry, over all samples and labels.

    .. math:: \frac{|\{(p, q) \in P \times N : s_p > s_q\}| + \frac12 |\{(p, q) \in P \times N : s_p = s_q\}|}
              {|P| \, |N|}

    :math:`P` and :math:`N` are all observed positive and negative entries.

    The value is in [0, 1]; higher is better. It is NaN, with a warning, if there is no observed positive or no observed
    negative.

    {parameters, returns and examples}

    >>> micro_auc([[1, 0], [0, 1], [1, None]], [[0.9, 0.1], [0.5, 0.8], [0.2, 0.9]])
    0.8333333333333334
    """
    signs, values = read_scores(Y_true, scores, mask)
    signs, weights = weigh(signs, entry_weight)
    if weights is not None:
        return float(average_defined(weighted_auc(signs, values, weights), "mean", "micro_auc"))
    # Two sorts and a search are faster here than one argsort.
    positives = np.sort(values[signs > 0])
    negatives = np.sort(values[signs < 0])
    below = np.searchsorted(negatives, positives, "left").sum() + np.searchsorted(negatives, positives, "right").sum()
    return float(average_defined(ratio(below / 2, len(positives) * len(negatives)), "mean", "micro_auc"))


def _auc(signs: Signs, scores: Floats) -> Floats:
    not_below, above = count_misordered(order := sort_rows(signs, scores))
    return 1 - ratio((not_below + above) / 2, order.n_pairs)
