"""Training data with folds, and the loss of out-of-fold scores."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import has_fit_parameter

from spmld._arrays import arrays_to_numpy, features_to_numpy, on_accelerator
from spmld.core.losses import LOSSES
from spmld.estimators._base import MultiLabelEstimator
from spmld.labels import Labels, read_labels
from spmld.metrics import get_metric
from spmld.model_selection.cross_fitting import CrossFitResult, Fold, cross_fit

Scores = NDArray[np.float64]


MAX_SAMPLES = 10_000
"""Maximum number of samples from which calibrations and noise rates are estimated."""
MAX_SCORED = 20_000
"""Maximum number of samples from which the loss of a setting is computed."""


def spacing(n: int, max_samples: int | None = None) -> int:
    """Return the distance of evenly spaced samples of which there are at most `max_samples`, by default `MAX_SAMPLES`.

    Examples
    --------
    >>> from spmld.estimators.ensemble.training_data import spacing
    >>> spacing(25_000)
    3
    """
    return -(-n // (max_samples or MAX_SAMPLES))


def evenly_spaced(*arrays: Any, max_samples: int | None = None) -> tuple[Any, ...]:
    """Return every n-th row of each array, so that there are at most `max_samples` rows, by default `MAX_SAMPLES`.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.estimators.ensemble.training_data import evenly_spaced
    >>> len(evenly_spaced(np.zeros((25_000, 3)))[0])
    8334
    """
    return tuple(array[:: spacing(array.shape[0], max_samples)] for array in arrays)


class HeldOutLoss:
    """Loss of out-of-fold scores by a metric of `spmld.metrics`.

    Parameters
    ----------
    scoring : str, default="ranking_loss"
        Name of a metric of scores. Metrics for which greater is better are subtracted from their maximum.

    Examples
    --------
    >>> from spmld.estimators.ensemble import HeldOutLoss
    >>> HeldOutLoss("sample_auc")([[1, 0], [0, 1]], [[2.0, 1.0], [2.0, 1.0]])
    array([0., 1.])
    """

    def __init__(self, scoring: str = "ranking_loss"):
        self.scoring = scoring
        try:
            self._metric, self._options = get_metric(scoring)
        except ValueError as error:
            raise ValueError(f"scoring must be the name of a metric of scores, got {scoring!r}: {error}") from error
        if self._metric.needs != "scores":
            raise ValueError(
                f"scoring must be a metric of scores, got {scoring!r}, a metric of {self._metric.needs}; "
                'use "ranking_loss" or another metric of scores'
            )

    def __call__(self, Y: Any, scores: Any) -> NDArray[np.float64]:
        """Return the losses: one per sample for a mean over samples, otherwise one value.

        Where the metric is undefined for all samples, as ranking metrics are for a single label, the losses are the
        logistic losses of the observed entries.
        """
        averages = {"average": None} if self._metric.over == "samples" else {}
        losses = np.atleast_1d(self._metric.function(Y, scores, **self._options, **averages))
        if np.isnan(losses).all():
            signs = read_labels(Y).signs
            return LOSSES["logistic"].value(signs[signs != 0].astype(float), scores[signs != 0])
        return self._metric.range[1] - losses if self._metric.greater_is_better else losses


class FoldData(Protocol):
    """Training data in memory or in row blocks, with folds."""

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        ...

    def cross_fit(self, estimator: Any, *, entry_weight: Any = None) -> Any:
        """Cross-fit estimators, and return a result with the attributes `estimators` and `scores`."""
        ...

    def nested_scores(self, estimator: Any) -> list[Any]:
        """Return, for each fold, scores of its training samples by models that saw neither these nor the fold.

        The models of two folds are fitted on the samples that are in the training sets of both. Scores of the test
        samples of a fold are 0. With two folds, no samples are left, and all scores are 0.
        """
        ...

    def fit(self, estimator: Any, *, entry_weight: Any) -> Any:
        """Fit an estimator on all samples."""
        ...

    def losses(self, scores: Any) -> NDArray[np.float64]:
        """Return the losses of out-of-fold scores whose mean is to be minimized, of evenly spaced samples."""
        ...


@dataclass(frozen=True)
class TrainingData:
    """Training samples with labels, entry weights, folds and the loss used for model selection.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        Features.
    Y : ndarray or Labels of shape (n_samples, n_labels)
        Labels -1 and +1, NaN where missing. `Labels` are not read again in each fit.
    entry_weight : ndarray of shape (n_samples, n_labels)
        Weights of the entries; 0 where missing.
    folds : sequence of (train, test)
        Folds that test each sample once, see `spmld.model_selection.make_folds`.
    loss : callable, default=HeldOutLoss()
        ``loss(Y, scores)`` returns an array of losses, whose mean is to be minimized.
    n_jobs : int or None, default=None
        Number of folds fitted in parallel.
    trusted : ndarray of bool of shape (n_samples, n_labels), optional
        Verified entries.

    Examples
    --------
    See `search_path`.
    """

    X: Any
    Y: NDArray[Any] | Labels
    entry_weight: NDArray[Any]
    folds: Sequence[Fold]
    loss: Callable[[Any, Any], NDArray[np.float64]] = field(default_factory=HeldOutLoss)
    n_jobs: int | None = None
    trusted: NDArray[np.bool_] | None = None

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return len(self.folds)

    def cross_fit(self, estimator: Any, *, entry_weight: Scores | list[Scores] | None = None) -> CrossFitResult:
        """Cross-fit an estimator, by default with the weights of the data; a list has weights for each fold."""
        return self._cross_fit(estimator, self.folds, self.entry_weight if entry_weight is None else entry_weight)

    def nested_scores(self, estimator: Any) -> list[Scores]:
        """Return, for each fold, scores of its training samples by models that saw neither these nor the fold."""
        pairs = list(combinations(range(len(self.folds)), 2))
        trains = [np.intersect1d(self.folds[a][0], self.folds[b][0]) for a, b in pairs]
        tests = [np.concatenate([self.folds[a][1], self.folds[b][1]]) for a, b in pairs]
        fitted = self._cross_fit(estimator, list(zip(trains, tests, strict=True)), self.entry_weight)
        nested = [np.zeros(self.entry_weight.shape) for _ in self.folds]
        for (a, b), scores in zip(pairs, fitted.fold_scores, strict=True):
            n_first = len(self.folds[a][1])
            nested[b][self.folds[a][1]], nested[a][self.folds[b][1]] = scores[:n_first], scores[n_first:]
        return nested

    def _cross_fit(self, estimator: Any, folds: Sequence[Fold], entry_weight: Any) -> CrossFitResult:
        options: Any = {"entry_weight": entry_weight, "n_jobs": self.n_jobs, "trusted": self._trusted(estimator)}
        return cross_fit(estimator, self.X, self._labels(estimator), folds, **options)

    def fit(self, estimator: Any, *, entry_weight: Scores) -> Any:
        """Fit an estimator on all samples; its fitted arrays are those of NumPy, so that it depends on no device."""
        trusted = self._trusted(estimator)
        options = {} if trusted is None else {"trusted": trusted}
        return arrays_to_numpy(estimator.fit(self.X, self._labels(estimator), entry_weight=entry_weight, **options))

    def losses(self, scores: Scores) -> NDArray[np.float64]:
        """Return the losses of out-of-fold scores, of evenly spaced samples if there are many."""
        return self.loss(*evenly_spaced(self.Y, scores, max_samples=MAX_SCORED))

    def _trusted(self, estimator: Any) -> NDArray[np.bool_] | None:
        """Return the verified entries if the ``fit`` of the estimator, or of each of a list, accepts them."""
        return self.trusted if has_fit_parameter(_first(estimator), "trusted") else None

    def _labels(self, estimator: Any) -> Any:
        """Return the labels in a form that the estimator, or each of a list, accepts."""
        if isinstance(self.Y, Labels) and not isinstance(_first(estimator), MultiLabelEstimator):
            return self.Y.write_with_missing(None)
        return self.Y


def _first(estimator: Any) -> Any:
    return estimator[0] if isinstance(estimator, list) else estimator


def contiguous(X: Any) -> Any:
    """Return X in row-major order, so that rounding errors are the same for all input formats.

    Arrays on an accelerator stay there; other arrays become those of NumPy.
    """
    if on_accelerator(X):
        return X.contiguous()
    X = features_to_numpy(X)
    return np.ascontiguousarray(X) if isinstance(X, np.ndarray) else X
