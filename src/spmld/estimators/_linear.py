"""Shared by linear models: the problem to solve, and arrays for new samples."""

from typing import Any

import numpy as np

from spmld._arrays import move, namespace, to_numpy
from spmld.core.problem import Problem, make_problem
from spmld.estimators._inputs import check_overflow, move_weights, sparse_if_mostly_zero
from spmld.labels import Labels


def make_linear_problem(X: Any, labels: Labels, weights: Any, fit_intercept: bool) -> Problem:
    """Return validated data as a problem with one group of samples."""
    X = sparse_if_mostly_zero(X)
    check_overflow(X)
    group = move(np.zeros(X.shape[0], dtype=np.int8), X)
    return make_problem(X, move(labels.signs, X), move_weights(weights, X), group, 1, fit_intercept=fit_intercept)


def align_arrays(X: Any, *arrays: Any) -> tuple[Any, ...]:
    """Return X and fitted arrays in the library and on the device of X and, for torch, in one precision."""
    if hasattr(X, "detach") or hasattr(arrays[0], "detach"):
        arrays = tuple(move(to_numpy(a), X) for a in arrays)
    if hasattr(X, "detach"):
        X = namespace(X).astype(X, arrays[0].dtype)
    return X, *arrays
