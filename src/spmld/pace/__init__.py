"""Paces: how much of the training data counts, and when.

A pace is a *rule*, which turns losses into weights in [0, 1], with a *schedule*, which says how strict the rule is in
each round. Losses come in *groups* of entries: SPMLD weighs the latent labels of each sample, and a group is a latent
label; `SelfPacedClassifier` weighs observed labels, and a group is, say, a label's positives or its negatives.

=================== ===================================================================================
rule                weights p minimise, within each group, the weighted losses sum p L plus
=================== ===================================================================================
`HardPace`          -threshold sum p: 1 for losses below the threshold (Kumar et al., 2010)
`LinearPace`        threshold sum (p^2/2 - p): falling linearly to 0 at the threshold (Jiang et al., 2014)
`LogarithmicPace`   a penalty whose weights fall logarithmically (Jiang et al., 2014)
`GroupSparsePace`   -threshold sum p + diversity |p|_2: the paper's; leaves whole groups out
`DiversePace`       -threshold sum p - diversity |p|_2: favours the easiest of every group (Jiang et al., 2014)
`ReleasedPace`      (what the authors' released code computes for `GroupSparsePace`)
=================== ===================================================================================

=================== ===================================================================================
schedule            threshold and diversity of a round
=================== ===================================================================================
`Geometric`         the paper's: multiplied by fixed factors
`Quantile`          relative to the current losses: a share of each group that grows in equal steps
`Fixed`             the same in all rounds
=================== ===================================================================================
"""

from spmld.core.groups import Columns, Members
from spmld.core.pace import Age
from spmld.pace.rules import (
    DiversePace,
    GroupSparsePace,
    HardPace,
    LinearPace,
    LogarithmicPace,
    Pace,
    ReleasedPace,
)
from spmld.pace.schedules import Fixed, Geometric, Quantile

__all__ = [
    "Age",
    "Columns",
    "DiversePace",
    "Fixed",
    "Geometric",
    "GroupSparsePace",
    "HardPace",
    "LinearPace",
    "LogarithmicPace",
    "Members",
    "Pace",
    "Quantile",
    "ReleasedPace",
]
