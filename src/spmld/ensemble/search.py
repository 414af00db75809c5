"""Fits of the views of an ensemble: their features, the search of their settings with a race, and the final fits."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from threading import Lock
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from spmld._arrays import arrays_to_numpy, in_precision, to_numpy
from spmld._threads import Map
from spmld.ensemble.mixture import ViewMixture
from spmld.ensemble.trimming import Trimming
from spmld.ensemble.views import View, set_accepted
from spmld.model_selection.cross_fitting import CrossFit, cross_fit_scores, fit_samples
from spmld.model_selection.path_search import HeldOutLoss, Params, PathResult, search_path
from spmld.model_selection.samples import Samples


def fit_transformers(
    views: Mapping[str, View], samples: Samples, rng: np.random.RandomState
) -> tuple[dict[str, Any], dict[str, Samples]]:
    """Return the fitted transformer of each view, and the samples with transformed features."""
    transformers = {}
    features = {}
    fitted: dict[Any, Any] = {}
    transformed: dict[Any, Samples] = {}
    for name, view in views.items():
        transformer = set_accepted(clone(view.transformer), random_state=rng)
        params = transformer.get_params()
        # Views with equal transformers share them, and the features, which may be large.
        key = name if "random_state" in params else (type(transformer), joblib.hash(params))
        if key not in fitted:
            fitted[key] = transformer.fit(samples.X)
            if "random_state" in params:
                transformer.set_params(random_state=None)  # the random numbers of the fit are not part of the result
        transformers[name] = fitted[key]
        if (key, view.dtype) not in transformed:
            X = in_precision(fitted[key].transform(samples.X), view.dtype)
            transformed[key, view.dtype] = replace(samples, X=X)
        features[name] = transformed[key, view.dtype]
    return transformers, features


def search_views(
    views: Mapping[str, View],
    samples: Mapping[str, Samples],
    cross: CrossFit,
    loss: HeldOutLoss,
    fitted: Mapping[str, Sequence[Any]],
    report: Callable[[dict[str, Any]], bool],
    over_views: Map = map,
    racing: Collection[str] = (),
) -> tuple[dict[str, PathResult], list[dict[str, Any]]]:
    """Return the best setting of each view, and a record of each setting, which `report` gets and may stop a search.

    The searches start from estimators of the folds that are `fitted` already, if there are any. The views `racing` are
    tried after the others, one after the other. Each is left out unless it lowers the loss of the mixture of the views
    before it on the first fold.
    """
    entered = [name for name in views if name not in racing]
    records: dict[str, list[dict[str, Any]]] = {name: [] for name in (*entered, *racing)}
    lock = Lock()

    def search(name: str, enters: Callable[[NDArray[Any]], bool] | None = None) -> PathResult:
        def record(params: Params, held_out: float) -> bool:
            records[name].append({"part": name, "choice": params, "loss": held_out})
            with lock:
                return report(records[name][-1])

        view = views[name]
        models = fitted.get(name) or [clone(view.estimator) for _ in cross.folds]
        return search_path(
            models, view.path, samples[name], cross, loss, start=view.start, record=record, enters=enters
        )

    results = dict(zip(entered, over_views(search, entered), strict=True))
    for name in racing:
        result = search(name, partial(lowers_loss, results, samples[name], cross))
        if result.estimators:
            results[name] = result
    return results, list(chain.from_iterable(records.values()))


def lowers_loss(results: Mapping[str, PathResult], samples: Samples, cross: CrossFit, scores: NDArray[Any]) -> bool:
    """Return whether scores of another view lower the loss of the mixture of views on the first fold."""
    tested = cross.folds[0][1]
    tested = tested[~np.isnan(scores[tested]).any(axis=1)]
    entries = samples.signs[tested], samples.weights[tested]
    without = {name: result.scores[tested] for name, result in results.items()}
    mixture, extended = (
        ViewMixture().fit(of_views, *entries) for of_views in (without, without | {"": scores[tested]})
    )
    return extended.loss_ < mixture.loss_


def fit_views(
    results: Mapping[str, PathResult],
    samples: Mapping[str, Samples],
    cross: CrossFit,
    trimming: Trimming,
    over_views: Map = map,
    start: Mapping[str, Any] | None = None,
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the estimator of each view, fitted to the entries that are kept, and its out-of-fold scores.

    The estimators `start`, if there are any, are fitted in place, so that those with a warm start begin there.
    """

    def fit(name: str) -> tuple[Any, NDArray[Any]]:
        of_view = samples[name]
        result = results[name]
        weights = of_view.weights
        if trimming.keep_fraction < 1:
            weights = trimming.kept * weights
        scores = result.scores
        if trimming.fold_weights is not None:
            scores = cross_fit_scores(cross, result.estimators, of_view, trimming.fold_weights)
        estimator = clone(result.estimators[0]) if start is None else start[name]
        (fitted,) = cross.over(fit_samples, [estimator], [of_view.weighted(weights)])
        return arrays_to_numpy(fitted), scores  # NumPy arrays depend on no device

    fitted = dict(zip(results, over_views(fit, results), strict=True))
    return {name: fitted[name][0] for name in results}, {name: fitted[name][1] for name in results}


def fit_linear_part(
    results: Mapping[str, PathResult],
    samples: Mapping[str, Samples],
    transformers: Mapping[str, Any],
    left_out: NDArray[np.bool_],
) -> NDArray[Any] | None:
    """Return the coefficients of a linear view that is not fitted to some samples, or None without a linear view."""
    rows = np.flatnonzero(~left_out)
    for name, transformer in transformers.items():
        estimator = results[name].estimators[0]
        if original_coefficients(transformer, estimator) is not None:
            model = fit_samples(clone(estimator), samples[name].rows(rows))
            return None if model is None else original_coefficients(transformer, model)
    return None


def original_coefficients(transformer: Any, estimator: Any) -> NDArray[Any] | None:
    """Return the coefficients of a view for the original features, or None if it is not linear in them."""
    if not (hasattr(transformer, "unscale") and hasattr(estimator, "coef_")):
        return None
    return np.asarray(transformer.unscale(to_numpy(estimator.coef_).T.astype(float))[0].T)
