"""Updates of a fitted ensemble: new samples, corrected labels and new labels, without a new search."""

from collections.abc import Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from spmld._arrays import arrays_to_numpy, contiguous, features_to_numpy, on_accelerator
from spmld.estimators._inputs import check_features, check_labels, check_weights
from spmld.estimators.ensemble.training_data import fit_part, spacing
from spmld.estimators.ensemble.views import set_accepted
from spmld.estimators.progress import warn_caller
from spmld.labels import Labels, LabelWarning
from spmld.labels.encoding import SIGNS
from spmld.labels.entries import mark_trusted
from spmld.labels.single_class import find_single_class, list_labels
from spmld.model_selection.identical_samples import group_identical, hash_samples
from spmld.noise.calibration import has_both_classes
from spmld.pacing.trimming import trim
from spmld.scale.block_data import BlockData
from spmld.scale.inputs import is_blocks
from spmld.scale.row_blocks import join_rows

NOISE_PARAMETERS = ("false_positive_rate", "false_negative_rate")
UPDATES = -1
"""Fold of the samples of updates."""
_OF_ENTRIES = ("signs", "weights", "trusted", "scores", "learned")
_OF_SAMPLES = (*_OF_ENTRIES, "fold", "sample_names")


@dataclass(frozen=True)
class KeptData:
    """Training data and out-of-fold scores of an ensemble, from which it is updated.

    Attributes
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        Features.
    signs, weights : ndarray of shape (n_samples, n_labels)
        Labels and weights of the entries; 0 where missing.
    trusted : ndarray of bool of shape (n_samples, n_labels)
        Verified entries.
    scores : ndarray of shape (n_samples, n_labels)
        Scores of the mixture of views by models that were not fitted to the sample; NaN for labels that these models
        did not have.
    learned : ndarray of bool of shape (n_samples, n_labels)
        Entries whose label had both classes in the training samples of the models that scored them.
    fold : ndarray of shape (n_samples,)
        Fold of each sample; -1 for samples of updates.
    sample_names : ndarray of str of shape (n_samples,)
        Identifiers of the samples, which the commands use; empty without one.

    Examples
    --------
    See `SelfPacedEnsemble.update`.
    """

    X: Any
    signs: NDArray[np.int8]
    weights: NDArray[Any]
    trusted: NDArray[np.bool_]
    scores: NDArray[np.float64]
    learned: NDArray[np.bool_]
    fold: NDArray[np.integer[Any]]
    sample_names: NDArray[np.str_]

    @classmethod
    def from_blocks(
        cls, X: Any, labels: Labels, scores: Any, signs: Any, weights: Any, fold: Any, learned: Any
    ) -> "KeptData":
        """Return training data that are one row block in memory."""
        if not X:
            raise ValueError("keep_data=True requires X in memory; for row blocks, pass keep_data=False")
        trusted = np.zeros(labels.shape, dtype=bool) if labels.trusted is None else labels.trusted
        names = np.full(len(trusted), "")
        return cls(features_to_numpy(X[0]), signs[0], weights[0], trusted, scores[0], learned[0], fold[0], names)

    def with_labels(self, n_labels: int) -> "KeptData":
        """Return the data with more labels, which are missing and have no scores."""
        known = range(self.signs.shape[1])
        placed = {name: place_columns(getattr(self, name), known, n_labels) for name in _OF_ENTRIES}
        return replace(self, **placed | {"scores": place_columns(self.scores, known, n_labels, np.nan)})

    def correct(self, index: NDArray[np.intp], new: "KeptData") -> "KeptData":
        """Return the data in which observed labels of other data replace those of the samples `index`, if not -1."""
        rows, samples = index >= 0, index[index >= 0]
        changed = {}
        for name in ("signs", "weights", "trusted"):
            old, values = getattr(self, name), getattr(new, name)[rows]
            changed[name] = old.astype(np.result_type(old, values))
            changed[name][samples] = np.where(new.signs[rows] != 0, values, old[samples])
        return replace(self, **changed)

    def rows(self, chosen: NDArray[np.bool_]) -> "KeptData":
        """Return the data of some samples."""
        return KeptData(X=self.X[chosen], **{name: getattr(self, name)[chosen] for name in _OF_SAMPLES})

    def append(self, new: "KeptData") -> "KeptData":
        """Return the data with new samples.

        Samples that are identical to one of these data get its fold and its scores, because the models that scored
        them were fitted to it.
        """
        X = join_rows([self.X, new.X])
        first, place = group_identical(hash_samples(X))[0], np.arange(X.shape[0])
        twin = np.where(place < len(self.signs), place, first)
        rows = {name: np.concatenate([getattr(self, name), getattr(new, name)]) for name in _OF_SAMPLES}
        return KeptData(X=X, **rows | {name: rows[name][twin] for name in ("scores", "learned", "fold")})

    def scored(self) -> "KeptData":
        """Return the data with scores of all labels, for the correction.

        Labels without scores get the log-odds of their frequency, plus one of each class, and weights of 0.
        """
        unscored, signs = np.isnan(self.scores), self.signs
        frequencies = np.log(((signs > 0).sum(axis=0) + 1) / ((signs < 0).sum(axis=0) + 1))
        return replace(
            self,
            scores=np.where(unscored, frequencies, self.scores),
            weights=np.where(unscored, 0, self.weights),
            learned=self.learned & ~unscored,
        )


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
    >>> from spmld.estimators.ensemble.updating import place_labels
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
            f"samples and -1 for new ones, got {samples!r}"
        )
    if len(np.unique(index[index >= 0])) < (index >= 0).sum():
        raise ValueError("samples must name each training sample once; merge its labels into one row")
    return index.astype(np.intp)


