"""ScoreCorrection: corrected and calibrated scores, and decisions, from the combined scores of the views."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from spmld.core.losses import logistic
from spmld.ensemble.completion_trees import CompletionTrees
from spmld.ensemble.dependency import DependencyCorrection
from spmld.ensemble.formula import ScoreFormula
from spmld.ensemble.weighting import Scores
from spmld.labels import Labels, read_labels
from spmld.labels.encoding import SIGNS
from spmld.model_selection.cross_fitting import CrossFit
from spmld.model_selection.thresholds import MIN_F1_SAMPLES, DecisionOption, DecisionRule
from spmld.noise import NoiseRates, PooledCalibration
from spmld.noise.calibration import trusted_weight

MIN_SLOPE = 1e-6
"""Minimum slope of the calibrated scores: scores that do not predict the observed labels keep their order."""
SHIFT_PENALTY = 10.0
"""Penalty on the shifts of the labels in the calibration."""
NO_SHIFTS = 1e12
"""Penalty with which all labels have the same shift."""


@dataclass(kw_only=True, eq=False, repr=False)
class ScoreCorrection(BaseEstimator):
    """Correct scores for label dependencies, calibrate them, and decide which labels to predict.

    Parameters
    ----------
    dependency_weight, completion_weight, completion, decision, device
        As in `SelfPacedEnsemble`.
    random_state : int, RandomState or None, default=None
        Seed for the trees of the completion.

    Attributes
    ----------
    dependency_, completion_dependency_ : DependencyCorrection
        Corrections for samples without and with observed labels.
    completion_trees_ : CompletionTrees or None
        Trees for samples with observed labels.
    calibration_, completion_calibration_ : PooledCalibration
        Calibrations of the corrected scores.
    formula_ : ScoreFormula
        The correction for samples without observed labels, with its calibration, as arrays.
    decision_rule_ : DecisionRule
        Rule for decisions.
    held_out_scores_ : ndarray of shape (n_samples, n_labels)
        Log-odds of the samples of `fit`, by corrections and calibrations that were not fitted on their fold.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.ensemble.score_correction import ScoreCorrection
    >>> from spmld.labels import read_labels
    >>> from spmld.model_selection.cross_fitting import CrossFit
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=(400, 3)) - 1
    >>> Y = (rng.random(scores.shape) < 1 / (1 + np.exp(-2 * scores))).astype(float)
    >>> model = ScoreCorrection().fit(scores, read_labels(Y), np.ones(Y.shape), CrossFit.of(np.arange(400) % 3))
    >>> bool(abs((1 / (1 + np.exp(-model.formula_.apply(scores)))).mean() - Y.mean()) < 0.02)
    True
    """

    dependency_weight: float = 0.3
    completion_weight: float = 1.0
    completion: str = "linear"
    decision: DecisionOption = "f1"
    device: str | None = None
    random_state: Any = None

    def fit(
        self,
        scores: Scores,
        labels: Labels,
        entry_weight: Scores,
        cross: CrossFit,
        learned: NDArray[np.bool_] | None = None,
        *,
        known: Any = None,
        rates: NoiseRates | None = None,
    ) -> Self:
        """Fit the corrections, the calibrations and the rule.

        The correction is cross-fitted before the calibration is fitted, and both are cross-fitted before the rule is
        fitted, so that no entry is judged by a model of its own label.

        Parameters
        ----------
        scores : ndarray of shape (n_samples, n_labels)
            Out-of-fold scores.
        labels : Labels
            Observed labels.
        entry_weight : ndarray of shape (n_samples, n_labels)
            Weights of the entries.
        cross : CrossFit
            Folds.
        learned : ndarray of bool of shape (n_samples, n_labels), optional
            Entries that are used for calibration, by default all. A label that has one class only in the training
            samples of a fold cannot be learned there.
        known : labels in any form accepted by `spmld.labels.read_labels`, optional
            Labels that the correction for completion uses; by default the observed labels.
        rates : NoiseRates, optional
            Noise rates of the labels, by default 0.

        Returns
        -------
        self
        """
        known = labels if known is None else read_labels(known, name="known")
        used = entry_weight if learned is None else entry_weight * learned
        used = used * trusted_weight(labels.signs, labels.trusted)
        label_rates, rates = rates, None if rates is None else rates.unless(labels.trusted)
        noise = labels.signs, used, rates
        data = scores, labels, entry_weight
        self.dependency_, models = self._fit_dependency(*data, None, self.dependency_weight, cross)
        corrected = _correct_folds(cross, models, self.dependency_weight, scores)
        self.completion_dependency_, models = self._fit_dependency(*data, known, self.completion_weight, cross)
        correct = partial(_correct_folds, cross, models, self.completion_weight)
        completed, self.completion_trees_ = correct(scores, known.signs), None
        if self.completion == "boosting":
            trees = CompletionTrees(random_state=self.random_state)
            trees.fit(scores, labels.signs, known.signs, entry_weight, cross, correct, label_rates)
            completed, self.completion_trees_ = trees.held_out_scores_, trees
        # Shifts of labels need enough samples.
        penalty = SHIFT_PENALTY if labels.shape[0] >= MIN_F1_SAMPLES else NO_SHIFTS
        calibration = PooledCalibration(penalty=penalty, min_slope=MIN_SLOPE)
        self.calibration_ = clone(calibration).fit(corrected, *noise)
        self.completion_calibration_ = clone(calibration).fit(completed, *noise)

        def calibrate(train: NDArray[np.intp], test: NDArray[np.intp]) -> Scores:
            of_fold = None if rates is None else rates.rows(train)
            fitted = clone(calibration).fit(corrected[train], labels.signs[train], used[train], of_fold)
            return fitted.transform(corrected[test])

        self.held_out_scores_ = cross.assemble(replace(cross, over=map).run(calibrate))
        signs = known.signs if learned is None else known.signs * learned
        observed = replace(labels, signs=signs.astype(np.int8))
        self.decision_rule_ = DecisionRule(decision=self.decision).fit(logistic(self.held_out_scores_), observed)
        return self

    def _fit_dependency(
        self,
        scores: Scores,
        labels: Labels,
        entry_weight: Scores,
        known: Labels | None,
        weight: float,
        cross: CrossFit,
    ) -> tuple[DependencyCorrection, list[DependencyCorrection]]:
        """Return a correction that is fitted on all samples, and those that are fitted without each fold."""

        def fit(rows: Any) -> DependencyCorrection:
            parts: Any = (None if A is None else A[rows] for A in (scores, labels, entry_weight, known))
            return DependencyCorrection(device=self.device).fit(*parts)

        cross_fitted = weight > 0 and len(cross.folds) > 1
        trains = [train for train, _ in cross.folds if cross_fitted]
        fitted, *of_folds = cross.over(fit, [slice(None), *trains])
        return fitted, of_folds or [fitted] * len(cross.folds)

    @property
    def formula_(self) -> ScoreFormula:
        """The correction for samples without observed labels, with its calibration, as arrays."""
        slope, weight, dependency = self.calibration_.slope_, self.dependency_weight, self.dependency_
        return ScoreFormula(
            own=slope * (1 + weight * np.diag(dependency.coef_[:-1])),
            others=slope * weight * dependency.label_dependencies_,
            offset=slope * weight * dependency.coef_[-1] + self.calibration_.intercepts_,
        )

    def completed_probabilities(self, scores: Scores, known: Any) -> Scores:
        """Return calibrated probabilities of samples with known labels."""
        completed = self.completion_dependency_.correct(scores, known, weight=self.completion_weight)
        if self.completion_trees_ is not None:
            completed = completed + self.completion_trees_.correct(scores, read_labels(known, name="known").signs)
        return self.completion_calibration_.probabilities(completed)


def _correct_folds(
    cross: CrossFit,
    corrections: list[DependencyCorrection],
    weight: float,
    scores: Scores,
    known: NDArray[np.int8] | None = None,
) -> Scores:
    """Return scores that are corrected by known labels, with the correction of the fold of each sample."""

    def correct(_: Any, test: NDArray[np.intp], correction: DependencyCorrection) -> Scores:
        shown = None if known is None else Labels(known[test], SIGNS)
        return correction.correct(scores[test], shown, weight=weight)

    return cross.assemble(replace(cross, over=map).run(correct, corrections))
