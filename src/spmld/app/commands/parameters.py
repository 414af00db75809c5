"""Values of options as text: parameters of methods, numbers and JSON."""

import json
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from spmld._io import shorten

MAX_DEPTH = 20
"""Largest depth of lists and objects in a parameter, which estimators copy and print by recursion."""
_PARAM = "KEY=VALUE, such as C=0.1"
_CONSTANTS = {"true": True, "false": False, "none": None}


def parse_params(texts: Sequence[str]) -> dict[str, Any]:
    """Parse parameters of the form ``key=value``.

    Examples
    --------
    >>> from spmld.app.commands.parameters import parse_params
    >>> parse_params(["C=0.1", "loss=squared", "fit_intercept=false", "tol=none"])
    {'C': 0.1, 'loss': 'squared', 'fit_intercept': False, 'tol': None}
    """
    params: dict[str, Any] = {}
    for text in texts:
        key, value = split_option(text, "--param", _PARAM)
        if key in params:
            raise ValueError(f"--param {key} must be passed only once, got two values")
        params[key] = parse_value(value)
    return params


def parse_value(text: str) -> Any:
    """Parse a number, true, false, none or JSON; return any other text unchanged.

    Examples
    --------
    >>> from spmld.app.commands.parameters import parse_value
    >>> parse_value("1e-3"), parse_value("None"), parse_value("squared")
    (0.001, None, 'squared')
    """
    if text.lower() in _CONSTANTS:
        return _CONSTANTS[text.lower()]
    for parse in (_parse_json, float):  # JSON does not support numbers such as .5
        try:
            return parse(text)
        except RecursionError:
            raise ValueError(f"JSON is nested too deeply: {shorten(text, 80)}") from None
        except ValueError:
            continue
    return text


def _parse_json(text: str) -> Any:
    """Return the value of JSON; raise RecursionError if lists and objects are nested deeper than `MAX_DEPTH`."""
    depths = accumulate((sign in "[{") - (sign in "]}") for sign in text)
    if max(depths, default=0) > MAX_DEPTH:
        raise RecursionError
    return json.loads(text)


def split_option(text: str, option: str, form: str) -> tuple[str, str]:
    """Return the key and the value of an option of the form ``key=value``."""
    key, equals, values = (part.strip() for part in text.partition("="))
    if not key or not equals or (not values and form != _PARAM):
        raise ValueError(f"{option} must have the form {form}, got {text!r}")
    return key, values
