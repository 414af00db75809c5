"""Which trials a study consists of.

Parameters are chosen once for each data set, rate, corruption and method, on a mask that is not one of the study's, by
held-out observed labels of the training rows. Then every mask is fitted with them and judged on the test set.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from spmld.metrics import get_metric
from spmld.studies.config import CLEAN, Corruption, Method, Params, Study
from spmld.studies.records import Records
from spmld.studies.trial import Trial

__all__ = ["Cell", "Choice", "cells", "choose", "final_trials", "search_trials"]


@dataclass(frozen=True)
class Cell:
    """A data set, a rate and a corruption: what methods are compared on."""

    data: str
    observed: float
    corruption: Corruption = CLEAN

    @property
    def labels(self) -> str:
        """What is the matter with its labels, in a word."""
        return str(self.corruption) or "missing"

    def to_dict(self) -> dict[str, str | float]:
        """The cell in plain types."""
        return {"data": self.data, "observed": self.observed, "labels": self.labels}


@dataclass(frozen=True)
class Choice:
    """What a search found.

    Attributes
    ----------
    params : dict or None
        The setting with the best score, the first of equals; None if no setting could be judged.
    scores : list of (dict, float)
        All settings and their held-out scores, NaN where a fit failed.
    """

    params: Params | None
    scores: list[tuple[Params, float]]


def cells(study: Study) -> Iterator[Cell]:
    """What the methods of a study are compared on."""
    return (Cell(*values) for values in product(study.data, study.observed, study.corruption))


def search_trials(study: Study) -> list[Trial]:
    """The held-out trials of a study, one for each setting of each method that has something to choose."""
    return [
        trial
        for cell in cells(study)
        for method in study.methods
        if method.search
        for trial in _settings(study, cell, method)
    ]


def choose(study: Study, cell: Cell, method: Method, records: Records) -> Choice:
    """The parameters of a method in a cell, from the held-out trials on record."""
    if not method.search:
        return Choice({}, [])
    scores = []
    for setting, trial in zip(method.settings(), _settings(study, cell, method), strict=True):
        metrics = records.metrics(trial)
        scores.append((setting, math.nan if metrics is None else metrics.get(study.select_by, math.nan)))
    sign = 1 if get_metric(study.select_by)[0].greater_is_better else -1
    judged = [(sign * score, setting) for setting, score in scores if not math.isnan(score)]
    return Choice(max(judged, key=lambda pair: pair[0])[1] if judged else None, scores)


def final_trials(study: Study, records: Records) -> list[Trial]:
    """The trials of a study on the test set, with the parameters that the held-out trials on record choose.

    Trials of a method without any setting that could be judged in a cell are left out.
    """
    found = []
    for cell, method in product(cells(study), study.methods):
        chosen = choose(study, cell, method, records).params
        if chosen is None:
            continue
        for sweep, seed in product(method.sweeps(), study.seeds):
            params = {**method.fixed, **chosen, **sweep}
            found.append(
                Trial(
                    study.evaluated_on,  # type: ignore[arg-type]
                    cell.data,
                    cell.observed,
                    seed,
                    method.name,
                    method.estimator,
                    params,
                    cell.corruption,
                    oracle=method.oracle,
                    standardize=cell.data in study.standardize,
                )
            )
    return found


def _settings(study: Study, cell: Cell, method: Method) -> list[Trial]:
    return [
        Trial(
            "held-out",
            cell.data,
            cell.observed,
            study.select_seed,
            method.name,
            method.estimator,
            {**method.fixed, **setting},
            cell.corruption,
            study.folds,
            method.oracle,
            cell.data in study.standardize,
        )
        for setting in method.settings()
    ]
