"""Labels, weights and folds of training samples.

Values with one row per sample, such as scores, are tuples with a value for each row block.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, pairwise
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from spmld._arrays import features_to_numpy
from spmld.core.lazy_matrix import loaded
from spmld.core.problem import Engine
from spmld.labels import Labels
from spmld.labels.encoding import SIGNS
from spmld.model_selection.cross_fitting import Fold, make_folds
from spmld.model_selection.identical_samples import group_identical, hash_samples
from spmld.pacing.trimming import trim_blocks
from spmld.scale.block_data import BlockData, BlockValues, store, take_rows

MAX_STRATIFIED = 200_000
"""Maximum number of samples that are stratified together."""
MAX_CALIBRATED = 10_000
"""Maximum number of samples from which calibrations and noise rates are estimated."""


def spacing(n: int, max_samples: int | None = None) -> int:
    """Return the distance of at most `max_samples` evenly spaced samples, by default `MAX_CALIBRATED`.

    Examples
    --------
    >>> from spmld.estimators.ensemble.training_entries import spacing
    >>> spacing(25_000)
    3
    """
    return -(-n // (max_samples or MAX_CALIBRATED))


@dataclass(frozen=True)
class TrainingEntries:
    """Labels, weights and folds, and operations on values with one row per sample.

    Parameters
    ----------
    engine : Engine
        Operations on row blocks.
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
    train, test : tuple
        Which samples each fold is fitted on, and which it tests.
    train_counts : tuple of tuple of int
        The number of training samples in each block.
    names : list, optional
        Names of the labels.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.estimators.ensemble.training_entries import TrainingEntries
    >>> from spmld.labels import read_labels
    >>> from spmld.scale.block_data import BlockData
    >>> labels = read_labels([[1, 0], [0, 1], [1, 1], [0, 0]])
    >>> folds = [(np.array([0, 1]), np.array([2, 3])), (np.array([2, 3]), np.array([0, 1]))]
    >>> data = BlockData.in_memory(np.zeros((4, 1)), labels, labels.observed)
    >>> entries = TrainingEntries.of(data).with_folds(folds)
    >>> entries.fold[0], int(entries.engine.sum(np.sum, entries.weights))
    (array([1, 1, 0, 0], dtype=int16), 8)
    """

    engine: Engine
    counts: tuple[int, ...]
    n_labels: int
    signs: BlockValues
    weights: BlockValues
    trusted: BlockValues | None = None
    fold: BlockValues = ()
    train: tuple[BlockValues, ...] = ()
    test: tuple[BlockValues, ...] = ()
    train_counts: tuple[tuple[int, ...], ...] = ()
    names: list[Any] | None = None

    @classmethod
    def of(cls, data: BlockData) -> "TrainingEntries":
        """Return the entries of training data."""
        labels = data.labels
        trusted = None if labels.trusted is None else (labels.trusted,)
        return cls(data.engine, data.counts, labels.shape[1], data.signs, data.weights, trusted, names=labels.names)

    def add_folds(self, cv: Any, X: Any, hashed: BlockValues, seed: int) -> tuple["TrainingEntries", int]:
        """Return the entries with folds, and the number of samples that are identical to an earlier one.

        Parameters
        ----------
        cv
            As in `SelfPacedEnsemble`.
        X : array-like of shape (n_samples, n_features)
            Samples to split, if `cv` is not a number.
        hashed : tuple
            Features by which identical samples are found, in row blocks; they are in the same fold.
        seed : int
            Seed for the folds.
        """
        (hashes,) = self.rows(self.engine.map(lambda block: hash_samples(features_to_numpy(loaded(block))), hashed))
        groups, n_repeated = group_identical(hashes)
        if isinstance(cv, Integral):
            grouped = 0 < n_repeated <= len(groups) - int(cv)
            return self.stratify(int(cv), seed, groups if grouped else None), n_repeated
        (signs,) = self.rows(self.signs)
        folds = make_folds(cv, X, Labels(signs, SIGNS).write_with_missing(None), random_state=seed)
        return self.with_folds(folds), n_repeated

    def with_folds(self, folds: Sequence[Fold]) -> "TrainingEntries":
        """Return the entries with folds, given by the indices of training and test samples."""
        n = sum(self.counts)
        train, test = np.zeros((2, len(folds), n), dtype=bool)
        for i, (fitted, tested) in enumerate(folds):
            train[i, fitted], test[i, tested] = True, True
            if train[i].sum() < len(fitted):
                raise ValueError("cv must not repeat training samples of a fold; pass entry_weight to weight samples")
        return self._set_folds(np.argmax(test, axis=0).astype(np.int16), list(train), list(test))

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
        test = [fold == i for i in range(n_folds)]
        return self._set_folds(fold, [~tested for tested in test], test)

    def sample(self, *values: BlockValues) -> tuple[Any, ...]:
        """Return evenly spaced rows of values in memory; all of them if some entries are verified, which may be few."""
        chosen = self.sampled()
        return self.rows(*values, rows=np.arange(sum(self.counts))[chosen] if chosen.step > 1 else None)

    def sampled(self) -> slice:
        """Return the rows of `sample`."""
        return slice(None, None, 1 if self.trusted is not None else spacing(sum(self.counts)))

    def rows(self, *values: BlockValues, rows: NDArray[np.intp] | None = None) -> tuple[Any, ...]:
        """Return some rows of values in memory, by default all."""
        return tuple(take_rows(self.engine, value, self.counts, rows) for value in values)

    def trim(self, scores: BlockValues, keep_fraction: float, fold: int | None = None) -> BlockValues:
        """Return the weights of `spmld.pacing.trimming.trim`; those of verified entries are 1.

        With a fold, the entries of its training samples are trimmed, and the others have weight 0.
        """
        signs = self.signs if fold is None else self.engine.map(_select_rows, self.signs, self.train[fold])
        weights = trim_blocks(self.engine, scores, signs, self.n_labels, keep_fraction)
        return weights if self.trusted is None else self.engine.map(np.maximum, weights, self.trusted)

    def common_training(self, a: int, b: int) -> tuple[BlockValues, tuple[int, ...]]:
        """Return which samples are in the training sets of both of two folds, and their number in each block."""
        both = self.engine.map(np.logical_and, self.train[a], self.train[b])
        return both, tuple(int(count) for count in self.engine.gather(self.engine.map(np.count_nonzero, both)))

    def learned(self) -> BlockValues:
        """Return which entries can be learned: the training samples of their fold contain both classes of the label."""

        def count(signs: Any, *train: Any) -> Any:
            return np.stack([[(signs[rows] > 0).sum(axis=0), (signs[rows] < 0).sum(axis=0)] for rows in train])

        both = self.engine.sum(count, self.signs, *self.train).all(axis=1)
        return self.engine.map(partial(np.take, both, axis=0), self.fold)

    def _set_folds(self, fold: Any, train: list[Any], test: list[Any]) -> "TrainingEntries":
        starts = [0, *accumulate(self.counts)][:-1]
        counts = tuple(tuple(np.add.reduceat(chosen, starts, dtype=int).tolist()) for chosen in train)

        def stored(values: Any) -> BlockValues:
            return store(self.engine, values, self.counts, "folds")

        masks = tuple(map(stored, train)), tuple(map(stored, test))
        return replace(self, fold=stored(fold), train=masks[0], test=masks[1], train_counts=counts)


def _select_rows(values: Any, chosen: Any) -> Any:
    """Return the values with zeros in other rows."""
    return np.where(chosen[:, None], values, 0).astype(values.dtype)
