"""All metrics and what there is to know about each; `evaluate`, `scorer` and the table in the docs draw from here."""

from __future__ import annotations

import inspect
import math
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from spmld.metrics._auc import macro_auc, micro_auc, sample_auc
from spmld.metrics._decisions import hamming_loss, macro_f1, micro_f1, sample_f1, subset_accuracy
from spmld.metrics._probabilities import brier_score, log_loss
from spmld.metrics._ranking import (
    coverage,
    label_ranking_average_precision,
    macro_average_precision,
    micro_average_precision,
    ranking_loss,
)
from spmld.metrics._top import ndcg_at_k, one_error, precision_at_k, propensity_scored_precision_at_k, recall_at_k

Needs = Literal["scores", "predictions", "probabilities"]
Over = Literal["samples", "labels", "entries"]


@dataclass(frozen=True)
class Metric:
    """A metric.

    Attributes
    ----------
    function : callable
        Takes true labels, what is judged, and a mask.
    needs : {"scores", "predictions", "probabilities"}
        What it judges.
    over : {"samples", "labels", "entries"}
        What it averages over or, for "entries", takes together.
    greater_is_better : bool
        Direction.
    range : tuple of two floats
        Least and greatest value, infinite where it grows with the number of labels.

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
        """Keyword arguments that choose a variant."""
        parameters = inspect.signature(self.function).parameters.values()
        return frozenset(p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.name != "average")

    @property
    def better(self) -> str:
        """Direction in a word."""
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
    )
}
"""All metrics by name, each a `Metric`."""


def get_metric(name: str) -> tuple[Metric, dict[str, Any]]:
    """The metric of a name and the options that the name sets: "ndcg_at_3" is "ndcg_at_k" with k=3."""
    if name in METRICS:
        return METRICS[name], {}
    at_k = re.fullmatch(r"(\w+_at_)(\d+)", str(name))
    if at_k and at_k[1] + "k" in METRICS:
        return METRICS[at_k[1] + "k"], {"k": int(at_k[2])}
    raise ValueError(f"metric must be one of {', '.join(METRICS)}, where k may be a number, got {name!r}")
