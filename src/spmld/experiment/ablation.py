"""What the parts of the pace contribute: a paced host, and the same with one part less, for the study `ablation`."""

from __future__ import annotations

from typing import Any

from spmld.estimators import MaskedLogistic, SelfPacedClassifier
from spmld.pace import GroupSparsePace, HardPace, Quantile

__all__ = ["paced", "without_cross_fitting", "without_diversity", "without_polarity"]

SHARES: dict[str, Any] = {"start": (0.9, 0.5), "stop": (0.97, 0.8)}
"""The shares of negatives and positives that `SelfPacedClassifier` begins and ends with."""


def paced(**changes: Any) -> SelfPacedClassifier:
    """A logistic host with all parts: weights by group with diversity, groups by polarity, cross-fitted losses.

    Parameters
    ----------
    **changes
        Parameters of `SelfPacedClassifier` to set otherwise.

    Examples
    --------
    >>> from spmld.experiment.ablation import paced
    >>> paced().cv
    3
    """
    pace = GroupSparsePace(schedule=Quantile(**SHARES, diversity=0.5))
    return SelfPacedClassifier(MaskedLogistic(warm_start=True), **{"pace": pace, "cv": 3, **changes})


def without_diversity() -> SelfPacedClassifier:
    """Weights of 0 and 1 by the threshold alone."""
    return paced(pace=HardPace(schedule=Quantile(**SHARES)))


def without_polarity() -> SelfPacedClassifier:
    """One threshold for the positives and the negatives of a label, at the share that both have together."""
    return paced(groups="label", pace=GroupSparsePace(schedule=Quantile(start=0.8, stop=0.94, diversity=0.5)))


def without_cross_fitting() -> SelfPacedClassifier:
    """Losses of the host on its own training samples."""
    return paced(cv=None)
