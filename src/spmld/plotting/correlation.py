"""Correlations of the labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from spmld.plotting._base import Display, name_ticks

__all__ = ["CorrelationDisplay"]


class CorrelationDisplay(Display):
    """Correlations of the labels as a heat map, with labels that go together side by side.

    Parameters
    ----------
    correlation : array-like of shape (n_labels, n_labels)
        Symmetric with ones on the diagonal; or what each label, a row, adds to the scores of the others.
    names : sequence of str
        Names of the labels.
    limit : float or None, default=1.0
        Size that has the strongest colour. None: the largest there is.
    title : str
        Title.

    Attributes
    ----------
    order_ : ndarray of shape (n_labels,)
        The order of the labels, after `plot`.
    ax_, figure_
        Axes and figure, after `plot`.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.plotting import CorrelationDisplay
    >>> C = np.array([[1.0, -0.5, 0.9], [-0.5, 1.0, -0.4], [0.9, -0.4, 1.0]])
    >>> CorrelationDisplay(C, ["sad", "happy", "slow"]).plot().order_.tolist()
    [1, 2, 0]
    """

    def __init__(
        self,
        correlation: Any,
        names: Sequence[Any],
        limit: float | None = 1.0,
        title: str = "Correlation of the labels",
    ):
        self.correlation = np.asarray(correlation, dtype=float)
        self.names = [str(name) for name in names]
        self.limit = limit
        self.title = title

    @classmethod
    def from_estimator(cls, estimator: Any, *, group: int | None = None, ax: Any = None) -> CorrelationDisplay:
        """Draw the correlations that a fitted `GLOCAL` or `SPMLD` has learned, or what labels add in a `SelfPacedEnsemble`.

        Parameters
        ----------
        estimator : fitted estimator
            One with `label_correlation` or `label_correlation_`.
        group : int, optional
            Number of a group of samples, which `SelfPacedEnsemble` has none of. None: the global correlation.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        CorrelationDisplay
        """
        if hasattr(estimator, "label_correlation_") and group is None:
            title = "What a row adds to a column"
            return cls(estimator.label_correlation_, estimator.label_names_, None, title).plot(ax=ax)
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
        limit = float(np.abs(ordered).max()) or 1.0 if self.limit is None else self.limit
        image = ax.imshow(ordered, cmap="RdBu_r", vmin=-limit, vmax=limit, interpolation="none")
        names = [self.names[i] for i in self.order_]
        name_ticks(ax.yaxis, names)
        name_ticks(ax.xaxis, names)
        ax.tick_params(axis="x", rotation=90)
        ax.set_title(self.title)
        self.figure_.colorbar(image, ax=ax)
        return self


def _beside(correlation: NDArray[np.float64]) -> NDArray[np.intp]:
    """An order in which labels that go together stand side by side."""
    if len(correlation) < 3:
        return np.arange(len(correlation))
    scaled = correlation / max(1.0, float(np.abs(correlation).max()))
    distance = 1 - (scaled + scaled.T) / 2
    np.fill_diagonal(distance, 0)
    return leaves_list(linkage(squareform(distance, checks=False), "average", optimal_ordering=True))
