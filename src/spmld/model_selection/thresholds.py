"""Decisions: which labels to predict, given their probabilities."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from spmld._validation import POSITIVE, POSITIVE_INT, Interval, RealNotInt, StrOptions
from spmld.labels import read_labels
from spmld.model_selection.label_decisions import LabelPrecision, choose_thresholds, label_decisions

_Floats = NDArray[np.float64]

DecisionOption = Literal["f1", "micro_f1", "macro_f1", "sample_f1"] | float | int | dict[Any, float | str]
"""Type of the parameter `decision`, see `DecisionRule`."""

MIN_F1_SAMPLES = 100
"""Minimum number of samples from which F1 thresholds are estimated."""

_SAMPLE_WEIGHTS: dict[Any, float] = {"f1": 0.5, "micro_f1": 0.0, "macro_f1": 0.0, "sample_f1": 1.0}
"""Weights of the thresholds of the samples, relative to those of the labels, in the rules that maximize F1."""

RULE_CONSTRAINTS: list[Any] = [
    StrOptions(set(_SAMPLE_WEIGHTS)),
    Interval(RealNotInt, 0, 1, closed="neither"),
    POSITIVE_INT,
]
"""Accepted values of the parameter `decision` for all labels."""
DECISION_CONSTRAINTS: list[Any] = [*RULE_CONSTRAINTS, dict]
"""Accepted values of the parameter `decision`."""


@dataclass(kw_only=True, eq=False, repr=False)
class DecisionRule(BaseEstimator):
    r"""Rule that predicts labels from calibrated probabilities.

    F1 thresholds maximize the expected F1. If the entries with probabilities :math:`p > t` are predicted, it is about

    .. math:: F(t) = \frac{2 \sum_{p > t} p}{\sum_{p > t} 1 + \sum p},

    which is largest for :math:`t = \max F / 2`. No labels are used, so that missing labels do not matter. Labels are
    used only to reach a precision target.

    Parameters
    ----------
    decision : {"f1", "micro_f1", "macro_f1", "sample_f1"}, float, int or dict, default="f1"
        What to predict:

        - "micro_f1": one threshold, with the largest F1 of all entries.
        - "macro_f1": a threshold for each label, with the largest F1 of the label. It is shrunk to the threshold of
          "micro_f1" as if that came from one more positive, since the F1 of a label with few positives is uncertain.
        - "sample_f1": a threshold for each sample, with the largest F1 of the sample. It is a mean with the threshold
          of "micro_f1", which has the weight :math:`\prod_j (1 - p_j)`, the probability of a sample without positives,
          for which F1 is undefined.
        - "f1": the mean of the thresholds of "macro_f1" and "sample_f1", a compromise with high values of micro, macro
          and sample F1.
        - A float in (0, 1): one threshold. If a false positive costs a and a false negative costs b, the threshold
          :math:`a / (a + b)` minimizes the expected cost; 0.5 minimizes the expected number of errors.
        - An integer k of at least 1: the k labels with the largest probabilities of each sample.
        - A dict: decisions for single labels, by name or index. A float in (0, 1) is the threshold of the label.
          ``"precision>=0.9"`` is the lowest threshold with which at least 90 % of the predicted positives among the
          held-out observed entries of the label are observed as positive. If there is none, a UserWarning names the
          label, and it is never predicted. Other labels are predicted as with "f1".

        With a single label, or fewer than 100 samples in `fit`, F1 decisions are replaced by the threshold 0.5.
    max_ratio : float, default=1.25
        Maximum number of labels that F1 decisions predict, relative to the expected number of positives. The F1 of
        labels that are hard to predict is largest if almost all of them are predicted; thresholds are raised then.

    Attributes
    ----------
    thresholds_ : ndarray of shape (n_labels,) or None
        Labels with probabilities above their thresholds are predicted. None if the decision depends on the other labels
        of the sample: with "f1", "sample_f1" and k.
    label_thresholds_ : ndarray of shape (n_labels,)
        Thresholds of the labels, before they are averaged with those of the samples.
    sample_weight_ : ndarray of shape (n_labels,)
        Weight of the thresholds of the samples in that average: 0.5 with "f1", 1 with "sample_f1", otherwise 0.
    common_threshold_ : float
        Threshold of "micro_f1".
    offset_ : ndarray of shape (n_labels,)
        Number by which `max_ratio` raises the thresholds; 0 for labels with a decision of their own.
    label_precisions_ : dict of LabelPrecision
        Threshold of each label with a decision of its own, and its precision and recall on held-out observed entries,
        with a 90 % confidence interval of the precision.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.model_selection import DecisionRule
    >>> P = np.array([[0.9, 0.5, 0.1], [0.6, 0.2, 0.1]] * 50)
    >>> rule = DecisionRule(decision="micro_f1").fit(P)
    >>> rule.thresholds_.round(3)
    array([0.37, 0.37, 0.37])
    >>> rule.positive(P[:2]).astype(int)
    array([[1, 1, 0],
           [1, 0, 0]])

    With a precision of at least 80 % for the label 1:

    >>> Y = np.array([[1, 1, 0], [1, 0, 0], [1, 1, 0], [0, 0, 0]] * 25)
    >>> rule = DecisionRule(decision={1: "precision>=0.8"}).fit(P, Y)
    >>> rule.label_precisions_[1].threshold, rule.label_precisions_[1].precision
    (0.2, 1.0)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {"decision": DECISION_CONSTRAINTS, "max_ratio": [POSITIVE]}

    decision: DecisionOption = "f1"
    max_ratio: float = 1.25

    def fit(self, probabilities: _Floats, labels: Any = None) -> Self:
        """Set the thresholds.

        Parameters
        ----------
        probabilities : ndarray of shape (n_samples, n_labels)
            Out-of-fold probabilities of all entries, also of missing ones.
        labels : labels in any form accepted by `spmld.labels.read_labels`, optional
            Observed labels of these samples. They are required for precision targets and for names of labels.

        Returns
        -------
        self
        """
        self._validate_params()
        n_labels, observed = probabilities.shape[1], None if labels is None else read_labels(labels, name="labels")
        single = label_decisions(self.decision, n_labels, None if observed is None else observed.names)
        if observed is None and any(target is not None for _, target in single.values()):
            raise ValueError(f"labels must be passed to reach the precision targets of decision={self.decision}")
        self._rule = "f1" if isinstance(self.decision, dict) else self.decision
        chosen = choose_thresholds(single, probabilities, observed)
        maximizes_f1 = isinstance(self._rule, str)
        if maximizes_f1 and (n_labels == 1 or len(probabilities) < MIN_F1_SAMPLES):
            probabilities, maximizes_f1 = probabilities[:0], False
        weight = _SAMPLE_WEIGHTS[self._rule] if maximizes_f1 else 0.0
        self.sample_weight_, self.offset_ = np.full(n_labels, weight), np.zeros(n_labels)
        self.common_threshold_ = float(f1_thresholds(probabilities.reshape(-1, 1), axis=0)[0])
        self.label_thresholds_ = self._fit_thresholds(probabilities)
        if maximizes_f1:
            self.offset_ += _limit_offset(self.margins(probabilities), probabilities.sum(), self.max_ratio)
        for j, precision in zip(single, chosen.values(), strict=True):
            self.label_thresholds_[j], self.sample_weight_[j], self.offset_[j] = precision.threshold, 0, 0
        self.label_precisions_: dict[Any, LabelPrecision] = chosen
        for_labels = not isinstance(self._rule, Integral) and not self.sample_weight_.any()
        self.thresholds_ = self.label_thresholds_ + self.offset_ if for_labels else None
        return self

    def _fit_thresholds(self, probabilities: _Floats) -> _Floats:
        """Return the thresholds of the labels."""
        if not isinstance(self._rule, str):
            return np.full(probabilities.shape[1], float(self._rule))
        if self._rule == "micro_f1":
            return np.full(probabilities.shape[1], self.common_threshold_)
        expected = probabilities.sum(axis=0)
        return (expected * f1_thresholds(probabilities, axis=0) + self.common_threshold_) / (expected + 1)

    def _sample_thresholds(self, probabilities: _Floats) -> _Floats:
        """Return the thresholds of the samples."""
        empty = np.prod(1 - probabilities, axis=1)
        return (1 - empty) * f1_thresholds(probabilities, axis=1) + empty * self.common_threshold_

    def margins(self, probabilities: _Floats) -> _Floats:
        """Return probabilities minus thresholds, above 0 exactly for the labels that are predicted.

        Parameters
        ----------
        probabilities : ndarray of shape (n_samples, n_labels)
            Calibrated probabilities.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
        """
        if isinstance(self._rule, Integral):
            return top_k_margins(probabilities, int(self._rule))
        thresholds = self.label_thresholds_
        if self.sample_weight_.any():
            per_sample = self._sample_thresholds(probabilities)[:, None]
            thresholds = (1 - self.sample_weight_) * thresholds + self.sample_weight_ * per_sample
        return probabilities - (thresholds + self.offset_)

    def positive(self, probabilities: _Floats) -> NDArray[np.bool_]:
        """Return which labels are predicted.

        Parameters
        ----------
        probabilities : ndarray of shape (n_samples, n_labels)
            Calibrated probabilities.
        """
        return self.margins(probabilities) > 0