def place_columns(values: NDArray[Any], places: Sequence[int], n_labels: int, other: float = 0) -> NDArray[Any]:
    """Return the values of labels at their places among all labels, with a value for the others.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.estimators.ensemble.updating import place_columns
    >>> place_columns(np.array([[1, 2]]), [2, 0], 3)
    array([[2, 0, 1]])
    """
    placed = np.full((len(values), n_labels), other, dtype=values.dtype)
    placed[:, places] = values
    return placed


def like_features(X: Any, old: Any) -> Any:
    """Return features as a sparse matrix if others are one, else as an array, in their precision."""
    X = features_to_numpy(contiguous(X))
    X = sp.csr_array(X) if sp.issparse(old) else X.toarray() if sp.issparse(X) else X
    return X.astype(old.dtype)


class UpdateMixin:
    """The method `update` of `SelfPacedEnsemble`."""

    training_data_: KeptData | None
    keep_fraction_: float
    n_labels_: int
    classes_: Any
    device: str | None
    estimators_: dict[str, Any]
    transformers_: dict[str, Any]
    correction_: Any
    _labels: Any
    _rates: Any
    _view_scores: Any
    _to_device: Any
    _fit_correction: Any
    _set_reference: Any
    _set_labels: Any
    class_prior_: NDArray[np.float64]

    def update(
        self,
        X: Any,
        y: Any = None,
        mask: Any = None,
        entry_weight: Any = None,
        trusted: Any = None,
        *,
        samples: Any = None,
    ) -> Any:
        """Update the model with new samples, corrected labels or new labels.

        The transformers and the settings of the views, their weights, the noise rates and the fraction to keep stay
        the same. Linear views start from their coefficients, and the trees of the view "boosting" keep their decisions
        and get new leaves. New samples are scored before they are used, so that the correction for label dependencies,
        the calibration and the decisions are fitted to held-out scores of all samples, as in `fit`. If an error is
        raised, the model does not change.

        Parameters
        ----------
        X, y, mask, entry_weight, trusted
            As in `fit`. If labels have names, in `fit` and here, `y` may have new labels, and labels of the model that
            it does not have are missing. New labels have no held-out scores until the next update, so that they share
            the calibration of the other labels, which a `LabelWarning` says.
        samples : array-like of int of shape (n_samples,), optional
            Index of the training sample of each row whose labels are corrected, -1 for a new sample. By default, all
            samples are new. Observed entries of `y` replace the labels; features of training samples do not change.

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
        if is_blocks(X):
            raise ValueError("update needs X in memory; fit a model to all row blocks")
        X = like_features(check_features(self, X, reset=False), kept.X)
        labels, weights = check_weights(entry_weight, check_labels(self, X, y, mask, classes=self.classes_))
        verified = mark_trusted(labels, trusted).trusted
        n, l, n_known = *labels.shape, self.n_labels_
        names, places = place_labels(labels.names, self._labels.names, (l, n_known))
        index, kept = check_samples(samples, n, len(kept.signs)), kept.with_labels(len(names))
        new = KeptData(
            X=X,
            signs=place_columns(labels.signs, places, len(names)),
            weights=place_columns(weights, places, len(names)),
            trusted=place_columns(np.zeros((n, l), dtype=bool) if verified is None else verified, places, len(names)),
            scores=place_columns(self._view_scores(X), range(n_known), len(names), np.nan),
            learned=np.tile(has_both_classes(kept.signs), (n, 1)),
            fold=np.full(n, UPDATES, dtype=kept.fold.dtype),
            sample_names=np.full(n, ""),
        )
        data = kept.correct(index, new).append(new.rows(index < 0))
        every = Labels(data.signs, SIGNS, names if self._labels.names is not None else None)
        positive_only = find_single_class(data.signs).positive_only & ~find_single_class(kept.signs).positive_only
        positive_only[:n_known] |= ~np.isnan(self.class_prior_)
        if positive_only.any():
            raise ValueError(
                f"{list_labels(every, positive_only)}: update needs observed negatives; fit a model to all samples, "
                "which uses missing entries of positive-only labels as weak negatives"
            )
        updated = copy(self)
        updated._refit(data, every)
        self.__dict__.update(updated.__dict__)
        if len(names) > n_known:
            self.__dict__.pop("reference_", None)  # it has no scores of new labels
            new_labels = list_labels(every, np.arange(len(names)) >= n_known)
            warn_caller(
                f"{new_labels}: new, and calibrated like the other labels until the next update or fit. The model has "
                "no summary of the training data for monitoring until the next fit",
                LabelWarning,
            )
        return self

    def _refit(self, kept: KeptData, labels: Labels) -> None:
        """Fit the views with their settings, and the correction from held-out scores."""
        n, l = labels.shape
        rates = (np.append(rate, np.full(l - len(rate), rate.mean())) for rate in self._rates())
        self.false_positive_rate_, self.false_negative_rate_ = rates
        labels = replace(labels, trusted=kept.trusted if kept.trusted.any() else None)
        scored = kept.scored()
        self.self_paced_weights_ = np.maximum(trim(scored.scores, kept.signs, self.keep_fraction_), kept.trusted)
        weights = kept.weights * self.self_paced_weights_ if self.keep_fraction_ < 1 else kept.weights
        X, estimators = self._to_device(kept.X), {}
        params = dict(zip(NOISE_PARAMETERS, self._rates(), strict=True)) | {"keep_decisions": True}
        for name, estimator in self.estimators_.items():
            data = BlockData.in_memory(self.transformers_[name].transform(X), labels, kept.weights)
            model = set_accepted(deepcopy(estimator), **params)
            estimators[name] = arrays_to_numpy(fit_part(model, data.replace_weights((weights,))))
        self.estimators_, self.class_prior_ = estimators, np.full(l, np.nan)
        sampled = slice(None, None, 1 if labels.trusted is not None else spacing(n))
        parts = (A[sampled] for A in (scored.weights, kept.fold, scored.learned))
        device = str(X.device) if on_accelerator(X) else self.device
        self._fit_correction(scored.scores[sampled], labels[sampled], *parts, device=device)
        self.out_of_fold_scores_ = self.correction_.correct(scored.scores)
        self.out_of_fold_scores_[sampled] = self.correction_.held_out_scores_
        self.n_repeated_samples_ = group_identical(hash_samples(kept.X))[1]
        self.training_data_, self._feature_means = kept, np.asarray(kept.X.mean(axis=0)).ravel()
        if hasattr(self, "reference_") and l == self.n_labels_:
            coef = self.reference_.weights.T.toarray()
            self._set_reference(kept.X, kept.signs, scored.learned, kept.fold <= 0, coef)
        self._set_labels(replace(self._labels, signs=kept.signs, names=labels.names))
