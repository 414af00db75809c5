"""The curriculum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from spmld.plotting._base import Display, history, name_ticks

__all__ = ["PacingDisplay"]


class PacingDisplay(Display):
    """The curriculum: how much of each label was in use in each round.

    Parameters
    ----------
    shares : array-like of shape (n_rounds, n_labels)
        Mean weight of the entries of each label, from 0 to 1.
    names : sequence of str
        Names of the labels, or of latent labels.

    Attributes
    ----------
    ax_, figure_
        Axes and figure, after `plot`.

    Examples
    --------
    >>> from spmld import SPMLD
    >>> from spmld.datasets import make_planted
    >>> from spmld.plotting import PacingDisplay
    >>> data = make_planted(n_samples=200, random_state=0)
    >>> display = PacingDisplay.from_estimator(SPMLD(random_state=0).fit(data.X, data.Y))
    >>> display.shares[0].mean().round(1), display.shares[-1].mean().round(1)
    (np.float64(0.5), np.float64(1.0))
    """

    def __init__(self, shares: Any, names: Sequence[Any]):
        self.shares = np.asarray(shares, dtype=float)
        self.names = [str(name) for name in names]

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> PacingDisplay:
        """Draw the pacing of a fitted `SPMLD` or `SelfPacedClassifier`.

        Parameters
        ----------
        estimator : fitted estimator
            Its `history_` is drawn.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        PacingDisplay
        """
        rounds = history(estimator)
        key = next((k for k in ("mean_weight_per_label", "mean_weight_per_component") if k in rounds[0]), None)
        if key is None:
            raise ValueError(f"estimator must have a pacing, got {type(estimator).__name__}, whose rounds have none")
        shares = [record[key] for record in rounds]
        own = key == "mean_weight_per_label"
        names = estimator.label_names_ if own else [f"latent {i}" for i in range(len(shares[0]))]
        return cls(shares, names).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> PacingDisplay:
        """Draw a heat map: a row for each label, those that came into use first on top.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        PacingDisplay
        """
        ax = self._axes(ax)
        order = np.argsort(-self.shares.sum(axis=0), kind="stable")
        image = ax.imshow(self.shares[:, order].T, aspect="auto", cmap="viridis", vmin=0, vmax=1, interpolation="none")
        rounds = len(self.shares)
        ax.set_xticks(range(0, rounds, max(1, rounds // 10)), labels=range(1, rounds + 1, max(1, rounds // 10)))
        name_ticks(ax.yaxis, [self.names[i] for i in order])
        ax.set(xlabel="iteration", title="Share of each label in use")
        self.figure_.colorbar(image, ax=ax, label="mean weight")
        return self
