"""The pacing of `SelfPacedEnsemble`: which labels are trim, and how many of them count."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld.core.losses import LOSSES
from spmld.pacing import HardPacing, QuantileSchedule
from spmld.pacing.groups import polarity_groups
from spmld.pacing.noise import correct_probability, noise_rates

__all__ = ["estimate_keep_fraction", "trim"]

NEGATIVES = 0.3
"""How much smaller the share of negatives is that the pacing leaves out."""
Scores = NDArray[np.float64]


def estimate_keep_fraction(scores: Scores, Y: NDArray[Any]) -> float:
    """The share of positives that the pacing keeps, from how many of them seem to be wrong."""
    signs = np.nan_to_num(Y)
    if not (signs > 0).any():
        return 0.95
    wrong = 1 - correct_probability(scores, signs, noise_rates(scores, signs))[signs > 0].mean()
    return float(np.clip(1 - 2 * wrong, 0.8, 0.95))


def trim(scores: Scores, Y: NDArray[Any], share: float) -> Scores:
    """1 for a share of the positives of each label, and a larger one of its negatives: those of the least losses."""
    signs = np.nan_to_num(Y)
    if share == 1:
        return np.abs(signs)
    shares = (1 - NEGATIVES * (1 - share), share)
    losses, groups = LOSSES["logistic"].value(signs, scores), polarity_groups(signs)
    pacing = HardPacing(schedule=QuantileSchedule(start=shares, stop=shares, n_iter=1))
    (P,) = pacing.weights((losses,), pacing.parameters(0, (losses,), groups), groups)
    return P
