"""Self-paced logistic regression, and variants without one of its parts, for the study `ablation`."""

from typing import Any

from spmld.estimators import MaskedLogistic, SelfPacedClassifier
from spmld.pacing import GroupSparsePacing, HardPacing, QuantileSchedule

FRACTIONS: dict[str, Any] = {"start": (0.9, 0.5), "stop": (0.97, 0.8)}
"""Fractions of negatives and positives at the first and the last iteration, as in `SelfPacedClassifier`."""


def self_paced_logistic(**params: Any) -> SelfPacedClassifier:
    """Return the full model: group-sparse weights, groups by label and polarity, out-of-fold losses.

    Parameters
    ----------
    **params
        Other parameters of `SelfPacedClassifier`.

    Examples
    --------
    >>> from spmld.studies.ablation import self_paced_logistic
    >>> self_paced_logistic().cv
    3
    """
    pacing = GroupSparsePacing(schedule=QuantileSchedule(**FRACTIONS, diversity=0.5))
    return SelfPacedClassifier(MaskedLogistic(warm_start=True), **{"pacing": pacing, "cv": 3, **params})


def without_diversity() -> SelfPacedClassifier:
    """Return the model with weights of 0 and 1."""
    return self_paced_logistic(pacing=HardPacing(schedule=QuantileSchedule(**FRACTIONS)))


def without_polarity() -> SelfPacedClassifier:
    """Return the model with one threshold for the positives and the negatives of a label."""
    schedule = QuantileSchedule(start=0.8, stop=0.94, diversity=0.5)  # the overall fractions of FRACTIONS
    return self_paced_logistic(groups="label", pacing=GroupSparsePacing(schedule=schedule))


def without_cross_fitting() -> SelfPacedClassifier:
    """Return the model with training losses instead of out-of-fold losses."""
    return self_paced_logistic(cv=None)
