"""Estimators, one file per method."""

from spmld.estimators._base import Completion, MultiLabelEstimator
from spmld.estimators.glocal import GLOCAL
from spmld.estimators.masked import MaskedLogistic, MaskedRidge
from spmld.estimators.spmld import SPMLD

__all__ = ["GLOCAL", "SPMLD", "Completion", "MaskedLogistic", "MaskedRidge", "MultiLabelEstimator"]
