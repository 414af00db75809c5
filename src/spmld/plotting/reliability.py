"""Display of reliability diagrams."""

from typing import Any, Self

import numpy as np

from spmld._arrays import to_numpy
from spmld.metrics.probabilities import reliability_curve
from spmld.plotting._base import Display


class ReliabilityDisplay(Display):
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
            y, p = np.asarray(y)[:, None], p[:, 1:]
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
