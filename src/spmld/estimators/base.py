"""MultiLabelEstimator, the base class of all estimators: probabilities, predictions and completion from scores."""

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags, _safe_indexing
from sklearn.utils.validation import _num_samples, check_is_fitted

from spmld._arrays import (
    Array,
    Matrix,
    arrays_to_numpy,
    is_collection,
    move,
    namespace,
    on_accelerator,
    row_slices,
    to_numpy,
)
from spmld._frames import frame_like, is_frame
from spmld._response import Predictions
from spmld._threads import limit_threads
from spmld._validation import Validated, check_scalar_integer
from spmld.annotators.mixture import annotated_labels
from spmld.cluster.cluster_samples import ClusterSamples
from spmld.cluster.collections import predict_chunks, read_collection
from spmld.estimators.inputs import (
    check_collection,
    check_features,
    check_labels,
    check_memory,
    check_trusted,
    check_weights,
    raise_unknown,
)
from spmld.estimators.outputs import Completion, TopLabels, find_top_labels, prediction_frame, score_probabilities
from spmld.estimators.positive_only import check_single_class, complete_labels
from spmld.estimators.progress import RECORDER
from spmld.labels import Labels
from spmld.labels.encoding import mark_trusted
from spmld.labels.single_class import find_single_class, ignore_label_warnings
from spmld.metrics import subset_accuracy
from spmld.model_selection.samples import Samples


