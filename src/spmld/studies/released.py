"""The authors' released code."""

from spmld.estimators import GLOCAL, SPMLD

__all__ = ["ReleasedGLOCAL", "ReleasedSPMLD"]

ReleasedSPMLD, ReleasedGLOCAL = SPMLD.released, GLOCAL.released
