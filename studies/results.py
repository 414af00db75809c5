"""Results of studies: metrics over masks or folds, tests against a reference, and agreement with the paper."""

import json
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from spmld.metrics.registry import get_metric
from spmld.model_selection.statistics import PairedTest, Verdict, paired_t_test
from studies.config import Condition, Method, Study, StudyError
from studies.data import fold_ratio
from studies.records import Records
from studies.runner import final_trials

Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class PublishedValue:
    """Entry of Tables 2 to 7: mean and standard deviation over ten runs, and its emphasis."""

    mean: float
    std: float
    mark: str


@dataclass(frozen=True)
class Contradiction:
    """Published ranking loss and AUC that contradict each other.

    Attributes
    ----------
    data, observed, method
        Place in the tables.
    total : float
        Ranking loss plus AUC. The loss of a sample is (wrong + tied) / pairs and its AUC is 1 - (wrong + tied / 2) /
        pairs, so that the sum is 1 plus half the fraction of tied pairs. It cannot be below 1.
    """

    data: str
    observed: float
    method: str
    total: float

    @property
    def ties(self) -> float:
        """Fraction of tied pairs implied by the sum; negative if the sum is impossible."""
        return 2 * (self.total - 1)

    @property
    def impossible(self) -> bool:
        """Whether no scores can have this sum."""
        return self.total < 1


