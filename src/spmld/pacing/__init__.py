"""Self-paced weights: pacing rules, schedules and groups of entries.

A pacing *rule* turns losses into weights in [0, 1]. Its *schedule* sets threshold and diversity of each iteration.
Losses come in *groups* of entries: `SPMLD` weights the latent labels of each sample, and a group is a latent label;
`SelfPacedClassifier` weights observed labels, and a group is, for example, the positives or negatives of a label.

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

from spmld.pacing.groups import ColumnGroups
from spmld.pacing.rules import DiversePacing, GroupSparsePacing, HardPacing, LinearPacing, LogarithmicPacing, PacingRule
from spmld.pacing.schedules import GeometricSchedule, PacingParameters, QuantileSchedule

__all__ = [
    "ColumnGroups",
    "DiversePacing",
    "GeometricSchedule",
    "GroupSparsePacing",
    "HardPacing",
    "LinearPacing",
    "LogarithmicPacing",
    "PacingParameters",
    "PacingRule",
    "QuantileSchedule",
]
