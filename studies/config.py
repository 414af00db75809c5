"""Studies: data sets, conditions and methods, as their TOML files define them."""

import dataclasses
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from studies.schema import (
    StudyError,
    accepts,
    are_choices,
    are_params,
    at_least,
    is_metric,
    is_number,
    is_text,
    many,
    one_of,
)

REPORTS = ("tables", "radar", "surface")
EVALUATED_ON = ("test", "missing", "audit")
CORRUPTIONS = ("none", "permute", "swap", "drop", "flip")
HIDING = ("stratified", "single_positive")

Params = dict[str, Any]


def _options(values: tuple[str, ...]) -> dict[str, Any]:
    return accepts(f"one of {', '.join(values)}", one_of(values))


_PARAMS = accepts("a table of plain values or lists of them", are_params)
_CHOICES = accepts("a table of lists of plain values", are_choices)
_NAMES = accepts("a list of distinct names of data sets", many(is_text))
_TABLES = accepts("a list of tables", lambda value: isinstance(value, list) and bool(value))


@dataclass(frozen=True)
class Corruption:
    """Corruption of the training labels before some of them are hidden, see `spmld.labels.corrupt_labels`.

    Examples
    --------
    >>> from studies.config import Corruption
    >>> print(Corruption("permute", 0.3))
    permute 30%
    """

    kind: str = field(default="none", metadata=_options(CORRUPTIONS))
    rate: float = field(default=0.0, metadata=accepts("a number in [0, 1]", lambda v: is_number(v, 0, 1)))

    def __post_init__(self) -> None:
        if (self.kind == "none") != (self.rate == 0):
            raise StudyError(f'rate must be above 0, or 0 with kind = "none", got {self.rate!r} with {self.kind!r}')

    def __str__(self) -> str:
        return "" if self.kind == "none" else f"{self.kind} {self.rate:.0%}"


CLEAN = Corruption()
"""No corruption."""


@dataclass(frozen=True)
class Condition:
    """Data set, observed fraction, corruption and kind of hiding on which methods are compared."""

    data: str
    observed: float
    corruption: Corruption = CLEAN
    hiding: str = "stratified"

    @property
    def labels(self) -> str:
        """Corruption of the labels; "missing" or "complete" if there is none."""
        return str(self.corruption) or ("complete" if self.observed_text == "100%" else "missing")

    @property
    def observed_text(self) -> str:
        """Observed labels in words: a percentage, or "one positive" of each sample."""
        return "one positive" if self.hiding == "single_positive" else f"{self.observed:.0%}"

    def to_dict(self) -> dict[str, str | float]:
        """Return the condition in plain types."""
        return {"data": self.data, "observed": self.observed, "labels": self.labels}

    def __str__(self) -> str:
        return f"{self.data}, {self.observed_text} observed, {self.corruption}".rstrip(", ")


@dataclass(frozen=True)
class Method:
    """Method of a study: an estimator and its parameters.

    Attributes
    ----------
    name, estimator : str
        Name in the tables, and dotted path of a class or of a constructor, such as "spmld.SPMLD.paper".
    published : str or None
        Method of the paper whose published values are shown for comparison.
    fixed : dict
        Parameters of every fit. "pacing__schedule__threshold" sets a nested parameter.
    search : dict of lists
        Values of parameters whose best combination on held-out labels is selected.
    sweep : dict of lists
        Values of parameters whose combinations are all evaluated on the test set, for a surface.
    oracle : bool
        Whether the method is fitted without the corrupted entries; with all true labels where the training labels are
        candidate labels or single positives.
    trusted : int
        Number of training samples, drawn at random, whose labels are verified: replaced by the true labels, and
        passed to ``fit`` as ``trusted`` if the estimator accepts it.

    Examples
    --------
    >>> from studies.config import Method
    >>> Method("logistic", "spmld.MaskedLogistic", search={"C": [0.3, 1.0, 3.0]}).search["C"]
    [0.3, 1.0, 3.0]
    """

    name: str = field(metadata=accepts("text", is_text))
    estimator: str = field(
        metadata=accepts("the dotted path of an estimator, such as spmld.SPMLD", lambda v: is_text(v) and "." in v)
    )
    published: str | None = field(default=None, metadata=accepts("the name of a method of the paper", is_text))
    fixed: Params = field(default_factory=dict, metadata=_PARAMS)
    search: dict[str, list[Any]] = field(default_factory=dict, metadata=_CHOICES)
    sweep: dict[str, list[Any]] = field(default_factory=dict, metadata=_CHOICES)
    oracle: bool = field(default=False, metadata=accepts("true or false", lambda v: isinstance(v, bool)))
    trusted: int = field(default=0, metadata=accepts("an integer of at least 0", at_least(0)))

    def __post_init__(self) -> None:
        names = [*self.fixed, *self.search, *self.sweep]
        if repeated := sorted({name for name in names if names.count(name) > 1}):
            raise StudyError(f"fixed, search and sweep must not share parameters, got {', '.join(repeated)} repeated")

    def settings(self) -> Iterator[Params]:
        """Yield the combinations of `search` in the order of the file; one empty combination if there is no search."""
        return _combinations(self.search)

    def sweeps(self) -> Iterator[Params]:
        """Yield the combinations of `sweep`; one empty combination if there is no sweep."""
        return _combinations(self.sweep)


