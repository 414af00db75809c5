"""Display of self-paced weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from spmld.plotting._base import Display, label_ticks, main_history

__all__ = ["PacingDisplay"]


class PacingDisplay(Display):
    """Mean self-paced weight of each label by iteration.

    Parameters
    ----------
    mean_weights : array-like of shape (n_iter, n_labels)
        Mean weight of the entries of each label, in [0, 1].
    names : sequence of str
        Names of the labels, or of latent labels.

    Attributes
    ----------
    ax_, figure_
        Axes and figure. Set by `plot`.

    Examples
    --------
    >>> from spmld import SPMLD
    >>> from spmld.datasets import make_planted
    >>> from spmld.plotting import PacingDisplay
    >>> data = make_planted(n_samples=200, random_state=0)
    >>> display = PacingDisplay.from_estimator(SPMLD(random_state=0).fit(data.X, data.Y))
    >>> display.mean_weights[0].mean().round(1), display.mean_weights[-1].mean().round(1)
    (np.float64(0.5), np.float64(1.0))
    """

    def __init__(self, mean_weights: Any, names: Sequence[Any]):
        self.mean_weights = np.asarray(mean_weights, dtype=float)
        self.names = [str(name) for name in names]

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> PacingDisplay:
        """Plot the self-paced weights of a `SPMLD` or `SelfPacedClassifier`.

        Parameters
        ----------
        estimator : fitted estimator
            Estimator with `history_`.
        ax : matplotlib axes, optional
            Axes to draw on.
        """
        records = main_history(estimator)
        if "mean_weight_per_label" in records[0]:
            weights, names = [record["mean_weight_per_label"] for record in records], estimator.label_names_
        elif "mean_weight_per_component" in records[0]:
            weights = [record["mean_weight_per_component"] for record in records]
            names = [f"latent {i}" for i in range(len(weights[0]))]
        else:
            raise ValueError(
                f"history_ of the estimator must contain mean weights, but that of {type(estimator).__name__} does not"
            )
        return cls(weights, names).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> PacingDisplay:
        """Plot a heat map with a row for each label; labels that are included first are at the top."""
        ax = self._axes(ax)
        order = np.argsort(-self.mean_weights.sum(axis=0), kind="stable")
        ordered = self.mean_weights[:, order].T
        image = ax.imshow(ordered, aspect="auto", cmap="viridis", vmin=0, vmax=1, interpolation="none")
        n_iter = len(self.mean_weights)
        step = max(1, n_iter // 10)
        ax.set_xticks(range(0, n_iter, step), labels=range(1, n_iter + 1, step))
        label_ticks(ax.yaxis, [self.names[i] for i in order])
        ax.set(xlabel="iteration", title="Self-paced weights")
        self.figure_.colorbar(image, ax=ax, label="mean weight")
        return self
