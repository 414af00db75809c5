"""Labels and samples one by one, the easiest and the hardest."""

from __future__ import annotations

from typing import Any

import numpy as np

from spmld.metrics import label_ranking_average_precision, macro_auc, macro_average_precision, macro_f1, ranking_loss
from spmld.reports.evaluation import Judged, holder
from spmld.reports.parts import Section, Table

__all__ = ["labels", "samples"]

FEW = 5


def labels(judged: Judged) -> Section:
    """A row for each label; the easiest and the hardest by the area under the curve."""
    rows = _label_rows(judged)
    parts = []
    ordered = sorted((row for row in rows if not np.isnan(row["AUC"])), key=lambda row: -row["AUC"])
    if len(ordered) > 2 * FEW:
        short = [{name: row[name] for name in ("label", "positives", "AUC", "F1")} for row in ordered]
        parts = [Table.of("Easiest labels", short[:FEW]), Table.of("Hardest labels", short[: -FEW - 1 : -1])]
    text = "AUC: how often a positive sample has a higher score than a negative one. A dash: too few labels are known."
    return Section("labels", "Labels", text, [*parts, Table.of("All labels", rows)])


def _label_rows(judged: Judged) -> list[dict[str, Any]]:
    known = ~np.isnan(judged.Y)
    columns: dict[str, Any] = {
        "label": judged.label_names,
        "known": known.sum(axis=0).tolist(),
        "positives": np.nansum(judged.Y, axis=0).astype(int).tolist(),
        "predicted": np.where(known, judged.said.positive, 0).sum(axis=0).tolist(),
    }
    if judged.said.scores is not None:
        columns["AUC"] = judged.each(macro_auc, judged.said.scores).tolist()
        columns["average precision"] = judged.each(macro_average_precision, judged.said.scores).tolist()
    else:
        columns["AUC"] = [float("nan")] * len(judged.label_names)
    columns["F1"] = judged.each(macro_f1, judged.said.positive).tolist()
    cut = holder(judged.model, "thresholds_")
    if cut is not None:
        columns["threshold"] = np.asarray(cut.thresholds_).tolist()
    if judged.issues is not None:
        columns["may be wrong"] = [row["share"] for row in judged.issues.label_rows()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def samples(judged: Judged) -> Section | None:
    """The samples whose labels were ordered best and worst."""
    if judged.said.scores is None or judged.Y.shape[1] < 2:
        return None
    loss = judged.each(ranking_loss, judged.said.scores)
    precision = judged.each(label_ranking_average_precision, judged.said.scores)
    positives = np.nansum(judged.Y, axis=1)
    defined = np.flatnonzero(~np.isnan(loss))
    if len(defined) < 2:
        return None

    def row(i: int) -> dict[str, Any]:
        return {
            "sample": judged.sample_names[i],
            "ranking loss": float(loss[i]),
            "average precision": float(precision[i]),
            "labels": _some([judged.label_names[j] for j in np.flatnonzero(judged.Y[i] == 1)]),
            "highest scores": _some([judged.label_names[j] for j in np.argsort(-judged.said.scores[i])[:FEW]]),
        }

    # Of equals, the sample with more positives comes first: it was the harder to get right.
    best = defined[np.lexsort((-positives[defined], -precision[defined], loss[defined]))]
    worst = defined[np.lexsort((-positives[defined], precision[defined], -loss[defined]))]
    count = min(judged.top // 2 or 1, len(defined))
    parts = [
        Table.of("Hardest samples", [row(i) for i in worst[:count]]),
        Table.of("Easiest samples", [row(i) for i in best[:count]]),
    ]
    text = "Ranking loss of a sample: the share of its pairs of a positive and a negative label in the wrong order."
    return Section("samples", "Samples", text, parts)


def _some(names: list[str]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
