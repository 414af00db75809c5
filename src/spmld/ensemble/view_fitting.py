"""Fits of the views: their transformers, the choice of trimming, and the final fits."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any, NamedTuple

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from spmld._arrays import arrays_to_numpy, in_precision, to_numpy
from spmld._threads import Map
from spmld.ensemble.trimming import KEEP_FRACTION, kept_entries
from spmld.ensemble.views import View, with_params
from spmld.model_selection.cross_fitting import CrossFit, cross_fit_scores, fit_samples, out_of_fold_scores
from spmld.model_selection.path_search import HeldOut, PathResult
from spmld.model_selection.samples import Samples

MIN_TRIMMING_FOLDS = 3
"""Minimum number of folds with which entries are trimmed: fewer leave no samples for `CrossFit.nested`."""


def fit_transformers(
    views: Mapping[str, View], samples: Samples, rng: np.random.RandomState
) -> tuple[dict[str, Any], dict[str, Samples]]:
    """Return the fitted transformer of each view, and the samples with transformed features."""
    transformers, features, equal = {}, {}, {}
    for name, view in views.items():
        transformer = with_params(view.transformer, random_state=rng)
        params = transformer.get_params()
        # Views with equal transformers share the features, which may be large.
        key = name if "random_state" in params else (type(transformer), joblib.hash(params), view.dtype)
        if key not in equal:
            X = in_precision(transformer.fit(samples.X).transform(samples.X), view.dtype)
            if "random_state" in params:
                transformer.set_params(random_state=None)  # the random numbers of the fit are not part of the result
            equal[key] = transformer, replace(samples, X=X)
        transformers[name], features[name] = equal[key]
    return transformers, features


class Trimming(NamedTuple):
    """Entries that are kept in fits.

    Attributes
    ----------
    keep_fraction : float
        The fraction of positives to keep; 1 without trimming.
    kept : ndarray of bool of shape (n_samples, n_labels)
        Which entries are kept.
    fold_weights : list or None
        Entry weights for the training samples of each fold, which do not depend on labels of the fold; None without
        trimming, or if the models of the folds are fitted with these weights already.
    """

    keep_fraction: float
    kept: NDArray[np.bool_]
    fold_weights: list[NDArray[Any]] | None


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
    samples: Mapping[str, Samples],
    cross: CrossFit,
    loss: Any,
    keep_fraction: float | str,
    *,
    noisy: bool,
) -> Trimming:
    """Choose the fraction to keep by held-out entries; parameters as in `SelfPacedEnsemble`.

    With ``keep_fraction="auto"``, nothing is trimmed if the data are `noisy`.
    """
    ranked = sorted(views, key=lambda name: results[name].loss)
    judge = next((name for name in ranked if not views[name].costly), ranked[0])
    result, judged, automatic = results[judge], samples[judge], isinstance(keep_fraction, str)
    fraction = KEEP_FRACTION if automatic else float(keep_fraction)
    weights = None
    if fraction < 1 and len(cross.folds) >= MIN_TRIMMING_FOLDS and not (automatic and noisy):
        nested = _nested_scores(cross, result.estimators[0], judged)
        weights = [
            judged.weights * kept_entries(scores, judged, fraction, train)
            for scores, (train, _) in zip(nested, cross.folds, strict=True)
        ]
        if automatic:  # copies, because estimators may have a warm start
            trimmed = cross_fit_scores(cross, deepcopy(result.estimators), judged, weights)
            weights = weights if HeldOut(judged.signs, loss).mean(trimmed) < result.loss else None
    chosen = 1.0 if weights is None else fraction
    return Trimming(chosen, kept_entries(results[ranked[0]].scores, judged, chosen), weights)


def _nested_scores(cross: CrossFit, estimator: Any, samples: Samples) -> list[NDArray[Any]]:
    """Return, for each fold, scores of its training samples by models fitted to neither these nor the fold."""

    def fit(rows: NDArray[np.intp]) -> Any:
        return fit_samples(clone(estimator), samples.rows(rows))

    return cross.nested(fit, lambda models: out_of_fold_scores(cross, models, samples))


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
        of_view, result = samples[name], results[name]
        weights, scores = of_view.weights, result.scores
        if trimming.keep_fraction < 1:
            weights = trimming.kept * weights
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
        if hasattr(transformer, "unscale") and hasattr(estimator, "coef_"):
            model = fit_samples(clone(estimator), samples[name].rows(rows))
            return None if model is None else transformer.unscale(to_numpy(model.coef_).T.astype(float))[0].T
    return None
