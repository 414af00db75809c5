"""Weights of the views, and weighted means of their calibrated scores."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from spmld._threads import Map
from spmld.model_selection.path_search import spacing
from spmld.model_selection.samples import Samples
from spmld.noise.calibration import PooledCalibration

POWER = 8
"""Power of the inverse losses."""
MAX_CALIBRATED = 10_000
"""Maximum number of samples from which calibrations and noise rates are estimated."""
Scores = NDArray[np.float64]


def view_weights(losses: Mapping[str, float]) -> dict[str, float]:
    """Return weights proportional to ``loss ** -8`` that sum to 1.

    Equally good views share the weight, and a view with a 50 % higher loss gets almost none.

    Parameters
    ----------
    losses : mapping
        The positive held-out loss of each view.

    Returns
    -------
    dict
        The weight of each view.

    Examples
    --------
    >>> from spmld.ensemble.weighting import view_weights
    >>> {name: round(weight, 2) for name, weight in view_weights({"linear": 0.2, "kernel": 0.2, "latent": 0.3}).items()}
    {'linear': 0.49, 'kernel': 0.49, 'latent': 0.02}
    """
    lowest = min(losses.values())
    powers = {name: (lowest / loss) ** POWER for name, loss in losses.items()}
    return {name: power / sum(powers.values()) for name, power in powers.items()}


@dataclass(kw_only=True, eq=False, repr=False)
class ViewMixture(BaseEstimator):
    """Weighted mean of the scores of the views, each calibrated by a slope and a shift.

    Parameters
    ----------
    weights : mapping
        The weight of each view.

    Attributes
    ----------
    calibrations_ : dict
        The `PooledCalibration` of each view, with one slope and one shift for all labels.
    factors_, offset_ : dict and float
        The mixture as numbers: the sum of the scores of the views, multiplied by their factors, and the offset.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.ensemble.weighting import ViewMixture
    >>> rng = np.random.default_rng(0)
    >>> log_odds = rng.normal(size=(2000, 2))
    >>> signs = np.where(rng.random(log_odds.shape) < 1 / (1 + np.exp(-log_odds)), 1, -1)
    >>> views = {"a": 5 * log_odds, "b": log_odds + 3}
    >>> mixture = ViewMixture(weights={"a": 0.75, "b": 0.25}).fit(views, signs, np.ones(signs.shape))
    >>> bool(np.abs(mixture.combine(views) - log_odds).max() < 0.5)
    True
    """

    weights: Mapping[str, float]

    def fit(self, scores: Mapping[str, Scores], signs: NDArray[np.int8], entry_weight: Scores, over: Map = map) -> Self:
        """Fit the calibrations.

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
        step = spacing(len(signs), MAX_CALIBRATED)
        labels, weights = signs[::step].reshape(-1, 1), entry_weight[::step].reshape(-1, 1)

        def calibrate(values: Scores) -> PooledCalibration:
            return PooledCalibration().fit(values[::step].reshape(-1, 1), labels, weights)

        self.calibrations_ = dict(zip(scores, over(calibrate, scores.values()), strict=True))
        return self

    def combine(self, scores: Mapping[str, Scores]) -> Scores:
        """Return the weighted mean of the calibrated scores of the views."""
        return np.asarray(sum(self.factors_[name] * scores[name] for name in scores)) + self.offset_

    @property
    def factors_(self) -> dict[str, float]:
        """Factor of the scores of each view: its weight times the slope of its calibration."""
        return {name: weight * float(self.calibrations_[name].slope_) for name, weight in self.weights.items()}

    @property
    def offset_(self) -> float:
        """Weighted sum of the shifts of the calibrations."""
        return sum(weight * float(self.calibrations_[name].intercepts_[0]) for name, weight in self.weights.items())


def calibrated_rows(samples: Samples) -> slice:
    """Return evenly spaced samples for calibrations; all of them if some entries are verified, which may be few."""
    step = 1 if samples.labels.trusted is not None else spacing(samples.shape[0], MAX_CALIBRATED)
    return slice(None, None, step)
