"""Out-of-fold scores of samples in row blocks, for the audit. Labels and scores are in memory, features are not."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld.estimators import FeatureScaler
from spmld.estimators.ensemble import TrainingData
from spmld.estimators.ensemble.noise_scores import NoiseScores, default_boosting, entry_log_loss, fit_noise_scores
from spmld.estimators.ensemble.training_entries import SIGNS, TrainingEntries
from spmld.labels import Labels
from spmld.model_selection.cross_fitting import Fold
from spmld.scale import inputs
from spmld.scale.block_data import BlockData, split


def read_blocks(X: Any, Y: Any, mask: Any) -> BlockData | None:
    """Return the data of `RowBlocks` and Dask collections; None for X in memory."""
    return inputs.read_blocks(X, Y, mask) if inputs.is_blocks(X) else None


def gather_labels(data: BlockData) -> Labels:
    """Return the labels of all blocks."""
    return replace(data.labels, signs=np.concatenate(data.engine.gather(data.signs)))


def fit_blocks(
    data: BlockData, signs: NDArray[np.int8], folds: Sequence[Fold], rng: np.random.RandomState
) -> NoiseScores:
    """Return out-of-fold scores of features in row blocks.

    Parameters
    ----------
    data : BlockData
        Features in row blocks.
    signs : ndarray of shape (n_samples, n_labels)
        Labels to fit; 0 where missing.
    folds : sequence of (train, test)
        Folds that test each sample once.
    rng : RandomState
        Seed for boosted trees.
    """
    engine = data.engine

    def to_blocks(A: Any) -> Any:
        return engine.map(_same, split(A, data.counts, "Y"))

    signed = replace(data, signs=to_blocks(signs), weights=to_blocks(signs != 0), labels=Labels(signs[:0], SIGNS))
    entries = TrainingEntries.of(signed).with_folds(folds)
    training = TrainingData(signed.transform(FeatureScaler()), entries, entry_log_loss)
    return fit_scores(training, rng)


def fit_scores(training: TrainingData, rng: np.random.RandomState) -> NoiseScores:
    """Return out-of-fold scores of scaled features, as arrays."""
    data, (d, l) = training.data, training.data.shape
    fitted = fit_noise_scores(training, boosting=default_boosting(data.n, l, d, rng))

    def to_array(rows: Any) -> NDArray[np.float64]:
        return np.concatenate(data.engine.gather(rows))

    return NoiseScores(to_array(fitted.scores), lambda: [to_array(rows) for rows in fitted.alternatives()])


def _same(value: Any) -> Any:
    return value
