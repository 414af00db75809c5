"""Displays of self-paced weights, label correlations and the reliability of probabilities."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform
from sklearn.utils.validation import check_is_fitted

from spmld._arrays import to_numpy
from spmld._io import need
from spmld.metrics.probabilities import reliability_curve

# Okabe-Ito colors, which remain distinguishable with color blindness, followed by gray and brown.
COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#999999", "#8C564B", "#000000", "#BCBD22")
HIGHLIGHT = "#D55E00"


def metric_label(name: str) -> str:
    """Return the name of a metric as text for axes, headings and sentences.

    Examples
    --------
    >>> from spmld.plotting.displays import metric_label
    >>> metric_label("macro_auc")
    'macro AUC'
    """
    return name.replace("_", " ").replace("auc", "AUC").replace("f1", "F1")


_WEIGHTS = ("mean_weight_per_label", "mean_weight_per_component")


class _Display:
    """Base class of the displays: sets `ax_` and `figure_` to the given axes, or to those of a new figure."""

    def _axes(self, ax: Any) -> Any:
        self.ax_ = need("matplotlib.pyplot", "plot").subplots(layout="constrained")[1] if ax is None else ax
        self.figure_ = self.ax_.figure
        return self.ax_


def _label_ticks(axis: Any, names: list[str]) -> None:
    """Label the ticks of an axis, with at most 40 labels. Dollar signs do not start formulas."""
    step = max(1, -(-len(names) // 40))
    axis.set_ticks(range(0, len(names), step), labels=names[::step], parse_math=False)
    axis.set_tick_params(labelsize=8 if len(names) > 15 else 10, length=2)


class PacingDisplay(_Display):
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
        """Plot the self-paced weights of a `SPMLD` or `SelfPacedClassifier`, after warm-up.

        Parameters
        ----------
        estimator : fitted estimator
            Estimator with `history_`.
        ax : matplotlib axes, optional
            Axes to draw on.
        """
        check_is_fitted(estimator)
        records = [record for record in getattr(estimator, "history_", ()) if record.get("stage", "main") == "main"]
        key = next((key for key in _WEIGHTS if records and key in records[0]), None)
        if key is None:
            raise ValueError(
                f"estimator must have mean weights in its history_, such as SPMLD, got {type(estimator).__name__}"
            )
        weights = [record[key] for record in records]
        names = estimator.label_names_ if key == _WEIGHTS[0] else [f"latent {i}" for i in range(len(weights[0]))]
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
        _label_ticks(ax.yaxis, [self.names[i] for i in order])
        ax.set(xlabel="iteration", title="Self-paced weights")
        self.figure_.colorbar(image, ax=ax, label="mean weight")
        return self


class CorrelationDisplay(_Display):
    """Heat map of a label correlation matrix, with correlated labels next to each other.

    Parameters
    ----------
    correlation : array-like of shape (n_labels, n_labels)
        Label correlations, or label dependencies: the effect of each label (row) on the scores of the others (columns).
        The largest absolute value has the strongest color.
    names : sequence of str
        Names of the labels.

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

    def __init__(self, correlation: Any, names: Sequence[Any]):
        self.correlation = np.asarray(correlation, dtype=float)
        self.names = [str(name) for name in names]

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Plot the label correlations of a `GLOCAL` or `SPMLD`, or the label dependencies of a `SelfPacedEnsemble`.

        Parameters
        ----------
        estimator : fitted estimator
            Estimator with `label_correlation` or `label_dependencies_`.
        ax : matplotlib axes, optional
            Axes to draw on.
        """
        if hasattr(estimator, "label_correlation"):
            return cls(estimator.label_correlation(), estimator.label_names_).plot(ax=ax)
        if not hasattr(estimator, "label_dependencies_"):
            raise ValueError(
                f"estimator must have label_correlation, such as GLOCAL, or label_dependencies_, such as "
                f"SelfPacedEnsemble, got {type(estimator).__name__}"
            )
        return cls(estimator.label_dependencies_, estimator.label_names_).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Plot the heat map; the labels are ordered by hierarchical clustering."""
        ax = self._axes(ax)
        self.order_ = _cluster_order(self.correlation)
        ordered = self.correlation[np.ix_(self.order_, self.order_)]
        limit = float(np.abs(ordered).max()) or 1.0
        image = ax.imshow(ordered, cmap="RdBu_r", vmin=-limit, vmax=limit, interpolation="none")
        names = [self.names[i] for i in self.order_]
        _label_ticks(ax.yaxis, names)
        _label_ticks(ax.xaxis, names)
        ax.tick_params(axis="x", rotation=90)
        ax.set_title("Label correlations")
        self.figure_.colorbar(image, ax=ax)
        return self


