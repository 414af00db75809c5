"""Fits of the views: their transformers, the choice of trimming, and the final fits."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, NamedTuple

import joblib
import numpy as np
from sklearn.base import clone

from spmld.estimators.ensemble.path_search import PathResult
from spmld.estimators.ensemble.training_data import TrainingData
from spmld.estimators.ensemble.views import View, with_params
from spmld.pacing.trimming import KEEP_FRACTION
from spmld.scale.block_data import BlockData, BlockValues


def fit_transformers(
    views: Mapping[str, View], data: BlockData, rng: np.random.RandomState
) -> tuple[dict[str, Any], dict[str, BlockData]]:
    """Return the fitted transformer and the transformed data of each view."""
    transformers, features, equal = {}, {}, {}
    for name, view in views.items():
        transformer = with_params(view.transformer, random_state=rng)
        params = transformer.get_params()
        # Views with equal transformers share the features, which may be large.
        key = name if "random_state" in params else (type(transformer), joblib.hash(params))
        if key not in equal:
            equal[key] = transformer, data.transform(transformer)
        transformers[name], features[name] = equal[key]
    return transformers, features


class Trimming(NamedTuple):
    """Entries that are left out.

    Attributes
    ----------
    keep_fraction : float
        The fraction of positives to keep; 1 without trimming.
    weights : tuple
        Self-paced weights of all entries, in row blocks.
    fold_weights : list or None
        Entry weights for the training samples of each fold, which do not depend on labels of the fold; None without
        trimming.
    """

    keep_fraction: float
    weights: BlockValues
    fold_weights: list[BlockValues] | None


def choose_trimming(
    views: Mapping[str, View],
    results: Mapping[str, PathResult],
    data: Mapping[str, TrainingData],
    keep_fraction: float | str,
    *,
    noisy: bool,
) -> Trimming:
    """Choose the fraction to keep by held-out entries; parameters as in `SelfPacedEnsemble`.

    With ``keep_fraction="auto"``, nothing is trimmed if the data are `noisy`.
    """
    ranked = sorted(views, key=lambda name: results[name].loss)
    judge = next((name for name in ranked if not views[name].costly), ranked[0])
    result, training = results[judge], data[judge]
    entries, automatic = training.entries, isinstance(keep_fraction, str)
    fraction, kept = KEEP_FRACTION if automatic else float(keep_fraction), None
    if fraction < 1 and training.n_folds > 2 and not (automatic and noisy):
        nested = training.nested_scores(clone(result.estimators[0]))
        kept = [
            entries.engine.map(np.multiply, entries.trim(scores, fraction, fold), entries.weights)
            for fold, scores in enumerate(nested)
        ]
        if automatic:
            trimmed = training.cross_fit(deepcopy(result.estimators), entry_weight=kept).scores  # with a warm start
            kept = kept if np.nanmean(training.losses(trimmed)) < result.loss else None
    chosen = 1.0 if kept is None else fraction
    return Trimming(chosen, entries.trim(results[ranked[0]].scores, chosen), kept)


def fit_views(
    results: Mapping[str, PathResult], data: Mapping[str, TrainingData], trimming: Trimming
) -> tuple[dict[str, Any], dict[str, BlockValues]]:
    """Return the estimator of each view, fitted to the entries that are kept, and its out-of-fold scores."""
    estimators, scores = {}, {}
    for name, result in results.items():
        training, kept = data[name], trimming.fold_weights
        weights = training.entries.weights
        if kept is not None:
            weights = training.entries.engine.map(np.multiply, trimming.weights, weights)
        fitted = result if kept is None else training.cross_fit(result.estimators, entry_weight=kept)
        scores[name] = fitted.scores
        estimators[name] = training.fit(clone(result.estimators[0]), entry_weight=weights)
    return estimators, scores
