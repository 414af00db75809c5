"""Updates of a fitted ensemble: new samples, corrected labels and new labels, without a new search."""

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from spmld._arrays import arrays_to_numpy, contiguous, features_to_numpy, on_accelerator
from spmld.estimators._inputs import check_features, check_labels, check_weights
from spmld.estimators.ensemble.training_data import fit_part, spacing
from spmld.estimators.ensemble.views import with_params
from spmld.labels import Labels, LabelWarning
from spmld.labels.encoding import SIGNS
from spmld.labels.entries import mark_trusted
from spmld.noise.calibration import has_both_classes
from spmld.pacing.trimming import trim
from spmld.scale.block_data import BlockData
from spmld.scale.row_blocks import join_rows

NOISE_PARAMETERS = ("false_positive_rate", "false_negative_rate")


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
        Scores of the mixture of views by models that were not fitted to the sample.
    fold : ndarray of shape (n_samples,)
        Fold of each sample. The new samples of an update are a fold.
    learned : ndarray of bool of shape (n_samples, n_labels)
        Entries whose label had both classes in the training samples of the models that scored them.

    Examples
    --------
    See `SelfPacedEnsemble.update`.
    """

    X: Any
    signs: NDArray[np.int8]
    weights: NDArray[np.float64]
    trusted: NDArray[np.bool_]
    scores: NDArray[np.float64]
    fold: NDArray[np.integer[Any]]
    learned: NDArray[np.bool_]

    @classmethod
    def from_blocks(
        cls, X: Any, labels: Labels, scores: Any, signs: Any, weights: Any, fold: Any, learned: Any
    ) -> "KeptData":
        """Return training data that are one row block in memory."""
        if not X:
            raise ValueError("keep_data=True requires X in memory; for row blocks, pass keep_data=False")
        trusted = np.zeros(labels.shape, dtype=bool) if labels.trusted is None else labels.trusted
        return cls(features_to_numpy(X[0]), signs[0], weights[0], trusted, scores[0], fold[0], learned[0])

    def rows(self, chosen: NDArray[np.bool_]) -> "KeptData":
        """Return the data of some samples."""
        return KeptData(X=self.X[chosen], **{name: getattr(self, name)[chosen] for name in _ARRAYS})

    def with_labels(self, n_labels: int) -> "KeptData":
        """Return the data with more labels, which are missing."""
        added = ((0, 0), (0, n_labels - self.signs.shape[1]))
        names = ("signs", "weights", "trusted", "scores", "learned")
        return replace(self, **{name: np.pad(getattr(self, name), added) for name in names})

    def append(self, new: "KeptData") -> "KeptData":
        """Return the data with new samples."""
        rows = {name: np.concatenate([getattr(self, name), getattr(new, name)]) for name in _ARRAYS}
        return KeptData(X=join_rows([self.X, new.X]), **rows)

    def correct(self, samples: NDArray[np.intp], new: "KeptData") -> "KeptData":
        """Return the data in which observed labels replace those of some samples."""
        changed = {name: getattr(self, name).copy() for name in ("signs", "weights", "trusted")}
        for name, values in changed.items():
            values[samples] = np.where(new.signs != 0, getattr(new, name), values[samples])
        return replace(self, **changed)

    def set_frequencies(self, labels: NDArray[np.intp]) -> "KeptData":
        """Return the data in which the scores of labels are the log-odds of their frequency, plus one of each class."""
        scores, signs = self.scores.copy(), self.signs[:, labels]
        positive, negative = (signs > 0).sum(axis=0) + 1, (signs < 0).sum(axis=0) + 1
        scores[:, labels] = np.log(positive / negative)
        return replace(self, scores=scores)


_ARRAYS = ("signs", "weights", "trusted", "scores", "fold", "learned")


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
        every = [*known, *(name for name in names if name not in known)]
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


def place_columns(values: NDArray[Any], places: list[int], n_labels: int) -> NDArray[Any]:
    """Return the values of labels at their places among all labels; 0 for the others."""
    placed = np.zeros((len(values), n_labels), dtype=values.dtype)
    placed[:, places] = values
    return placed


def warn_new_labels(names: list[Any]) -> None:
    """Warn that the probabilities of new labels start from their frequencies."""
    warnings.warn(
        f"New labels: {', '.join(map(str, names))}. Their calibration starts from the label frequencies; fit the model "
        "again when they have enough samples",
        LabelWarning,
        stacklevel=3,
    )


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
    _set_labels: Any

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

        The settings of the views, their weights, the noise rates and the fraction to keep stay the same, so that each
        view is fitted once. New samples are scored before they are used, so that the correction for label
        dependencies, the calibration and the decisions are fitted to held-out scores of all samples, as in `fit`.

        Parameters
        ----------
        X, y, mask, entry_weight, trusted
            As in `fit`. If labels have names, in `fit` and here, `y` may have new labels, and labels of the model that
            it does not have are missing. New labels start from their frequencies, which a `LabelWarning` says.
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
        if not np.isnan(self.class_prior_).all():
            raise ValueError(
                "update needs labels with observed negatives; fit the model again for positive-only labels"
            )
        X = features_to_numpy(contiguous(check_features(self, X, reset=False)))
        labels, weights = check_weights(entry_weight, check_labels(self, X, y, mask, classes=self.classes_))
        labels = mark_trusted(labels, trusted)
        n_known = self.n_labels_
        names, places = place_labels(labels.names, self._labels.names, (labels.shape[1], n_known))
        rows, index = np.zeros((len(weights), len(names))), check_samples(samples, len(weights), len(kept.signs))
        new = KeptData(
            X=X,
            signs=place_columns(labels.signs, places, len(names)),
            weights=place_columns(weights, places, len(names)),
            trusted=rows > 0 if labels.trusted is None else place_columns(labels.trusted, places, len(names)),
            scores=place_columns(self._view_scores(X), list(range(n_known)), len(names)),
            fold=np.full(len(rows), kept.fold.max() + 1, dtype=kept.fold.dtype),
            learned=rows + np.pad(has_both_classes(kept.signs), (0, len(names) - n_known)) > 0,
        )
        data = kept.with_labels(len(names)).correct(index[index >= 0], new.rows(index >= 0)).append(new.rows(index < 0))
        if len(names) > n_known:
            data = data.set_frequencies(np.arange(n_known, len(names)))
            warn_new_labels(names[n_known:])
            self.__dict__.pop("reference_", None)  # it has no scores of the new labels
        self._refit(data, names if self._labels.names is not None else None)
        return self

    def _refit(self, kept: KeptData, names: list[Any] | None) -> None:
        """Fit the views with their settings, and the correction from held-out scores."""
        n, l = kept.signs.shape
        rates = (np.append(rate, np.full(l - len(rate), rate.mean())) for rate in self._rates())
        self.false_positive_rate_, self.false_negative_rate_ = rates
        trusted = kept.trusted if kept.trusted.any() else None
        labels = Labels(kept.signs, SIGNS, names, trusted=trusted)
        self.self_paced_weights_ = np.maximum(trim(kept.scores, kept.signs, self.keep_fraction_), kept.trusted)
        weights = kept.weights * self.self_paced_weights_ if self.keep_fraction_ < 1 else kept.weights
        X = self._to_device(kept.X)
        for name, estimator in self.estimators_.items():
            model = with_params(estimator, **dict(zip(NOISE_PARAMETERS, self._rates(), strict=True)))
            data = BlockData.in_memory(self.transformers_[name].transform(X), labels, kept.weights)
            self.estimators_[name] = arrays_to_numpy(fit_part(model, data.replace_weights((weights,))))
        self.class_prior_, sampled = np.full(l, np.nan), slice(None, None, 1 if trusted is not None else spacing(n))
        parts = kept.weights, kept.fold, kept.learned
        device = str(X.device) if on_accelerator(X) else self.device
        self._fit_correction(kept.scores[sampled], labels[sampled], *(A[sampled] for A in parts), device=device)
        self.out_of_fold_scores_ = self.correction_.correct(kept.scores)
        self.out_of_fold_scores_[sampled] = self.correction_.held_out_scores_
        self.training_data_, self._feature_means = kept, np.asarray(kept.X.mean(axis=0)).ravel()
        self._set_labels(replace(self._labels, signs=kept.signs, names=names))
