"""Measures for labels with missing entries.

Unobserved entries are skipped. A measure is averaged over the instances (or labels) for which it is defined; the others
are left out, and `evaluate` counts them.
"""

from spmld.metrics._auc import instance_auc, macro_auc, micro_auc
from spmld.metrics._decisions import hamming_loss, instance_f1, macro_f1, micro_f1, subset_accuracy
from spmld.metrics._evaluate import Evaluation, evaluate
from spmld.metrics._probabilities import brier_score, log_loss
from spmld.metrics._ranking import (
    coverage,
    label_ranking_average_precision,
    macro_average_precision,
    micro_average_precision,
    ranking_loss,
)
from spmld.metrics._registry import MEASURES, Measure
from spmld.metrics._scorers import Scorer, scorer
from spmld.metrics._top import (
    ndcg_at_k,
    one_error,
    precision_at_k,
    propensities,
    propensity_scored_precision_at_k,
    recall_at_k,
)

__all__ = [
    "MEASURES",
    "Evaluation",
    "Measure",
    "Scorer",
    "brier_score",
    "coverage",
    "evaluate",
    "hamming_loss",
    "instance_auc",
    "instance_f1",
    "label_ranking_average_precision",
    "log_loss",
    "macro_auc",
    "macro_average_precision",
    "macro_f1",
    "micro_auc",
    "micro_average_precision",
    "micro_f1",
    "ndcg_at_k",
    "one_error",
    "precision_at_k",
    "propensities",
    "propensity_scored_precision_at_k",
    "ranking_loss",
    "recall_at_k",
    "scorer",
    "subset_accuracy",
]
