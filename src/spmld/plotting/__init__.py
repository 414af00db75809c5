"""Plots in the style of scikit-learn's displays. They need matplotlib: ``pip install "spmld[plot]"``.

`PacingDisplay`, `CorrelationDisplay` and `ReliabilityDisplay` show a fitted estimator. All methods accept `ax`, the
axes to draw on, and return the display, whose attributes `ax_` and `figure_` are the axes and the figure.
"""

from spmld.plotting.displays import CorrelationDisplay, PacingDisplay, ReliabilityDisplay

__all__ = ["CorrelationDisplay", "PacingDisplay", "ReliabilityDisplay"]
