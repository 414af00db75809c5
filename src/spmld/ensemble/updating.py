"""Updates of a fitted ensemble: new samples, corrected labels and new labels, without a new search."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spmld._arrays import (
    Matrix,
    arrays_to_numpy,
    contiguous,
    features_to_numpy,
    in_precision,
    is_collection,
    join_rows,
    to_numpy,
)
from spmld._io import shorten
from spmld._threads import Map, thread_map
from spmld.ensemble.trimming import Trimming
from spmld.ensemble.views import VIEWS, View, set_accepted
from spmld.estimators.inputs import check_features, check_labels, check_weights
from spmld.labels import Labels
from spmld.labels.encoding import mark_trusted
from spmld.labels.single_class import find_single_class, list_labels
from spmld.model_selection.cross_fitting import CrossFit, cross_fit_scores
from spmld.model_selection.path_search import MIN_LOSS, HeldOut, HeldOutLoss, PathResult
from spmld.model_selection.samples import Samples
from spmld.model_selection.similarity import group_identical, hash_samples
from spmld.noise import NoiseRates

NOISE_PARAMETERS = ("false_positive_rate", "false_negative_rate")


@dataclass(frozen=True)
class KeptData:
    """Training data and models of the folds of an ensemble, from which it is updated.

    Attributes
    ----------
    samples : Samples
        Training samples.
    trimmed : ndarray of bool of shape (n_samples, n_labels, n_fits)
        Entries that are left out in the fit of each fold and, at the end, of all samples; no fits without trimming.
    fold : ndarray of shape (n_samples,)
        Fold that tests each sample, -1 for samples that none tests: of a fit that searched a part of the samples, the
        only fold tests those that it held out.
    sample_names : ndarray of str of shape (n_samples,)
        Identifiers of the samples, which the commands use; empty without one.
    estimators : dict
        The estimators of each view, fitted without the samples of each fold.

    Examples
    --------
    See `SelfPacedEnsemble.update`.
    """

    samples: Samples
    trimmed: NDArray[np.bool_]
    fold: NDArray[np.integer[Any]]
    sample_names: NDArray[np.str_]
    estimators: dict[str, list[Any]]

    @classmethod
    def from_fit(
        cls, samples: Samples, cross: CrossFit, results: Mapping[str, PathResult], trimming: Trimming
    ) -> "KeptData":
        """Return the data of a fit."""
        fits = [] if trimming.fold_weights is None else [*trimming.fold_weights, trimming.kept]
        trimmed = np.zeros((*samples.signs.shape, len(fits)), dtype=bool)
        for k, kept in enumerate(fits):
            trimmed[..., k] = kept == 0
        samples = replace(samples, X=features_to_numpy(samples.X))
        return cls(samples, trimmed, cross.number, np.full(len(trimmed), ""), fold_models(results))

    def like(self, samples: Samples) -> "KeptData":
        """Return the data of other samples, of which no entries are trimmed, in the first fold."""
        n, l = samples.labels.shape
        trimmed = np.zeros((n, l, self.trimmed.shape[2]), dtype=bool)
        return KeptData(samples, trimmed, np.zeros(n, dtype=self.fold.dtype), np.full(n, ""), {})

    @property
    def n_parts(self) -> int:
        """Number of parts like the folds in all samples, also those that no fold tests."""
        return round((self.fold.max() + 1) * len(self.fold) / np.count_nonzero(self.fold >= 0))

    @property
    def trusted(self) -> NDArray[np.bool_]:
        """Verified entries."""
        labels = self.samples.labels
        return np.zeros(labels.shape, dtype=bool) if labels.trusted is None else labels.trusted

    def entries(self) -> dict[str, NDArray[Any]]:
        """Return the arrays with a value, or several ones, for each entry."""
        samples = self.samples
        return {"signs": samples.signs, "weights": samples.weights, "trusted": self.trusted, "trimmed": self.trimmed}

    def with_entries(
        self, signs: NDArray[Any], weights: NDArray[Any], trusted: NDArray[np.bool_], trimmed: NDArray[np.bool_]
    ) -> "KeptData":
        """Return the data with other arrays for the entries."""
        labels = replace(self.samples.labels, signs=signs, trusted=trusted if trusted.any() else None)
        return replace(self, samples=replace(self.samples, labels=labels, weights=weights), trimmed=trimmed)

    def with_labels(self, places: Sequence[int], n_labels: int) -> "KeptData":
        """Return the data with labels at their places among all labels; others are missing."""
        placed = {name: place_columns(values, places, n_labels) for name, values in self.entries().items()}
        return self.with_entries(**placed)

    def correct(self, index: NDArray[np.intp], new: "KeptData") -> "KeptData":
        """Return the data in which observed entries of other data replace those of the samples `index`, if not -1.

        An entry with the same label stays as it is, also trimmed or verified, unless it is verified or has a weight.
        """
        rows = np.flatnonzero(index >= 0)
        signs = new.samples.signs[rows]
        differs = signs != self.samples.signs[index[rows]]
        is_weighted = new.samples.weights.dtype != bool
        at, labels = np.nonzero((signs != 0) & (differs | new.trusted[rows] | is_weighted))
        values = new.entries()
        changed = {}
        for name, old in self.entries().items():
            changed[name] = old.astype(np.result_type(old, values[name]))
            changed[name][index[rows[at]], labels] = values[name][rows[at], labels]
        return self.with_entries(**changed)

    def append(self, new: "KeptData", chosen: NDArray[np.bool_]) -> "KeptData":
        """Return the data with the chosen samples of other data.

        A sample that is identical to one of these data is in the same fold. The fold of another one depends on its
        features only, so that the order of new samples does not matter. If no fold tests most samples, as many of the
        new ones are tested.
        """
        n = len(self.fold)
        X = join_rows([self.samples.X, new.samples.X[chosen]])
        hashes = hash_samples(X)
        first, _ = group_identical(hashes)
        fold = np.append(self.fold, np.zeros(np.count_nonzero(chosen), dtype=self.fold.dtype))
        drawn = (hashes[n:] % np.uint64(self.n_parts)).astype(fold.dtype)
        drawn = np.where(drawn > self.fold.max(), -1, drawn)
        fold[n:] = np.where(first[n:] < n, fold[first[n:]], drawn)
        added = new.entries()
        entries = {name: np.concatenate([old, added[name][chosen]]) for name, old in self.entries().items()}
        data = replace(self, samples=replace(self.samples, X=X)).with_entries(**entries)
        return replace(data, fold=fold, sample_names=np.append(self.sample_names, new.sample_names[chosen]))

    def fit_weights(self) -> list[Any]:
        """Return the weights of the entries in the fit of each fold and of all samples; empty without trimming."""
        return [self.samples.weights * ~self.trimmed[..., k] for k in range(self.trimmed.shape[2])]


def start_at_mean(estimator: Any, models: Sequence[Any]) -> Any:
    """Return an estimator that starts at the mean of the coefficients of fitted models, close to its solution."""
    for part in {"coef_", "intercept_"} & set(vars(models[0])):
        setattr(estimator, part, np.mean([to_numpy(getattr(model, part)) for model in models], axis=0))
    return estimator


def fold_models(results: Mapping[str, PathResult]) -> dict[str, list[Any]]:
    """Return the estimators of the folds of each view, with NumPy arrays."""
    return {name: list(map(arrays_to_numpy, result.estimators)) for name, result in results.items()}


def place_labels(names: list[Any] | None, known: list[Any] | None, shape: tuple[int, int]) -> tuple[list[Any], Any]:
    """Return the names of the labels of the model and of the new ones, and the place of each label of an update.

    Parameters
    ----------
    names, known : list or None
        Names of the labels of the update and of the model; None if they have no names, and must be the same.
    shape : tuple of int
        Numbers of labels of the update and of the model.

    Examples
    --------
    >>> from spmld.ensemble.updating import place_labels
    >>> place_labels(["new", "sad"], ["sad", "calm"], (2, 2))
    (['sad', 'calm', 'new'], [2, 0])
    """
    if names is not None and known is not None:
        every = list(dict.fromkeys([*known, *names]))
        return every, [every.index(name) for name in names]
    if shape[0] != shape[1]:
        raise ValueError(
            f"y must have the {shape[1]} labels of the model, got {shape[0]}; to add labels, pass data frames with the "
            "names of the labels to fit and update"
        )
    return known or list(range(shape[1])), list(range(shape[1]))


def check_samples(samples: Any, n_new: int, n_kept: int) -> NDArray[np.intp]:
    """Return the index of the training sample of each row, -1 for new samples; raise ValueError if it is invalid."""
    if samples is None:
        return np.full(n_new, -1, dtype=np.intp)
    index = np.asarray(samples)
    if index.shape != (n_new,) or index.dtype.kind not in "iu" or (index < -1).any() or (index >= n_kept).any():
        raise ValueError(
            f"samples must have an integer for each of the {n_new} rows of X, from 0 to {n_kept - 1} for training "
            f"samples and -1 for new ones, got {shorten(repr(samples))}"
        )
    if len(np.unique(index[index >= 0])) < (index >= 0).sum():
        raise ValueError("samples must name each training sample once; merge its labels into one row")
    return index.astype(np.intp)


def place_columns(values: NDArray[Any], places: Sequence[int], n_labels: int) -> NDArray[Any]:
    """Return the values of labels at their places among all labels; 0 for the others.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.ensemble.updating import place_columns
    >>> place_columns(np.array([[1, 2]]), [2, 0], 3)
    array([[2, 0, 1]])
    """
    placed = np.zeros((len(values), n_labels, *values.shape[2:]), dtype=values.dtype)
    placed[:, places] = values
    return placed


def corrected_rates(rates: NoiseRates, old: KeptData, new: KeptData) -> NoiseRates:
    """Return the noise rates of entries that are not verified, after corrections.

    The expected number of errors, the sum of the rates over the entries of the other class, decreases by the number of
    entries that changed to the other class.

    Parameters
    ----------
    rates : NoiseRates
        Rates before the correction.
    old, new : KeptData
        Data of the same samples, before and after the correction.
    """
    changed = []
    for rate, observed in zip(rates, (1, -1), strict=True):
        unverified = old.samples.labels.observed & ~old.trusted
        true = new.samples.signs == -observed
        n_corrected = (unverified & true & (old.samples.signs == observed)).sum()
        n_entries = (unverified & true).sum(axis=0)
        n_left = (unverified & true & ~new.trusted).sum()
        n_errors = max(float(rate @ n_entries), float(n_corrected), 1e-12)
        factor = (1 - n_corrected / n_errors) * n_entries.sum() / max(n_left, 1)
        changed.append(rate * min(factor, 1.0))
    return NoiseRates(*changed)


def like_features(X: Any, old: Any) -> Matrix:
    """Return features as a sparse matrix if others are one, else as an array, in their precision."""
    X = features_to_numpy(contiguous(X))
    X = sp.csr_array(X) if sp.issparse(old) else X.toarray() if sp.issparse(X) else X
    return X.astype(old.dtype)


def check_negatives(labels: Labels, old_signs: NDArray[np.int8], class_prior: NDArray[np.float64]) -> None:
    """Raise ValueError if labels are positive-only: in the fit, by their class prior, or after the update."""
    positive_only = find_single_class(labels.signs).positive_only & ~find_single_class(old_signs).positive_only
    positive_only[: len(class_prior)] |= ~np.isnan(class_prior)
    if positive_only.any():
        raise ValueError(
            f"{list_labels(labels, positive_only)}: update needs observed negatives; fit a model to all samples, which "
            "uses missing entries of positive-only labels as weak negatives"
        )


def update_ensemble(ensemble: Any, X: Any, y: Any, mask: Any, entry_weight: Any, trusted: Any, samples: Any) -> None:
    """Update an ensemble by the arguments of `SelfPacedEnsemble.update`."""
    kept = ensemble.training_data_
    if kept is None:
        raise ValueError(
            "update needs the training data, which the model does not have; fit it with keep_data=True, or fit a "
            "model to the old and the new samples"
        )
    if is_collection(X):
        raise ValueError("update needs X in memory; fit a model to the collection of all samples")
    X = like_features(check_features(ensemble, X, reset=False), kept.samples.X)
    labels, weights = check_weights(entry_weight, check_labels(ensemble, X, y, mask, classes=ensemble.classes_))
    labels = mark_trusted(labels, trusted)
    n_known = ensemble.n_labels_
    index = check_samples(samples, labels.shape[0], len(kept.fold))
    names, places = place_labels(labels.names, ensemble._labels.names, (labels.shape[1], n_known))
    new = kept.like(Samples(X, labels, weights)).with_labels(places, len(names))
    old = kept.with_labels(range(n_known), len(names))
    corrected = old.correct(index, new)
    data = corrected.append(new, index < 0)
    every = replace(ensemble._labels, signs=data.samples.signs)
    if every.names is not None:
        every = replace(every, names=names)
    check_negatives(every, old.samples.signs, ensemble.class_prior_)
    ensemble.class_prior_ = np.full(len(names), np.nan)
    extended = (np.append(rate, np.full(len(names) - n_known, rate.mean())) for rate in ensemble.likelihood_rates_)
    ensemble.likelihood_rates_ = corrected_rates(NoiseRates(*extended), old, corrected)
    labels = replace(data.samples.labels, names=every.names)
    with thread_map(ensemble.n_jobs) as over:
        refit(ensemble, replace(data, samples=replace(data.samples, labels=labels)), over)
    ensemble._set_labels(every)


def refit(ensemble: Any, kept: KeptData, over: Map) -> None:
    """Fit the views and the correction of an ensemble to kept data, with its settings."""
    samples = ensemble._in_likelihood(replace(kept.samples, X=ensemble._to_device(kept.samples.X)))
    cross = CrossFit.of(kept.fold, over)
    held_out = HeldOut(samples.signs, HeldOutLoss(ensemble.scoring))
    params = dict(zip(NOISE_PARAMETERS, ensemble.likelihood_rates_, strict=True)) | {"keep_decisions": True}
    views = ensemble._make_views(VIEWS)
    start = {name: set_accepted(deepcopy(estimator), **params) for name, estimator in ensemble.estimators_.items()}
    fits = kept.fit_weights()
    features = {}
    results = {}
    for name, fitted in kept.estimators.items():
        X = in_precision(ensemble.transformers_[name].transform(samples.X), views.get(name, View).dtype)
        features[name] = replace(samples, X=X)
        models = [set_accepted(deepcopy(model), **params) for model in fitted]
        scores = cross_fit_scores(cross, models, features[name], fits[:-1] or None)
        results[name] = PathResult(ensemble.params_[name], scores, max(held_out.mean(scores), MIN_LOSS), models)
        start[name] = start_at_mean(start[name], models)
    observed = samples.labels.observed
    trimming = Trimming(ensemble.keep_fraction_, observed & ~kept.trimmed[..., -1] if fits else observed, None)
    ensemble._fit_formula(samples, features, cross, results, trimming, start=start)
    ensemble.training_data_ = replace(kept, estimators=fold_models(results))
    _, ensemble.n_repeated_samples_ = group_identical(hash_samples(kept.samples.X))
    ensemble._feature_means = kept.samples.feature_means