@dataclass(frozen=True)
class Study:
    """Definition of a study: data sets, observed fractions, masks and methods.

    Attributes
    ----------
    title, name : str
        Subject of the study, and name of its file.
    report : {"tables", "radar", "surface"}
        Kind of report.
    data : tuple of str
        Names of data sets.
    observed : tuple of float
        Observed fractions of the training labels.
    seeds : tuple of int
        Seeds of the masks; numbers of the test folds for data sets with candidate labels.
    metrics : tuple of str
        Metrics to show. All metrics are recorded.
    methods : tuple of Method
        Methods to compare.
    corruption : tuple of Corruption
        Corruptions of the training labels.
    hiding : {"stratified", "single_positive"}
        Which labels are hidden, see `spmld.labels.hide_labels`. With "single_positive", `observed` must be 1, and
        missing labels of held-out samples count as negative in the parameter search.
    standardize : tuple of str
        Data sets whose features are scaled for every method: samples of mean square norm 1, dense columns with mean 0
        and equal variances.
    evaluated_on : {"test", "missing", "audit"}
        Evaluation on the labels of the test set, on the missing labels of the training set, or by the detection of
        the corrupted labels of the training set.
    reference : str or None
        Method that the others are tested against.
    budget, folds, select_seed, select_by
        Parameter search: number of settings of every method with a search, number of folds of the training samples,
        seed for the mask and the folds, which is not one of `seeds`, and metric.

    Examples
    --------
    >>> from studies.loading import find_study, load_study
    >>> load_study(find_study("smoke")).data
    ('planted',)
    """

    title: str = field(metadata=accepts("text", is_text))
    report: str = field(metadata=_options(REPORTS))
    data: tuple[str, ...] = field(metadata=_NAMES)
    observed: tuple[float, ...] = field(
        metadata=accepts("a list of distinct fractions in (0, 1]", many(lambda v: is_number(v, 0, 1) and v > 0))
    )
    seeds: tuple[int, ...] = field(metadata=accepts("a list of distinct integers of at least 0", many(at_least(0))))
    metrics: tuple[str, ...] = field(metadata=accepts("a list of distinct names of metrics", many(is_metric)))
    methods: tuple[Method, ...] = field(metadata=_TABLES)
    name: str = ""
    corruption: tuple[Corruption, ...] = field(default=(CLEAN,), metadata=_TABLES)
    hiding: str = field(default="stratified", metadata=_options(HIDING))
    standardize: tuple[str, ...] = field(default=(), metadata=_NAMES)
    evaluated_on: str = field(default="test", metadata=_options(EVALUATED_ON))
    reference: str | None = field(default=None, metadata=accepts("the name of a method", is_text))
    budget: int = field(default=1, metadata=accepts("an integer of at least 1", at_least(1)))
    folds: int = field(default=3, metadata=accepts("an integer of at least 2", at_least(2)))
    select_seed: int = field(default=1000, metadata=accepts("an integer of at least 0", at_least(0)))
    select_by: str = field(default="ranking_loss", metadata=accepts("the name of a metric", is_metric))

    def __post_init__(self) -> None:
        names = [method.name for method in self.methods]
        if len(set(names)) < len(names):
            raise StudyError(f"methods must have distinct names, got {', '.join(names)}")
        if len(set(self.corruption)) < len(self.corruption):
            raise StudyError(f"corruption must not have repeated tables, got {', '.join(map(repr, self.corruption))}")
        if self.reference is not None and self.reference not in names:
            raise StudyError(f"reference must be one of {', '.join(names)}, got {self.reference!r}")
        if self.evaluated_on != "test" and any(method.published is not None for method in self.methods):
            raise StudyError(
                "published must not be used unless evaluated_on is 'test', as in the paper, "
                f"got evaluated_on = {self.evaluated_on!r}"
            )
        if self.hiding == "single_positive" and self.observed != (1.0,):
            raise StudyError(f'observed must be [1.0] with hiding = "single_positive", got {list(self.observed)}')
        if self.select_seed in self.seeds:
            raise StudyError(f"select_seed must not be one of seeds, got {self.select_seed}")
        if unknown := sorted(set(self.standardize) - set(self.data)):
            raise StudyError(f"standardize must name data sets of the study, got {', '.join(unknown)}")
        for method in self.methods:
            count = len(list(method.settings()))
            if method.search and count != self.budget:
                raise StudyError(
                    f"search of {method.name} must have {self.budget} settings, the budget of every method, got {count}"
                )

    @property
    def conditions(self) -> list[Condition]:
        """Conditions on which the methods are compared."""
        return [Condition(*values, hiding=self.hiding) for values in product(self.data, self.observed, self.corruption)]

    def as_dict(self) -> dict[str, Any]:
        """Return the content of the TOML file of the study, without defaults, in plain types."""
        content = dataclasses.asdict(
            self, dict_factory=lambda items: {k: v for k, v in items if v not in (None, {}, (), False)}
        )
        del content["name"]
        for name, default in (("evaluated_on", "test"), ("hiding", "stratified")):
            if content[name] == default:
                del content[name]
        return json.loads(json.dumps(content))  # lists instead of tuples


def _combinations(choices: dict[str, list[Any]]) -> Iterator[Params]:
    return (dict(zip(choices, values, strict=True)) for values in product(*choices.values()))
