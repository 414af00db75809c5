"""Whether probabilities are what they say."""

from __future__ import annotations

from typing import Any

import numpy as np

from spmld.metrics import reliability_curve
from spmld.plotting._base import Display

__all__ = ["ReliabilityDisplay"]


class ReliabilityDisplay(Display):
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
    >>> from spmld.plotting import ReliabilityDisplay
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
        return cls(*reliability_curve(y_true, y_prob, mask, n_bins=n_bins)).plot(ax=ax)

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
