"""Search along the path of a view by the loss of out-of-fold scores."""

from copy import copy
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from spmld.core.iteration import Callback
from spmld.estimators.ensemble.training_data import TrainingData
from spmld.estimators.ensemble.views import Params, View

MIN_LOSS = 1e-9
"""Lower bound of a loss, so that weights can be computed from its inverse."""


class PathResult(NamedTuple):
    """The best setting of a view.

    Attributes
    ----------
    params : dict
        Parameters of the base estimator.
    scores : ndarray of shape (n_samples, n_labels)
        Out-of-fold scores, in row blocks.
    loss : float
        Mean loss of the scores.
    estimators : list
        The fitted estimator of each fold.

    Examples
    --------
    See `search_path`.
    """

    params: Params
    scores: Any
    loss: float
    estimators: list[Any]


def search_path(view: View, data: TrainingData, record: Callback | None = None) -> PathResult:
    """Return the setting of a view with the lowest held-out loss, by hill climbing along its path.

    The search evaluates the setting ``view.start`` and its successor. It moves on while the loss decreases, toward the
    end of the path or, if the successor is not better, toward its beginning.

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
    >>> data = TrainingData.in_memory(X, Y, np.ones(Y.shape), make_folds(3, X, Y, random_state=0))
    >>> search_path(view, data).params["C"]
    10.0
    """
    search = _Search(view, data, record)
    search.evaluate(view.start)
    for step in (1, -1):
        index = view.start
        while search.evaluate(index + step) < search.losses[index]:
            index += step
        if index != view.start:
            break
    return search.best


class _Search:
    """The best setting so far; each fit starts from the last one if the estimator has a warm start."""

    best: PathResult

    def __init__(self, view: View, data: TrainingData, record: Callback | None):
        self.view, self.data, self.record = view, data, record
        self.estimators = [clone(view.estimator) for _ in range(data.n_folds)]
        self.losses: dict[int, float] = {}
        self.stopped = False

    def evaluate(self, index: int) -> float:
        """Cross-fit a setting of the path and return its loss, which is infinite beyond the ends and after a stop."""
        if self.stopped or not 0 <= index < len(self.view.path):
            return np.inf
        params = self.view.path[index]
        fitted = self.data.cross_fit([estimator.set_params(**params) for estimator in self.estimators])
        self.estimators, scores = fitted.estimators, fitted.scores
        loss = max(float(np.nanmean(self.data.losses(scores))), MIN_LOSS)
        if loss < min(self.losses.values(), default=np.inf):
            self.best = PathResult(params, scores, loss, [copy(estimator) for estimator in self.estimators])
        self.losses[index] = loss
        if self.record is not None:
            self.stopped = self.record({"part": self.view.name, "choice": params, "loss": loss})
        return loss
