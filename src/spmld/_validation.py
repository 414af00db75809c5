"""Validation of parameters by scikit-learn's constraints.

Estimators declare their parameters as fields of a dataclass, whose types are the accepted values, and call
``self._validate_params()``; functions use `validate_params`. Only this module imports the constraints from
scikit-learn.
"""

import difflib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import fields, is_dataclass
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, Self, Union, get_args, get_origin

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils import _param_validation
from sklearn.utils import indexable as make_indexable
from sklearn.utils._param_validation import Interval as Interval
from sklearn.utils._param_validation import RealNotInt as RealNotInt
from sklearn.utils._param_validation import StrOptions as StrOptions
from sklearn.utils._param_validation import validate_params as validate_params

from spmld._arrays import check_masked, check_sparse


class HasMethods(_param_validation.HasMethods):
    """Constraint for objects with given methods; unlike scikit-learn's, it does not accept classes."""

    def is_satisfied_by(self, val: Any) -> bool:
        """Return whether `val` is accepted."""
        return not isinstance(val, type) and bool(super().is_satisfied_by(val))


class _Count(Interval):
    """Constraint for an interval of integers; unlike scikit-learn's, it does not accept True and False."""

    def is_satisfied_by(self, val: Any) -> bool:
        """Return whether `val` is accepted."""
        return not isinstance(val, bool) and bool(super().is_satisfied_by(val))


POSITIVE = Interval(Real, 0, None, closed="neither")
NON_NEGATIVE = Interval(Real, 0, None, closed="left")
POSITIVE_INT = _Count(Integral, 1, None, closed="left")
NON_NEGATIVE_INT = _Count(Integral, 0, None, closed="left")
FRACTION = Interval(Real, 0, 1, closed="right")
UNIT_INTERVAL = Interval(Real, 0, 1, closed="both")
RATE = Interval(Real, 0, 1, closed="left")
Positive = Annotated[float, POSITIVE]
NonNegative = Annotated[float, NON_NEGATIVE]
PositiveInt = Annotated[int, POSITIVE_INT]
NonNegativeInt = Annotated[int, NON_NEGATIVE_INT]
Fraction = Annotated[float, FRACTION]
FloatFraction = Annotated[float, Interval(RealNotInt, 0, 1, closed="right")]
"""A fraction in (0, 1]; integers are counts."""
UnitInterval = Annotated[float, UNIT_INTERVAL]
Rate = Annotated[float, RATE]
RandomState = Annotated[Any, "random_state"]

MAX_SEED = 2**31 - 1
"""Upper limit of the random seeds."""

SMALLEST_PARAMETER = 1e-100
LARGEST_PARAMETER = 1e100
"""Range of the absolute values of parameters other than 0, whose squares and inverses must not overflow."""

_CONSTRAINTS: dict[Any, list[Any]] = {
    NoneType: [None],
    bool: ["boolean"],
    int: [Integral],
    float: [Real],
    Callable: [callable],
    Sequence: [list, tuple, np.ndarray],
}


def accepted_values(hint: Any) -> list[Any]:
    """Return scikit-learn's constraints for the values of a type. Annotated types name them.

    Examples
    --------
    >>> from spmld._validation import Positive, accepted_values
    >>> [str(constraint) for constraint in accepted_values(Positive | None)]
    ['a float in the range (0.0, inf)', 'None']
    """
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return [constraint for part in parts for constraint in accepted_values(part)]
    if origin is Annotated:
        return list(hint.__metadata__)
    if origin is Literal:
        return [StrOptions(set(parts))]
    return _CONSTRAINTS.get(origin or hint, [origin or hint])


def parameter_constraints(estimator: type) -> dict[str, list[Any]]:
    """Return the constraints of the parameters of an estimator that is a dataclass.

    Fields of type Any have none, nor have those whose types are written as strings.
    """
    parameters = fields(estimator) if is_dataclass(estimator) else ()
    types = {parameter.name: parameter.type for parameter in parameters}
    return {
        name: accepted_values(hint) for name, hint in types.items() if hint is not Any and not isinstance(hint, str)
    }


