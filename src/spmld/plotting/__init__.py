"""Plots in the manner of scikit-learn's displays. They need matplotlib, ``spmld[plot]``.

Of a fit: `PacingDisplay`, `ObjectiveDisplay`, `CorrelationDisplay` and `ReliabilityDisplay`. Of several methods or
settings: `RadarDisplay`, `SurfaceDisplay` and `CriticalDifferenceDisplay`.
"""

from spmld.plotting.correlation import CorrelationDisplay
from spmld.plotting.critical_difference import CriticalDifferenceDisplay
from spmld.plotting.objective import ObjectiveDisplay
from spmld.plotting.pacing import PacingDisplay
from spmld.plotting.radar import RadarDisplay
from spmld.plotting.reliability import ReliabilityDisplay
from spmld.plotting.surface import SurfaceDisplay

__all__ = [
    "CorrelationDisplay",
    "CriticalDifferenceDisplay",
    "ObjectiveDisplay",
    "PacingDisplay",
    "RadarDisplay",
    "ReliabilityDisplay",
    "SurfaceDisplay",
]
