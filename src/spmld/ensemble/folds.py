"""Folds of the training samples of an ensemble."""

from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from spmld._arrays import features_to_numpy
from spmld.labels import Labels
from spmld.labels.encoding import SIGNS
from spmld.model_selection.cross_fitting import CrossFit, Fold, make_folds
from spmld.model_selection.identical_samples import group_identical, hash_samples
from spmld.model_selection.samples import Samples
from spmld.noise.calibration import has_both_classes

MAX_STRATIFIED = 200_000
"""Maximum number of samples that are stratified together."""


def split_samples(cv: Any, samples: Samples, seed: int) -> tuple[list[Fold], int]:
    """Return the folds, and the number of samples that are identical to an earlier one, which are in the same fold.

    Parameters
    ----------
    cv
        As in `SelfPacedEnsemble`.
    samples : Samples
        Samples to split.
    seed : int
        Seed for the folds.
    """
    groups, n_repeated = group_identical(hash_samples(features_to_numpy(samples.X)))
    if isinstance(cv, Integral):
        grouped = 0 < n_repeated <= len(groups) - int(cv)
        return stratified_folds(samples.signs, int(cv), seed, groups if grouped else None), n_repeated
    Y = Labels(samples.signs, SIGNS).write_with_missing(None)
    return [_sorted(*fold) for fold in make_folds(cv, samples.X, Y, random_state=seed)], n_repeated


def _sorted(train: Any, test: Any) -> Fold:
    """Return a fold in the order of the samples; raise ValueError for repeated training samples."""
    if len(np.unique(train)) < len(train):
        raise ValueError("cv must not repeat training samples of a fold; pass entry_weight to weight samples")
    return np.sort(train), np.sort(test)


def stratified_folds(
    signs: NDArray[np.int8], n_folds: int, seed: int, groups: NDArray[np.intp] | None = None
) -> list[Fold]:
    """Return stratified folds; samples of the same group, see `group_identical`, stay together.

    Of many samples, consecutive parts are stratified one after the other.
    """
    n = len(signs)
    rng, fold = check_random_state(seed), np.zeros(n, dtype=np.int16)
    for start, stop in pairwise(np.linspace(0, n, -(-n // MAX_STRATIFIED) + 1).astype(int)):
        part, of_part = signs[start:stop], None if groups is None else groups[start:stop]
        folds = make_folds(n_folds, part, Labels(part, SIGNS), random_state=rng, groups=of_part)
        for i, (_, tested) in enumerate(folds):
            fold[start + tested] = i
    fold = fold if groups is None else fold[groups]  # a group is named by its first sample
    return fold_indices(fold, n_folds)


def fold_indices(fold: NDArray[np.integer[Any]], n_folds: int) -> list[Fold]:
    """Return the training and test samples of each fold, given the fold that tests each sample."""
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)]


def learned_entries(signs: NDArray[np.int8], cross: CrossFit) -> NDArray[np.bool_]:
    """Return which entries can be learned: the training samples of their fold contain both classes of the label."""
    both = np.stack([has_both_classes(signs[train]) for train, _ in cross.folds])
    return both[cross.number]
