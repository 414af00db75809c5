"""Measures for labels with missing entries.

Unobserved entries are skipped. A measure is averaged over the instances (or labels) for which it is defined, the
others are left out; `evaluate` counts them.
"""

from spmld.metrics._auc import instance_auc, macro_auc, micro_auc
from spmld.metrics._decisions import instance_f1, macro_f1, micro_f1
from spmld.metrics._ranking import coverage, label_ranking_average_precision, macro_average_precision, ranking_loss

__all__ = [
    "coverage",
    "instance_auc",
    "instance_f1",
    "label_ranking_average_precision",
    "macro_auc",
    "macro_average_precision",
    "macro_f1",
    "micro_auc",
    "micro_f1",
    "ranking_loss",
]
