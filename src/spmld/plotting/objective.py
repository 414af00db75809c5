"""The objective by term."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from spmld.plotting._base import Display, history

__all__ = ["ObjectiveDisplay"]

_NOT_TERMS = {"objective", "iteration", "stage", "mean_weight", "change", "threshold", "diversity", "seconds"}


class ObjectiveDisplay(Display):
    """The objective and its terms, round by round.

    Parameters
    ----------
    terms : mapping
        Values of each term in each round, by its name.
    total : array-like of shape (n_rounds,)
        The objective.

    Attributes
    ----------
    ax_, figure_
        Axes and figure, after `plot`.

    Examples
    --------
    >>> from spmld import GLOCAL
    >>> from spmld.datasets import make_planted
    >>> from spmld.plotting import ObjectiveDisplay
    >>> data = make_planted(n_samples=200, random_state=0)
    >>> sorted(ObjectiveDisplay.from_estimator(GLOCAL(random_state=0).fit(data.X, data.Y)).terms)
    ['correlation', 'coupling', 'fit', 'ridge']
    """

    def __init__(self, terms: Mapping[str, Any], total: Any):
        self.terms = {name: np.asarray(values, dtype=float) for name, values in terms.items()}
        self.total = np.asarray(total, dtype=float)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> ObjectiveDisplay:
        """Draw the objective of a fitted `GLOCAL`, `SPMLD` or `SelfPacedClassifier`.

        Parameters
        ----------
        estimator : fitted estimator
            Its `history_` is drawn.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        ObjectiveDisplay
        """
        rounds = history(estimator)
        if "objective" not in rounds[0]:
            raise ValueError(f"estimator must have an objective in history_, got {type(estimator).__name__}")
        names = [
            k for k, v in rounds[0].items() if isinstance(v, float) and k not in _NOT_TERMS and "mean_weight" not in k
        ]
        terms = {name: [record[name] for record in rounds] for name in names}
        used = {name: values for name, values in terms.items() if any(values)}
        return cls(used, [record["objective"] for record in rounds]).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> ObjectiveDisplay:
        """Draw a line for each term and a thick one for their sum.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        ObjectiveDisplay
        """
        ax = self._axes(ax)
        rounds = np.arange(1, len(self.total) + 1)
        ax.plot(rounds, self.total, color="black", lw=2.5, label="objective")
        for name, values in self.terms.items():
            ax.plot(rounds, values, lw=1.5, marker="o", ms=3, label=name)
        ax.set(xlabel="iteration", ylabel="value", title="Objective by term")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.legend(frameon=False)
        return self
