"""Fits to more samples than are searched, with calibrations on samples that are held out.

The settings carry over from a sample to all samples, but calibrations do not: they and the weights of the views are
those of held-out samples, which neither the search nor the views have seen.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from spmld._arrays import arrays_to_numpy, in_precision, to_numpy
from spmld._threads import Map
from spmld._validation import MAX_SEED
from spmld.cluster.cluster_samples import ClusterSamples, locate
from spmld.ensemble.correction import learned_entries
from spmld.ensemble.division import Division, in_memory, spread
from spmld.ensemble.summary import summarize_held_out
from spmld.ensemble.trimming import Trimming, easy_entries, loss_limits
from spmld.ensemble.updating import KeptData, start_at_mean
from spmld.ensemble.views import VIEWS, View, set_accepted
from spmld.model_selection.cross_fitting import CrossFit, fit_samples
from spmld.model_selection.folds import split_samples
from spmld.model_selection.path_search import PathResult
from spmld.model_selection.samples import Samples

N_HELD_OUT_FOLDS = 3
"""Number of folds of the held-out samples, where `cv` is not a number."""


class Judge(NamedTuple):
    """A view that judges entries of samples that it has not seen.

    The limits are the largest losses of positives and of negatives of each label that are kept.
    """

    view: View
    transformer: Any
    estimator: Any
    limits: NDArray[np.float64]

    def weigh(
        self, X: Any, signs: NDArray[np.int8], weights: NDArray[Any], rows: NDArray[np.intp], kept: NDArray[np.bool_]
    ) -> NDArray[Any]:
        """Return the weights of the entries, 0 for hard ones; which entries are kept in some rows is given."""
        features = in_precision(self.transformer.transform(X), self.view.dtype)
        easy = easy_entries(to_numpy(self.estimator.decision_function(features)), signs, self.limits)
        easy[rows] = kept
        return weights * easy


def trim_all(
    samples: Any,
    division: Division,
    views: Mapping[str, View],
    transformers: Mapping[str, Any],
    searched: Mapping[str, Samples],
    results: Mapping[str, PathResult],
    trimming: Trimming,
) -> Any:
    """Return the samples with weights of 0 for trimmed entries.

    Samples that were not searched are judged by the best view of the first fold, with the limits of the searched
    samples, because the losses of both are those of models that have not seen them.
    """
    if trimming.keep_fraction == 1:
        return samples
    best = min(results, key=lambda name: results[name].loss)
    limits = loss_limits(results[best].scores, searched[best].signs, trimming.keep_fraction)
    judge = Judge(views[best], transformers[best], results[best].estimators[0], limits)
    if isinstance(samples, ClusterSamples):
        rows = locate(samples.counts, division.searched)
        kept = np.split(trimming.kept, np.cumsum([len(part) for part in rows])[:-1])
        return samples.weighted(samples.engine.map(judge.weigh, samples.X, samples.signs, samples.weights, rows, kept))
    weights = judge.weigh(samples.X, samples.signs, samples.weights, division.searched, trimming.kept)
    trusted = samples.labels.trusted
    return samples.weighted(weights if trusted is None else np.where(trusted, samples.weights, weights))


def new_estimator(name: str, models: Sequence[Any]) -> Any:
    """Return the estimator of a view with the parameters of models, which starts at the mean of their coefficients."""
    estimator = start_at_mean(clone(models[0]), models)
    return set_accepted(estimator, max_samples=None) if name in VIEWS else estimator


def can_continue(model: Any) -> bool:
    """Return whether a fit to more samples takes a few steps, or new values of the leaves of trees."""
    return hasattr(model, "coef_") or "keep_decisions" in model.get_params()


def continued(model: Any) -> Any:
    """Return a copy of a model, a fit of which starts from its coefficients or keeps the decisions of its trees."""
    return set_accepted(deepcopy(model), keep_decisions=True)


def fit_all_rows(
    ensemble: Any,
    samples: Samples | ClusterSamples,
    division: Division,
    views: Mapping[str, View],
    searched: Mapping[str, Samples],
    cross: CrossFit,
    results: Mapping[str, PathResult],
    trimming: Trimming,
    over_views: Map = map,
) -> None:
    """Fit the views of an ensemble to all samples but the held-out ones, and the rest of the formula to these.

    Views that can continue a fit are then fitted to all samples, and others if some samples are neither fitted nor held
    out. Of a Dask collection, views that cannot be fitted to it use the `searched` samples, with their features.
    """
    transformers, n = ensemble.transformers_, samples.shape[0]
    if isinstance(samples, Samples):
        samples = replace(samples, X=ensemble._to_device(samples.X))
    observed = ensemble._in_likelihood(samples)
    trimmed = trim_all(observed, division, views, transformers, searched, results, trimming)

    def fit_view(name: str) -> tuple[Any, Any]:
        """Return the model of a view without the held-out samples, and its estimator."""

        def fit(estimator: Any, training: Any) -> Any:
            return arrays_to_numpy(fit_samples(estimator, training.transformed(transformers[name], views[name].dtype)))

        estimator = new_estimator(name, results[name].estimators)
        if isinstance(samples, ClusterSamples) and not getattr(estimator, "fits_collections", False):
            model = fit_samples(estimator, searched[name].weighted(trimming.kept * searched[name].weights))
            return model, model
        model = fit(estimator, fitted)
        if can_continue(model) or is_rest_unused:
            return model, set_accepted(fit(continued(model), trimmed), keep_decisions=False)
        return model, model

    fitted = trimmed.rows(division.fitted)
    is_rest_unused = len(division.fitted) + len(division.held_out) < n
    pairs = list(over_views(fit_view, results))
    models = {name: model for name, (model, _) in zip(results, pairs, strict=True)}
    ensemble.estimators_ = {name: estimator for name, (_, estimator) in zip(results, pairs, strict=True)}
    held_out = in_memory(observed, division.held_out)
    scores = {
        name: to_numpy(model.decision_function(held_out.transformed(transformers[name], views[name].dtype).X))
        for name, model in models.items()
    }
    ensemble.keep_fraction_ = trimming.keep_fraction
    ensemble.n_repeated_samples_ = division.n_repeated
    ensemble.similar_together_ |= division.similar_samples == "together"
    learned = np.tile(division.learned, (len(division.held_out), 1))
    ensemble.out_of_fold_scores_ = fit_held_out(ensemble, held_out, models, scores, learned, cross.over)
    ensemble.self_paced_weights_ = trimming.kept.astype(float)
    if isinstance(samples, Samples):
        ensemble.out_of_fold_scores_ = spread(ensemble.out_of_fold_scores_, division.held_out, n)
        ensemble.self_paced_weights_ = trimmed.labels.observed.astype(float)
        if ensemble.keep_data:
            ensemble.training_data_ = _kept_data(samples, division, results, models, trimmed.labels.observed)


def _kept_data(
    samples: Samples,
    division: Division,
    results: Mapping[str, PathResult],
    models: Mapping[str, Any],
    kept: NDArray[np.bool_],
) -> KeptData:
    """Return the data of a fit of which a single fold tests the samples that are not fitted."""
    fold = np.zeros(len(kept), dtype=np.int16)
    fold[division.fitted] = -1
    trimmed = (kept != samples.labels.observed).any()
    of_views = {name: result._replace(estimators=[models[name]]) for name, result in results.items()}
    trimming = Trimming(1.0, kept, [kept.astype(float)] if trimmed else None)
    return KeptData.from_fit(samples, CrossFit.of(fold), of_views, trimming)


def fit_held_out(
    ensemble: Any,
    samples: Samples,
    models: Mapping[str, Any],
    scores: Mapping[str, NDArray[Any]],
    learned: NDArray[np.bool_],
    over: Map = map,
) -> NDArray[np.float64]:
    """Fit calibrations, correction and decisions to samples that the views have not seen, and return their scores.

    The correction is cross-fitted in folds of these samples, and new data are compared to them in monitoring.
    """
    rng = check_random_state(ensemble._seed)
    n_folds = int(ensemble.cv) if isinstance(ensemble.cv, Integral) else N_HELD_OUT_FOLDS
    similar = "together" if ensemble.similar_together_ else "apart"
    folds, _ = split_samples(n_folds, samples, rng.randint(MAX_SEED), similar)
    corrected: NDArray[np.float64] = ensemble._fit_correction(
        samples, scores, CrossFit(folds, len(learned), over), learned, rng
    )
    summarize_held_out(ensemble, samples, models, learned)
    return corrected


def fit_tested(
    ensemble: Any,
    samples: Samples,
    results: Mapping[str, PathResult],
    scores: Mapping[str, NDArray[Any]],
    cross: CrossFit,
) -> None:
    """Fit calibrations, correction and decisions to the samples that the only fold tests."""
    ((_, tested),) = cross.folds
    models = {name: result.estimators[0] for name, result in results.items()}
    of_tested = {name: of_view[tested] for name, of_view in scores.items()}
    learned = learned_entries(samples.signs, cross)[tested]
    corrected = fit_held_out(ensemble, samples.rows(tested), models, of_tested, learned, cross.over)
    ensemble.out_of_fold_scores_ = spread(corrected, tested, samples.shape[0])
