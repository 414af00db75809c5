"""Fits of the views: their transformers, the search of their settings, the choice of trimming, and the final fits."""

from collections.abc import Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import replace
from typing import Any, NamedTuple

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from spmld._arrays import to_numpy
from spmld._threads import Map
from spmld.core.iteration import Callback
from spmld.ensemble.training_data import Folds, TrainingData
from spmld.ensemble.trimming import KEEP_FRACTION
from spmld.ensemble.views import Params, View, with_params
from spmld.scale.block_data import BlockData, BlockValues

MIN_LOSS = 1e-9
"""Lower bound of a loss, so that weights can be computed from its inverse."""
MIN_TRIMMING_FOLDS = 3
"""Minimum number of folds with which entries are trimmed, see `TrainingData.nested_scores`."""


def fit_transformers(
    views: Mapping[str, View], data: BlockData, rng: np.random.RandomState
) -> tuple[dict[str, Any], dict[str, BlockData]]:
    """Return the fitted transformer and the transformed data of each view."""
    transformers, features, equal = {}, {}, {}
    for name, view in views.items():
        transformer = with_params(view.transformer, random_state=rng)
        params = transformer.get_params()
        # Views with equal transformers share the features, which may be large.
        key = name if "random_state" in params else (type(transformer), joblib.hash(params), view.dtype)
        if key not in equal:
            equal[key] = transformer, data.transform(transformer, view.dtype)
        transformers[name], features[name] = equal[key]
    return transformers, features


class PathResult(NamedTuple):
    """The best setting of a view.

    Attributes
    ----------
    params : dict
        Parameters of the base estimator.
    scores : tuple
        Out-of-fold scores of shape (n_samples, n_labels), in row blocks.
    loss : float
        Mean loss of the scores.
    estimators : list
        The fitted estimator of each fold.

    Examples
    --------
    See `search_path`.
    """

    params: Params
    scores: BlockValues
    loss: float
    estimators: list[Any]


def search_path(
    view: View, data: TrainingData, record: Callback | None = None, start: Sequence[Any] | None = None
) -> PathResult:
    """Return the setting of a view with the lowest held-out loss, by hill climbing along its path.

    The search evaluates the setting ``view.start`` and its successor. It moves on while the loss decreases, toward the
    end of the path or, if the successor is not better, toward its beginning. Each fit starts from the last one if the
    estimator has a warm start. A setting that is significantly worse than the best one on the first fold is not fitted
    to the others (a race, Maron and Moore 1994).

    Parameters
    ----------
    view : View
        Base estimator and settings. The transformer is not used.
    data : TrainingData
        Data with the transformed features of the view.
    record : callable, optional
        Called with a dict for each setting: "part", the name of the view, "choice", its parameters, and "loss". If it
        returns True the search stops. The loss of a setting that was fitted to the first fold only is that of the best
        setting plus the difference on this fold.
    start : sequence of estimators, optional
        Estimators of the folds, which are fitted in place; by default clones of that of the view.

    Returns
    -------
    PathResult

    References
    ----------
    Maron, O. and Moore, A. W. (1994). Hoeffding races: accelerating model selection search for classification and
    function approximation. NeurIPS 6, 59-66.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.datasets import make_planted
    >>> from spmld.ensemble.training_data import TrainingData
    >>> from spmld.ensemble.view_fitting import search_path
    >>> from spmld.ensemble.views import linear_view
    >>> from spmld.model_selection import make_folds
    >>> planted = make_planted(n_samples=300, random_state=0)
    >>> view, Y = linear_view(Cs=[1e-4, 10.0]), 2.0 * planted.Y - 1
    >>> X = view.transformer.fit_transform(planted.X)
    >>> data = TrainingData.in_memory(X, Y, np.ones(Y.shape), make_folds(3, X, Y, random_state=0))
    >>> search_path(view, data).params["C"]
    10.0
    """
    estimators = [clone(view.estimator) for _ in range(data.n_folds)] if start is None else list(start)
    scored = data.scored()
    losses: dict[int, float] = {}
    best, empty, stopped = PathResult({}, (), np.inf, []), [False] * data.n_folds, False

    def fit(params: Params) -> tuple[BlockValues, float]:
        """Cross-fit a setting and return its scores, or none if it loses the race on the first fold, and its loss."""
        candidates = [estimator.set_params(**params) for estimator in estimators]
        models, racing = [], len(best.scores) > 0 and data.n_folds > 1
        if racing:
            first = scored.select_folds(slice(1))
            models = first.fit_folds(candidates[:1])
            increase = first.significant_increase(first.score(models), best.scores)
            if increase > 0:
                return (), best.loss + increase
        models += data.select_folds(slice(len(models), None)).fit_folds(candidates[len(models) :])
        empty[:] = [model is None for model in models]
        estimators[:] = [old if new is None else new for old, new in zip(candidates, models, strict=True)]
        scores = scored.score(models)
        return scores, max(scored.mean_loss(scores), MIN_LOSS)

    def evaluate(index: int) -> float:
        """Return the loss of a setting of the path, which is infinite beyond the ends and after a stop."""
        nonlocal best, stopped
        if stopped or not 0 <= index < len(view.path):
            return np.inf
        params = view.path[index]
        scores, loss = fit(params)
        losses[index] = loss
        if loss < best.loss:
            # A later fit may change arrays of the estimators, from which all samples are scored at the end.
            keep = copy if scored is data else deepcopy
            best = PathResult(params, scores, loss, [keep(estimator) for estimator in estimators])
        stopped = record is not None and record({"part": view.name, "choice": params, "loss": loss})
        return loss

    evaluate(view.start)
    for step in (1, -1):
        index = view.start
        while evaluate(index + step) < losses[index]:
            index += step
        if index != view.start:
            break
    if scored is data:
        return best
    models = [None if lacks else model for lacks, model in zip(empty, best.estimators, strict=True)]
    return best._replace(scores=data.score(models))


