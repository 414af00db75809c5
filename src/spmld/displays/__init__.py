"""Plots in the manner of scikit-learn's displays. They need matplotlib, ``spmld[plot]``.

Of a fit: `PaceDisplay`, `ObjectiveDisplay`, `CorrelationDisplay` and `ReliabilityDisplay`. Of several methods or
settings: `RadarDisplay`, `SurfaceDisplay` and `CriticalDifferenceDisplay`.
"""

from spmld.displays.correlation import CorrelationDisplay
from spmld.displays.critical_difference import CriticalDifferenceDisplay
from spmld.displays.objective import ObjectiveDisplay
from spmld.displays.pace import PaceDisplay
from spmld.displays.radar import RadarDisplay
from spmld.displays.reliability import ReliabilityDisplay
from spmld.displays.surface import SurfaceDisplay

__all__ = [
    "CorrelationDisplay",
    "CriticalDifferenceDisplay",
    "ObjectiveDisplay",
    "PaceDisplay",
    "RadarDisplay",
    "ReliabilityDisplay",
    "SurfaceDisplay",
]