@lru_cache(maxsize=1)
def _content() -> dict[str, Any]:
    return json.loads(Path(__file__).with_name("published.json").read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def _values() -> dict[tuple[str, float, str, str], PublishedValue]:
    return {
        (data, observed, method, metric): PublishedValue(*value)
        for data, observed, method, metric, *value in _content()["values"]
    }


def published(data: str, observed: float, method: str | None, metric: str) -> PublishedValue | None:
    """Return a published value, or None if the paper does not have it.

    Examples
    --------
    >>> from studies.results import published
    >>> published("business", 0.3, "SPMLD", "ranking_loss")
    PublishedValue(mean=0.044, std=0.0021, mark='bold')
    """
    return _values().get((data, observed, method or "", metric))


def published_data() -> dict[str, dict[str, Any]]:
    """Return Table 1: samples, features, labels and labels per sample of each data set."""
    return _content()["data"]


def contradictions(rounding: float = 0.001) -> list[Contradiction]:
    """Return the published results whose ranking loss and AUC do not sum to 1.

    Parameters
    ----------
    rounding : float
        Tolerance of the sum, as both are printed with three decimals.

    Examples
    --------
    >>> from studies.results import contradictions
    >>> worst = min(contradictions(), key=lambda contradiction: contradiction.total)
    >>> worst.data, worst.method, round(worst.total, 3), worst.impossible
    ('education', 'ML-LRC', 0.973, True)
    """
    sums = [
        Contradiction(data, observed, method, value.mean + _values()[data, observed, method, "sample_auc"].mean)
        for (data, observed, method, metric), value in _values().items()
        if metric == "ranking_loss"
    ]
    return [pair for pair in sums if abs(pair.total - 1) > rounding + 1e-9]


@dataclass(frozen=True)
class StudyResult:
    """Metric of a method in a condition, over masks.

    Attributes
    ----------
    condition, method, metric
        Place in the tables.
    values : dict
        Value by seed.
    test : PairedTest or None
        Test against the reference; None for the reference itself, or without one.
    mark : {"bold", "italic", ""}
        Emphasis as in the paper. A method is bold if it is significantly better than the reference, and italic if
        there is no significant difference. The reference is bold if it is significantly better than all others, and
        italic if none is better but some do not differ significantly. Other variants of the reference, which have the
        same published method, are not among the others.
    """

    condition: Condition
    method: Method
    metric: str
    values: dict[int, float]
    test: PairedTest | None = None
    mark: str = ""

    @property
    def mean(self) -> float:
        """Mean over the masks."""
        return float(np.mean(list(self.values.values())))

    @property
    def std(self) -> float:
        """Standard deviation over the masks; NaN for a single mask."""
        return float(np.std(list(self.values.values()), ddof=1)) if len(self.values) > 1 else float("nan")

    @property
    def published(self) -> PublishedValue | None:
        """Published value; None for corrupted labels."""
        if self.condition.corruption.kind != "none":
            return None
        return published(self.condition.data, self.condition.observed, self.method.published, self.metric)

    @property
    def deviation(self) -> float | None:
        """Mean minus published mean, in published standard deviations."""
        paper = self.published
        return None if paper is None else (self.mean - paper.mean) / paper.std

    @property
    def better_than_published(self) -> bool | None:
        """Whether the mean is better than the published one."""
        paper = self.published
        return None if paper is None else is_better(self.metric, self.mean, paper.mean)


def greater_is_better(metric: str) -> bool:
    """Return the direction of a metric."""
    return get_metric(metric)[0].greater_is_better


def is_better(metric: str, value: float, other: float) -> bool:
    """Return whether a value of a metric is strictly better than another."""
    return value > other if greater_is_better(metric) else value < other


def group_by(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """Group items by a key, in the order in which the keys occur."""
    groups: dict[Key, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def find_reference(studies: Sequence[Study]) -> str | None:
    """Return the reference of the first study that has one."""
    return next((study.reference for study in studies if study.reference is not None), None)


def collect_results(studies: Sequence[Study], records: Records) -> list[StudyResult]:
    """Return the recorded results of studies that share masks and are evaluated on the same labels.

    Parameters
    ----------
    studies : sequence of Study
        Studies. Methods are tested against the reference of the first study that has one.
    records : Records
        Records of their trials.
    """
    if len(labels := {study.evaluated_on for study in studies}) > 1:
        raise StudyError(f"studies must be evaluated on the same labels, got {', '.join(sorted(labels))}")
    values: dict[tuple[Condition, str, str], dict[int, float]] = {}
    methods: dict[str, Method] = {}
    for study in studies:
        for method in study.methods:
            methods.setdefault(method.name, method)
        for trial in final_trials(study, records):
            metrics = records.metrics(trial) or {}
            for metric in study.metrics:
                value = metrics.get(metric, np.nan)  # estimators without probabilities lack some metrics
                if not np.isnan(value):
                    values.setdefault((trial.condition, trial.method, metric), {})[trial.seed] = value
    reference = find_reference(studies)
    places = dict.fromkeys(place for study in studies for place in product(study.conditions, study.metrics))
    return [
        result
        for condition, metric in places
        for result in _tested(
            [
                StudyResult(condition, method, metric, values[condition, name, metric])
                for name, method in methods.items()
                if (condition, name, metric) in values
            ],
            reference,
        )
    ]


def compare_with(result: StudyResult, base: StudyResult) -> PairedTest | None:
    """Test a result against another one in the same condition, over the masks or folds that both have."""
    common = sorted(set(result.values) & set(base.values))
    pairs = ([each.values[seed] for seed in common] for each in (result, base))
    ratio = fold_ratio(result.condition.data)
    return paired_t_test(*pairs, greater_is_better=greater_is_better(result.metric), test_train_ratio=ratio)


def _tested(row: list[StudyResult], reference: str | None) -> list[StudyResult]:
    """Test and mark the results of one metric in one condition."""
    base = next((result for result in row if result.method.name == reference), None)
    if base is None:
        return row
    tested, verdicts = [], []
    for result in row:
        test = None if result is base else compare_with(result, base)
        if test is not None and (result.method.published is None or result.method.published != base.method.published):
            verdicts.append(test.verdict)
        mark = {Verdict.BETTER: "bold", Verdict.NO_DIFFERENCE: "italic"}.get(test.verdict, "") if test else ""
        tested.append(replace(result, test=test, mark=mark))
    if verdicts and Verdict.BETTER not in verdicts:
        mark = "italic" if Verdict.NO_DIFFERENCE in verdicts else "bold"
        tested[row.index(base)] = replace(base, mark=mark)
    return tested


@dataclass(frozen=True)
class Agreement:
    """Agreement of a method with its published values: number of values, within two deviations, and better."""

    method: str
    published: str
    values: int
    within: int
    better: int
    outside: list[StudyResult]


def agreement(results: Sequence[StudyResult], deviations: float = 2.0) -> list[Agreement]:
    """Return the agreement of each method with the paper."""
    summary = []
    published = [result for result in results if result.published is not None]
    for name, compared in group_by(published, lambda result: result.method.name).items():
        outside = [result for result in compared if abs(result.deviation or 0.0) > deviations]
        better = sum(bool(result.better_than_published) for result in compared)
        counts = (len(compared), len(compared) - len(outside), better)
        summary.append(Agreement(name, compared[0].method.published or "", *counts, outside))
    return summary
