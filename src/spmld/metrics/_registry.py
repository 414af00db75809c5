"""All metrics and their properties, used by `evaluate`, `scorer` and the docs."""

import inspect
import math
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from spmld._validation import did_you_mean
from spmld.metrics._at_k import ndcg_at_k, one_error, precision_at_k, propensity_scored_precision_at_k, recall_at_k
from spmld.metrics._auc import macro_auc, micro_auc, sample_auc
from spmld.metrics._predictions import hamming_loss, macro_f1, micro_f1, sample_f1, subset_accuracy
from spmld.metrics._probabilities import brier_score, expected_calibration_error, log_loss
from spmld.metrics._ranking import (
    coverage,
    label_ranking_average_precision,
    macro_average_precision,
    micro_average_precision,
    ranking_loss,
)

Needs = Literal["scores", "predictions", "probabilities"]
Over = Literal["samples", "labels", "entries"]


@dataclass(frozen=True)
class Metric:
    """A metric and its properties.

    Attributes
    ----------
    function : callable
        ``function(Y_true, values, mask)``, where values are scores, predictions or probabilities.
    needs : {"scores", "predictions", "probabilities"}
        The values that the function needs.
    over : {"samples", "labels", "entries"}
        The metric is a mean over samples or labels, or is computed from all entries together.
    greater_is_better : bool
        Whether higher values are better.
    range : tuple of two floats
        Minimum and maximum; the maximum is infinite if it depends on the number of labels.

    Examples
    --------
    >>> from spmld.metrics import METRICS
    >>> metric = METRICS["ranking_loss"]
    >>> metric.needs, metric.over, metric.better
    ('scores', 'samples', 'lower')
    """

    function: Callable[..., Any]
    needs: Needs
    over: Over
    greater_is_better: bool
    range: tuple[float, float] = (0, 1)

    @property
    def name(self) -> str:
        """Name of the function."""
        return self.function.__name__

    @property
    def options(self) -> frozenset[str]:
        """Names of the keyword-only arguments, except `average` and `entry_weight`."""
        parameters = inspect.signature(self.function).parameters.values()
        return frozenset(p.name for p in parameters if p.kind is p.KEYWORD_ONLY) - {"average", "entry_weight"}

    @property
    def weighted(self) -> bool:
        """Whether the function accepts `entry_weight`: metrics over labels or entries do."""
        return "entry_weight" in inspect.signature(self.function).parameters

    def variant_name(self, options: dict[str, Any]) -> str:
        """Return the name with the number k of the options, if there is one."""
        return f"{self.name.removesuffix('k')}{options['k']}" if "k" in options else self.name

    @property
    def better(self) -> str:
        """Which values are better: "higher" or "lower"."""
        return "higher" if self.greater_is_better else "lower"


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(ranking_loss, "scores", "samples", False),
        Metric(coverage, "scores", "samples", False, (0, math.inf)),
        Metric(sample_auc, "scores", "samples", True),
        Metric(macro_auc, "scores", "labels", True),
        Metric(micro_auc, "scores", "entries", True),
        Metric(label_ranking_average_precision, "scores", "samples", True),
        Metric(macro_average_precision, "scores", "labels", True),
        Metric(micro_average_precision, "scores", "entries", True),
        Metric(one_error, "scores", "samples", False),
        Metric(precision_at_k, "scores", "samples", True),
        Metric(recall_at_k, "scores", "samples", True),
        Metric(ndcg_at_k, "scores", "samples", True),
        Metric(propensity_scored_precision_at_k, "scores", "samples", True),
        Metric(hamming_loss, "predictions", "entries", False),
        Metric(subset_accuracy, "predictions", "samples", True),
        Metric(sample_f1, "predictions", "samples", True),
        Metric(macro_f1, "predictions", "labels", True),
        Metric(micro_f1, "predictions", "entries", True),
        Metric(log_loss, "probabilities", "entries", False, (0, -math.log(sys.float_info.epsilon))),
        Metric(brier_score, "probabilities", "entries", False),
        Metric(expected_calibration_error, "probabilities", "entries", False),
    )
}
"""All metrics: a `Metric` for each name."""


def get_metric(name: str) -> tuple[Metric, dict[str, Any]]:
    """Return the metric with the given name and the options encoded in it: "ndcg_at_3" is "ndcg_at_k" with k=3.

    Examples
    --------
    >>> from spmld.metrics import get_metric
    >>> metric, options = get_metric("ndcg_at_3")
    >>> metric.name, options
    ('ndcg_at_k', {'k': 3})
    """
    if name in METRICS:
        return METRICS[name], {}
    at_k = re.fullmatch(r"(\w+_at_)(\d+)", str(name))
    if at_k and at_k[1] + "k" in METRICS:
        return METRICS[at_k[1] + "k"], {"k": int(at_k[2])}
    raise ValueError(
        f"metric must be one of {', '.join(METRICS)}, where k may be a number, got {name!r}"
        f"{did_you_mean(name, METRICS)}"
    )
