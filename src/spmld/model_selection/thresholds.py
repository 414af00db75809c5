"""Decisions: which labels to predict, given their probabilities, by rules for all labels or for single ones."""

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from spmld._arrays import ROUNDING_ERROR
from spmld._validation import (
    POSITIVE_INT,
    Interval,
    Positive,
    RealNotInt,
    StrOptions,
    Validated,
    did_you_mean,
    list_names,
)
from spmld.labels import Labels, read_labels
from spmld.noise import NoiseRates
from spmld.noise.bounds import upper_limit

_Floats = NDArray[np.float64]

MIN_F1_SAMPLES = 100
"""Minimum number of samples from which F1 thresholds are estimated."""

# Weights of the thresholds of the samples, relative to those of the labels, in the rules that maximize F1.
_SAMPLE_WEIGHTS: dict[Any, float] = {"f1": 0.5, "micro_f1": 0.0, "macro_f1": 0.0, "sample_f1": 1.0}

_TARGET = re.compile(r"\s*precision\s*>=\s*((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*")


def _precision_target(value: Any) -> float | None:
    """Return the number in (0, 1] of a precision target such as "precision>=0.9"; None for other values."""
    match = _TARGET.fullmatch(value) if isinstance(value, str) else None
    target = float(match[1]) if match else 0.0
    return target if 0 < target <= 1 else None


class _RuleName(StrOptions):
    """Constraint for the name of a rule or a precision target."""

    def is_satisfied_by(self, val: Any) -> bool:
        """Return whether `val` is accepted."""
        return bool(super().is_satisfied_by(val)) or _precision_target(val) is not None

    def __str__(self) -> str:
        return f'{super().__str__()} or a precision target such as "precision>=0.9"'


RULE_CONSTRAINTS = (_RuleName(set(_SAMPLE_WEIGHTS)), Interval(RealNotInt, 0, 1, closed="neither"), POSITIVE_INT)
"""Accepted values of the parameter `decision` for all labels."""
DecisionOption = Annotated[str | float | int | dict[Any, float | str], *RULE_CONSTRAINTS, dict]
"""Type of the parameter `decision`, see `DecisionRule`."""

GUARANTEE = 0.9
"""Probability, over the held-out entries, with which a precision target is reached."""
NEVER = 1.0
"""Threshold of a label that is never predicted, since no probability is above it."""


class LabelPrecision(NamedTuple):
    """Threshold of a label, and the precision that it reaches on held-out observed entries.

    Attributes
    ----------
    threshold : float
        Threshold of the probabilities; 1 if the label is never predicted.
    precision, recall : float
        Fraction of the predicted positives that are observed as positive, and of the observed positives that are
        predicted; NaN if there are none.
    low, high : float
        Confidence limits of the precision at the level 90 % (Clopper and Pearson 1934). The choice of the threshold on
        the same entries is not taken into account.
    n_predicted : int
        Number of predicted positives among the observed entries.
    """

    threshold: float
    precision: float
    recall: float
    low: float
    high: float
    n_predicted: int


