"""The state of a model: removing tensors and callbacks before writing, validating arrays after reading."""

import copy
import gc
from collections.abc import Callable, Iterator
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.interpolate import BSpline
from sklearn.base import BaseEstimator

from spmld._arrays import to_numpy

_CODE = (type, ModuleType, FunctionType, BuiltinFunctionType)


def without_tensors(model: Any) -> Any:
    """Return a copy of a model with NumPy arrays instead of torch tensors, or the model if it has no tensors.

    Examples
    --------
    >>> from spmld import LabelPrior
    >>> from spmld.persistence.state import without_tensors
    >>> model = LabelPrior().fit([[0], [1]], [[1, 0], [0, 1]])
    >>> without_tensors(model) is model
    True
    """
    return _replace(model, lambda part: to_numpy(part) if hasattr(part, "detach") else part)


def without_callbacks(model: Any) -> Any:
    """Return a copy of a model without its callbacks and those of its parts, or the model if it has no callbacks.

    Examples
    --------
    >>> from spmld import GLOCAL, SelfPacedClassifier
    >>> from spmld.persistence.state import without_callbacks
    >>> without_callbacks(SelfPacedClassifier(GLOCAL(callback=print))).estimator.callback is None
    True
    """

    def remove(part: Any) -> Any:
        if not isinstance(part, BaseEstimator):
            return part
        has_callback = getattr(part, "callback", None) is not None
        if has_callback or hasattr(part, "_skl_callbacks"):  # scikit-learn's set_callbacks sets the latter
            part = copy.copy(part)
            vars(part).pop("_skl_callbacks", None)
            vars(part).update({"callback": None} if has_callback else {})
        return part

    return _replace(model, remove)


def check_arrays(model: Any) -> None:
    """Raise an error if a sparse matrix or a spline has invalid contents, which compiled code would not check."""
    for part in _compiled_parts(model):
        if sp.issparse(part):
            part.check_format(full_check=True)
        else:
            BSpline(part.t, part.c, part.k)  # the constructor validates the arguments


def _replace(part: Any, function: Callable[[Any], Any]) -> Any:
    """Apply a function to a part of a model and to its subparts; parts that change are copied."""
    part = function(part)
    if type(part) in (list, tuple):
        parts = [_replace(item, function) for item in part]
        return part if all(new is old for new, old in zip(parts, part, strict=True)) else type(part)(parts)
    if isinstance(part, BaseEstimator):
        state = {name: _replace(value, function) for name, value in vars(part).items()}
        if any(state[name] is not value for name, value in vars(part).items()):
            part = copy.copy(part)
            vars(part).update(state)
    return part


def _compiled_parts(model: Any) -> Iterator[Any]:
    """Yield the sparse matrices and splines of a model and of all objects in it."""
    seen: dict[int, Any] = {}
    remaining = [model]
    while remaining:
        part = remaining.pop()
        if id(part) in seen or isinstance(part, _CODE):
            continue
        seen[id(part)] = part
        if sp.issparse(part) or isinstance(part, BSpline):
            yield part
        elif isinstance(part, np.ndarray):
            remaining += part.ravel().tolist() if part.dtype.hasobject else []
        else:
            remaining += gc.get_referents(part)  # attributes, slots, items, and the object of a bound method
