"""Training data in row blocks with folds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from spmld.core.lazy_matrix import loaded
from spmld.estimators.block_data import BlockData
from spmld.estimators.ensemble import training_data
from spmld.estimators.ensemble.training_entries import SIGNS, TrainingEntries
from spmld.labels import Labels
from spmld.model_selection.cross_fitting import decision_scores


class BlockScores(NamedTuple):
    """Fitted estimators of the folds, and out-of-fold scores in row blocks."""

    estimators: list[Any]
    scores: Any


@dataclass(frozen=True)
class BlockTrainingData:
    """Samples in row blocks, with the interface of `TrainingData`.

    The estimator of a fold is fitted to the selected rows of each block.

    Parameters
    ----------
    data : BlockData
        Features of a view, labels and entry weights.
    entries : TrainingEntries
        Labels and folds.
    loss : callable
        ``loss(Y, scores)`` returns an array of losses, whose mean is to be minimized.
    """

    data: BlockData
    entries: TrainingEntries
    loss: Callable[[Any, Any], NDArray[np.float64]]

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return len(self.entries.train)

    def cross_fit(self, estimator: Sequence[Any], *, entry_weight: Any = None) -> BlockScores:
        """Fit the estimator of each fold in place, and score the samples that it was not fitted on.

        A list of weights has those of each fold.
        """
        weights = entry_weight if isinstance(entry_weight, list) else [entry_weight] * self.n_folds
        folds = zip(estimator, self.entries.train, self.entries.train_counts, weights, strict=True)
        models = [self._fit_part(*fold) for fold in folds]
        return BlockScores(list(estimator), self._score(models))

    def nested_scores(self, estimator: Any) -> list[Any]:
        """Return, for each fold, scores of its training samples by models that saw neither these nor the fold."""
        models: list[list[Any]] = [[None] * self.n_folds for _ in range(self.n_folds)]
        for a, b in combinations(range(self.n_folds), 2):
            train, counts = self.entries.common_training(a, b)
            models[a][b] = models[b][a] = self._fit_part(clone(estimator), train, counts)
        return [self._score(of_fold) for of_fold in models]

    def _fit_part(self, estimator: Any, train: Any, counts: Any, weights: Any = None) -> Any:
        """Fit an estimator on some samples; None if their weight is 0."""
        data = self.data if weights is None else self.data.replace_weights(weights)
        part = data.select(train, counts)
        return estimator._fit_data(part) if part.total_weight > 0 else None

    def _score(self, models: Sequence[Any]) -> Any:
        function = partial(_score_folds, models, self.entries.n_labels)
        return self.data.engine.map(function, self.data.X, self.entries.fold)

    def fit(self, estimator: Any, *, entry_weight: Any) -> Any:
        """Fit an estimator on all samples."""
        return estimator._fit_data(self.data.replace_weights(entry_weight))

    def losses(self, scores: Any) -> NDArray[np.float64]:
        """Return the losses of out-of-fold scores, of evenly spaced samples if there are many."""
        signs, scores = self.entries.sample(self.entries.signs, scores, max_samples=training_data.MAX_SCORED)
        return self.loss(Labels(signs, SIGNS), scores)


def _score_folds(models: Sequence[Any], n_labels: int, X: Any, fold: Any) -> NDArray[np.float64]:
    """Return the scores of a block by the models of the folds that test its samples; 0 without a model."""
    X, scores = loaded(X), np.zeros((len(fold), n_labels))
    for i, model in enumerate(models):
        tested = fold == i
        if model is not None and tested.any():
            scores[tested] = decision_scores(model, X[tested])
    return scores
