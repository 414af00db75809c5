"""Folds for models that must not have seen a sample."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld.model_selection.splitters import check_splitter

__all__ = ["Fold", "folds_once"]

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]
"""Rows to fit on, and rows to hold out."""


def folds_once(estimator: Any, X: Any, Y: NDArray[Any], rng: np.random.RandomState) -> list[Fold]:
    """The folds of the parameter `cv`, each sample held out once; Y is NaN where unobserved."""
    splitter = check_splitter(estimator.cv, len(Y), rng.randint(2**31 - 1))
    folds = list(splitter.split(X, Y))
    tested = np.concatenate([test for _, test in folds])
    if len(tested) != len(Y) or len(np.unique(tested)) != len(tested):
        raise ValueError(f"cv of {type(estimator).__name__} must test each sample once, got {estimator.cv!r}")
    return folds
