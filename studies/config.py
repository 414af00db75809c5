"""Studies: data sets, conditions and methods, as the TOML files of ``definitions/`` define them."""

import dataclasses
import json
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from spmld.metrics.registry import METRICS, names_at_k

Params = dict[str, Any]


class StudyError(ValueError):
    """Error in the definition of a study, or in a question about it."""


def _check_option(name: str, value: str, *options: str) -> None:
    if value not in options:
        raise StudyError(f"{name} must be one of {', '.join(options)}, got {value!r}")


@dataclass(frozen=True)
class Corruption:
    """Corruption of the training labels before some of them are hidden, see `spmld.labels.corrupt_labels`.

    Examples
    --------
    >>> from studies.config import Corruption
    >>> print(Corruption("permute", 0.3))
    permute 30%
    """

    kind: str = "none"
    rate: float = 0.0

    def __post_init__(self) -> None:
        _check_option("kind", self.kind, "none", "permute", "swap", "drop", "flip")
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
        passed to ``fit`` as ``trusted`` if the estimator uses it.
    """

    name: str
    estimator: str
    published: str | None = None
    fixed: Params = field(default_factory=dict)
    search: dict[str, list[Any]] = field(default_factory=dict)
    sweep: dict[str, list[Any]] = field(default_factory=dict)
    oracle: bool = False
    trusted: int = 0

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
    """

    title: str
    report: str
    data: tuple[str, ...]
    observed: tuple[float, ...]
    seeds: tuple[int, ...]
    metrics: tuple[str, ...]
    methods: tuple[Method, ...]
    name: str = ""
    corruption: tuple[Corruption, ...] = (CLEAN,)
    hiding: str = "stratified"
    standardize: tuple[str, ...] = ()
    evaluated_on: str = "test"
    reference: str | None = None
    budget: int = 1
    folds: int = 3
    select_seed: int = 1000
    select_by: str = "ranking_loss"

    def __post_init__(self) -> None:
        _check_option("report", self.report, "tables", "radar", "surface")
        _check_option("hiding", self.hiding, "stratified", "single_positive")
        _check_option("evaluated_on", self.evaluated_on, "test", "missing", "audit")
        names = [method.name for method in self.methods]
        if len(set(names)) < len(names):
            raise StudyError(f"methods must have distinct names, got {', '.join(names)}")
        if self.reference is not None:
            _check_option("reference", self.reference, *names)
        if unknown := [name for name in (*self.metrics, self.select_by) if not is_metric(name)]:
            raise StudyError(f"metrics and select_by must be names of recorded metrics, got {', '.join(unknown)}")
        if self.hiding == "single_positive" and self.observed != (1.0,):
            raise StudyError(f'observed must be [1.0] with hiding = "single_positive", got {list(self.observed)}')
        if self.select_seed in self.seeds:
            raise StudyError(f"select_seed must not be one of seeds, got {self.select_seed}")
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


def is_metric(name: str) -> bool:
    """Return whether every trial records a metric; k is 1, 3 or 5."""
    return any(name in names_at_k(metric) for metric in METRICS)


def list_studies() -> dict[str, Path]:
    """Return the files of ``definitions/`` by the names of their studies."""
    return {path.stem: path for path in sorted(Path(__file__).with_name("definitions").glob("*.toml"))}


def load_study(name: str | Path) -> Study:
    """Read a study: one of ``definitions/`` by its name, or any TOML file by its path.

    Examples
    --------
    >>> from studies.config import load_study
    >>> study = load_study("smoke")
    >>> study.data, study.observed, [method.name for method in study.methods]
    (('planted',), (0.3, 0.7), ['GLOCAL', 'SPMLD'])
    """
    known = list_studies()
    path = known.get(str(name), Path(name))
    if path.suffix != ".toml" or not path.is_file():
        raise StudyError(f"study must be one of {', '.join(known)}, or an existing .toml file, got {str(name)!r}")
    try:
        return parse_study(tomllib.loads(path.read_text(encoding="utf-8")), path.stem)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise StudyError(f"{path} cannot be read as TOML: {error}") from error


def parse_study(content: dict[str, Any], name: str) -> Study:
    """Return the study that the content of a TOML file defines."""
    try:
        values: Params = {key: tuple(value) if isinstance(value, list) else value for key, value in content.items()}
        values["methods"] = tuple(Method(**table) for table in content["methods"])
        values["corruption"] = tuple(Corruption(**table) for table in content.get("corruption", [{}]))
        return Study(**values, name=name)
    except (StudyError, KeyError, TypeError) as error:  # a TypeError names missing and unknown keys
        raise StudyError(f"study {name}: {error}") from None


def _combinations(choices: dict[str, list[Any]]) -> Iterator[Params]:
    return (dict(zip(choices, values, strict=True)) for values in product(*choices.values()))