def _limit_offset(margins: _Floats, expected: float, ratio: float) -> float:
    """Return the lowest offset with which at most `ratio` times the expected number of margins are positive.

    If equal margins at the limit would leave less than the expected number divided by the ratio, they are kept.
    """
    descending, n_most = -np.sort(-margins, axis=None), int(ratio * expected)
    if n_most >= len(descending) or descending[n_most] <= 0:
        return 0.0
    limit = float(descending[n_most])
    return limit if (descending > limit).sum() >= expected / ratio else max(limit - 1e-9, 0.0)


def f1_thresholds(probabilities: _Floats, axis: int) -> _Floats:
    """Return the thresholds with the largest expected F1 of each label (axis=0) or of each sample (axis=1).

    They are half of that F1, see `DecisionRule`, or 0.5 without entries.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.model_selection.thresholds import f1_thresholds
    >>> f1_thresholds(np.array([[0.75, 0.25]]), axis=1)
    array([0.375])
    """
    if probabilities.shape[axis] == 0:
        return np.full(probabilities.shape[1 - axis], 0.5)
    descending = -np.sort(-probabilities, axis=axis)
    number = np.arange(1, probabilities.shape[axis] + 1)
    number = number[:, None] if axis == 0 else number
    half_f1 = np.cumsum(descending, axis=axis) / (number + probabilities.sum(axis=axis, keepdims=True))
    return np.asarray(half_f1.max(axis=axis))


def top_k_margins(scores: _Floats, k: int) -> _Floats:
    """Return scores minus the k-th largest score of the sample, positive for exactly k labels.

    Among equal scores, those of labels with lower indices are positive.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.model_selection.thresholds import top_k_margins
    >>> top_k_margins(np.array([[1.0, 3.0, 4.0, 3.0]]), 2) > 0
    array([[False,  True,  True, False]])
    """
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    margins = scores - np.take_along_axis(scores, order[:, -1:], axis=1)
    chosen = np.take_along_axis(margins, order, axis=1)
    np.put_along_axis(margins, order, np.maximum(chosen, np.finfo(float).smallest_subnormal), axis=1)
    return margins
