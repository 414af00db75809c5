"""Displays of the iterations of a fit: self-paced weights, and the objective by its terms."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from spmld.plotting._base import Display, label_ticks

_NOT_TERMS = {"objective", "iteration", "stage", "mean_weight", "change", "threshold", "diversity", "seconds"}


class ObjectiveDisplay(Display):
    """Objective and its terms by iteration.

    Parameters
    ----------
    terms : mapping of str to array-like of shape (n_iter,)
        Values of each term, by its name.
    total : array-like of shape (n_iter,)
        Values of the objective.

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
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Plot the objective of a `GLOCAL`, `SPMLD` or `SelfPacedClassifier`.

        Parameters
        ----------
        estimator : fitted estimator
            Estimator with `history_`.
        ax : matplotlib axes, optional
            Axes to draw on.
        """
        records, _ = _main_history(estimator, ["objective"], "the objective")
        names = [
            k for k, v in records[0].items() if isinstance(v, float) and k not in _NOT_TERMS and "mean_weight" not in k
        ]
        terms = {name: [record[name] for record in records] for name in names}
        nonzero = {name: values for name, values in terms.items() if any(values)}
        return cls(nonzero, [record["objective"] for record in records]).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
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


class PacingDisplay(Display):
    """Mean self-paced weight of each label by iteration.

    Parameters
    ----------
    mean_weights : array-like of shape (n_iter, n_labels)
        Mean weight of the entries of each label, in [0, 1].
    names : sequence of str
        Names of the labels, or of latent labels.

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
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Plot the self-paced weights of a `SPMLD` or `SelfPacedClassifier`.

        Parameters
        ----------
        estimator, ax
            As in `ObjectiveDisplay.from_estimator`.
        """
        keys = ("mean_weight_per_label", "mean_weight_per_component")
        records, key = _main_history(estimator, keys, "mean weights")
        weights = [record[key] for record in records]
        names = estimator.label_names_ if key == keys[0] else [f"latent {i}" for i in range(len(weights[0]))]
        return cls(weights, names).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
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


def _main_history(estimator: Any, keys: Sequence[str], description: str) -> tuple[list[dict[str, Any]], str]:
    """Return the records of `history_` after warm-up, and the first of the keys that they have."""
    check_is_fitted(estimator)
    if not getattr(estimator, "history_", None):
        raise ValueError(f"estimator must have a history_ attribute, such as SPMLD, got {type(estimator).__name__}")
    records = [record for record in estimator.history_ if record.get("stage", "main") == "main"]
    for key in keys:
        if key in records[0]:
            return records, key
    raise ValueError(
        f"history_ of the estimator must have {description}, which {type(estimator).__name__} does not have"
    )
