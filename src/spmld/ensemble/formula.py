"""EnsembleFormula: the fitted ensemble as one formula, for predictions, contributions and exports."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spmld._arrays import contiguous, to_numpy
from spmld.core.losses import logistic
from spmld.model_selection.thresholds import DecisionRule
from spmld.noise import NoiseRates

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
