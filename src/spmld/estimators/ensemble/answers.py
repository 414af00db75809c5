"""Answers from the scores of the views: corrected scores, calibrated probabilities and decisions."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from spmld._validation import COMMON_CONSTRAINTS, UNIT_INTERVAL
from spmld.core.losses import logistic
from spmld.estimators.ensemble.dependency import DependencyCorrection
from spmld.estimators.ensemble.noise_estimate import fit_calibration
from spmld.estimators.ensemble.training_data import Scores
from spmld.labels import Labels, read_labels
from spmld.model_selection.calibration import PooledCalibration
from spmld.model_selection.thresholds import DECISION_CONSTRAINTS, MIN_SAMPLES, Decision, DecisionRule

MIN_SLOPE = 1e-6
"""Minimum slope of the calibrated scores: scores that do not predict the observed labels keep their order."""


@dataclass(kw_only=True, eq=False, repr=False)
class AnswerModel(BaseEstimator):
    """Correct scores for label dependencies, calibrate them, and decide which labels to predict.

    Parameters
    ----------
    dependency_weight, completion_weight, decision, device
        As in `SelfPacedEnsemble`.

    Attributes
    ----------
    dependency_, completion_dependency_ : DependencyCorrection
        Corrections for samples without and with observed labels.
    calibration_, completion_calibration_ : PooledCalibration
        Calibrations of the corrected scores.
    decision_rule_ : DecisionRule
        Rule for decisions.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.estimators.ensemble import AnswerModel
    >>> from spmld.labels import read_labels
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=(400, 3)) - 1
    >>> Y = (rng.random(scores.shape) < 1 / (1 + np.exp(-2 * scores))).astype(float)
    >>> model = AnswerModel().fit(scores, read_labels(Y), np.ones(Y.shape))
    >>> bool(abs(model.probabilities(model.correct(scores)).mean() - Y.mean()) < 0.02)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "dependency_weight": [UNIT_INTERVAL],
        "completion_weight": [UNIT_INTERVAL],
        "decision": DECISION_CONSTRAINTS,
        "device": COMMON_CONSTRAINTS["device"],
    }

    dependency_weight: float = 0.3
    completion_weight: float = 1.0
    decision: Decision = "f1"
    device: str | None = None

    def fit(
        self,
        scores: Scores,
        labels: Labels,
        entry_weight: Scores,
        learned: NDArray[np.bool_] | None = None,
        *,
        known: Any = None,
        rates: tuple[Scores, Scores] | None = None,
    ) -> Self:
        """Fit the corrections, the calibrations and the rule.

        Parameters
        ----------
        scores : ndarray of shape (n_samples, n_labels)
            Out-of-fold scores.
        labels : Labels
            Observed labels.
        entry_weight : ndarray of shape (n_samples, n_labels)
            Weights of the entries.
        learned : ndarray of bool of shape (n_samples, n_labels), optional
            Entries that are used for calibration, by default all: a fold whose training samples have one class of a
            label only cannot learn it.
        known : labels in any form accepted by `spmld.labels.read_labels`, optional
            Labels that the correction for completion uses; by default the observed labels.
        rates : tuple of ndarray, optional
            Noise rates, see `estimate_rates`; by default 0.

        Returns
        -------
        self
        """
        self._validate_params()
        known = labels if known is None else read_labels(known, name="known")
        self.dependency_ = DependencyCorrection(device=self.device).fit(scores, labels, entry_weight)
        self.completion_dependency_ = DependencyCorrection(device=self.device).fit(
            scores, labels, entry_weight, known=known
        )
        used = entry_weight if learned is None else entry_weight * learned
        noise = labels.signs, used, rates or (np.zeros(1), np.zeros(1)), labels.trusted
        # Shifts of labels need enough samples.
        penalty = 10.0 if labels.shape[0] >= MIN_SAMPLES else 1e12
        corrected = self.dependency_.correct(scores, weight=self.dependency_weight)
        self.calibration_ = fit_calibration(PooledCalibration(penalty=penalty), corrected, *noise)
        completed = self.completion_dependency_.correct(scores, known, weight=self.completion_weight)
        self.completion_calibration_ = fit_calibration(PooledCalibration(penalty=penalty), completed, *noise)
        probabilities = self.probabilities(self.correct(scores))
        self.decision_rule_ = DecisionRule(decision=self.decision).fit(probabilities)
        return self

    def correct(self, scores: Scores) -> Scores:
        """Return corrected scores with the common slope and shift of the calibration.

        The shifts of the labels are left out: they are calibrated on labels some of which are wrong, and would spoil
        the ranking of the labels of a sample.
        """
        corrected = self.dependency_.correct(scores, weight=self.dependency_weight)
        return max(self.calibration_.slope_, MIN_SLOPE) * corrected + self.calibration_.shift_

    def probabilities(self, corrected: Scores) -> Scores:
        """Return calibrated probabilities of the result of `correct`."""
        return logistic(corrected + self.calibration_.label_shifts_)

    def completed_probabilities(self, scores: Scores, known: Any) -> Scores:
        """Return calibrated probabilities of samples with known labels."""
        completed = self.completion_dependency_.correct(scores, known, weight=self.completion_weight)
        return self.completion_calibration_.probabilities(completed)

    def margins(self, corrected: Scores) -> NDArray[np.float64]:
        """Return numbers that are positive for the labels that are predicted, from the result of `correct`."""
        return self.decision_rule_.margins(self.probabilities(corrected))
