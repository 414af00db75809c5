"""Estimators, one file per method."""

from ._base import Completion
from .glocal import GLOCAL
from .spmld import SPMLD

__all__ = ["GLOCAL", "SPMLD", "Completion"]
