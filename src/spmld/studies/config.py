"""Studies: what is fitted on what, read from strict TOML files.

An unknown key, a missing one or a value of the wrong kind is an error that names the file and the key.
"""

from __future__ import annotations

import dataclasses
import json
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import resources
from itertools import product
from pathlib import Path
from typing import Any

from spmld.studies.strict import StudyError, Table, is_choices, is_metric, is_number, is_settings, is_text, is_whole

__all__ = ["CLEAN", "Corruption", "Method", "Study", "find_study", "load_study", "parse_study", "shipped_studies"]

REPORTS = ("tables", "radar", "surface")
JUDGED = ("test", "missing", "audit")
CORRUPTIONS = ("none", "permute", "swap", "drop", "flip")

Params = dict[str, Any]


@dataclass(frozen=True)
class Corruption:
    """Labels made wrong before some are hidden, see `spmld.labels.corrupt_labels`; "none" leaves them as they are.

    Examples
    --------
    >>> from spmld.studies import Corruption
    >>> print(Corruption("permute", 0.3))
    permute 30%
    """

    kind: str = "none"
    rate: float = 0.0

    def __str__(self) -> str:
        return "" if self.kind == "none" else f"{self.kind} {self.rate:.0%}"


CLEAN = Corruption()
"""Labels as they are."""


@dataclass(frozen=True)
class Method:
    """An estimator and how its parameters are found.

    Attributes
    ----------
    name : str
        Name in the tables.
    estimator : str
        Dotted path of a class or of a constructor of it, such as "spmld.SPMLD.paper".
    published : str or None
        The row of the paper's tables that it is set beside.
    fixed : dict
        Parameters set in every fit; "pacing__schedule__threshold" reaches into parts.
    search : dict of lists
        Choices for parameters of which the best combination on held-out labels is taken.
    sweep : dict of lists
        Choices for parameters of which every combination is judged on the test set, to draw a surface.
    oracle : bool
        Whether labels made wrong are hidden from it: an oracle, to show what is to be gained.

    Examples
    --------
    >>> from spmld.studies import Method
    >>> Method("logistic", "spmld.MaskedLogistic", search={"C": [0.3, 1.0, 3.0]}).search["C"]
    [0.3, 1.0, 3.0]
    """

    name: str
    estimator: str
    published: str | None = None
    fixed: Params = field(default_factory=dict)
    search: dict[str, list[Any]] = field(default_factory=dict)
    sweep: dict[str, list[Any]] = field(default_factory=dict)
    oracle: bool = False

    def settings(self) -> Iterator[Params]:
        """The combinations to choose from, in the order of the file; one empty one if there is no choice."""
        return _combinations(self.search)

    def sweeps(self) -> Iterator[Params]:
        """The combinations that are all judged; one empty one if there is no sweep."""
        return _combinations(self.sweep)


@dataclass(frozen=True)
class Study:
    """Data sets, rates, masks and methods.

    Attributes
    ----------
    name, title : str
        The name of the file, and what the study shows.
    report : {"tables", "radar", "surface"}
        What the report makes of it.
    data : tuple of str
        Names of data sets.
    observed : tuple of float
        Shares of the training labels that are observed.
    seeds : tuple of int
        One mask each.
    metrics : tuple of str
        Metrics to show. All are recorded, whatever stands here.
    methods : tuple of Method
        What to compare.
    corruption : tuple of Corruption
        What is done to the labels before some are hidden.
    standardize : tuple of str
        Data sets whose features every method gets on a common scale: samples of mean square norm 1, dense columns
        with mean 0 and equal variances. One list of penalties then suits all.
    evaluated_on : {"test", "missing", "audit"}
        What methods are judged on: the test set, the unobserved labels of the training set, or how well they find
        which of the observed ones are wrong.
    reference : str or None
        The method that the others are tested against.
    budget, folds, select_seed, select_by
        How parameters are chosen: the number of settings of every method that has any, folds of the training rows,
        the seed of mask and folds, which is not among `seeds`, and the metric.

    Examples
    --------
    >>> from spmld.studies import find_study, load_study
    >>> load_study(find_study("smoke")).data
    ('planted',)
    """

    name: str
    title: str
    report: str
    data: tuple[str, ...]
    observed: tuple[float, ...]
    seeds: tuple[int, ...]
    metrics: tuple[str, ...]
    methods: tuple[Method, ...]
    corruption: tuple[Corruption, ...] = (CLEAN,)
    standardize: tuple[str, ...] = ()
    evaluated_on: str = "test"
    reference: str | None = None
    budget: int = 1
    folds: int = 3
    select_seed: int = 1000
    select_by: str = "ranking_loss"

    def as_dict(self) -> dict[str, Any]:
        """What `parse_study` makes the same study of, ready for JSON."""
        found = dataclasses.asdict(
            self, dict_factory=lambda items: {k: v for k, v in items if v not in (None, {}, (), False)}
        )
        del found["name"]
        if self.evaluated_on == "test":
            del found["evaluated_on"]
        return json.loads(json.dumps(found))  # lists for tuples, as the file has them


