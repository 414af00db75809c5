"""Paces: how much of the training data counts, and when.

A pacing is a *rule*, which turns losses into weights in [0, 1], with a *schedule*, which says how strict the rule is in
each round. Losses come in *groups* of entries: SPMLD weighs the latent labels of each sample, and a group is a latent
label; `SelfPacedClassifier` weighs observed labels, and a group is, say, a label's positives or its negatives.

=================== ===================================================================================
rule                weights p minimise, within each group, the weighted losses sum p L plus
=================== ===================================================================================
`HardPacing`          -threshold sum p: 1 for losses below the threshold (Kumar et al., 2010)
`LinearPacing`        threshold sum (p^2/2 - p): falling linearly to 0 at the threshold (Jiang et al., 2014)
`LogarithmicPacing`   a penalty whose weights fall logarithmically (Jiang et al., 2014)
`GroupSparsePacing`   -threshold sum p + diversity |p|_2: the paper's; leaves whole groups out
`DiversePacing`       -threshold sum p - diversity |p|_2: favours the easiest of every group (Jiang et al., 2014)
`ReleasedPacing`      (what the authors' released code computes for `GroupSparsePacing`)
=================== ===================================================================================

=================== ===================================================================================
schedule            threshold and diversity of a round
=================== ===================================================================================
`GeometricSchedule`         the paper's: multiplied by fixed factors
`QuantileSchedule`          relative to the current losses: a share of each group that grows in equal steps
`FixedSchedule`             the same in all rounds
=================== ===================================================================================
"""

from spmld.pacing.functions import PacingParameters
from spmld.pacing.groups import Columns, Members
from spmld.pacing.rules import (
    DiversePacing,
    GroupSparsePacing,
    HardPacing,
    LinearPacing,
    LogarithmicPacing,
    PacingRule,
    ReleasedPacing,
)
from spmld.pacing.schedules import FixedSchedule, GeometricSchedule, QuantileSchedule

__all__ = [
    "Columns",
    "DiversePacing",
    "FixedSchedule",
    "GeometricSchedule",
    "GroupSparsePacing",
    "HardPacing",
    "LinearPacing",
    "LogarithmicPacing",
    "Members",
    "PacingParameters",
    "PacingRule",
    "QuantileSchedule",
    "ReleasedPacing",
]
