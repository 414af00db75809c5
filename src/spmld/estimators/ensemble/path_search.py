"""Search along the path of a view by the loss of out-of-fold scores."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from spmld.estimators.ensemble.training_data import Scores, TrainingData
from spmld.estimators.ensemble.views import Params, View

Recorder = Callable[[dict[str, Any]], bool]
"""Function that is called with a record with the keys "part", "choice" and "loss", and returns whether to stop."""
MIN_LOSS = 1e-9
"""Lower bound of a loss, so that weights can be computed from its inverse."""


class PathResult(NamedTuple):
    """The best setting of a view.

    Attributes
    ----------
    params : dict
        Parameters of the base estimator.
    scores : ndarray of shape (n_samples, n_labels)
        Out-of-fold scores.
    loss : float
        Mean loss of the scores.

    Examples
    --------
    See `search_path`.
    """

    params: Params
    scores: Scores
    loss: float


def search_path(view: View, data: TrainingData, record: Recorder | None = None) -> PathResult:
    """Return the setting of a view with the lowest held-out loss.

    The search along the path stops when the loss has risen twice in a row, because the remaining settings are slow to
    fit and seldom better. The changes of the view are then tried with the best setting.

    Parameters
    ----------
    view : View
        Base estimator and settings. The transformer is not used.
    data : TrainingData
        Data with the transformed features of the view.
    record : callable, optional
        Called with a dict for each setting: "part", the name of the view, "choice", its parameters, and "loss". If it
        returns True the search stops.

    Returns
    -------
    PathResult

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.datasets import make_planted
    >>> from spmld.estimators.ensemble import TrainingData, linear_view, search_path
    >>> from spmld.model_selection import make_folds
    >>> planted = make_planted(n_samples=300, random_state=0)
    >>> view, Y = linear_view(Cs=[1e-4, 10.0]), 2.0 * planted.Y - 1
    >>> X = view.transformer.fit_transform(planted.X)
    >>> data = TrainingData(X, Y, np.ones(Y.shape), make_folds(3, X, Y, random_state=0))
    >>> search_path(view, data).params["C"]
    10.0
    """
    search = _Search(view, data, record)
    for params in view.path:
        if search.stopped or search.is_rising():
            break
        search.evaluate(params)
    for change in view.changes:
        if search.stopped:
            break
        search.evaluate({**search.best.params, **change})
    return search.best


class _Search:
    """Settings evaluated so far; each fit starts from the last one if the estimator has a warm start."""

    def __init__(self, view: View, data: TrainingData, record: Recorder | None):
        self.view, self.data, self.record = view, data, record
        self.estimators = [clone(view.estimator) for _ in data.folds]
        self.results: list[PathResult] = []
        self.stopped = False

    def evaluate(self, params: Params) -> None:
        """Cross-fit the estimator with the parameters."""
        fitted = self.data.cross_fit([estimator.set_params(**params) for estimator in self.estimators])
        self.estimators, scores = fitted.estimators, fitted.scores
        loss = max(float(np.nanmean(self.data.loss(self.data.Y, scores))), MIN_LOSS)
        self.results.append(PathResult(params, scores, loss))
        if self.record is not None:
            self.stopped = self.record({"part": self.view.name, "choice": params, "loss": loss})

    def is_rising(self) -> bool:
        """Return whether the last two losses are each higher than the one before."""
        losses = [result.loss for result in self.results[-3:]]
        return len(losses) == 3 and losses[0] < losses[1] < losses[2]

    @property
    def best(self) -> PathResult:
        """The result with the lowest loss; the first one in case of ties."""
        return min(self.results, key=lambda result: result.loss)
