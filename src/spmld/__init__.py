"""Multi-label learning when labels are missing or wrong."""

from spmld.estimators import GLOCAL, SPMLD

__all__ = ["GLOCAL", "SPMLD", "__version__"]

__version__ = "0.1.0"
