"""Ranks of methods over data sets, from the entries of the tables."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

from spmld.model_selection.statistics import FriedmanTest, friedman_test
from spmld.studies.tables import Entry, greater_is_better

__all__ = ["Ranked", "ranks_over_data"]


class Ranked(NamedTuple):
    """Friedman's test of one metric at one rate: names of the methods, and their ranks."""

    metric: str
    observed: float
    methods: list[str]
    ranks: FriedmanTest


def ranks_over_data(found: Sequence[Entry]) -> list[Ranked]:
    """Friedman's test for each metric and rate over the clean data sets, of the methods that are complete there."""
    clean = [entry for entry in found if entry.cell.corruption.kind == "none"]
    ranked = []
    for metric, rate in product(
        dict.fromkeys(entry.metric for entry in clean), sorted({entry.cell.observed for entry in clean})
    ):
        own = {(e.cell.data, e.method.name): e.mean for e in clean if (e.metric, e.cell.observed) == (metric, rate)}
        data = list(dict.fromkeys(name for name, _ in own))
        methods = [m for m in dict.fromkeys(m for _, m in own) if all((name, m) in own for name in data)]
        if len(data) < 2 or len(methods) < 3:
            continue
        values = [[own[name, method] for method in methods] for name in data]
        ranks = friedman_test(values, greater_is_better=greater_is_better(metric))
        ranked.append(Ranked(metric, rate, methods, ranks))
    return ranked
