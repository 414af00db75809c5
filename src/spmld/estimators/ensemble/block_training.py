"""Training data in row blocks with folds."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from spmld.core.iteration import active_store, storing
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

    The estimator of a fold is fitted to the selected rows of each block. If a store is active, see
    `spmld.core.iteration.storing`, each fitted estimator is stored, and a fit that was stopped does not repeat it.

    Parameters
    ----------
    data : BlockData
        Features of a view, labels and entry weights.
    entries : TrainingEntries
        Labels and folds.
    loss : callable
        ``loss(Y, scores)`` returns an array of losses, whose mean is to be minimized.
    numbers : iterator of int
        Numbers of the fits, which identify stored estimators.
    """

    data: BlockData
    entries: TrainingEntries
    loss: Callable[[Any, Any], NDArray[np.float64]]
    numbers: Iterator[int] = field(default_factory=count)

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return len(self.entries.train)

    def cross_fit(self, estimator: Sequence[Any], *, entry_weight: Any = None) -> BlockScores:
        """Fit the estimator of each fold in place, and score the samples that it was not fitted on."""
        data = self.data if entry_weight is None else self.data.replace_weights(entry_weight)
        engine, models = data.engine, []
        for fitted, train, counts in zip(estimator, self.entries.train, self.entries.train_counts, strict=True):
            part = data.select(train, counts)
            models.append(self._fit(fitted, part) if part.total_weight > 0 else None)
        scores = engine.map(partial(_score_folds, models, self.entries.n_labels), data.X, self.entries.fold)
        return BlockScores(list(estimator), scores)

    def fit(self, estimator: Any, *, entry_weight: Any) -> Any:
        """Fit an estimator on all samples."""
        return self._fit(estimator, self.data.replace_weights(entry_weight))

    def mean_loss(self, scores: Any) -> float:
        """Return the mean loss of out-of-fold scores, of evenly spaced samples if there are many."""
        signs, scores = self.entries.sample(self.entries.signs, scores, max_samples=training_data.MAX_SCORED)
        return float(np.nanmean(self.loss(Labels(signs, SIGNS), scores)))

    def _fit(self, estimator: Any, data: BlockData) -> Any:
        store, stage = active_store(), f"fit{next(self.numbers):05d}"
        with storing(None):
            stored = store.load(stage) if store is not None else None
            if stored is not None:
                vars(estimator).update(stored[0])
                return estimator
            estimator._fit_data(data)
        if store is not None:
            store.save(stage, vars(estimator), [], True)
        return estimator


def stored_random_state(random_state: Any) -> np.random.RandomState:
    """Return the random numbers of a fit, which are those of the fit that a store continues."""
    store = active_store()
    if store is None or isinstance(random_state, Integral):
        return check_random_state(random_state)
    stored = store.load("seed")
    seed = check_random_state(random_state).randint(2**31 - 1) if stored is None else stored[0]
    if stored is None:
        store.save("seed", seed, [], True)
    return np.random.RandomState(seed)


def _score_folds(models: Sequence[Any], n_labels: int, X: Any, fold: Any) -> NDArray[np.float64]:
    """Return the scores of a block by the models of the folds that test its samples; 0 without a model."""
    X, scores = loaded(X), np.zeros((len(fold), n_labels))
    for i, model in enumerate(models):
        tested = fold == i
        if model is not None and tested.any():
            scores[tested] = decision_scores(model, X[tested])
    return scores
