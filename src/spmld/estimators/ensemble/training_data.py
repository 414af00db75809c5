"""Training data with folds, and the loss of out-of-fold scores."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from spmld._arrays import arrays_to_numpy, features_to_numpy, on_accelerator
from spmld.core.lazy_matrix import loaded
from spmld.core.losses import LOSSES
from spmld.estimators._base import MultiLabelEstimator
from spmld.estimators.ensemble.training_entries import TrainingEntries, spacing
from spmld.labels import Labels, read_labels
from spmld.labels.encoding import SIGNS
from spmld.labels.single_class import ignore_label_warnings
from spmld.metrics.registry import get_metric
from spmld.model_selection.cross_fitting import Fold, decision_scores
from spmld.scale.block_data import BlockData, BlockValues

Scores = NDArray[np.float64]
MAX_SCORED = 20_000
"""Maximum number of samples from which the loss of a setting is computed."""


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


class FoldScores(NamedTuple):
    """Fitted estimators of the folds, and out-of-fold scores in row blocks."""

    estimators: list[Any]
    scores: BlockValues


@dataclass(frozen=True)
class TrainingData:
    """Training samples with labels, entry weights, folds and the loss used for model selection.

    Parameters
    ----------
    data : BlockData
        Features of a view, labels and entry weights.
    entries : TrainingEntries
        Labels and folds.
    loss : callable, default=HeldOutLoss()
        ``loss(Y, scores)`` returns an array of losses, whose mean is to be minimized.
    n_jobs : int or None, default=None
        Number of folds fitted in parallel, if the data are in memory.

    Examples
    --------
    See `search_path`.
    """

    data: BlockData
    entries: TrainingEntries
    loss: Callable[[Any, Any], NDArray[np.float64]] = field(default_factory=HeldOutLoss)
    n_jobs: int | None = None

    @classmethod
    def in_memory(
        cls, X: Any, Y: Any, entry_weight: NDArray[Any], folds: Sequence[Fold], *args: Any, **options: Any
    ) -> "TrainingData":
        """Return data in memory.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Features.
        Y : ndarray or Labels of shape (n_samples, n_labels)
            Labels -1 and +1, NaN where missing.
        entry_weight : ndarray of shape (n_samples, n_labels)
            Weights of the entries; 0 where missing.
        folds : sequence of (train, test)
            Folds that test each sample, see `spmld.model_selection.make_folds`. Scores of a sample that is tested more
            than once are means.
        *args, **options
            `loss` and `n_jobs`.
        """
        data = BlockData.in_memory(X, replace(read_labels(Y), classes=SIGNS), entry_weight)
        return cls(data, TrainingEntries.of(data).with_folds(folds), *args, **options)

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return len(self.entries.train)

    def cross_fit(self, estimator: Any, *, entry_weight: Any = None) -> FoldScores:
        """Fit an estimator on the training samples of each fold, and score the samples that it tests.

        Estimators of a list, one for each fold, are fitted in place. A list of weights has those of each fold.
        """
        estimators = estimator if isinstance(estimator, list) else [clone(estimator) for _ in range(self.n_folds)]
        weights = entry_weight if isinstance(entry_weight, list) else [entry_weight] * self.n_folds
        models = self._fit_parts(estimators, self.entries.train, self.entries.train_counts, weights)
        fitted = [old if new is None else new for old, new in zip(estimators, models, strict=True)]
        return FoldScores(fitted, self._score(models))

    def nested_scores(self, estimator: Any) -> list[BlockValues]:
        """Return, for each fold, scores of its training samples by models that saw neither these nor the fold.

        The models of two folds are fitted on the samples that are in the training sets of both. Scores of the test
        samples of a fold are 0. With two folds, no samples are left, and all scores are 0.
        """
        pairs = list(combinations(range(self.n_folds), 2))
        common = [self.entries.common_training(a, b) for a, b in pairs]
        train, counts = zip(*common, strict=True)
        fitted = self._fit_parts([clone(estimator) for _ in pairs], train, counts, [None] * len(pairs))
        models: list[list[Any]] = [[None] * self.n_folds for _ in range(self.n_folds)]
        for (a, b), model in zip(pairs, fitted, strict=True):
            models[a][b] = models[b][a] = model
        return [self._score(of_fold) for of_fold in models]

    def fit(self, estimator: Any, *, entry_weight: BlockValues) -> Any:
        """Fit an estimator on all samples; its fitted arrays are those of NumPy, so that it depends on no device."""
        return arrays_to_numpy(_fit_part(estimator, self.data.replace_weights(entry_weight)))

    def losses(self, scores: BlockValues) -> NDArray[np.float64]:
        """Return the losses of out-of-fold scores, of evenly spaced samples if there are many."""
        step = spacing(self.data.n, MAX_SCORED)
        rows = np.arange(0, self.data.n, step) if step > 1 else None
        signs, values = self.entries.rows(self.entries.signs, scores, rows=rows)
        return self.loss(Labels(signs, SIGNS), values)

    def _fit_parts(self, estimators: Sequence[Any], train: Any, counts: Any, weights: Sequence[Any]) -> list[Any]:
        """Fit estimators on parts of the samples; None for a part whose weights are 0."""

        def part(chosen: BlockValues, counts: tuple[int, ...], weights: BlockValues | None) -> BlockData:
            data = self.data if weights is None else self.data.replace_weights(weights)
            return data.select(chosen, counts)

        n_jobs = self.n_jobs if self.data.engine.in_memory(self.data.X) else None
        tasks = zip(estimators, map(part, train, counts, weights), strict=True)
        return list(Parallel(n_jobs=n_jobs)(delayed(_fit_part)(estimator, data) for estimator, data in tasks))

    def _score(self, models: Sequence[Any]) -> BlockValues:
        function = partial(_score_folds, models, self.entries.n_labels)
        return self.data.engine.map(function, self.data.X, *self.entries.test)


def _fit_part(estimator: Any, data: BlockData) -> Any:
    """Return the fitted estimator, or None if all weights are 0."""
    if data.entries.weight == 0:
        return None
    with ignore_label_warnings():  # a label may have one class in a fold
        if isinstance(estimator, MultiLabelEstimator):
            estimator._validate_params()
            estimator._check_parameters()
            return estimator._fit_data(data)
        X, labels, weights = data.arrays(estimator, "an estimator of spmld")
        options = {"trusted": labels.trusted} if has_fit_parameter(estimator, "trusted") else {}
        return estimator.fit(X, labels.write_with_missing(None), entry_weight=weights, **options)


def _score_folds(models: Sequence[Any], n_labels: int, X: Any, *tested: Any) -> NDArray[np.float64]:
    """Return the mean scores of a block by the models of the folds that test its samples; 0 without a model."""
    X, scores, count = loaded(X), np.zeros((len(tested[0]), n_labels)), np.sum(tested, axis=0)
    for model, rows in zip(models, tested, strict=True):
        if model is not None and rows.any():
            scores[rows] += decision_scores(model, X[rows])
    return scores / np.maximum(count, 1)[:, None] if count.max() > 1 else scores


def contiguous(X: Any) -> Any:
    """Return X in row-major order, so that rounding errors are the same for all input formats.

    Arrays on an accelerator stay there; other arrays become those of NumPy.
    """
    if on_accelerator(X):
        return X.contiguous()
    X = features_to_numpy(X)
    return np.ascontiguousarray(X) if isinstance(X, np.ndarray) else X
