"""Monitoring of a model on samples without labels: tests for shifts."""

from spmld.monitoring.monitor import Monitoring, Shifts, monitor
from spmld.monitoring.reference import Reference, make_reference
from spmld.monitoring.shifts import estimate_frequencies

__all__ = [
    "Monitoring",
    "Reference",
    "Shifts",
    "estimate_frequencies",
    "make_reference",
    "monitor",
]
