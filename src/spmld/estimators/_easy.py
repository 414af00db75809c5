"""The pace of `SPMLDCV`: which labels are easy, and how many of them count."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld.core.losses import LOSSES
from spmld.core.noise import error_rates, right
from spmld.estimators.self_paced import by_polarity
from spmld.pace import HardPace, Quantile

__all__ = ["easy", "share_from"]

NEGATIVES = 0.3
"""How much smaller the share of negatives is that the pace leaves out."""
Scores = NDArray[np.float64]


def share_from(scores: Scores, Y: NDArray[Any]) -> float:
    """The share of positives that the pace keeps, from how many of them seem to be wrong."""
    signs = np.nan_to_num(Y)
    if not (signs > 0).any():
        return 0.95
    wrong = 1 - right(scores, signs, error_rates(scores, signs))[signs > 0].mean()
    return float(np.clip(1 - 2 * wrong, 0.8, 0.95))


def easy(scores: Scores, Y: NDArray[Any], share: float) -> Scores:
    """1 for a share of the positives of each label, and a larger one of its negatives: those of the least losses."""
    signs = np.nan_to_num(Y)
    if share == 1:
        return np.abs(signs)
    shares = (1 - NEGATIVES * (1 - share), share)
    losses, groups = LOSSES["logistic"].value(signs, scores), by_polarity(signs)
    pace = HardPace(schedule=Quantile(start=shares, stop=shares, rounds=1))
    (P,) = pace.weights((losses,), pace.age(0, (losses,), groups), groups)
    return P
