"""Thresholds and calibration of each label, cross-fitted, on observed entries alone."""

from spmld.thresholds.calibration import CalibratedLabels
from spmld.thresholds.classifier import ThresholdClassifier

__all__ = ["CalibratedLabels", "ThresholdClassifier"]
