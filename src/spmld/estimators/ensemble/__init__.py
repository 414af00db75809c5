"""SelfPacedEnsemble, and the parts that users call."""

from spmld.estimators.ensemble.dependency import DependencyCorrection
from spmld.estimators.ensemble.ensemble import SelfPacedEnsemble
from spmld.estimators.ensemble.views import View

__all__ = ["DependencyCorrection", "SelfPacedEnsemble", "View"]
