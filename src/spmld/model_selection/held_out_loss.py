"""HeldOutLoss: the loss of out-of-fold scores by which settings and views are selected."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld.core.losses import LOSSES
from spmld.labels import read_labels
from spmld.metrics.registry import get_metric


class HeldOutLoss:
    """Loss of out-of-fold scores by a metric of `spmld.metrics`.

    Parameters
    ----------
    scoring : str, default="ranking_loss"
        Name of a metric of scores. Metrics for which greater is better are subtracted from their maximum.

    Examples
    --------
    >>> from spmld.model_selection.held_out_loss import HeldOutLoss
    >>> HeldOutLoss("sample_auc")([[1, 0], [0, 1]], [[2.0, 1.0], [2.0, 1.0]])
    array([0., 1.])
    """

    def __init__(self, scoring: str = "ranking_loss"):
        try:
            self._metric, self._options = get_metric(scoring)
        except ValueError as error:
            raise ValueError(f"scoring must be the name of a metric of scores, got {scoring!r}: {error}") from error
        if self._metric.needs != "scores":
            raise ValueError(
                f"scoring must be a metric of scores, got {scoring!r}, a metric of {self._metric.needs}; "
                'use "ranking_loss" or another metric of scores'
            )

    def __call__(self, Y: Any, scores: Any) -> NDArray[np.float64]:
        """Return the losses: one per sample for a mean over samples, otherwise one value.

        Where the metric is undefined for all samples, as ranking metrics are for a single label, the losses are the
        logistic losses of the observed entries.
        """
        averages = {"average": None} if self._metric.over == "samples" else {}
        losses = np.atleast_1d(self._metric.function(Y, scores, **self._options, **averages))
        if np.isnan(losses).all():
            signs = read_labels(Y).signs
            return LOSSES["logistic"].value(signs[signs != 0].astype(float), scores[signs != 0])
        return self._metric.range[1] - losses if self._metric.greater_is_better else losses
