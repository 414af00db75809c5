"""Multi-label learning when labels are missing or wrong."""

from spmld.estimators import GLOCAL, SPMLD, MaskedLogistic, MaskedRidge

__all__ = ["GLOCAL", "SPMLD", "MaskedLogistic", "MaskedRidge", "__version__"]

__version__ = "0.1.0"
