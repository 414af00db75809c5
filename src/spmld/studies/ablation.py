"""What the parts of the pacing contribute: a paced host, and the same with one part less, for the study `ablation`."""

from __future__ import annotations

from typing import Any

from spmld.estimators import MaskedLogistic, SelfPacedClassifier
from spmld.pacing import GroupSparsePacing, HardPacing, QuantileSchedule

__all__ = ["self_paced_logistic", "without_cross_fitting", "without_diversity", "without_polarity"]

SHARES: dict[str, Any] = {"start": (0.9, 0.5), "stop": (0.97, 0.8)}
"""The shares of negatives and positives that `SelfPacedClassifier` begins and ends with."""


def self_paced_logistic(**changes: Any) -> SelfPacedClassifier:
    """A logistic host with all parts: weights by group with diversity, groups by polarity, cross-fitted losses.

    Parameters
    ----------
    **changes
        Parameters of `SelfPacedClassifier` to set otherwise.

    Examples
    --------
    >>> from spmld.studies.ablation import self_paced_logistic
    >>> self_paced_logistic().cv
    3
    """
    pacing = GroupSparsePacing(schedule=QuantileSchedule(**SHARES, diversity=0.5))
    return SelfPacedClassifier(MaskedLogistic(warm_start=True), **{"pacing": pacing, "cv": 3, **changes})


def without_diversity() -> SelfPacedClassifier:
    """Weights of 0 and 1 by the threshold alone."""
    return self_paced_logistic(pacing=HardPacing(schedule=QuantileSchedule(**SHARES)))


def without_polarity() -> SelfPacedClassifier:
    """One threshold for the positives and the negatives of a label, at the share that both have together."""
    return self_paced_logistic(
        groups="label", pacing=GroupSparsePacing(schedule=QuantileSchedule(start=0.8, stop=0.94, diversity=0.5))
    )


def without_cross_fitting() -> SelfPacedClassifier:
    """Losses of the host on its own training samples."""
    return self_paced_logistic(cv=None)
