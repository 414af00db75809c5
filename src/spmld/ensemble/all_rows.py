"""Fits to more samples than are searched: the search sample, the held-out samples, and the fits of the views.

The settings carry over from a sample to all samples, but calibrations do not: they and the weights of the views are
those of held-out samples, which neither the search nor the views have seen.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from spmld._arrays import arrays_to_numpy, features_to_numpy, in_precision, to_numpy
from spmld._threads import Map
from spmld._validation import MAX_SEED
from spmld.cluster.cluster_samples import ClusterSamples, locate
from spmld.ensemble.correction import learned_entries
from spmld.ensemble.formula import MAX_CALIBRATED
from spmld.ensemble.summary import summarize_held_out
from spmld.ensemble.trimming import Trimming, easy_entries, loss_limits
from spmld.ensemble.updating import KeptData, start_at_mean
from spmld.ensemble.views import VIEWS, View, set_accepted
from spmld.labels import Labels
from spmld.labels.encoding import SIGNS
from spmld.model_selection.cross_fitting import CrossFit, fit_samples
from spmld.model_selection.folds import Fold, make_folds, split_samples, stratify
from spmld.model_selection.path_search import PathResult
from spmld.model_selection.samples import Samples
from spmld.model_selection.similarity import are_copies, group_identical, hash_samples
from spmld.noise.calibration import has_both_classes

MIN_SEARCH_POSITIVES = 10
"""Number of positives of each label in the search sample, where there are so many."""
HELD_OUT_FRACTION = 1 / 5
"""Maximum fraction of the samples that are held out."""
N_HELD_OUT_FOLDS = 3
"""Number of folds of the held-out samples, where `cv` is not a number."""


@dataclass(frozen=True)
class Division:
    """Division of the samples of a fit. Indices are in ascending order.

    Attributes
    ----------
    searched : ndarray of int
        Samples on which settings are searched.
    fitted, held_out : ndarray of int
        Samples to which the views are fitted, and others, which are not searched; none if all samples are searched.
    learned : ndarray of bool of shape (n_labels,)
        Labels of which the fitted samples have both classes.
    cv : int or list of (train, test)
        Number of folds of the searched samples, or the folds.
    similar_samples : {"auto", "together", "apart"}
        Whether similar searched samples are in the same fold.
    n_repeated : int
        Number of samples that are identical to an earlier one.

    Examples
    --------
    See `divide`.
    """

    searched: NDArray[np.intp]
    fitted: NDArray[np.intp]
    held_out: NDArray[np.intp]
    learned: NDArray[np.bool_]
    cv: Any
    similar_samples: str
    n_repeated: int

    @property
    def is_partial(self) -> bool:
        """Whether the searched samples are a part of all."""
        return len(self.held_out) > 0


def divide(
    samples: Samples | ClusterSamples, max_samples: int | None, cv: Any, similar: str, rng: np.random.RandomState
) -> Division:
    """Divide the samples: more than `max_samples` are not searched, and some of them are held out.

    The held-out samples are at most 10,000 and a fifth of all, stratified by the labels, with their copies. If `cv` has
    folds, they are a part of the samples that its first fold tests, and those that it trains on are fitted.

    Parameters
    ----------
    samples : Samples or ClusterSamples
        All samples.
    max_samples : int or None
        Maximum number of samples to search; None is all.
    cv, similar
        Parameters `cv` and `similar_samples` of `SelfPacedEnsemble`.
    rng : RandomState
        Random number generator, which is used for more than `max_samples` samples only.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.ensemble.all_rows import divide
    >>> from spmld.labels import read_labels
    >>> from spmld.model_selection.samples import Samples
    from spmld.model_selection.similarity import are_copies, group_identical, hash_samples
    >>> labels = read_labels(np.arange(100)[:, None] % 2)
    >>> samples = Samples(np.arange(100.0)[:, None], labels, labels.observed)
    >>> division = divide(samples, 40, 3, "auto", np.random.RandomState(0))
    >>> len(division.searched), len(division.fitted), len(division.held_out)
    (40, 80, 20)
    """
    n, _, n_labels = samples.shape
    every = np.arange(n)
    if max_samples is None or n <= max_samples:
        return Division(every, every, every[:0], np.ones(n_labels, dtype=bool), cv, similar, 0)
    signs, hashes = _signs_and_hashes(samples)
    groups, n_repeated = group_identical(hashes)
    n_held_out = max(min(MAX_CALIBRATED, int(HELD_OUT_FRACTION * n)), 1)
    if isinstance(cv, Integral):
        together = n_repeated > 0 and similar != "apart"
        together = together and (similar == "together" or are_copies(groups, signs))
        groups = groups if together else every
        part = stratify(signs, (n - n_held_out, n_held_out), rng.randint(MAX_SEED), groups)
        fitted, held_out = np.flatnonzero(part == 0), np.flatnonzero(part == 1)
        searched = draw_sample(signs, max_samples, rng, groups, samples.labels.trusted, held_out)
    else:
        together, groups = False, every
        folds = make_folds(cv, hashes[:, None], Labels(signs, SIGNS).write_with_missing(None))
        fitted, tested = folds[0]
        held_out = np.sort(rng.permutation(tested)[: max(min(n_held_out, len(tested) // 2), 1)])
        searched = draw_sample(signs, max_samples, rng, groups, samples.labels.trusted, held_out)
        cv = restrict_folds(folds, searched, n)
    similar = "together" if together else "apart"
    return Division(searched, np.sort(fitted), held_out, has_both_classes(signs[fitted]), cv, similar, n_repeated)


def _signs_and_hashes(samples: Samples | ClusterSamples) -> tuple[NDArray[np.int8], NDArray[np.uint64]]:
    """Return the signs of the labels and the hashes of the features of all samples in memory."""
    if isinstance(samples, Samples):
        return samples.signs, hash_samples(features_to_numpy(samples.X))
    return samples.gather(samples.signs), samples.gather(samples.engine.map(hash_samples, samples.X))


def draw_sample(
    signs: NDArray[np.int8],
    max_samples: int,
    rng: np.random.RandomState,
    groups: NDArray[np.intp],
    trusted: NDArray[np.bool_] | None,
    excluded: NDArray[np.intp],
) -> NDArray[np.intp]:
    """Return a random sample of whole groups, with ten positives of each label where there are so many.

    In random order, it has the first ten positives of each label, then samples with verified entries, then others.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.ensemble.all_rows import draw_sample
    >>> every = np.arange(1000)
    >>> signs = np.where(every < 5, 1, -1)[:, None]
    >>> draw_sample(signs, 20, np.random.RandomState(0), every, None, every[:2])[:3]
    array([2, 3, 4])
    """
    n = len(signs)
    allowed = np.ones(n, dtype=bool)
    allowed[excluded] = False
    rank = rng.permutation(n)[groups]
    place = np.ones(n) if trusted is None else np.where(trusted.any(axis=1), 0.5, 1.0)
    for of_label in signs.T:
        positives = np.flatnonzero((of_label > 0) & allowed)
        place[positives[np.argsort(rank[positives], kind="stable")[:MIN_SEARCH_POSITIVES]]] = 0
    first = np.ones(n)
    np.minimum.at(first, groups, place)
    rows = np.flatnonzero(allowed)
    order = rows[np.lexsort((rank[rows], first[groups[rows]]))]
    chosen = order[:max_samples]
    if len(chosen) < len(order):  # the last group may be incomplete
        complete = groups[chosen] != groups[order[max_samples]]
        chosen = chosen[complete] if complete.any() else chosen
    return np.sort(chosen)


def restrict_folds(folds: Sequence[Fold], rows: NDArray[np.intp], n_samples: int) -> list[Fold]:
    """Return folds of all samples as folds of some of them.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.ensemble.all_rows import restrict_folds
    >>> restrict_folds([(np.array([0, 2]), np.array([1, 3]))], np.array([1, 2, 3]), 4)
    [(array([1]), array([0, 2]))]
    """
    place = np.full(n_samples, -1, dtype=np.intp)
    place[rows] = np.arange(len(rows))
    places = ((place[train], place[test]) for train, test in folds)
    return [(train[train >= 0], test[test >= 0]) for train, test in places]


def in_memory(samples: Samples | ClusterSamples, rows: NDArray[np.intp]) -> Samples:
    """Return some samples, given by increasing numbers, in memory."""
    if isinstance(samples, ClusterSamples):
        return samples.in_memory(rows)
    return samples if len(rows) == samples.shape[0] else samples.rows(rows)


def spread(values: NDArray[Any], rows: NDArray[np.intp], n_samples: int) -> NDArray[np.float64]:
    """Return values of some samples as values of all, NaN for the others.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.ensemble.all_rows import spread
    >>> spread(np.array([2.0, 3.0]), np.array([0, 2]), 3)
    array([ 2., nan,  3.])
    """
    every = np.full((n_samples, *values.shape[1:]), np.nan)
    every[rows] = values
    return every


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
    ensemble.similar_together_ = division.similar_samples == "together"
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
