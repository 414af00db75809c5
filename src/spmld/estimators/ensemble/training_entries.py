"""Values of all entries, such as labels and scores, in memory or in row blocks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from spmld.core.problem import Engine
from spmld.estimators._row_samples import take_rows
from spmld.estimators.block_data import BlockData, split
from spmld.estimators.ensemble.training_data import spacing
from spmld.labels import Labels
from spmld.model_selection.cross_fitting import Fold, make_folds
from spmld.pacing.trimming import trim_blocks

SIGNS = np.array([-1, 1])
"""Encoding of the labels."""
MAX_STRATIFIED = 200_000
"""Maximum number of samples that are stratified together."""


@dataclass(frozen=True)
class TrainingEntries:
    """Labels, weights and folds, and operations on values with one row per sample.

    Such a value is an array in memory or, if the data are in row blocks, a tuple with a value for each block.

    Parameters
    ----------
    engine : Engine
        Operations on row blocks; a single block is in memory.
    counts : tuple of int
        Number of samples of each block.
    n_labels : int
        Number of labels.
    signs, weights
        Labels and weights of the entries; 0 where missing.
    trusted : optional
        Verified entries.
    fold
        Index of the fold that tests each sample.
    train : tuple
        Which samples each fold is fitted on.
    train_counts : tuple of tuple of int
        The number of these samples in each block.
    folds : tuple of (train, test)
        The folds, if they were given by indices, which may repeat training samples.
    names : list, optional
        Names of the labels.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.estimators.ensemble.training_entries import TrainingEntries
    >>> from spmld.labels import read_labels
    >>> labels = read_labels([[1, 0], [0, 1], [1, 1], [0, 0]])
    >>> folds = [(np.array([0, 1]), np.array([2, 3])), (np.array([2, 3]), np.array([0, 1]))]
    >>> entries = TrainingEntries.in_memory(labels, labels.observed).with_folds(folds)
    >>> entries.fold, int(entries.sum(np.sum, entries.weights))
    (array([1, 1, 0, 0], dtype=int16), 8)
    """

    engine: Engine
    counts: tuple[int, ...]
    n_labels: int
    signs: Any
    weights: Any
    trusted: NDArray[np.bool_] | None = None
    fold: Any = None
    train: tuple[Any, ...] = ()
    train_counts: tuple[tuple[int, ...], ...] = ()
    folds: tuple[Fold, ...] = ()
    names: list[Any] | None = None

    @classmethod
    def in_memory(cls, labels: Labels, weights: Any) -> "TrainingEntries":
        """Return the entries of labels and weights in memory."""
        n, l = labels.signs.shape
        return cls(Engine(), (n,), l, labels.signs, weights, labels.trusted, names=labels.names)

    @classmethod
    def in_blocks(cls, data: BlockData) -> "TrainingEntries":
        """Return the entries of data in row blocks."""
        labels = data.labels
        return cls(data.engine, data.counts, labels.shape[1], data.signs, data.weights, names=labels.names)

    def with_folds(self, folds: Sequence[Fold]) -> "TrainingEntries":
        """Return the entries with folds, given by the indices of training and test samples."""
        n = sum(self.counts)
        fold, train = np.zeros(n, dtype=np.int16), np.zeros((len(folds), n), dtype=bool)
        for i, (fitted, tested) in enumerate(folds):
            train[i, fitted], fold[tested] = True, i
            if not self.engine.local and train[i].sum() < len(fitted):
                raise ValueError("cv must not repeat training samples of a fold if X is not in memory")
        return replace(self._set_folds(fold, list(train)), folds=tuple(folds))

    def stratify(self, n_folds: int, random_state: Any, groups: NDArray[np.intp] | None = None) -> "TrainingEntries":
        """Return the entries with stratified folds; samples of the same group, see `group_identical`, stay together.

        Of many samples, consecutive parts are stratified one after the other, so that the labels of one part only are
        in the memory of this process.
        """
        n, rng = sum(self.counts), check_random_state(random_state)
        fold = np.zeros(n, dtype=np.int16)
        for start, stop in pairwise(np.linspace(0, n, -(-n // MAX_STRATIFIED) + 1).astype(int)):
            (signs,) = self.rows(self.signs, rows=np.arange(start, stop) if stop - start < n else None)
            labels, part = Labels(signs, SIGNS), None if groups is None else groups[start:stop]
            for i, (_, tested) in enumerate(make_folds(n_folds, signs, labels, random_state=rng, groups=part)):
                fold[start + tested] = i
        fold = fold if groups is None else fold[groups]  # a group is named by its first sample
        return self._set_folds(fold, [fold != i for i in range(n_folds)])

    def fold_indices(self) -> list[Fold]:
        """Return the indices of training and test samples of each fold, for values in memory."""
        if self.folds:
            return list(self.folds)
        return [(np.flatnonzero(train), np.flatnonzero(self.fold == i)) for i, train in enumerate(self.train)]

    def map(self, function: Callable[..., Any], *values: Any) -> Any:
        """Apply a function to values."""
        result = self.engine.map(function, *map(self._blocks, values))
        return result[0] if self.engine.local else result

    def sum(self, function: Callable[..., Any], *values: Any) -> Any:
        """Sum a function of the values of blocks."""
        return self.engine.sum(function, *map(self._blocks, values))

    def sample(self, *values: Any, max_samples: int | None = None) -> tuple[Any, ...]:
        """Return evenly spaced rows of values in memory; all of them if some entries are verified, which may be few."""
        chosen = self.sampled(max_samples)
        return self.rows(*values, rows=np.arange(sum(self.counts))[chosen] if chosen.step > 1 else None)

    def sampled(self, max_samples: int | None = None) -> slice:
        """Return the rows of `sample`."""
        return slice(None, None, 1 if self.trusted is not None else spacing(sum(self.counts), max_samples))

    def rows(self, *values: Any, rows: NDArray[np.intp] | None = None) -> tuple[Any, ...]:
        """Return some rows of values in memory, by default all."""
        return tuple(take_rows(self.engine, self._blocks(value), self.counts, rows) for value in values)

    def trim(self, scores: Any, keep_fraction: float, fold: int | None = None) -> Any:
        """Return the weights of `spmld.pacing.trimming.trim`; those of verified entries are 1.

        With a fold, the entries of its training samples are trimmed, and the others have weight 0.
        """
        signs = self.signs if fold is None else self.map(_select_rows, self.signs, self.train[fold])
        weights = trim_blocks(self.engine, self._blocks(scores), self._blocks(signs), self.n_labels, keep_fraction)
        if not self.engine.local:
            return weights
        return weights[0] if self.trusted is None else np.maximum(weights[0], self.trusted)

    def common_training(self, a: int, b: int) -> tuple[Any, tuple[int, ...]]:
        """Return which samples are in the training sets of both of two folds, and their number in each block."""
        both = self.map(np.logical_and, self.train[a], self.train[b])
        counts = self.engine.gather(self.engine.map(np.count_nonzero, self._blocks(both)))
        return both, tuple(int(count) for count in counts)

    def learned(self) -> Any:
        """Return which entries can be learned: the training samples of their fold contain both classes of the label."""

        def count(signs: Any, *train: Any) -> Any:
            return np.stack([[(signs[rows] > 0).sum(axis=0), (signs[rows] < 0).sum(axis=0)] for rows in train])

        return self.map(partial(np.take, self.sum(count, self.signs, *self.train).all(axis=1), axis=0), self.fold)

    def _set_folds(self, fold: Any, train: list[Any]) -> "TrainingEntries":
        starts = [0, *accumulate(self.counts)][:-1]
        counts = tuple(tuple(np.add.reduceat(chosen, starts, dtype=int).tolist()) for chosen in train)
        return replace(self, fold=self._store(fold), train=tuple(map(self._store, train)), train_counts=counts)

    def _store(self, values: Any) -> Any:
        """Return an array with one row per sample as a value."""
        return values if self.engine.local else self.engine.map(_same, split(values, self.counts, "folds"))

    def _blocks(self, value: Any) -> Any:
        return (value,) if self.engine.local else value


def _same(value: Any) -> Any:
    return value


def _select_rows(values: Any, chosen: Any) -> Any:
    """Return the values with zeros in other rows."""
    return np.where(chosen[:, None], values, 0).astype(values.dtype)
