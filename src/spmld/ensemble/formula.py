"""EnsembleFormula: the fitted ensemble as one formula, for predictions, contributions and exports; its view weights."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from spmld._arrays import contiguous, to_numpy
from spmld._threads import Map
from spmld.core.losses import logistic
from spmld.model_selection.path_search import spacing
from spmld.model_selection.thresholds import DecisionRule
from spmld.noise import NoiseRates, PooledCalibration

POWER = 8
"""Power of the inverse losses."""
MAX_CALIBRATED = 10_000
"""Maximum number of samples from which calibrations and noise rates are estimated."""
Scores = NDArray[np.float64]


class ScoreFormula(NamedTuple):
    """The correction as arrays: the log-odds of scores s are ``s * own + logistic(s) @ others + offset``.

    With a floor or noise rates, these are log-odds of the true labels, and `apply` returns those of the observed ones.

    Attributes
    ----------
    own, offset : ndarray of shape (n_labels,)
        Factors and offsets of the scores.
    others : ndarray of shape (n_labels, n_labels)
        Effects of the other labels; the diagonal is 0.
    rates : NoiseRates
        Floor or noise rates.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.ensemble.formula import ScoreFormula
    >>> from spmld.noise import NoiseRates
    >>> rates = NoiseRates(np.zeros(2), np.zeros(2))
    >>> formula = ScoreFormula(np.ones(2), np.array([[0.0, 4.0], [0.0, 0.0]]), np.zeros(2), rates)
    >>> formula.apply(np.zeros((1, 2)))
    array([[0., 2.]])
    """

    own: Scores
    others: Scores
    offset: Scores
    rates: NoiseRates

    def log_odds(self, scores: Scores) -> Scores:
        """Return the log-odds of the true labels."""
        return scores * self.own + logistic(scores) @ self.others + self.offset

    def apply(self, scores: Scores) -> Scores:
        """Return the corrected scores, log-odds of the observed labels."""
        return self.rates.observed_log_odds(self.log_odds(scores))


class ViewTerm(NamedTuple):
    """A view in the formula: its factor times the scores of its estimator, of transformed features."""

    name: str
    factor: float
    transformer: Any
    estimator: Any

    def scores(self, features: Any) -> Scores:
        """Return the scores of the estimator for features of the transformer."""
        return to_numpy(self.estimator.decision_function(features))


@dataclass(frozen=True)
class EnsembleFormula:
    r"""Scores of an ensemble, log-odds of the labels, from those of its views.

    With the scores :math:`f_v` of the views, the scores are the correction of :math:`s = \sum_v c_v f_v + c_0`.

    Attributes
    ----------
    views : sequence of ViewTerm
        The views with their factors c, the products of weights and slopes.
    offset : float
        :math:`c_0`.
    correction : ScoreFormula
        Correction for label dependencies, with its calibration.
    rule : DecisionRule
        Rule for decisions.

    Examples
    --------
    >>> from spmld import SelfPacedEnsemble
    >>> from spmld.datasets import make_planted
    >>> data = make_planted(n_samples=150, random_state=0)
    >>> model = SelfPacedEnsemble(views=("ridge",), random_state=0).fit(data.X, data.Y)
    >>> formula = model.formula_
    >>> bool((formula.correction.apply(formula.mixture(data.X)) == model.decision_function(data.X)).all())
    True
    """

    views: Sequence[ViewTerm]
    offset: float
    correction: ScoreFormula
    rule: DecisionRule

    def mixture(self, X: Any) -> Scores:
        """Return s, the weighted mean of the calibrated scores of the views, which share transformers."""
        X = contiguous(X)
        transformers = {id(view.transformer): view.transformer for view in self.views}
        features = {key: transformer.transform(X) for key, transformer in transformers.items()}
        return np.asarray(sum(v.factor * v.scores(features[id(v.transformer)]) for v in self.views)) + self.offset


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
    >>> from spmld.ensemble.formula import view_weights
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
    >>> from spmld.ensemble.formula import ViewMixture
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
        return {name: weight * float(self.calibrations_[name].slopes_[0]) for name, weight in self.weights.items()}

    @property
    def offset_(self) -> float:
        """Weighted sum of the shifts of the calibrations."""
        return sum(weight * float(self.calibrations_[name].intercepts_[0]) for name, weight in self.weights.items())
