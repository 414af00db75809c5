"""Trials of a study.

Parameters are selected once for each condition and method, by the observed labels of held-out training samples, with a
mask that is not used in the study. The selected parameters are then fitted and evaluated with every mask. For data sets
with candidate labels, the parameters are selected by the candidate labels of the training samples of one fold.
"""

import math
from dataclasses import dataclass
from itertools import product
from typing import Any

from spmld.metrics import get_metric
from studies.config import Condition, Method, Params, Study
from studies.records import Records
from studies.trial import Trial


@dataclass(frozen=True)
class Choice:
    """Result of a parameter search.

    Attributes
    ----------
    params : dict or None
        Setting with the best score, the first in case of ties; None if no setting has a score.
    scores : list of (dict, float)
        All settings and their held-out scores, NaN where the fit failed.
    """

    params: Params | None
    scores: list[tuple[Params, float]]


def search_trials(study: Study) -> list[Trial]:
    """Return the held-out trials of a study, one for each setting of each method with a search."""
    return [
        trial
        for condition, method in product(study.conditions, study.methods)
        if method.search
        for trial in _settings(study, condition, method)
    ]


def choose(study: Study, condition: Condition, method: Method, records: Records) -> Choice:
    """Return the parameters of a method in a condition, selected by the recorded held-out trials."""
    if not method.search:
        return Choice({}, [])
    scores = []
    for setting, trial in zip(method.settings(), _settings(study, condition, method), strict=True):
        scores.append((setting, (records.metrics(trial) or {}).get(study.select_by, math.nan)))
    sign = 1 if get_metric(study.select_by)[0].greater_is_better else -1
    defined = [(sign * score, setting) for setting, score in scores if not math.isnan(score)]
    return Choice(max(defined, key=lambda pair: pair[0])[1] if defined else None, scores)


def final_trials(study: Study, records: Records) -> list[Trial]:
    """Return the final trials of a study, with the parameters selected by `choose`.

    Methods without a parameter choice in a condition are left out.
    """
    trials = []
    for condition, method in product(study.conditions, study.methods):
        chosen = choose(study, condition, method, records).params
        if chosen is None:
            continue
        for sweep, seed in product(method.sweeps(), study.seeds):
            params = {**method.fixed, **chosen, **sweep}
            trials.append(_trial(study.evaluated_on, study, condition, method, params, seed=seed))
    return trials


def _settings(study: Study, condition: Condition, method: Method) -> list[Trial]:
    options = {"seed": study.select_seed, "folds": study.folds}
    settings = [{**method.fixed, **setting} for setting in method.settings()]
    return [_trial("held-out", study, condition, method, params, **options) for params in settings]


def _trial(kind: Any, study: Study, condition: Condition, method: Method, params: Params, **options: Any) -> Trial:
    place: dict[str, Any] = {**vars(condition), "method": method.name, "estimator": method.estimator}
    scaled = condition.data in study.standardize
    return Trial(
        kind, **place, params=params, oracle=method.oracle, standardize=scaled, trusted=method.trusted, **options
    )
