"""Noise rates of the views, and the out-of-fold scores from which they are estimated."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from spmld._validation import MAX_SEED
from spmld.ensemble.correction import calibrated_rows
from spmld.ensemble.views import View
from spmld.estimators.masked_boosting import MAX_TREE_SAMPLES, MaskedBoosting, is_affordable
from spmld.model_selection.cross_fitting import CrossFit, cross_fit_scores
from spmld.model_selection.linear import search_logistic
from spmld.model_selection.samples import Samples
from spmld.noise import NoiseEstimate, NoiseRates, estimate_noise
from spmld.noise.estimate import with_given_rates

RELAXATION = 10.0
"""Factor of C of the second model."""


def fit_noise_scores(
    samples: Samples, cross: CrossFit, *, boosting: Sequence[Any] = (), device: str | None = None
) -> tuple[NDArray[Any], Callable[[], list[NDArray[Any]]]]:
    """Return out-of-fold scores of logistic regression on scaled features, and a function for more flexible models.

    The scores are those of the C with the lowest log loss. The function returns a list of the scores with a tenth of
    the regularization and, unless there are none, of the boosted trees of the folds, which it fits in place. A model
    that is not flexible enough can cause a floor of the frequency of positives, which disappears in these scores; label
    noise does not.
    """
    path = search_logistic(samples, cross, device)

    def alternatives() -> list[NDArray[Any]]:
        C = RELAXATION * path.params["C"]
        models = [[model.set_params(C=C) for model in path.estimators]]
        if boosting:
            models.append(list(boosting))
        return [cross_fit_scores(cross, of_folds, samples) for of_folds in models]

    return path.scores, alternatives


def noise_trees(
    views: Mapping[str, View], cross: CrossFit, rng: np.random.RandomState, samples: Samples | None
) -> list[Any]:
    """Return boosted trees for each fold, those of the view "boosting", or without it for `samples`, if affordable."""
    if "boosting" in views:
        boosting = views["boosting"].estimator
    elif samples is not None and is_affordable(*samples.shape):
        boosting = MaskedBoosting(max_samples=MAX_TREE_SAMPLES, warm_start=True, random_state=rng.randint(MAX_SEED))
    else:
        return []
    return [clone(boosting) for _ in cross.folds]


def estimate_rates(
    features: Mapping[str, Samples],
    cross: CrossFit,
    trees: Sequence[Any],
    given: tuple[float | str, float | str],
    device: str | None,
) -> tuple[NoiseEstimate, NoiseRates]:
    """Return the estimate of the floor and the noise rates, and the rates of the likelihood, of which some are given.

    The `trees` of the folds are fitted in place if the estimate needs them.
    """
    samples = features["linear" if "linear" in features else next(iter(features))]
    scores, alternatives = fit_noise_scores(samples, cross, boosting=trees, device=device)
    rows = calibrated_rows(samples)
    estimate = estimate_noise(
        scores[rows],
        samples.signs[rows],
        samples.labels.trusted,
        alternatives=lambda: [other[rows] for other in alternatives()],
        certain_negatives=given[1] == 0,
    )
    return estimate, with_given_rates(estimate.likelihood_rates, *given)
