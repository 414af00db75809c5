"""Correction of the scores of an ensemble for label dependencies, their calibration, and the rule for decisions."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from spmld._arrays import move, numpy_dtype, to_device, to_numpy
from spmld._validation import Positive, PositiveInt, Validated
from spmld.core.linear_objective import OtherLabels, Penalty
from spmld.core.losses import LOSSES, logistic
from spmld.core.newton import newton_minimize
from spmld.core.problem import make_problem
from spmld.ensemble.completion_trees import CompletionTrees
from spmld.ensemble.formula import MAX_CALIBRATED, ScoreFormula, Scores
from spmld.labels import Labels, read_labels
from spmld.labels.encoding import SIGNS
from spmld.model_selection.cross_fitting import CrossFit
from spmld.model_selection.path_search import spacing
from spmld.model_selection.samples import Samples, move_weights
from spmld.model_selection.thresholds import DecisionOption, DecisionRule
from spmld.noise import NoiseRates, PooledCalibration
from spmld.noise.calibration import has_both_classes, trusted_weight
from spmld.noise.floor import summarize

WEIGHTS = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
"""Weights of the corrections to choose from."""
MIN_SLOPE = 1e-6
"""Minimum slope of the calibrated scores: scores that do not predict the observed labels keep their order."""


@dataclass(kw_only=True, eq=False, repr=False)
class DependencyCorrection(Validated):
    r"""Correct the score of each label by the other labels of its sample.

    .. math:: \delta_{ij} = \sum_{k \ne j} z_{ik} M_{kj} + a_j s_{ij} + c_j

    is the correction of label j of sample i, with the scores :math:`s` of a model of the features. :math:`z_{ik}` is 1
    or 0 where label k is known to be positive or negative, and otherwise its probability
    :math:`1 / (1 + e^{-s_{ik}})`. This is the conditional distribution of a label given all others in an Ising model
    with the fields s, in which unknown labels are replaced by their means.

    M, a and c minimize the logistic loss of :math:`s + \delta` over observed labels plus
    :math:`(\|M\|^2 + |a|^2 + |c|^2) / (2 C)`, so that :math:`\delta` is 0 without evidence.

    Parameters
    ----------
    C : float, default=1.0
        Inverse regularization strength.
    tol : float, default=1e-2
        Stop when the norm of the gradient of a label is this fraction of its norm at zero.
    max_samples : int, default=10_000
        Maximum number of samples to fit on. If there are more, every second, third, ... sample is used.
    device : str or None, default=None
        As in `MaskedLogistic`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_labels + 1, n_labels)
        M with a on its diagonal, and c in the last row.
    label_dependencies_ : ndarray of shape (n_labels, n_labels)
        M, with zeros on its diagonal: row k holds the effects of label k on the scores of the other labels.

    Examples
    --------
    The second label always equals the first, which its own score does not show:

    >>> import numpy as np
    >>> from spmld.ensemble.correction import DependencyCorrection
    >>> scores = np.array([[3.0, 0.0], [-3.0, 0.0]] * 50)
    >>> Y = np.array([[1, 1], [0, 0]] * 50)
    >>> correction = DependencyCorrection().fit(scores, Y)
    >>> (correction.correct(scores[:2]) > 0).astype(int)
    array([[1, 1],
           [0, 0]])
    """

    C: Positive = 1.0
    tol: Positive = 1e-2
    max_samples: PositiveInt = 10_000
    device: str | None = None

    def fit(self, scores: Scores, Y: Any, entry_weight: Scores | None = None, known: Any = None) -> Self:
        """Learn the dependencies.

        Parameters
        ----------
        scores : ndarray of shape (n_samples, n_labels)
            Out-of-fold scores of the training samples; scores of models fitted on the samples are overconfident.
        Y : labels in any form accepted by `spmld.labels.read_labels`
            Labels of the training samples.
        entry_weight : ndarray of shape (n_samples, n_labels), optional
            Weights of the entries.
        known : labels in any form accepted by `spmld.labels.read_labels`, optional
            Labels that :math:`z` contains. With ``known=Y`` the correction is fitted for samples with known labels, by
            default for samples without known labels.

        Returns
        -------
        self
        """
        self._validate_params()
        signs = read_labels(Y).signs
        weights = signs != 0 if entry_weight is None else np.where(signs != 0, entry_weight, 0.0)
        z = _label_values(scores, known)
        part = slice(None, None, -(-len(scores) // self.max_samples))
        l = scores.shape[1]
        # Single precision is more accurate than the tolerance, and faster.
        X = to_device(np.concatenate([z[part], scores[part]], axis=1, dtype=np.float32), self.device)
        group, dtype = np.zeros(X.shape[0], dtype=np.int8), numpy_dtype(X)
        problem = make_problem(X, move(signs[part], X), move_weights(weights[part], X), move(group, X), 1)
        design, start = OtherLabels(move(np.arange(l), X)), move(np.zeros((l + 1, l), dtype), X)
        options: Any = {"offset": X[:, l:], "tol": self.tol, "reorthogonalize": True}
        result = newton_minimize(problem, LOSSES["logistic"], design, Penalty(1 / self.C), start, **options)
        self.coef_ = to_numpy(result.B).astype(float)
        return self

    def correct(self, scores: Scores, known: Any = None, *, weight: float = 1.0) -> Scores:
        r"""Return the scores plus the weighted correction, :math:`s + w \delta`.

        Parameters
        ----------
        scores : ndarray of shape (n_samples, n_labels)
            Scores of samples.
        known : labels in any form accepted by `spmld.labels.read_labels`, optional
            Known labels of the samples.
        weight : float, default=1.0
            w.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
        """
        check_is_fitted(self)
        if weight == 0:
            return scores
        own, intercept = np.diag(self.coef_[:-1]), self.coef_[-1]
        others = _label_values(scores, known) @ self.label_dependencies_
        return scores + weight * (others + scores * own + intercept)

    @property
    def label_dependencies_(self) -> Scores:
        """M, with zeros on its diagonal."""
        return self.coef_[:-1] * (1 - np.eye(self.coef_.shape[1]))


def _label_values(scores: Scores, known: Any) -> Scores:
    """Return z: 1 or 0 for known labels, and the probability of others."""
    if known is None:
        return logistic(scores)
    signs = read_labels(known, name="known").signs
    return np.where(signs == 0, logistic(scores), signs > 0)


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
    dependency_weight_, completion_weight_ : float
        Weights of the corrections.
    completion_trees_ : CompletionTrees or None
        Trees for samples with observed labels.
    calibration_, completion_calibration_ : PooledCalibration
        Calibrations of the corrected scores.
    formula_ : ScoreFormula
        The correction for samples without observed labels, with its calibration, as arrays.
    decision_rule_ : DecisionRule
        Rule for decisions.
    rates_ : NoiseRates
        Floor or noise rates of the labels.
    held_out_scores_ : ndarray of shape (n_samples, n_labels)
        Log-odds of the observed labels of the samples of `fit`, by corrections and calibrations that were not fitted on
        their fold.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.ensemble.correction import ScoreCorrection
    >>> from spmld.labels import read_labels
    >>> from spmld.model_selection.cross_fitting import CrossFit
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=(400, 3)) - 1
    >>> Y = (rng.random(scores.shape) < 1 / (1 + np.exp(-2 * scores))).astype(float)
    >>> model = ScoreCorrection().fit(scores, read_labels(Y), np.ones(Y.shape), CrossFit.of(np.arange(400) % 3))
    >>> bool(abs((1 / (1 + np.exp(-model.formula_.apply(scores)))).mean() - Y.mean()) < 0.02)
    True
    """

    dependency_weight: float | str = "auto"
    completion_weight: float | str = "auto"
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
            Floor or noise rates of the labels, by default 0.

        Returns
        -------
        self
        """
        known = labels if known is None else read_labels(known, name="known")
        used = entry_weight if learned is None else entry_weight * learned
        nothing = np.zeros(labels.shape[1])
        self.rates_ = NoiseRates(nothing, nothing) if rates is None else rates
        if self.rates_.any():
            used = used * trusted_weight(labels.signs, labels.trusted)
        rates = self.rates_.unless(labels.trusted)
        noise = labels.signs, used, rates
        data = scores, labels, entry_weight
        self.dependency_, models = self._fit_dependency(*data, None, self.dependency_weight, cross)
        corrected = _correct_folds(cross, models, 1.0, scores)
        self.dependency_weight_ = _held_out_weight(
            self.dependency_weight, scores, corrected, labels.signs, used, self.rates_
        )
        corrected = scores + self.dependency_weight_ * (corrected - scores)
        self.completion_dependency_, models = self._fit_dependency(*data, known, self.completion_weight, cross)
        completed = _correct_folds(cross, models, 1.0, scores, known.signs)
        self.completion_weight_ = _held_out_weight(
            self.completion_weight, scores, completed, labels.signs, used, self.rates_
        )
        completed = scores + self.completion_weight_ * (completed - scores)
        correct = partial(_correct_folds, cross, models, self.completion_weight_)
        self.completion_trees_ = None
        if self.completion == "boosting":
            trees = CompletionTrees(random_state=self.random_state)
            trees.fit(scores, labels.signs, known.signs, entry_weight, cross, correct, self.rates_)
            completed, self.completion_trees_ = trees.held_out_scores_, trees
        calibration = PooledCalibration(min_slope=MIN_SLOPE)
        self.calibration_ = clone(calibration).fit(corrected, *noise)
        self.completion_calibration_ = clone(calibration).fit(completed, *noise)

        held_out = []
        for train, test in cross.folds:
            fitted = clone(calibration).fit(corrected[train], labels.signs[train], used[train], rates.rows(train))
            held_out.append(fitted.transform(corrected[test]))
        self.held_out_scores_ = self.rates_.observed_log_odds(cross.assemble(held_out))
        signs = known.signs if learned is None else known.signs * learned
        observed = replace(labels, signs=signs.astype(np.int8))
        p = logistic(self.held_out_scores_)
        self.decision_rule_ = DecisionRule(decision=self.decision).fit(p, observed, self.rates_)
        return self

    def _fit_dependency(
        self,
        scores: Scores,
        labels: Labels,
        entry_weight: Scores,
        known: Labels | None,
        weight: float | str,
        cross: CrossFit,
    ) -> tuple[DependencyCorrection, list[DependencyCorrection]]:
        """Return a correction that is fitted on all samples, and those that are fitted without each fold."""

        def fit(rows: Any) -> DependencyCorrection:
            parts: Any = (None if A is None else A[rows] for A in (scores, labels, entry_weight, known))
            return DependencyCorrection(device=self.device).fit(*parts)

        cross_fitted = weight != 0 and len(cross.folds) > 1
        trains = [train for train, _ in cross.folds if cross_fitted]
        fitted, *of_folds = cross.over(fit, [slice(None), *trains])
        return fitted, of_folds or [fitted] * len(cross.folds)

    @property
    def formula_(self) -> ScoreFormula:
        """The correction for samples without observed labels, with its calibration, as arrays."""
        slope = self.calibration_.slopes_
        weight = self.dependency_weight_
        dependency = self.dependency_
        return ScoreFormula(
            own=slope * (1 + weight * np.diag(dependency.coef_[:-1])),
            others=slope * weight * dependency.label_dependencies_,
            offset=slope * weight * dependency.coef_[-1] + self.calibration_.intercepts_,
            rates=self.rates_,
        )

    def completed_probabilities(self, scores: Scores, known: Any) -> Scores:
        """Return calibrated probabilities of samples with known labels."""
        completed = self.completion_dependency_.correct(scores, known, weight=self.completion_weight_)
        if self.completion_trees_ is not None:
            completed = completed + self.completion_trees_.correct(scores, read_labels(known, name="known").signs)
        return np.asarray(logistic(self.rates_.observed_log_odds(self.completion_calibration_.transform(completed))))


def _correct_folds(
    cross: CrossFit,
    corrections: list[DependencyCorrection],
    weight: float,
    scores: Scores,
    known: NDArray[np.int8] | None = None,
) -> Scores:
    """Return scores that are corrected by known labels, with the correction of the fold of each sample."""
    corrected = []
    for (_, test), correction in zip(cross.folds, corrections, strict=True):
        shown = None if known is None else Labels(known[test], SIGNS)
        corrected.append(correction.correct(scores[test], shown, weight=weight))
    return cross.assemble(corrected)


def _held_out_weight(
    weight: float | str,
    scores: Scores,
    corrected: Scores,
    signs: NDArray[np.int8],
    entry_weight: Scores,
    rates: NoiseRates,
) -> float:
    """Return the weight of the correction, by default the one with the highest likelihood of held-out entries."""
    if not isinstance(weight, str):
        return float(weight)

    def likelihood(w: float) -> float:
        return summarize(scores + w * (corrected - scores), signs, entry_weight).log_likelihood(*rates)

    return max(WEIGHTS, key=likelihood)


def learned_entries(signs: NDArray[np.int8], cross: CrossFit) -> NDArray[np.bool_]:
    """Return which entries can be learned: the training samples of their fold contain both classes of the label."""
    both = np.stack([has_both_classes(signs[train]) for train, _ in cross.folds])
    return both[cross.number]


def calibrated_rows(samples: Samples) -> slice:
    """Return evenly spaced samples for calibrations; all of them if some entries are verified, which may be few."""
    step = 1 if samples.labels.trusted is not None else spacing(samples.shape[0], MAX_CALIBRATED)
    return slice(None, None, step)
