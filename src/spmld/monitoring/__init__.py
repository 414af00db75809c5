"""Monitoring of a model on samples without labels: expected metrics, and tests for shifts."""

from spmld.monitoring.expected import ExpectedMetric, expected_metrics
from spmld.monitoring.monitor import Monitoring, Shifts, monitor
from spmld.monitoring.reference import Reference, make_reference
from spmld.monitoring.shifts import estimate_frequencies

__all__ = [
    "ExpectedMetric",
    "Monitoring",
    "Reference",
    "Shifts",
    "estimate_frequencies",
    "expected_metrics",
    "make_reference",
    "monitor",
]
