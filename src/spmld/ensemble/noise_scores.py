"""Out-of-fold scores from which noise rates and label errors are estimated."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from spmld._validation import MAX_SEED
from spmld.estimators.masked_boosting import MAX_TREE_SAMPLES, MaskedBoosting, is_affordable
from spmld.model_selection.cross_fitting import CrossFit, cross_fit_scores
from spmld.model_selection.linear import search_logistic
from spmld.model_selection.samples import Samples

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


def default_boosting(samples: Samples, n_folds: int, rng: np.random.RandomState) -> list[MaskedBoosting]:
    """Return the boosted trees of `fit_noise_scores`, or none for large data, see `is_affordable`."""
    if not is_affordable(*samples.shape):
        return []
    boosting = MaskedBoosting(max_samples=MAX_TREE_SAMPLES, warm_start=True, random_state=rng.randint(MAX_SEED))
    return [clone(boosting) for _ in range(n_folds)]
