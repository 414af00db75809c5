"""Inspection of fitted models: contributions of the features to a score, and the top features of each label."""

from spmld.inspection.explanation import Explanation, explain
from spmld.inspection.feature_importance import TopFeatures, top_features

__all__ = ["Explanation", "TopFeatures", "explain", "top_features"]
