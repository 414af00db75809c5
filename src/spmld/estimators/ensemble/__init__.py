"""SelfPacedEnsemble, and the parts it is composed of."""

from spmld.estimators.ensemble.ensemble import SelfPacedEnsemble

__all__ = ["SelfPacedEnsemble"]
