"""Search along a path of settings of an estimator, by the loss of out-of-fold scores."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spmld.core.losses import LOSSES
from spmld.labels import Labels, read_labels
from spmld.labels.encoding import SIGNS
from spmld.metrics.registry import get_metric
from spmld.model_selection.cross_fitting import CrossFit, fit_folds, out_of_fold_scores
from spmld.model_selection.samples import Samples

Params = Mapping[str, Any]
SampleLoss = Callable[[Any, Any], NDArray[np.float64]]
"""``loss(labels, scores)`` returns an array of losses, whose mean is to be minimized."""
MIN_LOSS = 1e-9
"""Lower bound of a loss, so that weights can be computed from its inverse."""
MAX_SCORED = 20_000
"""Maximum number of samples from which the loss of a setting is computed."""


def spacing(n: int, max_samples: int) -> int:
    """Return the distance of at most `max_samples` evenly spaced samples.

    Examples
    --------
    >>> from spmld.model_selection.path_search import spacing
    >>> spacing(25_000, 10_000)
    3
    """
    return -(-n // max_samples)


class HeldOutLoss:
    """Loss of out-of-fold scores by a metric of `spmld.metrics`.

    Parameters
    ----------
    scoring : str, default="ranking_loss"
        Name of a metric of scores. Metrics for which greater is better are subtracted from their maximum.

    Examples
    --------
    >>> from spmld.model_selection.path_search import HeldOutLoss
    >>> HeldOutLoss("sample_auc")([[1, 0], [0, 1]], [[2.0, 1.0], [2.0, 1.0]])
    array([0., 1.])
    """

    def __init__(self, scoring: str = "ranking_loss"):
        try:
            self._metric, self._options = get_metric(scoring)
        except ValueError as error:
            raise ValueError(f"scoring must be the name of a metric of scores, got {scoring!r}: {error}") from error
        if self._metric.needs != "scores":
            raise ValueError(
                f"scoring must be a metric of scores, got {scoring!r}, a metric of {self._metric.needs}; "
                'use "ranking_loss" or another metric of scores'
            )

    def __call__(self, Y: Any, scores: Any) -> NDArray[np.float64]:
        """Return the losses: one per sample for a mean over samples, otherwise one value.

        Where the metric is undefined for all samples, as ranking metrics are for a single label, the losses are the
        logistic losses of the observed entries.
        """
        averages = {"average": None} if self._metric.over == "samples" else {}
        losses = np.atleast_1d(self._metric.function(Y, scores, **self._options, **averages))
        if np.isnan(losses).all():
            signs = read_labels(Y).signs
            return LOSSES["logistic"].value(signs[signs != 0].astype(float), scores[signs != 0])
        return self._metric.range[1] - losses if self._metric.greater_is_better else losses


@dataclass(frozen=True)
class HeldOut:
    """Loss of the out-of-fold scores of evenly spaced samples."""

    signs: NDArray[np.int8]
    loss: SampleLoss
    max_samples: int = MAX_SCORED

    @property
    def step(self) -> int:
        """Distance of the samples."""
        return spacing(len(self.signs), self.max_samples)

    def mean(self, scores: NDArray[Any], tested: NDArray[np.intp] | None = None) -> float:
        """Return the mean loss of scores, of all samples or of those that are tested."""
        rows: Any = slice(None, None, self.step) if tested is None else tested[tested % self.step == 0]
        return float(np.nanmean(self.loss(Labels(self.signs[rows], SIGNS), scores[rows])))

    def significant_increase(self, scores: NDArray[Any], others: NDArray[Any], tested: NDArray[np.intp]) -> float:
        """Return how much higher the mean loss of scores is than that of others on some samples.

        It is 0 if it is less than two standard errors, or if the samples have no losses of their own.
        """
        rows = tested[tested % self.step == 0]
        labels = Labels(self.signs[rows], SIGNS)
        difference = self.loss(labels, scores[rows]) - self.loss(labels, others[rows])
        if difference.ndim > 1:  # entries of a sample are dependent
            difference = np.nanmean(difference[(~np.isnan(difference)).any(axis=1)], axis=1)
        difference = difference[~np.isnan(difference)]
        if len(difference) < 2:
            return 0.0
        mean = float(difference.mean())
        error = float(difference.std()) / np.sqrt(len(difference))
        return mean if mean > 2 * error else 0.0


class PathResult(NamedTuple):
    """The best setting of a path.

    Attributes
    ----------
    params : dict
        Parameters of the estimator.
    scores : ndarray of shape (n_samples, n_labels)
        Out-of-fold scores.
    loss : float
        Mean loss of the scores.
    estimators : list
        The fitted estimator of each fold.

    Examples
    --------
    See `search_path`.
    """

    params: Params
    scores: NDArray[Any]
    loss: float
    estimators: list[Any]


def search_path(
    estimators: Sequence[Any],
    path: Sequence[Params],
    samples: Samples,
    cross: CrossFit,
    loss: SampleLoss,
    *,
    start: int = 0,
    record: Callable[[Params, float], bool] | None = None,
    enters: Callable[[NDArray[Any]], bool] | None = None,
    max_scored: int = MAX_SCORED,
) -> PathResult:
    """Return the setting with the lowest held-out loss, by hill climbing along a path.

    The search evaluates the setting `start` and its successor. It moves on while the loss decreases, toward the
    end of the path or, if the successor is not better, toward its beginning. Each fit starts from the last one if the
    estimator has a warm start. A setting that is significantly worse than the best one on the first fold is not fitted
    to the others (a race, Maron and Moore 1994).

    Parameters
    ----------
    estimators : sequence of estimators
        An estimator for each fold, fitted in place.
    path : sequence of dict
        Settings: parameters of the estimators.
    samples : Samples
        Samples.
    cross : CrossFit
        Folds.
    loss : callable
        ``loss(labels, scores)`` returns an array of losses.
    start : int, default=0
        Index of the setting with which the search starts.
    record : callable, optional
        Called with the parameters and the loss of each setting. If it returns True the search stops. The loss of a
        setting that was fitted to the first fold only is that of the best setting plus the difference on this fold.
    enters : callable, optional
        Called with the out-of-fold scores of the first fold of the setting `start`. If it returns False, nothing else
        is fitted, and the result has no estimators.
    max_scored : int, default=20_000
        Maximum number of samples of the losses.

    Returns
    -------
    PathResult

    References
    ----------
    Maron, O. and Moore, A. W. (1994). Hoeffding races: accelerating model selection search for classification and
    function approximation. NeurIPS 6, 59-66.

    Examples
    --------
    >>> from spmld import MaskedLogistic
    >>> from spmld.datasets import make_planted
    >>> from spmld.labels import read_labels
    >>> from spmld.model_selection import make_folds
    >>> from spmld.model_selection.cross_fitting import CrossFit
    >>> from spmld.model_selection.linear import entry_log_loss
    >>> from spmld.model_selection.path_search import search_path
    >>> from spmld.model_selection.samples import Samples
    >>> data = make_planted(n_samples=300, random_state=0)
    >>> samples = Samples(data.X, read_labels(data.Y), data.Y >= 0)
    >>> cross = CrossFit(make_folds(3, data.X, data.Y, random_state=0), 300)
    >>> models, path = [MaskedLogistic() for _ in range(3)], [{"C": 1e-4}, {"C": 1.0}]
    >>> search_path(models, path, samples, cross, entry_log_loss).params
    {'C': 1.0}
    """
    models = list(estimators)
    held_out = HeldOut(samples.signs, loss, max_scored)
    every = held_out.step == 1
    scored = cross if every else cross.testing(np.arange(samples.shape[0]) % held_out.step == 0)
    first = scored.part(slice(1))
    best = PathResult({}, np.empty(0), np.inf, [])
    stopped = False

    def lost_loss(scores: NDArray[Any]) -> float | None:
        """Return the loss of a setting that loses the race on the first fold, otherwise None."""
        tested = first.folds[0][1]
        if best.estimators:
            increase = held_out.significant_increase(scores, best.scores, tested)
            return best.loss + increase if increase > 0 else None
        return None if enters is None or enters(scores) else held_out.mean(scores, tested)

    def fit(params: Params) -> tuple[NDArray[Any] | None, float]:
        """Cross-fit a setting, and return its scores, or None if it loses the race on the first fold, and its loss."""
        for model in models:
            model.set_params(**params)
        fitted: list[Any] = []
        if (best.estimators or enters is not None) and len(cross.folds) > 1:
            fitted = fit_folds(first, models[:1], samples)
            lost = lost_loss(out_of_fold_scores(first, fitted, samples))
            if lost is not None:
                return None, lost
        rest = slice(len(fitted), None)
        fitted += fit_folds(cross.part(rest), models[rest], samples)
        scores = out_of_fold_scores(scored, fitted, samples)
        return scores, max(held_out.mean(scores), MIN_LOSS)

    def evaluate(index: int) -> float:
        """Return the loss of a setting of the path, which is infinite beyond the ends and after a stop."""
        nonlocal best, stopped
        if stopped or not 0 <= index < len(path):
            return np.inf
        scores, value = fit(path[index])
        if scores is not None and value < best.loss:
            # A later fit may change arrays of the estimators, from which all samples are scored at the end.
            keep = copy if every else deepcopy
            best = PathResult(path[index], scores, value, [keep(model) for model in models])
        asked = record is not None and record(path[index], value)
        stopped = asked or not best.estimators
        return value

    _climb(evaluate, start)
    return (
        best if every or not best.estimators else best._replace(scores=_scores_of_all(best.estimators, samples, cross))
    )


def _climb(evaluate: Callable[[int], float], start: int) -> None:
    """Evaluate the settings of a path from `start` in the direction in which the loss decreases, while it does."""
    first = evaluate(start)
    for step in (1, -1):
        index = start + step
        last = first
        while (value := evaluate(index)) < last:
            index += step
            last = value
        if index != start + step:
            return


def _scores_of_all(estimators: Sequence[Any], samples: Samples, cross: CrossFit) -> NDArray[Any]:
    """Return the out-of-fold scores of all samples by the fitted estimators of the folds."""
    labeled = [bool(samples.weights[train].any()) for train, _ in cross.folds]
    fitted = [model if observed else None for model, observed in zip(estimators, labeled, strict=True)]
    return out_of_fold_scores(cross, fitted, samples)
