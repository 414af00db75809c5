"""Training data with folds: cross-fitting of estimators, and the loss of out-of-fold scores.

Values with one row per sample, such as scores, are tuples with a value for each row block.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate, combinations, pairwise
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import has_fit_parameter

from spmld._arrays import arrays_to_numpy, features_to_numpy, numpy_dtype
from spmld._threads import Map
from spmld.core.lazy_matrix import loaded
from spmld.ensemble.held_out_loss import HeldOutLoss
from spmld.ensemble.trimming import trim
from spmld.estimators.base import MultiLabelEstimator
from spmld.labels import Labels, read_labels
from spmld.labels.encoding import SIGNS
from spmld.labels.single_class import ignore_label_warnings
from spmld.model_selection.cross_fitting import Fold, decision_scores, make_folds
from spmld.model_selection.identical_samples import group_identical, hash_samples
from spmld.scale.block_data import BlockData, BlockValues, store, take_rows

Scores = NDArray[np.float64]
MAX_STRATIFIED = 200_000
"""Maximum number of samples that are stratified together."""
MAX_SCORED = 20_000
"""Maximum number of samples from which the loss of a setting is computed."""
MAX_CALIBRATED = 10_000
"""Maximum number of samples from which calibrations and noise rates are estimated."""


class Folds(NamedTuple):
    """Folds of samples in row blocks.

    Attributes
    ----------
    number : tuple
        Index of the fold that tests each sample.
    train, test : tuple of tuple
        Which samples each fold is fitted on, and which it tests.
    train_counts : tuple of tuple of int
        The number of training samples in each block.
    """

    number: BlockValues
    train: tuple[BlockValues, ...]
    test: tuple[BlockValues, ...]
    train_counts: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, data: BlockData, folds: Sequence[Fold]) -> "Folds":
        """Return folds that are given by the indices of training and test samples."""
        train, test = np.zeros((2, len(folds), data.n), dtype=bool)
        for i, (fitted, tested) in enumerate(folds):
            train[i, fitted], test[i, tested] = True, True
            if train[i].sum() < len(fitted):
                raise ValueError("cv must not repeat training samples of a fold; pass entry_weight to weight samples")
        starts = [0, *accumulate(data.counts)][:-1]
        counts = tuple(tuple(np.add.reduceat(chosen, starts, dtype=int).tolist()) for chosen in train)

        def stored(values: Any) -> BlockValues:
            return store(data.engine, values, data.counts, "folds")

        number = np.argmax(test, axis=0).astype(np.int16)
        return cls(stored(number), tuple(map(stored, train)), tuple(map(stored, test)), counts)

    def select(self, chosen: slice) -> "Folds":
        """Return some of the folds; their numbers do not change."""
        return Folds(self.number, self.train[chosen], self.test[chosen], self.train_counts[chosen])


def split_samples(cv: Any, data: BlockData, seed: int) -> tuple[Folds, int]:
    """Return the folds, and the number of samples that are identical to an earlier one, which are in the same fold.

    Parameters
    ----------
    cv
        As in `SelfPacedEnsemble`.
    data : BlockData
        Samples to split.
    seed : int
        Seed for the folds.
    """
    hashes = data.engine.map(lambda block: hash_samples(features_to_numpy(loaded(block))), data.X)
    groups, n_repeated = group_identical(take_rows(data.engine, hashes, data.counts, None))
    if isinstance(cv, Integral):
        grouped = 0 < n_repeated <= len(groups) - int(cv)
        folds = stratified_folds(data, int(cv), seed, groups if grouped else None)
    else:
        (X, *_) = data.engine.in_memory(data.X) or (np.zeros((data.n, 0)),)
        Y = Labels(take_rows(data.engine, data.signs, data.counts, None), SIGNS).write_with_missing(None)
        folds = make_folds(cv, X, Y, random_state=seed)
    return Folds.of(data, folds), n_repeated


def stratified_folds(data: BlockData, n_folds: int, seed: int, groups: NDArray[np.intp] | None = None) -> list[Fold]:
    """Return stratified folds; samples of the same group, see `group_identical`, stay together.

    Of many samples, consecutive parts are stratified one after the other, so that the labels of one part only are in
    the memory of this process.
    """
    n, rng, fold = data.n, check_random_state(seed), np.zeros(data.n, dtype=np.int16)
    for start, stop in pairwise(np.linspace(0, n, -(-n // MAX_STRATIFIED) + 1).astype(int)):
        rows = np.arange(start, stop) if stop - start < n else None
        signs = take_rows(data.engine, data.signs, data.counts, rows)
        part = None if groups is None else groups[start:stop]
        folds = make_folds(n_folds, signs, Labels(signs, SIGNS), random_state=rng, groups=part)
        for i, (_, tested) in enumerate(folds):
            fold[start + tested] = i
    fold = fold if groups is None else fold[groups]  # a group is named by its first sample
    return [(np.flatnonzero(fold != i), np.flatnonzero(fold == i)) for i in range(n_folds)]


def spacing(n: int, max_samples: int | None = None) -> int:
    """Return the distance of at most `max_samples` evenly spaced samples, by default `MAX_CALIBRATED`.

    Examples
    --------
    >>> from spmld.ensemble.training_data import spacing
    >>> spacing(25_000)
    3
    """
    return -(-n // (max_samples or MAX_CALIBRATED))


@dataclass(frozen=True)
class TrainingData:
    """Training samples with labels, entry weights, folds and the loss used for model selection.

    Parameters
    ----------
    data : BlockData
        Features of a view, labels and entry weights.
    folds : Folds
        Folds that test each sample. Scores of a sample that is tested more than once are means.
    loss : callable, default=HeldOutLoss()
        ``loss(Y, scores)`` returns an array of losses, whose mean is to be minimized.
    over : callable, default=map
        Maps a function over the fits, see `spmld._threads.thread_map`.

    Examples
    --------
    See `search_path`.
    """

    data: BlockData
    folds: Folds
    loss: Callable[[Any, Any], NDArray[np.float64]] = field(default_factory=HeldOutLoss)
    over: Map = map

    @classmethod
    def in_memory(cls, X: Any, Y: Any, entry_weight: NDArray[Any], folds: Sequence[Fold]) -> "TrainingData":
        """Return data in memory, with weights of 0 for missing entries and folds of `make_folds`."""
        data = BlockData.in_memory(X, replace(read_labels(Y), classes=SIGNS), entry_weight)
        return cls(data, Folds.of(data, folds))

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return len(self.folds.train)

    @property
    def trusted(self) -> NDArray[np.bool_] | None:
        """Verified entries, or None."""
        return self.data.labels.trusted

    def cross_fit(self, estimator: Any, *, entry_weight: Any = None) -> tuple[list[Any], BlockValues]:
        """Fit an estimator on the training samples of each fold, and score the samples that it tests.

        Estimators of a list, one for each fold, are fitted in place. A list of weights has those of each fold.

        Returns
        -------
        estimators, scores
            The fitted estimator of each fold, and the out-of-fold scores.
        """
        estimators = estimator if isinstance(estimator, list) else [clone(estimator) for _ in range(self.n_folds)]
        models = self.fit_folds(estimators, entry_weight)
        return [old if new is None else new for old, new in zip(estimators, models, strict=True)], self.score(models)

    def fit_folds(self, estimators: Sequence[Any], entry_weight: Any = None) -> list[Any]:
        """Fit an estimator for each fold; None for a fold whose weights are 0."""
        weights = entry_weight if isinstance(entry_weight, list) else [entry_weight] * self.n_folds
        return self._fit_parts(estimators, self.folds.train, self.folds.train_counts, weights)

    def score(self, models: Sequence[Any]) -> BlockValues:
        """Return the out-of-fold scores of the models of the folds."""
        function = partial(_score_folds, models, self.data.shape[1])
        return self.data.engine.map(function, self.data.X, *self.folds.test)

    def select_folds(self, chosen: slice) -> "TrainingData":
        """Return the data with some of the folds."""
        return replace(self, folds=self.folds.select(chosen))

    def scored(self) -> "TrainingData":
        """Return the data with folds that test only the samples from which losses are computed."""
        step, data = spacing(self.data.n, MAX_SCORED), self.data
        if step == 1:
            return self
        used = store(data.engine, np.arange(data.n) % step == 0, data.counts, "folds")
        test = tuple(data.engine.map(np.logical_and, tested, used) for tested in self.folds.test)
        return replace(self, folds=self.folds._replace(test=test))

    def nested_scores(self, estimator: Any) -> list[BlockValues]:
        """Return, for each fold, scores of its training samples by models that saw neither these nor the fold.

        The models of two folds are fitted on the samples that are in the training sets of both. Scores of the test
        samples of a fold are 0. With two folds, no samples are left, and all scores are 0.
        """
        engine, train, pairs = self.data.engine, self.folds.train, list(combinations(range(self.n_folds), 2))
        common = [engine.map(np.logical_and, train[a], train[b]) for a, b in pairs]
        counts = [tuple(map(int, engine.gather(engine.map(np.count_nonzero, both)))) for both in common]
        fitted = self._fit_parts([clone(estimator) for _ in pairs], common, counts, [None] * len(pairs))
        models: list[list[Any]] = [[None] * self.n_folds for _ in range(self.n_folds)]
        for (a, b), model in zip(pairs, fitted, strict=True):
            models[a][b] = models[b][a] = model
        return [self.score(of_fold) for of_fold in models]

    def fit(self, estimator: Any, *, entry_weight: BlockValues) -> Any:
        """Fit an estimator on all samples; its fitted arrays are those of NumPy, so that it depends on no device."""
        (fitted,) = self.over(fit_part, [estimator], [self.data.replace_weights(entry_weight)])
        return arrays_to_numpy(fitted)

    def mean_loss(self, scores: BlockValues) -> float:
        """Return the mean loss of out-of-fold scores, of evenly spaced samples if there are many."""
        signs, values = self._rows(self.data.signs, scores, step=spacing(self.data.n, MAX_SCORED))
        return float(np.nanmean(self.loss(Labels(signs, SIGNS), values)))

    def significant_increase(self, scores: BlockValues, others: BlockValues) -> float:
        """Return how much higher the mean loss of scores is than that of others on the tested samples.

        It is 0 if it is less than two standard errors, or if the samples have no losses of their own.
        """
        step, tested = spacing(self.data.n, MAX_SCORED), self.data.engine.map(_any_fold, *self.folds.test)
        signs, first, second, rows = self._rows(self.data.signs, scores, others, tested, step=step)
        labels = Labels(signs[rows], SIGNS)
        difference = self.loss(labels, first[rows]) - self.loss(labels, second[rows])
        if difference.ndim > 1:  # entries of a sample are dependent
            difference = np.nanmean(difference[(~np.isnan(difference)).any(axis=1)], axis=1)
        difference = difference[~np.isnan(difference)]
        if len(difference) < 2:
            return 0.0
        mean, error = float(difference.mean()), float(difference.std()) / np.sqrt(len(difference))
        return mean if mean > 2 * error else 0.0

    def sampled(self) -> slice:
        """Return evenly spaced samples; all of them if some entries are verified, which may be few."""
        return slice(None, None, 1 if self.trusted is not None else spacing(self.data.n))

    def sample(self, *values: BlockValues) -> tuple[Any, ...]:
        """Return values of the samples `sampled` in memory."""
        return self._rows(*values, step=self.sampled().step)

    def _rows(self, *values: BlockValues, step: int) -> tuple[Any, ...]:
        rows = np.arange(0, self.data.n, step) if step > 1 else None
        return tuple(take_rows(self.data.engine, value, self.data.counts, rows) for value in values)

    def trim(self, scores: BlockValues, keep_fraction: float, fold: int | None = None) -> BlockValues:
        """Return which entries `spmld.ensemble.trimming.trim` keeps, and verified ones.

        With a fold, only entries of its training samples are kept, and verified ones.
        """
        engine, signs = self.data.engine, self.data.signs
        signs = signs if fold is None else engine.map(_select_rows, signs, self.folds.train[fold])
        kept = trim(np.concatenate(engine.gather(scores)), np.concatenate(engine.gather(signs)), keep_fraction)
        stored = store(engine, kept, self.data.counts, "kept")
        return stored if self.trusted is None else engine.map(np.logical_or, stored, (self.trusted,))

    def kept_weights(self, kept: BlockValues) -> BlockValues:
        """Return the weights of the entries that are kept, and 0 for others."""
        return self.data.engine.map(np.multiply, kept, self.data.weights)

    def learned(self) -> BlockValues:
        """Return which entries can be learned: the training samples of their fold contain both classes of the label."""

        def count(signs: Any, *train: Any) -> Any:
            return np.stack([[(signs[rows] > 0).sum(axis=0), (signs[rows] < 0).sum(axis=0)] for rows in train])

        both = self.data.engine.sum(count, self.data.signs, *self.folds.train).all(axis=1)
        return self.data.engine.map(partial(np.take, both, axis=0), self.folds.number)

    def _fit_parts(self, estimators: Sequence[Any], train: Any, counts: Any, weights: Sequence[Any]) -> list[Any]:
        """Fit estimators on parts of the samples; None for a part whose weights are 0."""

        def fit(estimator: Any, chosen: BlockValues, counts: tuple[int, ...], weights: BlockValues | None) -> Any:
            data = self.data if weights is None else self.data.replace_weights(weights)
            return fit_part(estimator, data.select(chosen, counts))

        return list(self.over(fit, estimators, train, counts, weights))


def fit_part(estimator: Any, data: BlockData) -> Any:
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
    """Return the mean scores of a block by the models of the folds that test its samples; 0 without a model.

    They have the precision of the features.
    """
    X, count = loaded(X), np.sum(tested, axis=0)
    scores, repeated = np.zeros((len(count), n_labels), dtype=numpy_dtype(X)), count.max() > 1
    for model, rows in zip(models, tested, strict=True):
        if model is not None and rows.any():
            part = decision_scores(model, X[rows])
            scores[rows] = scores[rows] + part if repeated else part
    return scores / np.maximum(count, 1)[:, None] if repeated else scores


def _any_fold(*tested: Any) -> Any:
    """Return which samples are tested."""
    return np.any(tested, axis=0)


def _select_rows(values: Any, chosen: Any) -> Any:
    """Return the values with zeros in other rows."""
    return np.where(chosen[:, None], values, 0).astype(values.dtype)
