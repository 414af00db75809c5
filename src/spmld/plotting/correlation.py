"""Display of label correlations and label dependencies."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from spmld.plotting._base import Display, label_ticks


class CorrelationDisplay(Display):
    """Heat map of a label correlation matrix, with correlated labels next to each other.

    Parameters
    ----------
    correlation : array-like of shape (n_labels, n_labels)
        Label correlations, or label dependencies: the effect of each label (row) on the scores of the others (columns).
    names : sequence of str
        Names of the labels.
    limit : float or None, default=1.0
        Absolute value with the strongest color. None uses the largest absolute value of the matrix.
    title : str
        Title.

    Attributes
    ----------
    order_ : ndarray of shape (n_labels,)
        Order of the labels. Set by `plot`.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.plotting import CorrelationDisplay
    >>> C = np.array([[1.0, -0.5, 0.9], [-0.5, 1.0, -0.4], [0.9, -0.4, 1.0]])
    >>> CorrelationDisplay(C, ["sad", "happy", "slow"]).plot().order_.tolist()
    [1, 2, 0]
    """

    def __init__(
        self, correlation: Any, names: Sequence[Any], limit: float | None = 1.0, title: str = "Label correlations"
    ):
        self.correlation = np.asarray(correlation, dtype=float)
        self.names = [str(name) for name in names]
        self.limit = limit
        self.title = title

    @classmethod
    def from_estimator(cls, estimator: Any, *, group: int | None = None, ax: Any = None) -> Self:
        """Plot the label correlations of a `GLOCAL` or `SPMLD`, or the label dependencies of a `SelfPacedEnsemble`.

        Parameters
        ----------
        estimator : fitted estimator
            Estimator with `label_correlation` or `label_dependencies_`.
        group : int, optional
            Index of a group of samples. By default, the global correlation is plotted.
        ax : matplotlib axes, optional
            Axes to draw on.
        """
        if hasattr(estimator, "label_dependencies_") and group is None:
            title = "Effect of a label (row) on others (columns)"
            return cls(estimator.label_dependencies_, estimator.label_names_, None, title).plot(ax=ax)
        if not hasattr(estimator, "label_correlation"):
            raise ValueError(
                f"estimator must have label_correlation, such as GLOCAL, or label_dependencies_, such as "
                f"SelfPacedEnsemble, got {type(estimator).__name__}"
            )
        return cls(estimator.label_correlation(group), estimator.label_names_).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Plot the heat map; the labels are ordered by hierarchical clustering."""
        ax = self._axes(ax)
        self.order_ = _cluster_order(self.correlation)
        ordered = self.correlation[np.ix_(self.order_, self.order_)]
        limit = float(np.abs(ordered).max()) or 1.0 if self.limit is None else self.limit
        image = ax.imshow(ordered, cmap="RdBu_r", vmin=-limit, vmax=limit, interpolation="none")
        names = [self.names[i] for i in self.order_]
        label_ticks(ax.yaxis, names)
        label_ticks(ax.xaxis, names)
        ax.tick_params(axis="x", rotation=90)
        ax.set_title(self.title)
        self.figure_.colorbar(image, ax=ax)
        return self


def _cluster_order(correlation: NDArray[np.float64]) -> NDArray[np.intp]:
    if len(correlation) < 3:
        return np.arange(len(correlation))
    scaled = correlation / max(1.0, float(np.abs(correlation).max()))
    distance = 1 - (scaled + scaled.T) / 2
    np.fill_diagonal(distance, 0)
    return leaves_list(linkage(squareform(distance, checks=False), "average", optimal_ordering=True))
