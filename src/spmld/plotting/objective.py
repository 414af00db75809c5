"""Display of the objective by its terms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from spmld.plotting._base import Display, main_history

__all__ = ["ObjectiveDisplay"]

_NOT_TERMS = {"objective", "iteration", "stage", "mean_weight", "change", "threshold", "diversity", "seconds"}


class ObjectiveDisplay(Display):
    """Objective and its terms by iteration.

    Parameters
    ----------
    terms : mapping of str to array-like of shape (n_iter,)
        Values of each term, by its name.
    total : array-like of shape (n_iter,)
        Values of the objective.

    Attributes
    ----------
    ax_, figure_
        Axes and figure. Set by `plot`.

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
        """Plot the objective of a `GLOCAL`, `SPMLD` or `SelfPacedClassifier`.

        Parameters
        ----------
        estimator : fitted estimator
            Estimator with `history_`.
        ax : matplotlib axes, optional
            Axes to draw on.
        """
        records = main_history(estimator)
        if "objective" not in records[0]:
            raise ValueError(
                f"history_ of the estimator must contain the objective, but that of {type(estimator).__name__} does not"
            )
        names = [
            k for k, v in records[0].items() if isinstance(v, float) and k not in _NOT_TERMS and "mean_weight" not in k
        ]
        terms = {name: [record[name] for record in records] for name in names}
        nonzero = {name: values for name, values in terms.items() if any(values)}
        return cls(nonzero, [record["objective"] for record in records]).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> ObjectiveDisplay:
        """Plot a line for each term and a thick line for their sum."""
        ax = self._axes(ax)
        iterations = np.arange(1, len(self.total) + 1)
        ax.plot(iterations, self.total, color="black", lw=2.5, label="objective")
        for name, values in self.terms.items():
            ax.plot(iterations, values, lw=1.5, marker="o", ms=3, label=name)
        ax.set(xlabel="iteration", ylabel="value", title="Objective by term")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.legend(frameon=False)
        return self
