"""All measures and what there is to know about each; `evaluate`, `scorer` and the table in the docs draw from here."""

from __future__ import annotations

import inspect
import math
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from spmld.metrics._auc import instance_auc, macro_auc, micro_auc
from spmld.metrics._decisions import hamming_loss, instance_f1, macro_f1, micro_f1, subset_accuracy
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
Over = Literal["instances", "labels", "entries"]


@dataclass(frozen=True)
class Measure:
    """A measure.

    Attributes
    ----------
    function : callable
        Takes true labels, what is judged, and a mask.
    needs : {"scores", "predictions", "probabilities"}
        What it judges.
    over : {"instances", "labels", "entries"}
        What it averages over or, for "entries", takes together.
    greater_is_better : bool
        Direction.
    range : tuple of two floats
        Least and greatest value, infinite where it grows with the number of labels.

    Examples
    --------
    >>> from spmld.metrics import MEASURES
    >>> measure = MEASURES["ranking_loss"]
    >>> measure.needs, measure.over, measure.better
    ('scores', 'instances', 'lower')
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


MEASURES: dict[str, Measure] = {
    measure.name: measure
    for measure in (
        Measure(ranking_loss, "scores", "instances", False),
        Measure(coverage, "scores", "instances", False, (0, math.inf)),
        Measure(instance_auc, "scores", "instances", True),
        Measure(macro_auc, "scores", "labels", True),
        Measure(micro_auc, "scores", "entries", True),
        Measure(label_ranking_average_precision, "scores", "instances", True),
        Measure(macro_average_precision, "scores", "labels", True),
        Measure(micro_average_precision, "scores", "entries", True),
        Measure(one_error, "scores", "instances", False),
        Measure(precision_at_k, "scores", "instances", True),
        Measure(recall_at_k, "scores", "instances", True),
        Measure(ndcg_at_k, "scores", "instances", True),
        Measure(propensity_scored_precision_at_k, "scores", "instances", True),
        Measure(hamming_loss, "predictions", "entries", False),
        Measure(subset_accuracy, "predictions", "instances", True),
        Measure(instance_f1, "predictions", "instances", True),
        Measure(macro_f1, "predictions", "labels", True),
        Measure(micro_f1, "predictions", "entries", True),
        Measure(log_loss, "probabilities", "entries", False, (0, -math.log(sys.float_info.epsilon))),
        Measure(brier_score, "probabilities", "entries", False),
    )
}
"""All measures by name, each a `Measure`."""


def find_measure(name: str) -> tuple[Measure, dict[str, Any]]:
    """The measure of a name and the options that the name sets: "ndcg_at_3" is "ndcg_at_k" with k=3."""
    if name in MEASURES:
        return MEASURES[name], {}
    at_k = re.fullmatch(r"(\w+_at_)(\d+)", str(name))
    if at_k and at_k[1] + "k" in MEASURES:
        return MEASURES[at_k[1] + "k"], {"k": int(at_k[2])}
    raise ValueError(f"measure must be one of {', '.join(MEASURES)}, where k may be a number, got {name!r}")
