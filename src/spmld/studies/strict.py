"""Reading tables of TOML files strictly: every key is known, there, and of the right kind."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from spmld.metrics import get_metric

__all__ = ["StudyError", "Table", "is_choices", "is_metric", "is_number", "is_settings", "is_text", "is_whole"]


class StudyError(ValueError):
    """A study that cannot be run as it is written.

    Examples
    --------
    >>> from spmld.studies import find_study
    >>> find_study("smoke.json")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    spmld.studies.strict.StudyError: study must be one of ..., got 'smoke.json'
    """


class Table:
    """A table of a TOML file, of which every key is taken exactly once.

    Parameters
    ----------
    content : dict
        The table.
    source : str
        Where it stands, for the errors.

    Examples
    --------
    >>> from spmld.studies.strict import Table, is_whole
    >>> table = Table({"folds": 3, "fold": 4}, "study.toml")
    >>> table.take("folds", "a whole number", is_whole)
    3
    >>> table.finish()
    Traceback (most recent call last):
    spmld.studies.strict.StudyError: study.toml: unknown key fold; accepted are folds
    """

    _REQUIRED = object()

    def __init__(self, content: Any, source: str) -> None:
        if not isinstance(content, dict):
            raise StudyError(f"{source} must be a table, got {content!r}")
        self.left = dict(content)
        self.source = source
        self.known: list[str] = []

    def take(self, key: str, accepted: str, fits: Callable[[Any], bool], default: Any = _REQUIRED) -> Any:
        """The value of a key, which must fit; a key without default must be there."""
        self.known.append(key)
        if key not in self.left:
            if default is self._REQUIRED:
                raise StudyError(f"{self.source}: {key} is missing; it must be {accepted}")
            return default
        value = self.left.pop(key)
        if not fits(value):
            raise StudyError(f"{self.source}: {key} must be {accepted}, got {value!r}")
        return value

    def several(self, key: str, accepted: str, fits: Callable[[Any], bool]) -> tuple[Any, ...]:
        """The values of a key, all different."""

        def all_fit(values: Any) -> bool:
            good = isinstance(values, list) and values and all(map(fits, values))
            return bool(good) and len(set(values)) == len(values)

        return tuple(self.take(key, f"a list of different {accepted}", all_fit))

    def parts(self, key: str, default: Any = _REQUIRED) -> list[Table]:
        """The tables of a key."""
        values = self.take(key, "a list of tables", lambda v: isinstance(v, list) and len(v) > 0, default)
        return [Table(value, f"{self.source}: {key} {number}") for number, value in enumerate(values, 1)]

    def finish(self) -> None:
        """Refuse keys that nobody took."""
        if self.left:
            raise StudyError(
                f"{self.source}: unknown key {', '.join(sorted(self.left))}; accepted are {', '.join(self.known)}"
            )


def is_text(value: Any) -> bool:
    """Text that is not empty."""
    return isinstance(value, str) and bool(value)


def is_number(value: Any) -> bool:
    """A finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def is_whole(value: Any) -> bool:
    """A whole number of 0 or more."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def is_metric(value: Any) -> bool:
    """The name of a metric that every trial records: those at k for the k of `evaluate`, none with propensities."""
    try:
        metric, options = get_metric(value)
    except ValueError:
        return False
    return "propensities" not in metric.options and ("k" not in metric.options or options.get("k") in (1, 3, 5))


def _is_plain(value: Any) -> bool:
    return isinstance(value, bool | str) or is_number(value)


def is_settings(value: Any) -> bool:
    """A table of plain values or lists of them."""
    return isinstance(value, dict) and all(
        _is_plain(each) or (isinstance(each, list) and all(map(_is_plain, each))) for each in value.values()
    )


def is_choices(value: Any) -> bool:
    """A table of lists of plain values, none of them empty."""
    return isinstance(value, dict) and all(
        isinstance(choices, list) and choices and all(map(_is_plain, choices)) for choices in value.values()
    )