class Validated(BaseEstimator):
    """Base class of estimators whose parameters are validated by the types of the fields of a dataclass.

    Subclasses can declare other constraints in ``_parameter_constraints``, as in scikit-learn, or check parameters in
    `_check_parameters`. Parameters of this class are validated, too.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {}

    def _validate_params(self) -> None:
        constraints = {**parameter_constraints(type(self)), **self._parameter_constraints}
        name = type(self).__name__
        params = self.get_params(deep=False)
        _param_validation.validate_parameter_constraints(constraints, params, name)
        for key, value in params.items():
            if isinstance(value, Integral) and abs(int(value)) > np.iinfo(np.int64).max:
                raise ValueError(f"{key} must be an integer of at most 64 bits, got {value}")
            size = abs(float(value)) if isinstance(value, Real) else 0.0
            if 0 < size < SMALLEST_PARAMETER or LARGEST_PARAMETER < size < np.inf:
                accepted = f"{SMALLEST_PARAMETER:g} and {LARGEST_PARAMETER:g}"
                raise ValueError(f"{key} must have a size between {accepted}, got {value}")
            if isinstance(value, Validated):
                value._validate_params()
        self._check_parameters()

    def _check_parameters(self) -> None:
        """Raise ValueError for parameters that constraints cannot describe."""

    @contextmanager
    def _new_state(self, keep_fitted: bool = False) -> Iterator[Self]:
        """Yield a copy to change, by default without fitted attributes, whose state replaces that of the estimator.

        If an error is raised, or the block is interrupted, the estimator does not change.
        """
        changed = copy(self)
        if not keep_fitted:
            fitted = [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]
            for name in fitted:
                delattr(changed, name)
        yield changed
        self.__dict__ = changed.__dict__


def indexable(*arrays: Any) -> list[Any]:
    """Return arrays whose rows can be selected, as scikit-learn's `indexable`; sparse matrices are checked.

    The first array has the features, which must not be masked.

    Examples
    --------
    >>> from spmld._validation import indexable
    >>> indexable([[1], [2]], None)
    [[[1], [2]], None]
    """
    check_masked(arrays[0])
    for array in arrays:
        if sp.issparse(array):
            check_sparse(array)
    return make_indexable(*arrays)


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


def check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    """Raise ValueError if a value is not one of the choices."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, got {value!r}")


def closest(name: Any, choices: Iterable[Any]) -> str | None:
    """Return the closest of the choices, without regard to case; None if none is close.

    Examples
    --------
    >>> from spmld._validation import closest
    >>> closest("rating", ["Rating ", "tempo"]), closest("x", ["coverage"])
    ('Rating ', None)
    """
    by_lower = {str(choice).lower(): str(choice) for choice in choices}
    matches = difflib.get_close_matches(str(name).lower(), by_lower, n=1)
    return by_lower[matches[0]] if matches else None


def did_you_mean(name: Any, choices: Iterable[Any]) -> str:
    """Return the question ``; did you mean '...'?`` for the closest of the choices; empty text if none is close.

    Examples
    --------
    >>> from spmld._validation import did_you_mean
    >>> did_you_mean("macro_fl", ["macro_f1", "micro_f1", "coverage"]), did_you_mean("x", ["coverage"])
    ("; did you mean 'macro_f1'?", '')
    """
    choice = closest(name, choices)
    return "" if choice is None else f"; did you mean {choice!r}?"


def list_names(names: Iterable[Any]) -> str:
    """Return the first five names as text.

    Examples
    --------
    >>> from spmld._validation import list_names
    >>> list_names("abcdef")
    'a, b, c, d, e, ...'
    """
    texts = [str(name) for name in names]
    return ", ".join(texts[:5]) + (", ..." if len(texts) > 5 else "")


def plural(count: int, noun: str) -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> from spmld._validation import plural
    >>> plural(1, "column"), plural(3, "column"), plural(0, "entry")
    ('1 column', '3 columns', '0 entries')
    """
    return f"{count} {noun if count == 1 else re.sub('(?<![aeiou])y$', 'ie', noun) + 's'}"


def check_same_samples(n_samples: int, n_rows: int, name: str = "Y") -> None:
    """Raise ValueError unless an argument has one row for each sample of X.

    Examples
    --------
    >>> from spmld._validation import check_same_samples
    >>> check_same_samples(3, 2)
    Traceback (most recent call last):
    ValueError: X and Y must have the same number of samples, got inconsistent numbers: 3 and 2
    """
    if n_rows != n_samples:
        raise ValueError(
            f"X and {name} must have the same number of samples, got inconsistent numbers: {n_samples} and {n_rows}"
        )


def is_number(value: Any) -> bool:
    """Return whether a value is a finite number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
