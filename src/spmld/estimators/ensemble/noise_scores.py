"""Out-of-fold scores from which noise is estimated."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from spmld.core.losses import LOSSES
from spmld.estimators.ensemble.path_search import search_path
from spmld.estimators.ensemble.training_data import TrainingData
from spmld.estimators.ensemble.views import boosting_view, default_views, linear_view, with_params
from spmld.estimators.masked_boosting import MaskedBoosting
from spmld.labels import Labels

CS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
"""Inverse regularization strengths to choose from."""
RELAXATION = 10.0
"""Factor of C of the second model."""


@dataclass(frozen=True)
class NoiseScores:
    """Out-of-fold scores of logistic regression.

    Attributes
    ----------
    scores : ndarray of shape (n_samples, n_labels)
        Scores of the C with the lowest out-of-fold log loss, in row blocks.
    alternatives : callable or None
        Function that returns a list of scores of more flexible models: with a tenth of the regularization, and of
        boosted trees. A model that is not flexible enough can cause a floor of the frequency of positives, which
        disappears in these scores; label noise does not.
    """

    scores: Any
    alternatives: Any = None


def fit_noise_scores(
    data: TrainingData, Cs: Sequence[float] = CS, *, boosting: Any = None, **params: Any
) -> NoiseScores:
    """Fit logistic regression for each label, without a label graph.

    Parameters
    ----------
    data : TrainingData
        Scaled features, with `entry_log_loss` as the loss.
    Cs : sequence of float, optional
        Inverse regularization strengths to choose from.
    boosting : MaskedBoosting, optional
        Boosted trees.
    **params
        Other parameters of `MaskedLogistic`.
    """
    view = linear_view(Cs, label_graph_penalty=0.0)
    path = search_path(replace(view, estimator=with_params(view.estimator, **params)), data)

    def alternatives() -> list[Any]:
        C = RELAXATION * path.params["C"]
        models = [[fitted.set_params(C=C) for fitted in path.estimators]]
        models += [] if boosting is None else [[clone(boosting) for _ in path.estimators]]
        return [data.cross_fit(estimators).scores for estimators in models]

    return NoiseScores(path.scores, alternatives)


def default_boosting(n_samples: int, n_labels: int, n_features: int, random_state: Any = None) -> MaskedBoosting | None:
    """Return the boosted trees of `fit_noise_scores`, or None for large data, see `default_views`."""
    if "boosting" not in default_views(n_samples, n_features, n_labels):
        return None
    return with_params(boosting_view().estimator, random_state=random_state)


def entry_log_loss(Y: Any, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log loss of each entry, NaN where labels are missing."""
    signs = Y.write_with_missing(None) if isinstance(Y, Labels) else Y
    return np.asarray(LOSSES["logistic"].value(signs, scores))
