"""Out-of-fold scores of samples in row blocks, for the audit. Labels and scores are in memory, features are not."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld.core.losses import LOSSES
from spmld.dask.collections import active_client, collect, is_collection
from spmld.estimators.block_data import BlockData, as_blocks, is_streamed, split, stream_data
from spmld.estimators.ensemble import View, search_path
from spmld.estimators.ensemble.block_training import BlockTrainingData
from spmld.estimators.ensemble.training_entries import SIGNS, TrainingEntries
from spmld.labels import Labels
from spmld.labels.single_class import ignore_label_warnings
from spmld.model_selection.cross_fitting import Fold

Scores = NDArray[np.float64]


def read_blocks(X: Any, Y: Any, mask: Any) -> BlockData | None:
    """Return the data of `RowBlocks`, large memory-mapped arrays and Dask collections; None for X in memory."""
    with ignore_label_warnings():
        if is_collection(X):
            return collect(active_client(), X, Y, mask)
        return stream_data(as_blocks(X), Y, mask, None) if is_streamed(X) else None


def gather_labels(data: BlockData) -> Labels:
    """Return the labels of all blocks."""
    return replace(data.labels, signs=np.concatenate(data.engine.gather(data.signs)))


def fit_view(
    view: View, data: BlockData, signs: NDArray[np.int8], folds: Sequence[Fold]
) -> tuple[Scores, Callable[..., Scores]]:
    """Return the out-of-fold scores of a view, and a function of entry weights that returns those of weighted fits.

    Parameters
    ----------
    view : View
        Transformer and base estimator, with the settings to choose from.
    data : BlockData
        Features in row blocks.
    signs : ndarray of shape (n_samples, n_labels)
        Labels to fit; 0 where missing.
    folds : sequence of (train, test)
        Folds that test each sample once.
    """
    engine = data.engine

    def to_blocks(A: Any) -> Any:
        return engine.map(_same, split(A, data.counts, "Y"))

    def to_array(rows: Any) -> Scores:
        return np.concatenate(engine.gather(rows))

    signed = replace(data, signs=to_blocks(signs), weights=to_blocks(signs != 0), labels=Labels(signs[:0], SIGNS))
    entries = TrainingEntries.in_blocks(signed).with_folds(folds)
    training = BlockTrainingData(signed.transform(view.transformer), entries, _logistic_loss)
    path = search_path(view, training)

    def refit(entry_weight: Scores) -> Scores:
        return to_array(training.cross_fit(path.estimators, entry_weight=to_blocks(entry_weight)).scores)

    return to_array(path.scores), refit


def _logistic_loss(labels: Labels, scores: Scores) -> Scores:
    return np.asarray(LOSSES["logistic"].value(labels.write_with_missing(None), scores))


def _same(value: Any) -> Any:
    return value
