"""Validation of the tables of a TOML file against the fields of a dataclass.

scikit-learn's parameter constraints accept True as a number and have no lists of values, and pydantic or jsonschema
would be dependencies for this purpose alone.
"""

import math
from collections.abc import Callable, Collection
from dataclasses import MISSING, fields
from typing import Any

from spmld.metrics import get_metric


class StudyError(ValueError):
    """Error in the definition of a study.

    Examples
    --------
    >>> from studies.loading import find_study
    >>> find_study("smoke.json")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    studies.schema.StudyError: study must be one of ..., got 'smoke.json'
    """


def accepts(description: str, check: Callable[[Any], bool]) -> dict[str, Any]:
    """Return the metadata of a dataclass field that is read from the file: accepted values in words, and their test."""
    return {"accepted": description, "check": check}


def check_table(cls: type, content: Any, source: str) -> dict[str, Any]:
    """Validate a table, and return its values for the constructor of a dataclass, with tuples instead of lists.

    Parameters
    ----------
    cls : type
        Dataclass whose fields have the metadata of `accepts`.
    content : dict
        Table.
    source : str
        Place of the table, for error messages.

    Examples
    --------
    >>> from studies.config import Corruption
    >>> from studies.schema import check_table
    >>> check_table(Corruption, {"kind": "flip", "rate": 2}, "study.toml")
    Traceback (most recent call last):
    studies.schema.StudyError: study.toml: rate must be a number in [0, 1], got 2
    """
    if not isinstance(content, dict):
        raise StudyError(f"{source} must be a table, got {content!r}")
    known = {item.name: item for item in fields(cls) if item.metadata}
    if unknown := sorted(set(content) - set(known)):
        raise StudyError(f"{source}: unknown key {', '.join(unknown)}; accepted keys are {', '.join(known)}")
    for name, item in known.items():
        accepted = item.metadata["accepted"]
        if name not in content:
            if item.default is MISSING and item.default_factory is MISSING:
                raise StudyError(f"{source}: {name} is missing; it must be {accepted}")
        elif not item.metadata["check"](content[name]):
            raise StudyError(f"{source}: {name} must be {accepted}, got {content[name]!r}")
    return {name: tuple(value) if isinstance(value, list) else value for name, value in content.items()}


def is_text(value: Any) -> bool:
    """Return whether a value is text that is not empty."""
    return isinstance(value, str) and bool(value)


def one_of(options: Collection[str]) -> Callable[[Any], bool]:
    """Return a test for some strings."""
    return lambda value: isinstance(value, str) and value in options


def is_number(value: Any, low: float = -math.inf, high: float = math.inf) -> bool:
    """Return whether a value is a finite number between two bounds."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isfinite(value) and low <= value <= high


def at_least(minimum: int) -> Callable[[Any], bool]:
    """Return a test for integers."""
    return lambda value: isinstance(value, int) and is_number(value, minimum)


def many(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Return a test for lists of distinct values, at least one."""
    return lambda value: (
        isinstance(value, list) and bool(value) and all(map(check, value)) and len(set(value)) == len(value)
    )


def is_metric(value: Any) -> bool:
    """Return whether every trial records a metric: k is 1, 3 or 5, and metrics with propensities are not recorded."""
    try:
        metric, options = get_metric(value)
    except ValueError:
        return False
    return "propensities" not in metric.options and ("k" not in metric.options or options.get("k") in (1, 3, 5))


def is_plain(value: Any) -> bool:
    """Return whether a value is a string, a finite number or a bool."""
    return isinstance(value, bool | str) or is_number(value)


def are_params(value: Any) -> bool:
    """Return whether a value is a table of plain values or lists of them."""
    return isinstance(value, dict) and all(
        is_plain(entry) or (isinstance(entry, list) and all(map(is_plain, entry))) for entry in value.values()
    )


def are_choices(value: Any) -> bool:
    """Return whether a value is a table of lists of plain values, none of them empty."""
    return isinstance(value, dict) and all(
        isinstance(choices, list) and choices and all(map(is_plain, choices)) for choices in value.values()
    )
