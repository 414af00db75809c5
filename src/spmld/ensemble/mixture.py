"""ViewMixture: the weighted mean of the scores of the views, with weights from held-out entries (stacking)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from spmld._threads import Map
from spmld.core.losses import LOSSES
from spmld.ensemble.formula import MAX_CALIBRATED, Scores
from spmld.model_selection.path_search import spacing
from spmld.noise import PooledCalibration

_MAX_STEPS = 200
"""Maximum number of Newton steps for the weights, which take about twenty."""
_TOLERANCE = 1e-12
"""Decrease of the objective by a Newton step at which the weights have converged."""
_TO_BOUNDARY = 0.99
"""Largest fraction of the way to a weight of 0 in a step."""
_LOGISTIC = LOSSES["logistic"]


@dataclass(kw_only=True, eq=False, repr=False)
class ViewMixture(BaseEstimator):
    r"""Weighted mean of the scores of the views, each calibrated by a slope and a shift.

    The weights w minimize the mean logistic loss of held-out entries, with the logarithmic barrier
    :math:`-\frac{1}{n V} \sum_v \log w_v` for V views and n samples, over all positive weights that sum to 1. The
    barrier is the divergence from equal weights with the weight of one sample: if views are alike, they share the
    weight, and a bad view gets nearly none.

    Attributes
    ----------
    calibrations_ : dict
        The `PooledCalibration` of each view, with one slope and one shift for all labels.
    weights_ : dict
        The weight of each view.
    loss_ : float
        Mean logistic loss of the held-out entries.
    factors_, offset_ : dict and float
        The mixture as numbers: the sum of the scores of the views, multiplied by their factors, and the offset.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.ensemble.mixture import ViewMixture
    >>> rng = np.random.default_rng(0)
    >>> log_odds = rng.normal(size=(2000, 2))
    >>> signs = np.where(rng.random(log_odds.shape) < 1 / (1 + np.exp(-log_odds)), 1, -1)
    >>> views = {"good": 5 * log_odds, "bad": rng.normal(size=(2000, 2))}
    >>> mixture = ViewMixture().fit(views, signs, np.ones(signs.shape))
    >>> {name: round(weight, 1) for name, weight in mixture.weights_.items()}
    {'good': 1.0, 'bad': 0.0}
    >>> bool(np.abs(mixture.combine(views) - log_odds).max() < 0.5)
    True
    """

    def fit(self, scores: Mapping[str, Scores], signs: NDArray[np.int8], entry_weight: Scores, over: Map = map) -> Self:
        """Fit the calibrations and the weights.

        Parameters
        ----------
        scores : mapping
            Out-of-fold scores of each view, arrays of shape (n_samples, n_labels).
        signs : ndarray of shape (n_samples, n_labels)
            +1, -1, and 0 where missing.
        entry_weight : ndarray of shape (n_samples, n_labels)
            Weights of the entries.
        over : callable, default=map
            Maps a function over the views, see `spmld._threads.thread_map`.

        Returns
        -------
        self
        """
        rows = slice(None, None, spacing(len(signs), MAX_CALIBRATED))
        weights = entry_weight[rows] * (signs[rows] != 0)
        observed = weights > 0
        positive = signs[rows][observed] > 0

        def calibrate(values: Scores) -> tuple[PooledCalibration, Scores]:
            column = values[rows][observed][:, None]
            labels = np.where(positive, 1, -1)[:, None]
            calibration = PooledCalibration().fit(column, labels, weights[observed][:, None])
            return calibration, calibration.transform(column)[:, 0]

        calibrated = list(over(calibrate, scores.values()))
        self.calibrations_ = {name: fitted for name, (fitted, _) in zip(scores, calibrated, strict=True)}
        log_odds = np.stack([column for _, column in calibrated])
        n = int(observed.any(axis=1).sum())
        values = stacking_weights(log_odds, positive, weights[observed], n)
        self.weights_ = dict(zip(scores, map(float, values), strict=True))
        self.loss_ = float(_shares(weights[observed]) @ _LOGISTIC.soft_value(positive, values @ log_odds))
        return self

    def combine(self, scores: Mapping[str, Scores]) -> Scores:
        """Return the weighted mean of the calibrated scores of the views."""
        return np.asarray(sum(factor * scores[name] for name, factor in self.factors_.items())) + self.offset_

    @property
    def factors_(self) -> dict[str, float]:
        """Factor of the scores of each view: its weight times the slope of its calibration."""
        return {name: weight * float(self.calibrations_[name].slopes_[0]) for name, weight in self.weights_.items()}

    @property
    def offset_(self) -> float:
        """Weighted sum of the shifts of the calibrations."""
        return sum(weight * float(self.calibrations_[name].intercepts_[0]) for name, weight in self.weights_.items())


def stacking_weights(log_odds: Scores, positive: NDArray[np.bool_], entry_weight: Scores, n_samples: int) -> Scores:
    """Return the weights of `ViewMixture` by Newton's method, from the log-odds of each view for observed entries.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.ensemble.mixture import stacking_weights
    >>> log_odds = np.array([[2.0, 2.0, -2.0, -2.0], [0.0, 0.0, 0.0, 0.0]])
    >>> stacking_weights(log_odds, log_odds[0] > 0, np.ones(4), n_samples=1000).round(2)
    array([1., 0.])
    """
    n_views = len(log_odds)
    share = _shares(entry_weight)
    barrier = 1 / (max(n_samples, 1) * n_views)
    weights = np.full(n_views, 1 / n_views)

    def objective(w: Scores) -> float:
        return float(share @ _LOGISTIC.soft_value(positive, w @ log_odds) - barrier * np.log(w).sum())

    value = objective(weights)
    system = np.ones((n_views + 1, n_views + 1))  # of the step and the multiplier of the sum
    system[-1, -1] = 0
    for _ in range(_MAX_STEPS):
        slope, curvature = _LOGISTIC.soft_derivatives(positive, weights @ log_odds)
        gradient = log_odds @ (share * slope) - barrier / weights
        system[:-1, :-1] = (log_odds * (share * curvature)) @ log_odds.T + np.diag(barrier / weights**2)
        step = np.linalg.solve(system, np.append(-gradient, 0.0))[:-1]
        decrease = -float(gradient @ step)
        if decrease <= _TOLERANCE:
            break
        shrinking = step < 0
        largest = np.min(-weights[shrinking] / step[shrinking]) if shrinking.any() else np.inf
        length = min(1.0, _TO_BOUNDARY * largest)
        while (new := objective(weights + length * step)) > value and length * decrease > _TOLERANCE:
            length /= 2
        weights = weights + length * step
        value = new
    return weights / weights.sum()


def _shares(weights: Scores) -> Scores:
    """Return weights that sum to 1, or to 0 if there are none."""
    return weights / max(weights.sum(), np.finfo(float).tiny)
