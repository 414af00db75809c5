"""Noise rates from out-of-fold scores of logistic regression."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from spmld.core.losses import LOSSES
from spmld.ensemble.training_data import TrainingData
from spmld.ensemble.view_fitting import search_path
from spmld.ensemble.views import boosting_view, default_views, linear_view
from spmld.labels import Labels
from spmld.noise import NoiseEstimate, NoiseRates, estimate_noise
from spmld.noise.curve import MAX_RATE
from spmld.scale.block_data import BlockValues

NOISE_CS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
"""Inverse regularization strengths to choose from."""
RELAXATION = 10.0
"""Factor of C of the second model."""
NOISE_TOL = 3e-3
"""Tolerance of the models: the floor of the frequency of positives shows at the lowest scores, which converge last."""


def fit_noise_scores(
    data: TrainingData, *, boosting: Sequence[Any] = (), **params: Any
) -> tuple[BlockValues, Callable[[], list[BlockValues]]]:
    """Fit logistic regression for each label, without a label graph.

    Parameters
    ----------
    data : TrainingData
        Scaled features, with `entry_log_loss` as the loss.
    boosting : sequence of MaskedBoosting, default=()
        Boosted trees for each fold, which `alternatives` fits in place.
    **params
        Other parameters of `MaskedLogistic`.

    Returns
    -------
    scores : tuple
        Out-of-fold scores of the C with the lowest log loss, in row blocks.
    alternatives : callable
        Function that returns a list of scores of more flexible models: with a tenth of the regularization, and of
        boosted trees. A model that is not flexible enough can cause a floor of the frequency of positives, which
        disappears in these scores; label noise does not.
    """
    path = search_path(linear_view(NOISE_CS, label_graph_penalty=0.0).with_params(tol=NOISE_TOL, **params), data)

    def alternatives() -> list[BlockValues]:
        C = RELAXATION * path.params["C"]
        models = [[fitted.set_params(C=C) for fitted in path.estimators]]
        models += [list(boosting)] if boosting else []
        return [data.cross_fit(estimators)[1] for estimators in models]

    return path.scores, alternatives


def estimate_rates(
    data: TrainingData, rates: tuple[Any, Any], *, boosting: Sequence[Any] = (), device: Any = None
) -> tuple[NoiseEstimate, NoiseRates]:
    """Return the estimate of the noise, and the noise rates of each label.

    Parameters
    ----------
    data, boosting
        As in `fit_noise_scores`.
    rates : tuple of float or "auto"
        The parameters `false_positive_rate` and `false_negative_rate`; "auto" for the estimates.
    device : str, optional
        As in `MaskedLogistic`.
    """
    fitted, alternatives = fit_noise_scores(data, boosting=boosting, device=device)
    scores, signs = data.sample(fitted, data.data.signs)
    noise = estimate_noise(
        scores,
        signs,
        data.trusted,
        alternatives=lambda: data.sample(*alternatives()),
        certain_negatives=rates[1] == 0,
    )
    alpha, beta = (
        np.full(signs.shape[1], float(rate)) if rate != "auto" else estimate
        for rate, estimate in zip(rates, noise.rates, strict=True)
    )
    alpha = np.minimum(alpha, MAX_RATE - beta) if rates[0] == "auto" else alpha
    return noise, NoiseRates(alpha, np.minimum(beta, MAX_RATE - alpha))


def default_boosting(data: TrainingData, rng: np.random.RandomState) -> list[Any]:
    """Return the boosted trees of `fit_noise_scores`, or none for large data, see `default_views`."""
    if "boosting" not in default_views(data.data.n, *data.data.shape):
        return []
    boosting = boosting_view().with_seed(rng).estimator
    return [clone(boosting) for _ in range(data.n_folds)]


def entry_log_loss(Y: Any, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log loss of each entry, NaN where labels are missing."""
    signs = Y.write_with_missing(None) if isinstance(Y, Labels) else Y
    return np.asarray(LOSSES["logistic"].value(signs, scores))
