"""Model, data and metrics in short."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from spmld.reports.evaluation import Judged
from spmld.reports.parts import Facts, Section, Table, Tiles, shown
from spmld.studies.charts import in_words

__all__ = ["metrics", "summary"]

HEADLINES = ("ranking_loss", "macro_auc", "label_ranking_average_precision", "micro_f1", "macro_f1")


def summary(judged: Judged, facts: Mapping[str, Any]) -> Section:
    """The main metrics, and what model and data are."""
    evaluation = judged.evaluation.to_dict()
    rows = {row.name: row for row in judged.evaluation.rows}
    tiles = [
        (in_words(name), shown(evaluation[name]).text, f"{rows[name].better} is better")
        for name in HEADLINES
        if name in evaluation
    ]
    n, l = judged.Y.shape
    known = [("model", type(judged.model).__name__), *((name, str(value)) for name, value in facts.items())]
    known += [("judged on", f"{n} samples, {l} labels"), ("labels known", f"{1 - np.isnan(judged.Y).mean():.1%}")]
    if judged.training:
        known.append(("trained on", f"{len(judged.Y_own)} samples"))
        known.append(("labels known there", f"{1 - np.isnan(judged.Y_own).mean():.1%}"))
    changed = _changed(judged.model)
    if changed:
        known.append(("settings that are not the defaults", changed))
    return Section("summary", "Summary", "Missing labels are skipped in all metrics.", [Tiles(tiles), Facts(known)])


def metrics(judged: Judged) -> Section:
    """All metrics."""
    table = [
        {
            "metric": in_words(row.name),
            "value": row.value,
            "better": row.better,
            "over": row.over,
            "used": row.used,
            "left out": row.left_out,
        }
        for row in judged.evaluation.rows
    ]
    text = (
        "Each is a mean over samples or labels, or takes all entries together. What has no value is left out of a mean."
    )
    return Section("metrics", "Metrics", text, [Table.of("All metrics", table)])


def _changed(model: Any) -> str:
    """Parameters that are not the defaults, as the model prints itself."""
    if not isinstance(model, BaseEstimator):
        return ""
    inside = re.fullmatch(r"\w+\((.*)\)", " ".join(repr(model).split()))
    return inside[1] if inside else ""
