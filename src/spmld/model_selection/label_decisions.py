"""Decisions for single labels: thresholds, and precision targets that are reached on held-out entries."""

import re
import warnings
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spmld._validation import did_you_mean
from spmld.labels import Labels
from spmld.labels.single_class import MAX_NAMES
from spmld.noise.bounds import upper_limit

_Floats = NDArray[np.float64]

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

    Examples
    --------
    See `DecisionRule`.
    """

    threshold: float
    precision: float
    recall: float
    low: float
    high: float
    n_predicted: int


def label_decisions(
    decision: Any, n_labels: int, names: Sequence[Any] | None = None
) -> dict[int, tuple[float, float | None]]:
    """Return the decisions for single labels: threshold and precision target by the index of the label.

    Raise ValueError if a decision does not match the labels. The threshold of a precision target is not known yet.

    Examples
    --------
    >>> from spmld.model_selection.label_decisions import label_decisions
    >>> label_decisions({"sad": 0.7, 2: "precision>=0.9"}, 3, ["calm", "sad", "rock"])
    {1: (0.7, None), 2: (1.0, 0.9)}
    """
    if isinstance(decision, Integral) and int(decision) > n_labels:
        raise ValueError(f"decision must be at most the number of labels, {n_labels}, got {decision!r}")
    if not isinstance(decision, Mapping):
        return {}
    index = {name: j for j, name in enumerate(names if names is not None else range(n_labels))}
    chosen: dict[int, tuple[float, float | None]] = {}
    for label, value in decision.items():
        j = index.get(label, label)
        if isinstance(j, bool) or not isinstance(j, Integral) or not 0 <= j < n_labels:
            raise ValueError(f"decision must name labels of Y, got {label!r}; {_list_names(names, n_labels, label)}")
        if int(j) in chosen:
            raise ValueError(f"decision must name each label once, got {list(decision)}, with label {j} twice")
        chosen[int(j)] = _parse(label, value)
    return chosen


def choose_thresholds(
    decisions: Mapping[int, tuple[float, float | None]], probabilities: _Floats, labels: Labels | None
) -> dict[Any, LabelPrecision]:
    """Return the threshold of each label with a decision of its own, and its held-out precision.

    The keys are the names of the labels, or else their indices, in the order of `decisions`. Without labels, the
    precisions are NaN. A warning names the labels whose precision target is not reached.
    """
    names = range(probabilities.shape[1]) if labels is None or labels.names is None else labels.names
    chosen = {}
    for j, (threshold, target) in decisions.items():
        signs = np.zeros(0) if labels is None else labels.signs[:, j]
        p, positive = probabilities[: len(signs)][signs != 0, j], signs[signs != 0] > 0
        if target is not None:
            threshold = _find_threshold(p, positive, target, f"Label {names[j]}") if labels is not None else NEVER
        chosen[names[j]] = _measure(p, positive, threshold)
    return chosen


def _parse(label: Any, value: Any) -> tuple[float, float | None]:
    match = re.fullmatch(r"\s*precision\s*>=\s*(\d*\.?\d+)\s*", value) if isinstance(value, str) else None
    if match and 0 < float(match[1]) <= 1:
        return NEVER, float(match[1])
    if isinstance(value, Real) and not isinstance(value, bool) and 0 < float(value) < 1:
        return float(value), None
    accepted = 'a threshold in (0, 1) or a precision target such as "precision>=0.9"'
    raise ValueError(f"decision[{label!r}] must be {accepted}, got {value!r}")


def _list_names(names: Sequence[Any] | None, n_labels: int, label: Any) -> str:
    if names is None:
        return f"Y has no label names, so pass an index from 0 to {n_labels - 1}, or pass Y as a DataFrame"
    more = ", ..." if len(names) > MAX_NAMES else ""
    return f"the labels are {', '.join(map(str, names[:MAX_NAMES]))}{more}{did_you_mean(label, names)}"


def _find_threshold(p: _Floats, positive: NDArray[np.bool_], target: float, label: str) -> float:
    """Return the lowest threshold with which the precision reaches the target; warn and return `NEVER` if none does."""
    order = np.argsort(-p, kind="stable")
    p, n_true = p[order], np.cumsum(positive[order])
    # Entries with equal probabilities are predicted together.
    ends = np.flatnonzero(np.append(p[1:] < p[:-1], True)[: len(p)] & (p > 0))
    precision = n_true[ends] / (ends + 1)
    reached = ends[precision >= target]
    if len(reached) and not positive.all():
        return float(np.append(p, 0.0)[reached[-1] + 1])
    reason = f"the best precision on held-out entries is {precision.max(initial=0.0):.3g}"
    if positive.all():
        reason = "it has no observed negative with an out-of-fold score, so that its precision is unknown"
    warnings.warn(
        f"{label}: no threshold reaches the precision {target:g}, and no positive is predicted; {reason}. Pass a lower "
        "precision or a threshold",
        UserWarning,
        stacklevel=2,
    )
    return NEVER


def _measure(p: _Floats, positive: NDArray[np.bool_], threshold: float) -> LabelPrecision:
    """Return the precision of a threshold on observed entries."""
    predicted = p > threshold
    m, k, n_positives = int(predicted.sum()), int((predicted & positive).sum()), int(positive.sum())
    low, high = 1 - float(upper_limit(m - k, m)), float(upper_limit(k, m))
    return LabelPrecision(threshold, k / m if m else np.nan, k / n_positives if n_positives else np.nan, low, high, m)
