"""The arrays inside a model: tensors made NumPy's before writing, sparse indices checked after reading."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

__all__ = ["check_sparse", "without_tensors"]


def without_tensors(part: Any) -> Any:
    """A model whose torch tensors are NumPy arrays, so that it loads without torch; others are given back as they are.

    Examples
    --------
    >>> from spmld import LabelPrior
    >>> from spmld.files.parts import without_tensors
    >>> model = LabelPrior().fit([[0], [1]], [[1, 0], [0, 1]])
    >>> without_tensors(model) is model
    True
    """
    if hasattr(part, "detach"):
        return part.detach().cpu().numpy()
    if isinstance(part, (list, tuple)) and type(part) in (list, tuple):
        parts = [without_tensors(each) for each in part]
        return part if all(a is b for a, b in zip(parts, part, strict=True)) else type(part)(parts)
    if isinstance(part, BaseEstimator):
        changed = {name: without_tensors(value) for name, value in vars(part).items()}
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
