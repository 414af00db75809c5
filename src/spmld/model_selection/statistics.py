"""Significance tests of differences between methods.

A paired t-test over masks of one data set asks whether a difference would recur with other masks of the same data. Over
folds it asks whether it would recur with other samples, and needs a correction, because folds share training samples
(Nadeau and Bengio, "Inference for the generalization error", Machine Learning 52, 2003).
"""

from dataclasses import dataclass
from enum import StrEnum
from math import copysign, inf, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

_Floats = NDArray[np.float64]

EQUAL = 1e-12
"""Standard deviation, and mean, up to which differences are equal, and 0."""


class Verdict(StrEnum):
    """Outcome of a test of a method against a reference.

    Examples
    --------
    >>> from spmld.model_selection.statistics import Verdict
    >>> [f"{verdict.sign} {verdict}" for verdict in Verdict]
    ['+ better', '- worse', '= no significant difference']
    """

    BETTER = "better"
    WORSE = "worse"
    NO_DIFFERENCE = "no significant difference"

    @property
    def sign(self) -> str:
        """Sign in tables: "+", "-" or "="."""
        return {"better": "+", "worse": "-"}.get(self.value, "=")

    @classmethod
    def from_test(cls, difference: float, p: float, *, greater_is_better: bool, level: float = 0.05) -> "Verdict":
        """Return the verdict for a difference (method minus reference) with p-value `p`."""
        if p >= level:
            return cls.NO_DIFFERENCE
        return cls.BETTER if (difference > 0) == greater_is_better else cls.WORSE


@dataclass(frozen=True)
class PairedTest:
    """Paired t-test of a method against a reference.

    Attributes
    ----------
    difference : float
        Mean of the method minus mean of the reference.
    effect : float
        Difference in standard deviations of the differences (Cohen's d of paired samples).
    p : float
        Two-sided p-value.
    verdict : Verdict
        Outcome for the method.
    n : int
        Number of pairs.
    """

    difference: float
    effect: float
    p: float
    verdict: Verdict
    n: int


def paired_t_test(
    method: Any, reference: Any, *, greater_is_better: bool, level: float = 0.05, test_train_ratio: float = 0.0
) -> PairedTest | None:
    r"""Test a method against a reference by a paired t-test, corrected for overlapping training sets.

    .. math:: t = \frac{\bar d}{s \sqrt{\max(1 / n, r / (1 + r)) + r}}

    :math:`\bar d` and :math:`s` are the mean and the standard deviation of the `n` differences, and `r` is
    `test_train_ratio`. t is compared with Student's distribution with n - 1 degrees of freedom. With r = 0 this is the
    plain paired t-test, which assumes independent pairs and rejects too often for folds of the same samples. The
    correction of Nadeau and Bengio (2003) adds r for the overlap of the training sets. Repeated folds test the same
    samples again, so that 1 / n is at least the fraction of the samples in a test set, r / (1 + r).

    Parameters
    ----------
    method, reference : array-like of shape (n_pairs,)
        Values of a metric.
    greater_is_better : bool
        Direction of the metric.
    level : float, default=0.05
        Significance level.
    test_train_ratio : float, default=0.0
        Number of test samples divided by number of training samples, for pairs of the folds or random splits of one
        data set; 1 / (k - 1) for k folds, repeated or not. 0 for pairs that do not share training samples.

    Returns
    -------
    PairedTest or None
        None for fewer than two pairs. If all differences are equal, p is 1 for a difference of 0 and otherwise 0.

    Examples
    --------
    >>> from spmld.model_selection.statistics import paired_t_test
    >>> str(paired_t_test([0.31, 0.33, 0.32], [0.21, 0.22, 0.23], greater_is_better=False).verdict)
    'worse'
    >>> folds = {"greater_is_better": True, "test_train_ratio": 1 / 2}  # three folds
    >>> str(paired_t_test([0.31, 0.33, 0.32], [0.28, 0.31, 0.28], **folds).verdict)
    'no significant difference'
    """
    differences = np.asarray(method, dtype=float) - np.asarray(reference, dtype=float)
    n = len(differences)
    if n < 2:
        return None
    mean = float(differences.mean())
    std = float(differences.std(ddof=1))
    # Rounding errors of equal differences have a standard deviation of about 1e-16, and an arbitrary t.
    if std <= EQUAL * max(1.0, abs(mean)):
        p = 0.0 if abs(mean) > EQUAL else 1.0
        effect = copysign(inf, mean) if p == 0 else 0.0
    else:
        factor = max(1 / n, test_train_ratio / (1 + test_train_ratio)) + test_train_ratio
        p = 2 * float(stats.t.sf(abs(mean) / (std * sqrt(factor)), n - 1))
        effect = mean / std
    verdict = Verdict.from_test(mean, p, greater_is_better=greater_is_better, level=level)
    return PairedTest(mean, effect, p, verdict, n)


def holm_correction(p: Any) -> _Floats:
    """Return p-values corrected for multiple tests by Holm's step-down method.

    Examples
    --------
    >>> from spmld.model_selection.statistics import holm_correction
    >>> holm_correction([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = np.asarray(p, dtype=float)
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(steps, 1.0)
    return corrected
