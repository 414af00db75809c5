"""Cross-fitting: scores of each sample from a model that was not fitted on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed

__all__ = ["Fold", "cross_fit"]

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]
"""Indices of training and of test samples."""


def cross_fit(
    estimator: Any | Sequence[Any],
    X: Any,
    Y: Any,
    folds: Sequence[Fold],
    *,
    score: Callable[[Any, Any], NDArray[np.float64]],
    entry_weight: NDArray[np.float64] | None = None,
    n_jobs: int | None = None,
) -> tuple[list[Any], list[NDArray[np.float64]]]:
    """Fit a model on the training samples of each fold, and score its test samples.

    Parameters
    ----------
    estimator : estimator, or list with one estimator for each fold
        A single estimator is cloned for each fold. Estimators of a list are fitted as they are, so that those with
        ``warm_start=True`` start from their last fit.
    X : array-like of shape (n_samples, n_features)
        Samples.
    Y : array-like of shape (n_samples, n_labels)
        Labels, NaN where missing.
    folds : sequence of (train, test)
        Indices of samples.
    score : callable
        ``score(fitted, X_test)`` returns the scores of test samples.
    entry_weight : ndarray of shape (n_samples, n_labels), optional
        Weights of the entries, passed to ``fit``.
    n_jobs : int or None, default=None
        Number of folds fitted in parallel.

    Returns
    -------
    estimators : list
        The fitted estimator of each fold.
    scores : list of ndarray
        The scores of the test samples of each fold; see `join_folds`.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld import MaskedLogistic
    >>> from spmld.model_selection.cross_fitting import cross_fit, join_folds
    >>> X, Y = np.array([[0.0], [1.0], [0.0], [1.0]]), np.array([[0, 1], [1, 0], [0, 1], [1, 0]])
    >>> folds = [(np.array([0, 1]), np.array([2, 3])), (np.array([2, 3]), np.array([0, 1]))]
    >>> _, scores = cross_fit(MaskedLogistic(), X, Y, folds, score=lambda model, X: model.decision_function(X))
    >>> (join_folds(folds, scores, 4) > 0).astype(int)
    array([[0, 1],
           [1, 0],
           [0, 1],
           [1, 0]])
    """
    models = list(estimator) if isinstance(estimator, (list, tuple)) else [clone(estimator) for _ in folds]
    results = Parallel(n_jobs=n_jobs)(
        delayed(_fit_and_score)(model, X, Y, train, test, score, entry_weight)
        for model, (train, test) in zip(models, folds, strict=True)
    )
    return [model for model, _ in results], [scores for _, scores in results]


def join_folds(folds: Sequence[Fold], scores: Sequence[NDArray[Any]], n_samples: int) -> NDArray[np.float64]:
    """Return out-of-fold scores in the order of the samples; the mean for samples that were tested more than once."""
    total = np.zeros((n_samples, *scores[0].shape[1:]))
    count = np.zeros(n_samples)
    for (_, test), part in zip(folds, scores, strict=True):
        total[test] += part
        count[test] += 1
    return total / count.reshape(-1, *[1] * (total.ndim - 1))


def _fit_and_score(
    model: Any, X: Any, Y: Any, train: Any, test: Any, score: Callable[[Any, Any], Any], entry_weight: Any
) -> tuple[Any, Any]:
    weights = {} if entry_weight is None else {"entry_weight": entry_weight[train]}
    fitted = model.fit(_safe_indexing(X, train), _safe_indexing(Y, train), **weights)
    return fitted, score(fitted, _safe_indexing(X, test))
