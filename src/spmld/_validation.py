"""Validation of parameters by scikit-learn's constraints.

Estimators declare the accepted values in ``_parameter_constraints`` and call ``self._validate_params()``; functions
use `validate_params`. Only this module imports the constraints from scikit-learn.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import HasMethods, Interval, Options, StrOptions, validate_params

__all__ = [
    "FRACTION",
    "NON_NEGATIVE",
    "NON_NEGATIVE_INT",
    "POSITIVE",
    "POSITIVE_INT",
    "HasMethods",
    "Interval",
    "Options",
    "StrOptions",
    "check_scalar_integer",
    "validate_params",
]

POSITIVE = Interval(Real, 0, None, closed="neither")
NON_NEGATIVE = Interval(Real, 0, None, closed="left")
POSITIVE_INT = Interval(Integral, 1, None, closed="left")
NON_NEGATIVE_INT = Interval(Integral, 0, None, closed="left")
FRACTION = Interval(Real, 0, 1, closed="right")


def check_scalar_integer(name: str, value: Any, *, minimum: int) -> int:
    """Return `value` as an int, or raise ValueError if it is not an integer of at least `minimum`.

    Examples
    --------
    >>> from spmld._validation import check_scalar_integer
    >>> check_scalar_integer("n_splits", 3, minimum=2)
    3
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < minimum:
        raise ValueError(f"{name} must be an integer of at least {minimum}, got {value!r}")
    return int(value)
