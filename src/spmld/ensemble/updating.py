"""Updates of a fitted ensemble: new samples, corrected labels and new labels, without a new search."""

from collections.abc import Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from spmld._arrays import (
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
from spmld.ensemble.folds import fold_indices
from spmld.ensemble.view_fitting import Trimming
from spmld.ensemble.views import VIEWS, View, set_accepted
from spmld.estimators.inputs import check_features, check_labels, check_weights
from spmld.labels import Labels
from spmld.labels.encoding import SIGNS, mark_trusted
from spmld.labels.single_class import find_single_class, list_labels
from spmld.model_selection.cross_fitting import CrossFit, cross_fit_scores
from spmld.model_selection.held_out_loss import HeldOutLoss
from spmld.model_selection.identical_samples import group_identical, hash_samples
from spmld.model_selection.path_search import MIN_LOSS, HeldOut, PathResult
from spmld.model_selection.samples import Samples
from spmld.noise import NoiseRates

NOISE_PARAMETERS = ("false_positive_rate", "false_negative_rate")
_OF_ENTRIES = ("signs", "weights", "trusted", "trimmed")
_OF_SAMPLES = (*_OF_ENTRIES, "fold", "sample_names")


@dataclass(frozen=True)
class KeptData:
    """Training data and models of the folds of an ensemble, from which it is updated.

    Attributes
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        Features.
    signs, weights : ndarray of shape (n_samples, n_labels)
        Labels and weights of the entries; 0 where missing.
    trusted : ndarray of bool of shape (n_samples, n_labels)
        Verified entries.
    trimmed : ndarray of bool of shape (n_samples, n_labels, n_fits)
        Entries that are left out in the fit of each fold and, at the end, of all samples; no fits without trimming.
    fold : ndarray of shape (n_samples,)
        Fold that tests each sample.
    sample_names : ndarray of str of shape (n_samples,)
        Identifiers of the samples, which the commands use; empty without one.
    estimators : dict
        The estimators of each view, fitted without the samples of each fold.

    Examples
    --------
    See `SelfPacedEnsemble.update`.
    """

    X: Any
    signs: NDArray[np.int8]
    weights: NDArray[Any]
    trusted: NDArray[np.bool_]
    trimmed: NDArray[np.bool_]
    fold: NDArray[np.integer[Any]]
    sample_names: NDArray[np.str_]
    estimators: dict[str, list[Any]]

    @classmethod
    def from_fit(
        cls, samples: Samples, cross: CrossFit, results: Mapping[str, PathResult], trimming: Trimming
    ) -> "KeptData":
        """Return the data of a fit."""
        signs, weights, trusted = samples.signs, samples.weights, samples.labels.trusted
        trusted = np.zeros(signs.shape, dtype=bool) if trusted is None else trusted
        fits = [] if trimming.fold_weights is None else [*trimming.fold_weights, trimming.kept]
        trimmed = np.stack([kept == 0 for kept in fits], axis=2) if fits else np.zeros((*signs.shape, 0), dtype=bool)
        names, models = np.full(len(signs), ""), fold_models(results)
        return cls(features_to_numpy(samples.X), signs, weights, trusted, trimmed, cross.number, names, models)

    def with_labels(self, places: Sequence[int], n_labels: int) -> "KeptData":
        """Return the data with labels at their places among all labels; others are missing."""
        placed: dict[str, Any] = {name: place_columns(getattr(self, name), places, n_labels) for name in _OF_ENTRIES}
        return replace(self, **placed)

    def correct(self, index: NDArray[np.intp], new: "KeptData") -> "KeptData":
        """Return the data in which observed entries of other data replace those of the samples `index`, if not -1.

        An entry with the same label stays as it is, also trimmed or verified, unless it is verified or has a weight.
        """
        rows, changed = np.flatnonzero(index >= 0), {}
        differs, is_weighted = new.signs[rows] != self.signs[index[rows]], new.weights.dtype != bool
        at, labels = np.nonzero((new.signs[rows] != 0) & (differs | new.trusted[rows] | is_weighted))
        for name in _OF_ENTRIES:
            old, values = getattr(self, name), getattr(new, name)
            changed[name] = old.astype(np.result_type(old, values))
            changed[name][index[rows[at]], labels] = values[rows[at], labels]
        return replace(self, **changed)

    def append(self, new: "KeptData", chosen: NDArray[np.bool_]) -> "KeptData":
        """Return the data with the chosen samples of other data.

        A sample that is identical to one of these data is in the same fold. The fold of another one depends on its
        features only, so that the order of new samples does not matter.
        """
        X = join_rows([self.X, new.X[chosen]])
        rows: dict[str, Any] = {
            name: np.concatenate([getattr(self, name), getattr(new, name)[chosen]]) for name in _OF_SAMPLES
        }
        hashes, n = hash_samples(X), len(self.signs)
        first, hashed = group_identical(hashes)[0][n:], hashes[n:] % np.uint64(self.fold.max() + 1)
        rows["fold"][n:] = np.where(first < n, rows["fold"][first], hashed)
        return replace(self, X=X, **rows)

    def fit_weights(self) -> list[Any]:
        """Return the weights of the entries in the fit of each fold and of all samples; empty without trimming."""
        return [self.weights * ~self.trimmed[..., k] for k in range(self.trimmed.shape[2])]


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
        unverified, true = (old.signs != 0) & ~old.trusted, new.signs == -observed
        n_corrected = (unverified & true & (old.signs == observed)).sum()
        n_entries, n_left = (unverified & true).sum(axis=0), (unverified & true & ~new.trusted).sum()
        n_errors = max(float(rate @ n_entries), float(n_corrected), 1e-12)
        factor = (1 - n_corrected / n_errors) * n_entries.sum() / max(n_left, 1)
        changed.append(rate * min(factor, 1.0))
    return NoiseRates(*changed)


def like_features(X: Any, old: Any) -> Any:
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


class UpdateMixin:
    """The method `update` of `SelfPacedEnsemble`."""

    training_data_: KeptData | None

    def update(
        self: Any,
        X: Any,
        y: Any = None,
        mask: Any = None,
        entry_weight: Any = None,
        trusted: Any = None,
        *,
        samples: Any = None,
    ) -> Any:
        """Update the model with new samples, corrected labels or new labels.

        The settings of the views and their transformers stay the same. The views are fitted to all samples, and to the
        training samples of each fold, so that their weights, the correction for label dependencies, the calibration,
        the decisions and the summary for monitoring are those of all samples, as in `fit`. The fits are fast: linear
        views start from their coefficients, and the trees of the view "boosting" keep their decisions and get new
        leaves. Noise rates decrease by the errors that are corrected. Trimmed entries stay trimmed, unless they are
        corrected, verified or weighted. If an error is raised, the model does not change.

        Parameters
        ----------
        X, y, mask, entry_weight, trusted
            As in `fit`. If labels have names, in `fit` and here, `y` may have new labels, and labels of the model that
            it does not have are missing.
        samples : array-like of int of shape (n_samples,), optional
            Index of the training sample of each row whose labels are corrected, -1 for a new sample. By default, all
            samples are new. Observed entries of `y` replace the labels; features of training samples do not change.
            New samples follow the others in `training_data_`, in their order.

        Returns
        -------
        self

        Examples
        --------
        >>> from spmld import SelfPacedEnsemble
        >>> from spmld.datasets import make_planted
        >>> data = make_planted(n_samples=400, random_state=0)
        >>> model = SelfPacedEnsemble(views=("ridge", "linear"), keep_data=True, random_state=0)
        >>> model.fit(data.X[:300], data.Y[:300]).update(data.X[300:], data.Y[300:]).training_data_.signs.shape
        (400, 12)
        """
        check_is_fitted(self)
        kept = self.training_data_
        if kept is None:
            raise ValueError(
                "update needs the training data, which the model does not have; fit it with keep_data=True, or fit a "
                "model to the old and the new samples"
            )
        if is_collection(X):
            raise ValueError("update needs X in memory; fit a model to the collection of all samples")
        X = like_features(check_features(self, X, reset=False), kept.X)
        labels, weights = check_weights(entry_weight, check_labels(self, X, y, mask, classes=self.classes_))
        labels = mark_trusted(labels, trusted)
        (n, l), n_known = labels.shape, self.n_labels_
        index = check_samples(samples, n, len(kept.signs))
        names, places = place_labels(labels.names, self._labels.names, (l, n_known))
        verified = np.zeros((n, l), dtype=bool) if labels.trusted is None else labels.trusted
        trimmed, fold = np.zeros((n, l, kept.trimmed.shape[2]), dtype=bool), np.zeros(n, dtype=kept.fold.dtype)
        new = KeptData(X, labels.signs, weights, verified, trimmed, fold, np.full(n, ""), {})
        old, new = kept.with_labels(range(n_known), len(names)), new.with_labels(places, len(names))
        corrected = old.correct(index, new)
        data = corrected.append(new, index < 0)
        every = replace(self._labels, signs=data.signs, names=None if self._labels.names is None else names)
        check_negatives(every, old.signs, self.class_prior_)
        updated = copy(self)
        updated.class_prior_ = np.full(len(names), np.nan)
        extended = (np.append(rate, np.full(len(names) - n_known, rate.mean())) for rate in self._rates())
        rates = corrected_rates(NoiseRates(*extended), old, corrected)
        updated.false_positive_rate_, updated.false_negative_rate_ = rates
        with thread_map(self.n_jobs) as over:
            updated._refit(data, every, over)
        updated._set_labels(every)
        self.__dict__.update(updated.__dict__)
        return self

    def _refit(self: Any, kept: KeptData, labels: Labels, over: Map) -> None:
        """Fit the views and the correction with their settings."""
        X, features, results, fits = self._to_device(kept.X), {}, {}, kept.fit_weights()
        labels = Labels(labels.signs, SIGNS, labels.names, trusted=kept.trusted if kept.trusted.any() else None)
        samples = Samples(X, labels, kept.weights)
        cross = CrossFit(fold_indices(kept.fold, int(kept.fold.max()) + 1), len(labels.signs), over)
        held_out = HeldOut(labels.signs, HeldOutLoss(self.scoring))
        params = dict(zip(NOISE_PARAMETERS, self._rates(), strict=True)) | {"keep_decisions": True}
        views = self._make_views(VIEWS)
        start = {name: set_accepted(deepcopy(estimator), **params) for name, estimator in self.estimators_.items()}
        for name, fitted in kept.estimators.items():
            of_view = replace(
                samples, X=in_precision(self.transformers_[name].transform(X), views.get(name, View).dtype)
            )
            models = [set_accepted(deepcopy(model), **params) for model in fitted]
            scores = cross_fit_scores(cross, models, of_view, fits[:-1] or None)
            features[name] = of_view
            results[name] = PathResult(self.params_[name], scores, max(held_out.mean(scores), MIN_LOSS), models)
            for part in {"coef_", "intercept_"} & set(vars(start[name])):  # the mean is close to the solution
                setattr(start[name], part, np.mean([to_numpy(getattr(model, part)) for model in models], axis=0))
        observed = kept.signs != 0
        trimming = Trimming(self.keep_fraction_, observed & ~kept.trimmed[..., -1] if fits else observed, None)
        self._combine_views(results, samples, features, cross, trimming, start=start)
        self.training_data_ = replace(kept, estimators=fold_models(results))
        self.n_repeated_samples_ = group_identical(hash_samples(kept.X))[1]
        self._feature_means = np.asarray(kept.X.mean(axis=0)).ravel()