class Trimming(NamedTuple):
    """Entries that are kept in fits.

    Attributes
    ----------
    keep_fraction : float
        The fraction of positives to keep; 1 without trimming.
    kept : tuple
        Which entries are kept, in row blocks.
    fold_weights : list or None
        Entry weights for the training samples of each fold, which do not depend on labels of the fold; None without
        trimming, or if the models of the folds are fitted with these weights already.
    """

    keep_fraction: float
    kept: BlockValues
    fold_weights: list[BlockValues] | None


def check_keep_fraction(keep_fraction: float | str, n_folds: int) -> None:
    """Raise ValueError for a fraction below 1 with too few folds to trim the training samples of each."""
    if keep_fraction not in ("auto", 1) and n_folds < MIN_TRIMMING_FOLDS:
        raise ValueError(
            f"keep_fraction={keep_fraction} requires a cv with at least {MIN_TRIMMING_FOLDS} folds, got {n_folds}; "
            "pass more folds, or keep_fraction=1.0 to keep all entries"
        )


def choose_trimming(
    views: Mapping[str, View],
    results: Mapping[str, PathResult],
    data: Mapping[str, TrainingData],
    keep_fraction: float | str,
    *,
    noisy: bool,
) -> Trimming:
    """Choose the fraction to keep by held-out entries; parameters as in `SelfPacedEnsemble`.

    With ``keep_fraction="auto"``, nothing is trimmed if the data are `noisy`.
    """
    ranked = sorted(views, key=lambda name: results[name].loss)
    judge = next((name for name in ranked if not views[name].costly), ranked[0])
    result, training, automatic = results[judge], data[judge], isinstance(keep_fraction, str)
    fraction, kept = KEEP_FRACTION if automatic else float(keep_fraction), None
    if fraction < 1 and training.n_folds >= MIN_TRIMMING_FOLDS and not (automatic and noisy):
        nested = training.nested_scores(clone(result.estimators[0]))
        kept = [training.kept_weights(training.trim(scores, fraction, fold)) for fold, scores in enumerate(nested)]
        if automatic:
            _, trimmed = training.cross_fit(deepcopy(result.estimators), entry_weight=kept)  # with a warm start
            kept = kept if training.mean_loss(trimmed) < result.loss else None
    chosen = 1.0 if kept is None else fraction
    return Trimming(chosen, training.trim(results[ranked[0]].scores, chosen), kept)


def fit_views(
    results: Mapping[str, PathResult],
    data: Mapping[str, TrainingData],
    trimming: Trimming,
    over_views: Map = map,
    start: Mapping[str, Any] | None = None,
) -> tuple[dict[str, Any], dict[str, BlockValues]]:
    """Return the estimator of each view, fitted to the entries that are kept, and its out-of-fold scores.

    The estimators `start`, if there are any, are fitted in place, so that those with a warm start begin there.
    """

    def fit(name: str) -> tuple[Any, BlockValues]:
        training, result = data[name], results[name]
        weights, scores = training.data.weights, result.scores
        if trimming.keep_fraction < 1:
            weights = training.kept_weights(trimming.kept)
        if trimming.fold_weights is not None:
            _, scores = training.cross_fit(result.estimators, entry_weight=trimming.fold_weights)
        estimator = clone(result.estimators[0]) if start is None else start[name]
        return training.fit(estimator, entry_weight=weights), scores

    fitted = dict(zip(results, over_views(fit, results), strict=True))
    return {name: fitted[name][0] for name in results}, {name: fitted[name][1] for name in results}


def fit_linear_part(
    results: Mapping[str, PathResult],
    data: Mapping[str, TrainingData],
    transformers: Mapping[str, Any],
    rng: np.random.RandomState,
) -> tuple[NDArray[Any] | None, NDArray[np.bool_]]:
    """Return the coefficients of a linear view, None without one, and random samples to which it was not fitted.

    The samples of a fold are not random if identical samples, or those of a group, are in the same fold.
    """
    any_view = next(iter(data.values()))
    left_out = rng.permutation(any_view.data.n) % any_view.n_folds == 0
    part = Folds.of(any_view.data, [(np.flatnonzero(~left_out), np.flatnonzero(left_out))])
    for name, transformer in transformers.items():
        estimator = results[name].estimators[0]
        if hasattr(transformer, "unscale") and hasattr(estimator, "coef_"):
            (model,) = replace(data[name], folds=part).fit_folds([clone(estimator)])
            coef = None if model is None else transformer.unscale(to_numpy(model.coef_).T.astype(float))[0].T
            return coef, left_out
    return None, left_out
