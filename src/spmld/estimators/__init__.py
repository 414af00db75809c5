"""Estimators, one file per method."""

from spmld.estimators._base import Completion
from spmld.estimators.glocal import GLOCAL
from spmld.estimators.spmld import SPMLD

__all__ = ["GLOCAL", "SPMLD", "Completion"]
