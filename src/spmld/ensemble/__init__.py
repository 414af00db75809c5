"""SelfPacedEnsemble, the parts of it that users call, and predictions that follow a hierarchy."""

from spmld.ensemble.correction import DependencyCorrection
from spmld.ensemble.ensemble import SelfPacedEnsemble
from spmld.ensemble.hierarchical import HierarchicalClassifier, hierarchical_ensemble
from spmld.ensemble.views import View

__all__ = ["DependencyCorrection", "HierarchicalClassifier", "SelfPacedEnsemble", "View", "hierarchical_ensemble"]