@dataclass(kw_only=True, eq=False, repr=False)
class DecisionRule(Validated):
    r"""Rule that predicts labels from calibrated probabilities.

    F1 thresholds maximize the expected F1. If the entries with probabilities :math:`p > t` are predicted, it is about

    .. math:: F(t) = \frac{2 \sum_{p > t} p}{\sum_{p > t} 1 + \sum p},

    which is largest for :math:`t = \max F / 2`. No labels are used, so that missing labels do not matter. Labels are
    used only to reach a precision target.

    Parameters
    ----------
    decision : {"f1", "micro_f1", "macro_f1", "sample_f1"}, str, float, int or dict, default="f1"
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
          ``"precision>=0.9"`` is a threshold with which at least 90 % of the predicted positives are true, with
          probability 0.9 over the held-out observed entries. If the entries do not show this, a UserWarning names the
          label, and it is never predicted. Other labels are predicted as with "f1".
        - A precision target such as ``"precision>=0.9"``: the same for every label.

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
    floor_, scale_ : ndarray of shape (n_labels,)
        F1 decisions are made with the probabilities minus their floor, divided by the scale. If the floor is that of
        label noise, most of the entries with low probabilities are negatives; if it is not, this changes little.
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

    decision: DecisionOption = "f1"
    max_ratio: Positive = 1.25

    def fit(self, probabilities: _Floats, labels: Any = None, rates: NoiseRates | None = None) -> Self:
        """Set the thresholds.

        Parameters
        ----------
        probabilities : ndarray of shape (n_samples, n_labels)
            Out-of-fold probabilities of all entries, also of missing ones.
        labels : labels in any form accepted by `spmld.labels.read_labels`, optional
            Observed labels of these samples. They are required for precision targets and for names of labels.
        rates : NoiseRates, optional
            Floor or noise rates of the labels, without which F1 decisions are made.

        Returns
        -------
        self
        """
        self._validate_params()
        n_labels = probabilities.shape[1]
        self.floor_ = np.zeros(n_labels)
        self.scale_ = np.ones(n_labels)
        observed = None if labels is None else read_labels(labels, name="labels")
        single = label_decisions(self.decision, n_labels, None if observed is None else observed.names)
        if observed is None and any(target is not None for _, target in single.values()):
            raise ValueError(f"labels must be passed to reach the precision targets of decision={self.decision}")
        self._rule = "f1" if single or isinstance(self.decision, dict) else self.decision
        chosen = _label_precisions(single, probabilities, observed)
        maximizes_f1 = isinstance(self._rule, str)
        if maximizes_f1 and (n_labels == 1 or len(probabilities) < MIN_F1_SAMPLES):
            probabilities = probabilities[:0]
            maximizes_f1 = False
        if maximizes_f1 and rates is not None:
            self.floor_ += rates.alpha
            self.scale_ -= rates.alpha + rates.beta
        above = self._remove_floor(probabilities)
        weight = _SAMPLE_WEIGHTS[self._rule] if maximizes_f1 else 0.0
        self.sample_weight_ = np.full(n_labels, weight)
        self.offset_ = np.zeros(n_labels)
        self.common_threshold_ = float(f1_thresholds(above.reshape(-1, 1), axis=0)[0])
        self.label_thresholds_ = self._fit_thresholds(above)
        if maximizes_f1:
            self.offset_ += _limit_offset(self.margins(probabilities), above.sum(), self.max_ratio)
        for j, precision in zip(single, chosen.values(), strict=True):
            self.label_thresholds_[j] = precision.threshold
            self.sample_weight_[j] = 0
            self.offset_[j] = 0
            self.floor_[j] = 0
            self.scale_[j] = 1
        self.label_precisions_: dict[Any, LabelPrecision] = chosen
        for_labels = not isinstance(self._rule, Integral) and not self.sample_weight_.any()
        thresholds = self.floor_ + self.scale_ * (self.label_thresholds_ + self.offset_)
        self.thresholds_ = thresholds if for_labels else None
        return self

    def _remove_floor(self, probabilities: _Floats) -> _Floats:
        """Return the probabilities without the floor, from 0 to 1."""
        return np.clip((probabilities - self.floor_) / self.scale_, 0.0, 1.0)

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
        """Return probabilities, without a floor, minus thresholds, above 0 exactly for the labels that are predicted.

        Parameters
        ----------
        probabilities : ndarray of shape (n_samples, n_labels)
            Calibrated probabilities.
        """
        if isinstance(self._rule, Integral):
            return top_k_margins(probabilities, int(self._rule))
        above = self._remove_floor(probabilities)
        thresholds = self.label_thresholds_
        if self.sample_weight_.any():
            per_sample = self._sample_thresholds(above)[:, None]
            thresholds = (1 - self.sample_weight_) * thresholds + self.sample_weight_ * per_sample
        return above - (thresholds + self.offset_)

    def positive(self, probabilities: _Floats) -> NDArray[np.bool_]:
        """Return which labels are predicted, given calibrated probabilities of shape (n_samples, n_labels)."""
        return self.margins(probabilities) > 0


def _limit_offset(margins: _Floats, expected: float, ratio: float) -> float:
    """Return the lowest offset with which at most `ratio` times the expected number of margins are positive.

    If equal margins at the limit would leave less than the expected number divided by the ratio, they are kept.
    """
    descending = -np.sort(-margins, axis=None)
    n_most = int(ratio * expected)
    if n_most >= len(descending) or descending[n_most] <= 0:
        return 0.0
    limit = float(descending[n_most])
    return limit if (descending > limit).sum() >= expected / ratio else max(limit - ROUNDING_ERROR, 0.0)


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


def label_decisions(
    decision: Any, n_labels: int, names: Sequence[Any] | None = None
) -> dict[int, tuple[float, float | None]]:
    """Return the decisions for single labels: threshold and precision target by the index of the label.

    Raise ValueError if a decision does not match the labels.

    Examples
    --------
    >>> from spmld.model_selection.thresholds import label_decisions
    >>> label_decisions({"sad": 0.7, 2: "precision>=0.9"}, 3, ["calm", "sad", "rock"])
    {1: (0.7, None), 2: (1.0, 0.9)}
    """
    if isinstance(decision, Integral) and int(decision) > n_labels:
        raise ValueError(f"decision must be at most the number of labels, {n_labels}, got {decision!r}")
    if isinstance(decision, str) and decision not in _SAMPLE_WEIGHTS:
        return dict.fromkeys(range(n_labels), _parse("all labels", decision))
    if not isinstance(decision, Mapping):
        return {}
    index = {name: j for j, name in enumerate(names if names is not None else range(n_labels))}
    chosen: dict[int, tuple[float, float | None]] = {}
    for label, value in decision.items():
        j = index.get(label, label)
        if isinstance(j, bool) or not isinstance(j, Integral) or not 0 <= j < n_labels:
            hint = f"Y has no label names, so pass an index from 0 to {n_labels - 1}, or pass Y as a DataFrame"
            if names is not None:
                hint = f"the labels are {list_names(names)}{did_you_mean(label, names)}"
            raise ValueError(f"decision must name labels of Y, got {label!r}; {hint}")
        if int(j) in chosen:
            raise ValueError(f"decision must name each label once, got {list(decision)}, with label {j} twice")
        chosen[int(j)] = _parse(label, value)
    return chosen


def _label_precisions(
    decisions: Mapping[int, tuple[float, float | None]], probabilities: _Floats, labels: Labels | None
) -> dict[Any, LabelPrecision]:
    """Return the thresholds of labels with decisions of their own, by name or index, and the held-out precisions."""
    names = range(probabilities.shape[1]) if labels is None or labels.names is None else labels.names
    chosen = {}
    for j, (threshold, target) in decisions.items():
        signs = np.zeros(0) if labels is None else labels.signs[:, j]
        p = probabilities[: len(signs)][signs != 0, j]
        positive = signs[signs != 0] > 0
        if target is not None:
            threshold = _find_threshold(p, positive, target, f"Label {names[j]}")
        chosen[names[j]] = _measure(p, positive, threshold)
    return chosen


def _parse(label: Any, value: Any) -> tuple[float, float | None]:
    target = _precision_target(value)
    if target is not None:
        return NEVER, target
    if isinstance(value, Real) and not isinstance(value, bool) and 0 < float(value) < 1:
        return float(value), None
    accepted = 'a threshold in (0, 1) or a precision target such as "precision>=0.9"'
    raise ValueError(f"decision[{label!r}] must be {accepted}, got {value!r}")


def _find_threshold(p: _Floats, positive: NDArray[np.bool_], target: float, label: str) -> float:
    """Return a threshold whose precision is at least the target with the probability `GUARANTEE`.

    Thresholds are tested in a fixed order, toward lower ones, until the lower confidence limit of a precision (Clopper
    and Pearson) is below the target. This controls the error of all tests (fixed-sequence testing). The order depends
    on the probabilities only: it starts where the probabilities promise the most evidence. Return `NEVER` and warn if
    the first test fails.
    """
    order = np.argsort(-p, kind="stable")
    p = np.append(p[order], 0.0)
    n_true = np.cumsum(positive[order])
    # Entries with equal probabilities are predicted together; the numbers of predictions grow by a tenth.
    ends = np.flatnonzero((p[1:] < p[:-1]) & (p[:-1] > 0)) + 1
    ends = ends[np.unique(np.log(ends) // np.log(1.1), return_index=True)[1]]
    limits = 1 - upper_limit((ends - n_true[ends - 1]).astype(float), ends.astype(float), GUARANTEE)
    if len(ends) and not positive.all():
        mean = np.cumsum(p)[ends - 1] / ends
        start = int(np.argmax((mean - target) * np.sqrt(ends / (mean * (1 - mean) + 1 / ends))))
        n_passed = int(np.argmin(np.append(limits[start:] >= target, False)))
        if n_passed:
            return float(p[ends[start + n_passed - 1]])
    reason = f"the best lower confidence limit on held-out entries is {limits.max(initial=0.0):.3g}"
    if positive.all():
        reason = "it has no observed negative with an out-of-fold score, so that its precision is unknown"
    failure = f"{label}: the precision {target:g} is not reachable, and no positive is predicted"
    warnings.warn(f"{failure}; {reason}. Pass a lower precision or a threshold", stacklevel=2)
    return NEVER


def _measure(p: _Floats, positive: NDArray[np.bool_], threshold: float) -> LabelPrecision:
    """Return the precision of a threshold on observed entries."""
    predicted = p > threshold
    m = int(predicted.sum())
    k = int((predicted & positive).sum())
    n_positives = int(positive.sum())
    low = 1 - float(upper_limit(m - k, m))
    high = float(upper_limit(k, m))
    return LabelPrecision(threshold, k / m if m else np.nan, k / n_positives if n_positives else np.nan, low, high, m)
