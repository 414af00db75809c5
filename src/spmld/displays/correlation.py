"""Correlations of the labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from spmld.displays._base import Display, name_ticks

__all__ = ["CorrelationDisplay"]


class CorrelationDisplay(Display):
    """Correlations of the labels as a heat map, with labels that go together side by side.

    Parameters
    ----------
    correlation : array-like of shape (n_labels, n_labels)
        Symmetric, ones on the diagonal.
    names : sequence of str
        Names of the labels.

    Attributes
    ----------
    order_ : ndarray of shape (n_labels,)
        The order of the labels, after `plot`.
    ax_, figure_
        Axes and figure, after `plot`.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.displays import CorrelationDisplay
    >>> C = np.array([[1.0, -0.5, 0.9], [-0.5, 1.0, -0.4], [0.9, -0.4, 1.0]])
    >>> CorrelationDisplay(C, ["sad", "happy", "slow"]).plot().order_.tolist()
    [1, 2, 0]
    """

    def __init__(self, correlation: Any, names: Sequence[Any]):
        self.correlation = np.asarray(correlation, dtype=float)
        self.names = [str(name) for name in names]

    @classmethod
    def from_estimator(cls, estimator: Any, *, group: int | None = None, ax: Any = None) -> CorrelationDisplay:
        """Draw the correlations that a fitted `GLOCAL` or `SPMLD` has learned.

        Parameters
        ----------
        estimator : fitted estimator
            One with `label_correlation`.
        group : int, optional
            Number of a group of samples. None: the global correlation.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        CorrelationDisplay
        """
        if not hasattr(estimator, "label_correlation"):
            raise ValueError(f"estimator must have label_correlation, as GLOCAL has, got {type(estimator).__name__}")
        return cls(estimator.label_correlation(group), estimator.label_names_).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> CorrelationDisplay:
        """Draw the heat map, labels in the order of a hierarchical clustering.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        CorrelationDisplay
        """
        ax = self._axes(ax)
        self.order_ = _beside(self.correlation)
        ordered = self.correlation[np.ix_(self.order_, self.order_)]
        image = ax.imshow(ordered, cmap="RdBu_r", vmin=-1, vmax=1, interpolation="none")
        names = [self.names[i] for i in self.order_]
        name_ticks(ax.yaxis, names)
        name_ticks(ax.xaxis, names)
        ax.tick_params(axis="x", rotation=90)
        ax.set_title("Correlation of the labels")
        self.figure_.colorbar(image, ax=ax)
        return self


def _beside(correlation: NDArray[np.float64]) -> NDArray[np.intp]:
    """An order in which labels that go together stand side by side."""
    if len(correlation) < 3:
        return np.arange(len(correlation))
    distance = np.clip(1 - correlation, 0, 2)
    distance = (distance + distance.T) / 2
    np.fill_diagonal(distance, 0)
    return leaves_list(linkage(squareform(distance, checks=False), "average", optimal_ordering=True))
