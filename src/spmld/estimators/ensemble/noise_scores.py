"""Out-of-fold scores from which noise is estimated."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from spmld.core.losses import LOSSES
from spmld.estimators.ensemble.path_search import search_path
from spmld.estimators.ensemble.training_data import TrainingData
from spmld.estimators.ensemble.training_entries import TrainingEntries
from spmld.estimators.ensemble.views import boosting_view, default_views, linear_view, with_params
from spmld.estimators.masked_boosting import MaskedBoosting
from spmld.labels import Labels
from spmld.noise import NoiseEstimate, NoiseRates, estimate_noise
from spmld.noise.curve import MAX_RATE

NOISE_CS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
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


def fit_noise_scores(data: TrainingData, *, boosting: Any = None, **params: Any) -> NoiseScores:
    """Fit logistic regression for each label, without a label graph.

    Parameters
    ----------
    data : TrainingData
        Scaled features, with `entry_log_loss` as the loss.
    boosting : MaskedBoosting, optional
        Boosted trees.
    **params
        Other parameters of `MaskedLogistic`.
    """
    path = search_path(linear_view(NOISE_CS, label_graph_penalty=0.0).with_params(**params), data)

    def alternatives() -> list[Any]:
        C = RELAXATION * path.params["C"]
        models = [[fitted.set_params(C=C) for fitted in path.estimators]]
        models += [] if boosting is None else [[clone(boosting) for _ in path.estimators]]
        return [data.cross_fit(estimators).scores for estimators in models]

    return NoiseScores(path.scores, alternatives)


def estimate_rates(
    data: TrainingData, entries: TrainingEntries, rates: tuple[Any, Any], *, boosting: Any = None, device: Any = None
) -> tuple[NoiseEstimate, NoiseRates]:
    """Return the estimate of the noise, and the noise rates of each label.

    Parameters
    ----------
    data, boosting
        As in `fit_noise_scores`.
    entries : TrainingEntries
        Labels and folds.
    rates : tuple of float or "auto"
        The parameters `false_positive_rate` and `false_negative_rate`; "auto" for the estimates.
    device : str, optional
        As in `MaskedLogistic`.
    """
    fitted = fit_noise_scores(data, boosting=boosting, device=device)
    sample, signs = entries.sample(fitted.scores, entries.signs)
    noise = estimate_noise(
        sample,
        signs,
        None if entries.trusted is None else entries.rows(entries.trusted)[0],
        alternatives=lambda: entries.sample(*fitted.alternatives()),
        certain_negatives=rates[1] == 0,
    )
    alpha, beta = (
        np.full(entries.n_labels, float(rate)) if rate != "auto" else estimate
        for rate, estimate in zip(rates, noise.rates, strict=True)
    )
    alpha = np.minimum(alpha, MAX_RATE - beta) if rates[0] == "auto" else alpha
    return noise, NoiseRates(alpha, np.minimum(beta, MAX_RATE - alpha))


def default_boosting(n_samples: int, n_labels: int, n_features: int, random_state: Any = None) -> MaskedBoosting | None:
    """Return the boosted trees of `fit_noise_scores`, or None for large data, see `default_views`."""
    if "boosting" not in default_views(n_samples, n_features, n_labels):
        return None
    return with_params(boosting_view().estimator, random_state=random_state)


def entry_log_loss(Y: Any, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log loss of each entry, NaN where labels are missing."""
    signs = Y.write_with_missing(None) if isinstance(Y, Labels) else Y
    return np.asarray(LOSSES["logistic"].value(signs, scores))
