"""Self-paced weights: pacing rules and schedules.

A pacing *rule* turns an array of losses into an array of weights in [0, 1]. Its *schedule* sets threshold and diversity
of each iteration. Each column of the array is a *group* of entries: `SPMLD` weights the latent labels of each sample,
and a group is a latent label; `SelfPacedClassifier` weights observed labels, and a group is, for example, the positives
or negatives of a label. `exact_weights` has the weights of the paper as one function.

===================== ==========================================================================================
rule                  within each group, weights p minimize the weighted losses sum p L plus
===================== ==========================================================================================
`HardPacing`          -threshold sum p: weight 1 for losses below the threshold (Kumar et al., 2010)
`LinearPacing`        threshold sum (p^2/2 - p): weights decrease linearly (Jiang et al., 2014)
`LogarithmicPacing`   a penalty whose weights decrease logarithmically (Jiang et al., 2014)
`GroupSparsePacing`   -threshold sum p + diversity |p|_2: the rule of the paper; drops whole groups
`DiversePacing`       -threshold sum p - diversity |p|_2: keeps the easiest of every group (Jiang et al., 2014)
===================== ==========================================================================================

===================== ==========================================================================================
schedule              threshold and diversity of an iteration
===================== ==========================================================================================
`GeometricSchedule`   the schedule of the paper: multiplied by fixed factors, or constant
`QuantileSchedule`    relative to the current losses: a fraction of each group that grows linearly
===================== ==========================================================================================
"""

from spmld.pacing.rules import (
    DiversePacing,
    GroupSparsePacing,
    HardPacing,
    LinearPacing,
    LogarithmicPacing,
    PacingRule,
    exact_weights,
)
from spmld.pacing.schedules import GeometricSchedule, QuantileSchedule

__all__ = [
    "DiversePacing",
    "GeometricSchedule",
    "GroupSparsePacing",
    "HardPacing",
    "LinearPacing",
    "LogarithmicPacing",
    "PacingRule",
    "QuantileSchedule",
    "exact_weights",
]
