"""The parts of a model: tensors made NumPy's, callbacks left out, and sparse indices checked after reading."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

__all__ = ["check_sparse", "without_callbacks", "without_tensors"]


def without_tensors(part: Any) -> Any:
    """A model whose torch tensors are NumPy arrays, so that it loads without torch; others are given back as they are.

    Examples
    --------
    >>> from spmld import LabelPrior
    >>> from spmld.persistence.parts import without_tensors
    >>> model = LabelPrior().fit([[0], [1]], [[1, 0], [0, 1]])
    >>> without_tensors(model) is model
    True
    """
    return _changed(part, lambda each: each.detach().cpu().numpy() if hasattr(each, "detach") else each)


def without_callbacks(part: Any) -> Any:
    """A model whose callbacks, and those of the models inside, are None; others are given back as they are.

    Examples
    --------
    >>> from spmld import GLOCAL, SelfPacedClassifier
    >>> from spmld.persistence.parts import without_callbacks
    >>> without_callbacks(SelfPacedClassifier(GLOCAL(callback=print))).estimator.callback is None
    True
    """

    def dropped(each: Any) -> Any:
        if not isinstance(each, BaseEstimator):
            return each
        own, given = getattr(each, "callback", None), hasattr(each, "_skl_callbacks")  # by scikit-learn's set_callbacks
        if own is not None or given:
            each = copy.copy(each)
            vars(each).pop("_skl_callbacks", None)
            vars(each).update({"callback": None} if own is not None else {})
        return each

    return _changed(part, dropped)


def _changed(part: Any, change: Callable[[Any], Any]) -> Any:
    """A part with a change made to it and to all that is in it, copied where something changed."""
    part = change(part)
    if isinstance(part, (list, tuple)) and type(part) in (list, tuple):
        parts = [_changed(each, change) for each in part]
        return part if all(a is b for a, b in zip(parts, part, strict=True)) else type(part)(parts)
    if isinstance(part, BaseEstimator):
        changed = {name: _changed(value, change) for name, value in vars(part).items()}
        if any(changed[name] is not value for name, value in vars(part).items()):
            part = copy.copy(part)
            vars(part).update(changed)
    return part


def check_sparse(model: Any) -> None:
    """Refuse sparse matrices whose indices point outside of them, which compiled code would follow."""
    for part in _sparse(model):
        part.check_format(full_check=True)


def _sparse(part: Any) -> Iterator[Any]:
    if sp.issparse(part):
        yield part
    elif isinstance(part, (list, tuple)):
        for each in part:
            yield from _sparse(each)
    elif isinstance(part, dict):
        yield from _sparse(list(part.values()))
    elif isinstance(part, BaseEstimator):
        yield from _sparse(list(vars(part).values()))
    elif isinstance(part, np.ndarray) and part.dtype == object:
        yield from _sparse(part.ravel().tolist())
