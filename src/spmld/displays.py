"""Plots of what a fit has learned, in the manner of scikit-learn's displays. They need matplotlib, ``spmld[plot]``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform
from sklearn.utils.validation import check_is_fitted

from spmld.metrics._base import read_probabilities

__all__ = ["CorrelationDisplay", "ObjectiveDisplay", "PaceDisplay", "ReliabilityDisplay"]

_NOT_TERMS = {"objective", "round", "stage", "share", "change", "threshold", "diversity", "seconds"}


class _Display:
    """What displays share: the axes to draw on."""

    def _axes(self, ax: Any) -> Any:
        try:
            from matplotlib import pyplot
        except ImportError:
            raise ImportError('plots need matplotlib: pip install "spmld[plot]"') from None
        self.ax_ = pyplot.subplots(layout="constrained")[1] if ax is None else ax
        self.figure_ = self.ax_.figure
        return self.ax_


class PaceDisplay(_Display):
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
    >>> from spmld.displays import PaceDisplay
    >>> data = make_planted(n_samples=200, random_state=0)
    >>> display = PaceDisplay.from_estimator(SPMLD(random_state=0).fit(data.X, data.Y))
    >>> display.shares[0].mean().round(1), display.shares[-1].mean().round(1)
    (np.float64(0.5), np.float64(1.0))
    """

    def __init__(self, shares: Any, names: Sequence[Any]):
        self.shares = np.asarray(shares, dtype=float)
        self.names = [str(name) for name in names]

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> PaceDisplay:
        """Draw the pace of a fitted `SPMLD` or `SelfPacedClassifier`.

        Parameters
        ----------
        estimator : fitted estimator
            Its `history_` is drawn.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        PaceDisplay
        """
        rounds = _history(estimator)
        key = next((k for k in ("share_per_label", "share_per_latent") if k in rounds[0]), None)
        if key is None:
            raise ValueError(f"estimator must have a pace, got {type(estimator).__name__}, whose rounds have none")
        shares = [record[key] for record in rounds]
        own = key == "share_per_label"
        names = estimator.label_names_ if own else [f"latent {i}" for i in range(len(shares[0]))]
        return cls(shares, names).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> PaceDisplay:
        """Draw a heat map: a row for each label, those that came into use first on top.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        PaceDisplay
        """
        ax = self._axes(ax)
        order = np.argsort(-self.shares.sum(axis=0), kind="stable")
        image = ax.imshow(self.shares[:, order].T, aspect="auto", cmap="viridis", vmin=0, vmax=1, interpolation="none")
        rounds = len(self.shares)
        ax.set_xticks(range(0, rounds, max(1, rounds // 10)), labels=range(1, rounds + 1, max(1, rounds // 10)))
        _name_ticks(ax.yaxis, [self.names[i] for i in order])
        ax.set(xlabel="round", title="Share of each label in use")
        self.figure_.colorbar(image, ax=ax, label="mean weight")
        return self


class ObjectiveDisplay(_Display):
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
    >>> from spmld.displays import ObjectiveDisplay
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
        rounds = _history(estimator)
        if "objective" not in rounds[0]:
            raise ValueError(f"estimator must have an objective in history_, got {type(estimator).__name__}")
        names = [k for k, v in rounds[0].items() if isinstance(v, float) and k not in _NOT_TERMS and "share" not in k]
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
        ax.set(xlabel="round", ylabel="value", title="Objective by term")
        ax.legend(frameon=False)
        return self


class CorrelationDisplay(_Display):
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
        image = ax.imshow(self.correlation[np.ix_(self.order_, self.order_)], cmap="RdBu_r", vmin=-1, vmax=1)
        names = [self.names[i] for i in self.order_]
        _name_ticks(ax.yaxis, names)
        _name_ticks(ax.xaxis, names)
        ax.tick_params(axis="x", rotation=90)
        ax.set_title("Correlation of the labels")
        self.figure_.colorbar(image, ax=ax)
        return self


class ReliabilityDisplay(_Display):
    """How often labels are positive, beside the probability they were given. Unobserved labels are left out.

    Parameters
    ----------
    predicted, found : array-like of shape (n_bins,)
        Mean probability in each bin, and share of positives.
    counts : array-like of shape (n_bins,)
        Entries in each bin.

    Attributes
    ----------
    ax_, figure_
        Axes and figure, after `plot`.

    Examples
    --------
    >>> from spmld.displays import ReliabilityDisplay
    >>> display = ReliabilityDisplay.from_predictions([[1, 0], [None, 1]], [[0.9, 0.1], [0.5, 0.8]], n_bins=2)
    >>> display.predicted.round(2), display.found
    (array([0.1 , 0.85]), array([0., 1.]))
    """

    def __init__(self, predicted: Any, found: Any, counts: Any):
        self.predicted = np.asarray(predicted, dtype=float)
        self.found = np.asarray(found, dtype=float)
        self.counts = np.asarray(counts)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, mask: Any = None, *, n_bins: int = 10, ax: Any = None
    ) -> ReliabilityDisplay:
        """Draw the reliability of a fitted estimator's probabilities.

        Parameters
        ----------
        estimator : fitted estimator
            One with `predict_proba`.
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples it was not fitted on.
        y : labels in any form of `spmld.labels.read_labels`
            Their labels.
        mask : array-like of bool, optional
            True where a label is observed.
        n_bins : int, default=10
            Bins of equal width; empty ones are left out.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        ReliabilityDisplay
        """
        p = np.asarray(estimator.predict_proba(X))
        if np.ndim(y) == 1:
            y, p = np.asarray(y)[:, None], p[:, 1:]
        return cls.from_predictions(y, p, mask, n_bins=n_bins, ax=ax)

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_prob: Any, mask: Any = None, *, n_bins: int = 10, ax: Any = None
    ) -> ReliabilityDisplay:
        """Draw the reliability of probabilities.

        Parameters
        ----------
        y_true : labels in any form of `spmld.labels.read_labels`
            True labels.
        y_prob : array-like of shape (n_samples, n_labels)
            Probabilities.
        mask : array-like of bool, optional
            True where a label is observed.
        n_bins : int, default=10
            Bins of equal width; empty ones are left out.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        ReliabilityDisplay
        """
        if isinstance(n_bins, bool) or not isinstance(n_bins, (int, np.integer)) or n_bins < 1:
            raise ValueError(f"n_bins must be an integer of 1 or more, got {n_bins!r}")
        signs, p = read_probabilities(y_true, y_prob, mask)
        p, positive = p[signs != 0], signs[signs != 0] > 0
        bins = np.minimum((p * n_bins).astype(int), n_bins - 1)
        counts = np.bincount(bins, minlength=n_bins)
        used = counts > 0
        predicted, found = (np.bincount(bins, values, n_bins)[used] / counts[used] for values in (p, positive))
        return cls(predicted, found, counts[used]).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> ReliabilityDisplay:
        """Draw a line with a point for each bin, larger for more entries, beside the diagonal.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        ReliabilityDisplay
        """
        ax = self._axes(ax)
        ax.plot([0, 1], [0, 1], color="0.7", ls="--", label="as told")
        ax.plot(self.predicted, self.found, color="#0072B2")
        sizes = 12 + 60 * np.sqrt(self.counts / self.counts.max()) if len(self.counts) else []
        ax.scatter(self.predicted, self.found, s=sizes, color="#0072B2", label="found", zorder=3)
        ax.set(xlabel="probability", ylabel="share of positives", xlim=(0, 1), ylim=(0, 1), title="Reliability")
        ax.set_aspect("equal")
        ax.legend(frameon=False)
        return self


def _history(estimator: Any) -> list[dict[str, Any]]:
    """The rounds of the main stage."""
    check_is_fitted(estimator)
    if not getattr(estimator, "history_", None):
        raise ValueError(f"estimator must have a history_ of rounds, got {type(estimator).__name__}")
    return [record for record in estimator.history_ if record.get("stage", "main") == "main"]


def _beside(correlation: NDArray[np.float64]) -> NDArray[np.intp]:
    """An order in which labels that go together stand side by side."""
    if len(correlation) < 3:
        return np.arange(len(correlation))
    distance = np.clip(1 - correlation, 0, 2)
    distance = (distance + distance.T) / 2
    np.fill_diagonal(distance, 0)
    return leaves_list(linkage(squareform(distance, checks=False), "average", optimal_ordering=True))


def _name_ticks(axis: Any, names: list[str]) -> None:
    """As many names as can be read."""
    step = max(1, -(-len(names) // 40))
    axis.set_ticks(range(0, len(names), step), labels=names[::step])
    axis.set_tick_params(labelsize=8 if len(names) > 15 else 10, length=2)
