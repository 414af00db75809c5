"""Search spaces from ``--choices`` and ``--range``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from spmld.cli.methods import SPACES, parse_value

_CHOICES = "KEY=A,B,C, such as n_components=5,10,20"
_RANGE = "KEY=LOW:HIGH or KEY=LOW:HIGH:log, such as C=0.01:100:log"


def parse_space(method: str, choices: Sequence[str], ranges: Sequence[str]) -> dict[str, Any]:
    """Return the search space of `spmld.model_selection.tune`; the default space of the method if there are no options.

    Examples
    --------
    >>> from spmld.cli.search_space import parse_space
    >>> parse_space("SPMLD", ["n_components=5,10"], ["ridge=0.01:1:log"])
    {'n_components': [5, 10], 'ridge': (0.01, 1, 'log')}
    """
    space: dict[str, Any] = {}
    for text in choices:
        key, values = _split(text, "--choices", _CHOICES)
        space[key] = [parse_value(value.strip()) for value in values.split(",")]
    for text in ranges:
        key, values = _split(text, "--range", _RANGE)
        low, high, *scale = [parse_value(value) for value in values.split(":")] + [None] * (":" not in values)
        if not (_is_number(low) and _is_number(high) and scale in ([], ["log"])):
            raise ValueError(f"--range must be {_RANGE}, got {text!r}")
        space[key] = (low, high, *scale)
    space = space or SPACES.get(method, {})
    if not space:
        raise ValueError(f"{method} has no default search space; pass --choices or --range")
    return space


def _split(text: str, option: str, form: str) -> tuple[str, str]:
    key, _, values = (part.strip() for part in text.partition("="))
    if not key or not values:
        raise ValueError(f"{option} must be {form}, got {text!r}")
    return key, values


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
