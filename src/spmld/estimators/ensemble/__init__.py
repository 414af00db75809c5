"""SelfPacedEnsemble, and the parts it is composed of; each can be used with other estimators."""

from spmld.estimators.ensemble.completion_trees import CompletionTrees
from spmld.estimators.ensemble.dependency import DependencyCorrection
from spmld.estimators.ensemble.ensemble import SelfPacedEnsemble
from spmld.estimators.ensemble.path_search import PathResult, search_path
from spmld.estimators.ensemble.score_correction import ScoreCorrection
from spmld.estimators.ensemble.training_data import HeldOutLoss, TrainingData
from spmld.estimators.ensemble.views import (
    View,
    boosting_view,
    forest_view,
    kernel_view,
    latent_view,
    linear_view,
    ridge_view,
)
from spmld.estimators.ensemble.weighting import ViewMixture, view_weights

__all__ = [
    "CompletionTrees",
    "DependencyCorrection",
    "HeldOutLoss",
    "PathResult",
    "ScoreCorrection",
    "SelfPacedEnsemble",
    "TrainingData",
    "View",
    "ViewMixture",
    "boosting_view",
    "forest_view",
    "kernel_view",
    "latent_view",
    "linear_view",
    "ridge_view",
    "search_path",
    "view_weights",
]