class MultiLabelEstimator(ClassifierMixin, Validated, ABC):
    """Base class of all estimators; subclasses implement `_fit` and `_scores`.

    Labels with positive scores are predicted. Probabilities are those of the loss named by the attribute `loss`, see
    `spmld.estimators.outputs.score_probabilities`, unless the subclass overrides `_probabilities`, or
    `_probabilities_for` if they are not a function of the scores.

    The estimators of this library declare their parameters as fields of a dataclass, which generates the constructor.
    In `fit`, parameters are validated by the types of the fields or by ``_parameter_constraints``, as in scikit-learn,
    and by `_check_parameters`.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Encoding of a negative and of a positive label.
    n_labels_ : int
        Number of labels.
    label_names_ : list
        Names of the labels; their indices if they have no names.
    class_prior_ : ndarray of shape (n_labels,)
        Estimated fraction of positives of the labels with observed positives, missing entries and no observed negative,
        see `positive_unlabeled`; NaN for other labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has string column names.

    Examples
    --------
    An estimator that predicts the mean sign of each label for all samples:

    >>> import numpy as np
    >>> from spmld.estimators import MultiLabelEstimator
    >>> class Mean(MultiLabelEstimator):
    ...     def _fit(self, samples):
    ...         self.mean_ = np.average(samples.signs, axis=0, weights=samples.weights)
    ...     def _scores(self, X):
    ...         return np.tile(self.mean_, (X.shape[0], 1))
    >>> Mean().fit([[0], [1], [2], [3]], [[1, 0], [1, None], [0, 0], [1, 1]]).predict([[4]])
    array([[1, 0]])
    """

    loss = "logistic"

    fits_collections: ClassVar[bool] = False
    """Whether the estimator can be fitted to Dask collections: `_fit` then also gets `ClusterSamples`."""

    @abstractmethod
    def _fit(self, samples: Any) -> None:
        """Fit to validated samples, see `spmld.model_selection.samples.Samples`."""

    def uses_trusted(self) -> bool:
        """Return whether `fit` distinguishes verified entries, the argument `trusted`, from others."""
        return False

    def _infer_labels(self, labels: Labels) -> Labels:
        """Return the labels with missing entries that others imply. By default, none are implied."""
        return labels

    def _weigh_labels(self, labels: Labels, entry_weight: Any) -> tuple[Labels, Any]:
        """Return the labels to fit, and the weights of their entries."""
        return check_weights(entry_weight, labels)

    @abstractmethod
    def _scores(self, X: Any) -> Array:
        """Return the scores of validated features, of shape (n_samples, n_labels)."""

    def _completed_scores(self, X: Any, labels: Labels) -> Array:
        """Return the scores of samples with some observed labels. By default the observed labels are ignored."""
        return self._scores(X)

    def _probabilities_for(self, X: Any, labels: Labels | None = None) -> Array:
        """Return the probabilities of validated features, given the observed labels if there are any."""
        return self._probabilities(self._scores(X) if labels is None else self._completed_scores(X, labels))

    def _responses(self, X: Any) -> tuple[Any, Any]:
        """Return the scores and the probabilities of validated features."""
        scores = self._scores(X)
        return scores, self._probabilities(scores)

    def _predict_all(self, X: Any) -> Predictions:
        """Return scores, labels and probabilities; estimators with a formula evaluate it once."""
        check_is_fitted(self)
        scores, p = map(to_numpy, self._responses(self._read_features(X)))
        return Predictions(scores, (self._margins(scores) > 0).astype(int), p)

    def _probabilities(self, scores: Any) -> Array:
        """Convert scores to probabilities."""
        return score_probabilities(scores, self.loss)

    def _margins(self, scores: Any) -> Array:
        """Return numbers that are positive where the label is predicted, given the scores as a NumPy array."""
        return scores

    def _completion_margins(self, p: Any) -> Array:
        """Return numbers that are positive where `complete` adds the label, given probabilities; 0 and 1 if known."""
        return p - 0.5

    def fit(
        self, X: Any, y: Any = None, mask: Any = None, entry_weight: Any = None, trusted: Any = None, **unknown: Any
    ) -> Self:
        """Fit the estimator to the observed labels.

        Parameters
        ----------
        X : array-like, sparse matrix, torch tensor or Dask collection of shape (n_samples, n_features)
            Training samples. The chunks of large Dask arrays and data frames stay on the workers of the active client,
            if the estimator supports them.
        y : array-like, DataFrame, masked array or sparse matrix of shape (n_samples, n_labels) or (n_samples,)
            Labels: 0/1, -1/+1 or bool; NaN, None or ``pd.NA`` where missing. See `spmld.labels`. Labels of several
            annotators, an array of shape (n_samples, n_annotators, n_labels) or `spmld.annotators.AnnotatorLabels`, are
            replaced by their consensus with entry weights, see `spmld.annotators.fit_consensus`.
        mask : array-like of bool of shape (n_samples, n_labels), optional
            True where a label is observed. Other entries of y are ignored.
        entry_weight : array-like of shape (n_samples, n_labels) or (n_samples,), optional
            Weights of the entries or of the samples, from 0 to 1e15. An entry of weight 0 is treated as missing.
        trusted : array-like of bool of shape (n_samples, n_labels) or (n_samples,), optional
            True for entries, or samples, whose labels are verified to be correct. `SelfPacedEnsemble` uses it, and
            `MaskedLogistic` and `MaskedBoosting` with noise rates. Other estimators raise an error.
        **unknown
            Other arguments raise an error. ``entry_weight`` also has the weights of samples. It is not called
            ``sample_weight``, since scikit-learn's checks of such estimators require that a sample of weight 2 equals
            two samples, which does not hold for estimators that draw folds or initial values, such as
            `SelfPacedEnsemble` and `SPMLD`.

        Returns
        -------
        self

        Notes
        -----
        Labels without an observed positive or without an observed negative are named in a `spmld.labels.LabelWarning`.
        Missing entries of labels with observed positives and no observed negative are used as weak negatives, see
        `spmld.estimators.positive_unlabeled`, unless `entry_weight` has one column for each label; if X is a Dask
        collection, they raise an error. A fit that is interrupted leaves the estimator as it was.
        """
        if unknown:
            raise_unknown(self, unknown)
        self._validate_params()
        if is_collection(X):
            check_collection(self, trusted)
        elif getattr(y, "ndim", 0) == 3:
            y, entry_weight = annotated_labels(X, y, mask=mask, entry_weight=entry_weight, trusted=trusted)
        elif trusted is not None:
            check_trusted(self)
        with self._new_state(keep_fitted=getattr(self, "warm_start", False)) as fitted:
            fitted.fit_samples(*fitted._read(X, y, mask, entry_weight, trusted))
        return self

    def _read(
        self, X: Any, y: Any, mask: Any, entry_weight: Any, trusted: Any
    ) -> tuple[Samples | ClusterSamples, NDArray[np.float64] | None]:
        """Return validated samples from the arguments of `fit`, and the class prior of positive-only labels."""
        if is_collection(X):
            samples = read_collection(X, y, mask, entry_weight)
            check_single_class(samples, entry_weight, self._accepts_entry_weight())
            return samples.loaded(), None
        mapped = X.nbytes if isinstance(X, np.memmap) else 0
        X = check_features(self, X, reset=True)
        if not on_accelerator(X):
            check_memory(self, X, y, mapped)
        labels, weights = self._weigh_labels(check_labels(self, X, y, mask), entry_weight)
        if trusted is not None:
            labels = mark_trusted(labels, trusted)
        class_prior = None
        single = find_single_class(labels.signs)
        if np.any(single):
            labels, weights, class_prior = complete_labels(
                X, labels, weights, single, entry_weight, self._accepts_entry_weight()
            )
        return Samples(X, labels, weights, getattr(self, "feature_names_in_", None)), class_prior

    def fit_samples(self, samples: Samples | ClusterSamples, class_prior: Any = None) -> Self:
        """Fit to validated samples; an interrupted fit may leave the estimator partly fitted."""
        self._validate_params()
        _, d, l = samples.shape
        self.n_features_in_ = d
        self.class_prior_ = np.full(l, np.nan) if class_prior is None else class_prior
        if samples.feature_names is not None:
            self.feature_names_in_ = np.asarray(samples.feature_names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        with ignore_label_warnings(), limit_threads(samples.n_values * l):
            recorder = RECORDER.get()
            if recorder is None:
                self._fit(samples)
            else:
                recorder.fit(self, samples)
        if getattr(self, "device", None) is not None and not hasattr(samples.example, "detach"):
            arrays_to_numpy(self)
        self._feature_means = samples.feature_means
        self._set_labels(samples.labels)
        return self

    def _n_numbers(self, n: int, d: int, l: int) -> int:
        """Return about how many numbers a fit stores in addition to n samples of d features and their l labels."""
        return 0

    def _accepts_entry_weight(self) -> bool:
        """Return whether `_fit` accepts entry weights other than 0 and 1."""
        return True

    def _set_labels(self, labels: Labels) -> None:
        self._labels = Labels(labels.signs[:0], labels.classes, labels.names, labels.one_dimensional)
        self.classes_ = labels.classes
        self.n_labels_ = labels.signs.shape[1]
        self.label_names_ = labels.names if labels.names is not None else list(range(self.n_labels_))

    def decision_function(self, X: Any) -> Array:
        """Return the scores; labels with positive scores are predicted, unless the estimator has a decision rule.

        Parameters
        ----------
        X : array-like, sparse matrix or Dask collection of shape (n_samples, n_features)
            Samples. Predictions of Dask collections are lazy.

        Returns
        -------
        ndarray of shape (n_samples, n_labels), or (n_samples,) if `y` was a vector
            Scores, in the array library of X.
        """
        if is_collection(X):
            check_is_fitted(self)
            return predict_chunks(self, "decision_function", X)
        scores = self._all_scores(X)
        return self._wrap(scores[:, 0] if self._labels.one_dimensional else scores, X)

    def _read_features(self, X: Any) -> Matrix:
        """Return validated features of new samples."""
        return check_features(self, X, reset=False)

    def _all_scores(self, X: Any) -> Array:
        """Return the scores as a matrix, even if y was a vector."""
        check_is_fitted(self)
        return self._scores(self._read_features(X))

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each label.

        Parameters
        ----------
        X
            As in `decision_function`.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            If `y` was a vector, shape (n_samples, 2), with the two classes in the order of `classes_`.
        """
        check_is_fitted(self)
        if is_collection(X):
            return predict_chunks(self, "predict_proba", X)
        p = self._probabilities_for(self._read_features(X))
        return self._wrap(namespace(p).concat([1 - p, p], axis=1) if self._labels.one_dimensional else p, X)

    def predict(self, X: Any) -> Array:
        """Predict the labels, in the encoding of the training labels.

        Parameters
        ----------
        X
            As in `decision_function`.

        Returns
        -------
        ndarray of shape (n_samples, n_labels), or (n_samples,) if `y` was a vector
        """
        if is_collection(X):
            check_is_fitted(self)
            return predict_chunks(self, "predict", X)
        scores = self._all_scores(X)
        return self._wrap(move(self._labels.write(self._margins(to_numpy(scores))), scores), X)

    def top_labels(self, X: Any, k: int = 5) -> TopLabels:
        """Return the `k` labels of each sample with the highest scores, or all labels if there are fewer.

        Scores are computed in blocks of samples: the scores of all samples and labels are never in memory.

        Parameters
        ----------
        X
            As in `decision_function`.
        k : int, default=5
            Number of labels.

        Returns
        -------
        TopLabels
            ``labels``, the columns of the labels, and ``scores``, both of shape (n_samples, k), highest scores first.
        """
        check_is_fitted(self)
        k = check_scalar_integer("k", k, minimum=1)
        X = self._read_features(X)
        blocks = row_slices(_num_samples(X), self.n_labels_)
        parts = [find_top_labels(self._scores(_safe_indexing(X, rows)), k) for rows in blocks]
        return TopLabels(*map(np.concatenate, zip(*parts, strict=True)))

    def score(self, X: Any, y: Any = None, mask: Any = None) -> float:
        """Return the fraction of samples whose observed labels are all predicted correctly.

        Parameters
        ----------
        X, y, mask
            As in `fit`, in memory. Missing entries are ignored.

        Returns
        -------
        float
        """
        labels = self._check_new_labels(X, y, mask)
        truth = np.where(labels.observed, (labels.signs > 0).astype(float), np.nan)
        return float(subset_accuracy(truth, (self._margins(to_numpy(self._all_scores(X))) > 0).astype(int)))

    def _check_new_labels(self, X: Any, Y: Any, mask: Any) -> Labels:
        """Validate labels against those passed to `fit`."""
        check_is_fitted(self)
        X = self._read_features(X)
        labels = check_labels(self, X, Y, mask, classes=self.classes_)
        if labels.signs.shape[1] != self.n_labels_:
            raise ValueError(f"Y must have {self.n_labels_} labels, as in fit, got {labels.signs.shape[1]}")
        if labels.names is not None and self._labels.names is not None and labels.names != self._labels.names:
            raise ValueError(f"Y must have the same label names as in fit, {self._labels.names}, got {labels.names}")
        return self._infer_labels(replace(labels, names=self._labels.names))

    def complete(self, X: Any, y: Any = None, mask: Any = None) -> Completion:
        """Predict the missing entries of a label matrix.

        Parameters
        ----------
        X, y, mask
            As in `fit`, in memory, for the training samples or new ones.

        Returns
        -------
        Completion
            ``labels``, in which observed labels are unchanged, and ``confidences``, the probabilities of these labels.
            A missing label is positive if its probability is above 1/2 or, for estimators with a rule for decisions, if
            the rule predicts it.
        """
        check_is_fitted(self)
        labels = self._check_new_labels(X, y, mask)
        p = to_numpy(self._probabilities_for(self._read_features(X), labels))
        positive = self._completion_margins(np.where(labels.observed, labels.signs > 0, p)) > 0
        signs = np.where(labels.observed, labels.signs, np.where(positive, 1, -1))
        confidences = np.where(labels.observed, 1.0, np.where(positive, p, 1 - p))
        if labels.one_dimensional:
            confidences = confidences[:, 0]
        completed = (labels.write(signs), confidences)
        return Completion(*(frame_like(y, A) if is_frame(y) else self._wrap(A, X) for A in completed))

    def set_output(self, *, predict: str | None = None) -> Self:
        """Set the type of predictions.

        Parameters
        ----------
        predict : {"default", "pandas", "polars"} or None, default=None
            With "pandas" and "polars", `predict`, `predict_proba`, `decision_function` and `complete` return data
            frames with the names of the labels as columns, those of pandas with the index of X (a Series where
            "default" returns a vector). None leaves the setting unchanged.

        Returns
        -------
        self

        Examples
        --------
        >>> import pandas as pd
        >>> from spmld import LabelPrior
        >>> X = pd.DataFrame({"tempo": [60, 120]}, index=["ballad", "dance"])
        >>> Y = pd.DataFrame({"calm": [1, 0], "fast": [0, 1]}, index=X.index)
        >>> LabelPrior().set_output(predict="pandas").fit(X, Y).predict_proba(X)
                calm  fast
        ballad   0.5   0.5
        dance    0.5   0.5
        """
        if predict not in (None, "default", "pandas", "polars"):
            raise ValueError(f'predict must be "default", "pandas", "polars" or None, got {predict!r}')
        if predict is not None:
            self._sklearn_output_config = {"predict": predict}  # scikit-learn's clone copies it
        return self

    def _wrap(self, values: Any, X: Any) -> Array:
        """Return predictions of X as a data frame, if this is set."""
        library = getattr(self, "_sklearn_output_config", {}).get("predict", "default")
        return values if library == "default" else prediction_frame(to_numpy(values), X, self._labels, library)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        return tags
