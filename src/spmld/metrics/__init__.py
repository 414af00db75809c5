"""Metrics for labels with missing entries.

Missing entries are ignored. A metric is averaged over the samples or labels for which it is defined; the others are
left out, and `evaluate` counts them.
"""

from spmld.metrics._predictions import hamming_loss, hierarchical_f1, macro_f1, micro_f1, sample_f1, subset_accuracy
from spmld.metrics._ranking import (
    coverage,
    label_ranking_average_precision,
    macro_auc,
    macro_average_precision,
    micro_auc,
    micro_average_precision,
    ndcg_at_k,
    one_error,
    precision_at_k,
    ranking_loss,
    recall_at_k,
    sample_auc,
)
from spmld.metrics.evaluation import Evaluation, evaluate
from spmld.metrics.probabilities import brier_score, expected_calibration_error, log_loss
from spmld.metrics.registry import scorer

__all__ = [
    "Evaluation",
    "brier_score",
    "coverage",
    "evaluate",
    "expected_calibration_error",
    "hamming_loss",
    "hierarchical_f1",
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
    "ranking_loss",
    "recall_at_k",
    "sample_auc",
    "sample_f1",
    "scorer",
    "subset_accuracy",
]
