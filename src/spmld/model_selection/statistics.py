"""Tests of differences between methods.

The masks of a study differ, its training and test samples do not: a t-test over masks, as in the paper, asks whether a
difference would be seen again with other masks of the same data, and not whether it would be on other data. Friedman's
test and Nemenyi's, over data sets, ask the latter (Demšar, JMLR 2006).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import copysign, inf, sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

__all__ = ["Paired", "Ranks", "critical_difference", "friedman", "holm", "paired"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Paired:
    """A paired comparison of a method with the reference.

    Attributes
    ----------
    difference : float
        Mean of the method minus mean of the reference.
    effect : float
        The difference in standard deviations of the differences (Cohen's d of paired samples).
    p : float
        p-value of the two-sided paired t-test.
    verdict : {"better", "worse", "same"}
        The method against the reference, "same" if the test does not tell them apart.
    n : int
        Number of pairs.
    """

    difference: float
    effect: float
    p: float
    verdict: Literal["better", "worse", "same"]
    n: int


def paired(method: Any, reference: Any, *, greater_is_better: bool, level: float = 0.05) -> Paired | None:
    """Paired t-test of a method against a reference.

    Parameters
    ----------
    method, reference : array-like of shape (n,)
        Their values, pair by pair.
    greater_is_better : bool
        Direction of the metric.
    level : float
        Significance level, 0.05 for "at 95 %".

    Returns
    -------
    Paired or None
        None for fewer than two pairs. Differences that are all the same have no spread: p is then 0, or 1 if they are
        0.

    Examples
    --------
    >>> from spmld.model_selection.statistics import paired
    >>> paired([0.31, 0.33, 0.32], [0.21, 0.22, 0.23], greater_is_better=False).verdict
    'worse'
    """
    differences = np.asarray(method, dtype=float) - np.asarray(reference, dtype=float)
    n = len(differences)
    if n < 2:
        return None
    mean, std = float(differences.mean()), float(differences.std(ddof=1))
    # What is left of equal differences after rounding is no spread.
    if std <= 1e-12 * max(1.0, abs(mean)):
        p = 0.0 if abs(mean) > 1e-12 else 1.0
        effect = copysign(inf, mean) if p == 0 else 0.0
    else:
        p = float(stats.ttest_1samp(differences, 0.0).pvalue)
        effect = mean / std
    if p >= level:
        return Paired(mean, effect, p, "same", n)
    return Paired(mean, effect, p, "better" if (mean > 0) == greater_is_better else "worse", n)


def holm(p: Any) -> Floats:
    """p-values corrected for their number, by Holm's step-down method.

    Examples
    --------
    >>> from spmld.model_selection.statistics import holm
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = np.asarray(p, dtype=float)
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(steps, 1.0)
    return corrected


@dataclass(frozen=True)
class Ranks:
    """Friedman's test over data sets.

    Attributes
    ----------
    means : ndarray of shape (n_methods,)
        Mean rank of each method, 1 is best.
    statistic, p : float
        Friedman's chi-square, corrected for ties, and its p-value.
    difference : float
        Nemenyi's critical difference: mean ranks further apart differ significantly.
    n : int
        Number of data sets.
    """

    means: Floats
    statistic: float
    p: float
    difference: float
    n: int


def friedman(values: Any, *, greater_is_better: bool, level: float = 0.05) -> Ranks:
    """Friedman's test, with Nemenyi's critical difference.

    Parameters
    ----------
    values : array-like of shape (n_data_sets, n_methods)
        Values of a metric; at least two data sets and three methods.
    greater_is_better : bool
        Direction of the metric.
    level : float
        Significance level of the critical difference.

    Returns
    -------
    Ranks

    Examples
    --------
    >>> from spmld.model_selection.statistics import friedman
    >>> friedman([[0.1, 0.2, 0.3], [0.2, 0.3, 0.4]], greater_is_better=False).means
    array([1., 2., 3.])
    """
    values = np.asarray(values, dtype=float)
    if values.ndim != 2 or values.shape[0] < 2 or values.shape[1] < 3 or np.isnan(values).any():
        raise ValueError(
            "values must be numbers of at least two data sets (rows) and three methods (columns), "
            f"got shape {values.shape} with {np.isnan(values).sum()} NaN"
        )
    ranks = stats.rankdata(-values if greater_is_better else values, axis=1)
    n, k = values.shape
    if (ranks == ranks[:, :1]).all():  # no method differs anywhere: scipy would divide by zero
        statistic, p = 0.0, 1.0
    else:
        statistic, p = map(float, stats.friedmanchisquare(*values.T))
    return Ranks(ranks.mean(axis=0), statistic, p, critical_difference(k, n, level), n)


def critical_difference(n_methods: int, n_data_sets: int, level: float = 0.05) -> float:
    """Nemenyi's critical difference of mean ranks.

    Examples
    --------
    >>> from spmld.model_selection.statistics import critical_difference
    >>> round(critical_difference(4, 14), 2)  # the example of Demšar (2006)
    1.25
    """
    q = float(stats.studentized_range.ppf(1 - level, n_methods, np.inf)) / sqrt(2)
    return q * sqrt(n_methods * (n_methods + 1) / (6 * n_data_sets))