def _cluster_order(correlation: NDArray[np.float64]) -> NDArray[np.intp]:
    if len(correlation) < 3:
        return np.arange(len(correlation))
    scaled = correlation / max(1.0, float(np.abs(correlation).max()))
    distance = 1 - (scaled + scaled.T) / 2
    np.fill_diagonal(distance, 0)
    return leaves_list(linkage(squareform(distance, checks=False), "average", optimal_ordering=True))


class ReliabilityDisplay(_Display):
    """Reliability diagram: fraction of positives by predicted probability, over the observed entries of all labels.

    Parameters
    ----------
    prob_pred, prob_true : array-like of shape (n_bins,)
        Mean predicted probability and fraction of positives in each bin.
    counts : array-like of shape (n_bins,)
        Number of entries in each bin.

    Examples
    --------
    >>> from spmld.plotting import ReliabilityDisplay
    >>> display = ReliabilityDisplay.from_predictions([[1, 0], [None, 1]], [[0.9, 0.1], [0.5, 0.8]], n_bins=2)
    >>> display.prob_pred.round(2), display.prob_true
    (array([0.1 , 0.85]), array([0., 1.]))
    """

    def __init__(self, prob_pred: Any, prob_true: Any, counts: Any):
        self.prob_pred = np.asarray(prob_pred, dtype=float)
        self.prob_true = np.asarray(prob_true, dtype=float)
        self.counts = np.asarray(counts)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, mask: Any = None, *, n_bins: int = 10, ax: Any = None
    ) -> Self:
        """Plot a reliability diagram of an estimator.

        Parameters
        ----------
        estimator : fitted estimator
            Estimator with `predict_proba`.
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples, usually held out.
        y, mask, n_bins, ax
            As `y_true`, `mask`, `n_bins` and `ax` in `from_predictions`.
        """
        p = to_numpy(estimator.predict_proba(X))
        if np.ndim(y) == 1:
            y = np.asarray(y)[:, None]
            p = p[:, 1:]
        return cls.from_predictions(y, p, mask, n_bins=n_bins, ax=ax)

    @classmethod
    def from_predictions(cls, y_true: Any, y_prob: Any, mask: Any = None, *, n_bins: int = 10, ax: Any = None) -> Self:
        """Plot a reliability diagram of predicted probabilities.

        Parameters
        ----------
        y_true : labels in any form accepted by `spmld.labels.read_labels`
            True labels.
        y_prob : array-like of shape (n_samples, n_labels)
            Probabilities.
        mask : array-like of bool, optional
            True where a label is observed.
        n_bins : int, default=10
            Number of bins of equal width. Empty bins are omitted.
        ax : matplotlib axes, optional
            Axes to draw on.
        """
        return cls(*reliability_curve(y_true, y_prob, mask, n_bins=n_bins)).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Plot the diagram. Larger points represent bins with more entries."""
        ax = self._axes(ax)
        ax.plot([0, 1], [0, 1], color="0.7", ls="--", label="perfectly calibrated")
        ax.plot(self.prob_pred, self.prob_true, color="#0072B2")
        sizes = 12 + 60 * np.sqrt(self.counts / self.counts.max()) if len(self.counts) else []
        ax.scatter(self.prob_pred, self.prob_true, s=sizes, color="#0072B2", label="model", zorder=3)
        ax.set(xlabel="predicted probability", ylabel="fraction of positives", xlim=(0, 1), ylim=(0, 1))
        ax.set(title="Reliability")
        ax.set_aspect("equal")
        ax.legend(frameon=False)
        return self