def load_study(path: str | Path) -> Study:
    """Read a study from a TOML file.

    Examples
    --------
    >>> from spmld.studies import find_study, load_study
    >>> study = load_study(find_study("smoke"))
    >>> study.data, study.observed, [method.name for method in study.methods]
    (('planted',), (0.3, 0.7), ['GLOCAL', 'SPMLD'])
    """
    path = Path(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise StudyError(f"there is no study file {path}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise StudyError(f"{path} cannot be read as TOML: {error}") from error
    return parse_study(content, name=path.stem, source=path.name)


def shipped_studies() -> dict[str, Path]:
    """The studies that come with the package, by name.

    Examples
    --------
    >>> from spmld.studies import shipped_studies
    >>> "smoke" in shipped_studies()
    True
    """
    folder = Path(str(resources.files("spmld.studies") / "definitions"))
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def find_study(name: str) -> Path:
    """The file of a study: a name of one that comes with the package, or a path that ends in .toml.

    Examples
    --------
    >>> from spmld.studies import find_study
    >>> find_study("smoke").name
    'smoke.toml'
    """
    shipped = shipped_studies()
    if name in shipped:
        return shipped[name]
    if name.endswith(".toml"):
        return Path(name)
    raise StudyError(f"study must be one of {', '.join(shipped)}, or a path that ends in .toml, got {name!r}")


def parse_study(content: dict[str, Any], *, name: str, source: str) -> Study:
    """A study from the content of its file.

    Parameters
    ----------
    content : dict
        What the file says.
    name : str
        Name of the study.
    source : str
        Where it stands, for the errors.

    Examples
    --------
    >>> from spmld.studies import parse_study
    >>> parse_study({"titel": "A slip"}, name="slip", source="slip.toml")
    Traceback (most recent call last):
    spmld.studies.strict.StudyError: slip.toml: title is missing; it must be text
    """
    table = Table(content, source)
    study = Study(
        name=name,
        title=table.take("title", "text", is_text),
        report=table.take("report", f"one of {', '.join(REPORTS)}", lambda v: is_text(v) and v in REPORTS),
        data=table.several("data", "names of data sets", is_text),
        observed=table.several("observed", "shares in (0, 1]", lambda v: is_number(v) and 0 < v <= 1),
        seeds=table.several("seeds", "whole numbers of 0 or more", is_whole),
        metrics=table.several("metrics", "names of metrics", is_metric),
        methods=tuple(_method(part) for part in table.parts("methods")),
        corruption=tuple(_corruption(part) for part in table.parts("corruption", [{"kind": "none"}])),
        standardize=tuple(table.take("standardize", "a list of names of data sets", _are_names, [])),
        evaluated_on=table.take(
            "evaluated_on", f"one of {', '.join(JUDGED)}", lambda v: is_text(v) and v in JUDGED, "test"
        ),
        reference=table.take("reference", "the name of a method", is_text, None),
        budget=table.take("budget", "a whole number of 1 or more", lambda v: is_whole(v) and v >= 1, 1),
        folds=table.take("folds", "a whole number of 2 or more", lambda v: is_whole(v) and v >= 2, 3),
        select_seed=table.take("select_seed", "a whole number of 0 or more", is_whole, 1000),
        select_by=table.take("select_by", "the name of a metric", is_metric, "ranking_loss"),
    )
    table.finish()
    names = [method.name for method in study.methods]
    if len(set(names)) < len(names):
        raise StudyError(f"{source}: methods must have different names, got {', '.join(names)}")
    if len(set(study.corruption)) < len(study.corruption):
        raise StudyError(f"{source}: corruption must not repeat, got {', '.join(map(repr, study.corruption))}")
    if study.reference is not None and study.reference not in names:
        raise StudyError(f"{source}: reference must be one of {', '.join(names)}, got {study.reference!r}")
    beside = [method.name for method in study.methods if method.published is not None]
    if beside and study.evaluated_on != "test":
        raise StudyError(
            f"{source}: published must be left out unless evaluated_on is test, which is all that the paper reports, got "
            f"evaluated_on = {study.evaluated_on!r} with published of {', '.join(beside)}"
        )
    if study.select_seed in study.seeds:
        raise StudyError(f"{source}: select_seed must not be among seeds, got {study.select_seed}")
    if other := set(study.standardize) - set(study.data):
        raise StudyError(f"{source}: standardize must name data sets of the study, got {', '.join(sorted(other))}")
    for method in study.methods:
        count = len(list(method.settings()))
        if method.search and count != study.budget:
            raise StudyError(
                f"{source}: search of {method.name} must have as many settings as budget says for all, "
                f"{study.budget}, got {count}"
            )
    return study


def _method(table: Table) -> Method:
    dotted = "the dotted path of an estimator, such as spmld.SPMLD"
    method = Method(
        name=table.take("name", "text", is_text),
        estimator=table.take("estimator", dotted, lambda v: is_text(v) and "." in v),
        published=table.take("published", "the name of a row of the paper", is_text, None),
        fixed=table.take("fixed", "a table of plain values or lists of them", is_settings, {}),
        search=table.take("search", "a table of lists of plain values", is_choices, {}),
        sweep=table.take("sweep", "a table of lists of plain values", is_choices, {}),
        oracle=table.take("oracle", "true or false", lambda v: isinstance(v, bool), False),
    )
    table.finish()
    parameters = [*method.fixed, *method.search, *method.sweep]
    if twice := sorted({name for name in parameters if parameters.count(name) > 1}):
        raise StudyError(f"{table.source}: fixed, search and sweep of {method.name} share {', '.join(twice)}")
    return method


def _corruption(table: Table) -> Corruption:
    kind = table.take("kind", f"one of {', '.join(CORRUPTIONS)}", lambda v: is_text(v) and v in CORRUPTIONS)
    rate = table.take("rate", "a share from 0 to 1", lambda v: is_number(v) and 0 <= v <= 1, 0.0)
    table.finish()
    if (kind == "none") != (rate == 0):
        raise StudyError(f'{table.source}: rate must be above 0, or 0 with kind = "none", got {rate!r} with {kind!r}')
    return Corruption(kind, float(rate))


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(map(is_text, value))


def _combinations(choices: dict[str, list[Any]]) -> Iterator[Params]:
    return (dict(zip(choices, values, strict=True)) for values in product(*choices.values()))
