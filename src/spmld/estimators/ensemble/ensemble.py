"""SelfPacedEnsemble: views with noise rates and trimming, corrected for label dependencies, calibrated."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from spmld._arrays import move, on_accelerator, to_numpy
from spmld._device import to_device
from spmld._validation import COMMON_CONSTRAINTS, FRACTION, NON_NEGATIVE, POSITIVE_INT, RATE, UNIT_INTERVAL, StrOptions
from spmld.estimators._base import MultiLabelEstimator
from spmld.estimators.ensemble.noise_scores import entry_log_loss, estimate_rates
from spmld.estimators.ensemble.path_search import search_path
from spmld.estimators.ensemble.score_correction import COMPLETION_CONSTRAINTS, ScoreCorrection
from spmld.estimators.ensemble.training_data import HeldOutLoss, Scores, TrainingData, contiguous
from spmld.estimators.ensemble.training_entries import TrainingEntries
from spmld.estimators.ensemble.view_fitting import choose_trimming, fit_transformers, fit_views
from spmld.estimators.ensemble.views import (
    ALPHAS,
    CS,
    N_TREES,
    VIEWS,
    View,
    check_views,
    default_views,
    make_views,
    uses_graph,
)
from spmld.estimators.ensemble.weighting import fit_mixture, view_weights
from spmld.estimators.progress import CallbackSupportMixin, report_progress
from spmld.labels import Labels
from spmld.labels.encoding import SIGNS
from spmld.model_selection.label_decisions import label_decisions
from spmld.model_selection.thresholds import DECISION_CONSTRAINTS, DecisionOption, DecisionRule
from spmld.noise import NoiseRates
from spmld.scale.block_data import BlockData, BlockValues


@dataclass(kw_only=True, eq=False, repr=False)
class SelfPacedEnsemble(CallbackSupportMixin, MultiLabelEstimator):
    r"""Self-paced multi-label ensemble that selects its settings on held-out observed labels.

    1. Views of the data, each a model of the observed entries, are tuned by cross-validation:

       - "linear": a linear model for each label with the logistic loss, whose weights are drawn toward those of
         co-occurring labels (`MaskedLogistic` with its label graph);
       - "ridge": a linear model for each label with the squared loss (`MaskedRidge`);
       - "kernel": the same model as "linear" of the similarities to landmarks, which are training samples;
       - "boosting": gradient boosting with trees that all labels share (`MaskedBoosting`);
       - "forest" (optional): a random forest for each label (`MaskedForest`);
       - "latent" (optional): all labels from a few latent labels (`SPMLD`).

    2. Noise rates are estimated from out-of-fold scores of logistic regression, see `spmld.noise.estimate_noise`. They
       are 0 unless there is clear evidence. Otherwise, the logistic views maximize the likelihood of labels that are
       observed with this noise.
    3. Scores are the weighted mean of the calibrated scores of the views, with weights proportional to ``loss ** -8``,
       where the loss is that of out-of-fold scores.
    4. Trimming: the hardest positives and negatives of each label, by the out-of-fold losses of the best view, get
       weight 0, see `spmld.pacing.trimming.trim`, because wrong labels are among the hardest. Nothing is trimmed if
       noise is identified, or unless this decreases the loss of held-out entries. The views are fitted to the remaining
       entries.
    5. The scores are corrected for label dependencies, see `DependencyCorrection`. In `complete`, the correction uses
       the observed labels of the sample.
    6. The scores are calibrated, so that they are log-odds, and a rule for decisions is set.

    Every model, correction and calibration that contributes to the out-of-fold score of a sample is fitted without the
    labels of its fold. Identical samples are in the same fold.

    Parameters
    ----------
    Cs : sequence of float, default=(0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
        Inverse regularization strengths of the logistic views to choose from, for samples of mean square norm 1.
    alphas : sequence of float, default=(0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
        Regularization strengths of the view "ridge" to choose from.
    n_trees : sequence of int, default=(50, 100, 200, 400)
        Numbers of trees of the view "boosting" to choose from.
    label_graph_penalty : float, default=1.0
        Penalty of the label graph of the logistic views. It is not used for large data, see `uses_graph`.
    views : "auto" or sequence of {"linear", "ridge", "kernel", "boosting", "forest", "latent"} or View, default="auto"
        Views of the ensemble. "auto" are the first three and, unless the data are large, "boosting", see
        `default_views`.
    n_landmarks : int, default=300
        Number of landmarks of the view "kernel", limited to the number of samples.
    false_positive_rate, false_negative_rate : float or "auto", default="auto"
        Probability that a true negative is observed as positive, and that a true positive is observed as negative.
        "auto" estimates them; with trusted entries, they are estimated for each label. For candidate labels, where
        every true label is among the positives and negatives are certain, pass ``false_negative_rate=0``.
    keep_fraction : float or "auto", default="auto"
        Fraction q of the positives of each label to keep. Of the negatives, 1 - 0.3 (1 - q) are kept. "auto" is 0.9 if
        this decreases the loss of held-out entries. Otherwise, or if noise is identified, which the likelihood
        explains, it is 1.0: nothing is trimmed. Trusted entries are always kept.
    dependency_weight : float, default=0.3
        Weight of the correction for label dependencies, from 0 to 1.
    completion_weight : float, default=1.0
        Weight of the correction in `complete`, where it uses observed labels, from 0 to 1.
    completion : {"linear", "boosting"}, default="linear"
        Correction in `complete`: linear in the observed labels, or with boosted trees in addition, which takes longer
        and pays with many samples, see `CompletionTrees`.
    decision : {"f1", "micro_f1", "macro_f1", "sample_f1"}, float, int or dict, default="f1"
        Which labels to predict: those that maximize an expected F1, those with a probability above a threshold, or a
        fixed number for each sample. A dict has thresholds and precision targets for single labels, such as
        ``{"sad": 0.7, "rock": "precision>=0.9"}``. See `spmld.model_selection.DecisionRule`.
    cv : int, splitter or iterable of splits, default=3
        Folds of the samples. Each sample must be tested exactly once.
    scoring : str, default="ranking_loss"
        Name of the metric of scores used for model selection, see `spmld.metrics`.
    n_jobs : int or None, default=None
        Number of folds fitted in parallel.
    device : str or None, default=None
        As in `MaskedLogistic`.
    random_state : int, RandomState or None, default=None
        Seed for the folds, the landmarks and the base estimators.
    callback : callable or None, default=None
        Called with each record of `cv_results_`. If it returns True, no other setting of that view is tried, and the
        best one so far is selected.
    verbose : bool or int, default=False
        Whether to log each record, at level INFO to the logger "spmld".

    Attributes
    ----------
    estimators_ : dict
        The fitted base estimator of each view.
    transformers_ : dict
        The fitted transformer of each view.
    params_ : dict
        The selected parameters of each view.
    view_weights_ : dict
        The weight of each view; they sum to 1.
    false_positive_rate_, false_negative_rate_ : ndarray of shape (n_labels,)
        The noise rates.
    noise_ : NoiseEstimate
        The estimate of the noise rates.
    n_repeated_samples_ : int
        Number of samples that are identical to an earlier sample.
    keep_fraction_ : float
        The fraction of positives that is kept.
    self_paced_weights_ : ndarray of shape (n_samples, n_labels)
        1 for entries that are kept, 0 for entries that are trimmed or missing.
    out_of_fold_scores_ : ndarray of shape (n_samples, n_labels)
        Scores of the training samples by models, corrections and calibrations that were not fitted on the labels of
        their fold, comparable to `decision_function`.
    label_dependencies_ : ndarray of shape (n_labels, n_labels)
        M: row k holds the effects of label k on the scores of the other labels.
    mixture_ : ViewMixture
        The calibration of the scores of each view.
    correction_ : ScoreCorrection
        The correction for label dependencies, the calibration and the rule for decisions.
    decision_rule_ : DecisionRule
        The rule for decisions. Its `label_precisions_` are the held-out precisions of labels with a decision of their
        own.
    cv_results_ : list of dict
        A record for each setting: "part" (the name of a view), "choice" and "loss", the held-out loss.

    See Also
    --------
    SPMLD : One model with fixed settings.
    SelfPacedClassifier : Self-paced weights for any estimator, from its losses and a schedule.
    MultiLabelEstimator : The attributes that all estimators share.

    Examples
    --------
    >>> from spmld import SelfPacedEnsemble
    >>> from spmld.datasets import make_planted
    >>> data = make_planted(n_samples=300, observed_fraction=0.5, random_state=0)
    >>> sorted(SelfPacedEnsemble(random_state=0).fit(data.X, data.Y).view_weights_)
    ['boosting', 'kernel', 'linear', 'ridge']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **COMMON_CONSTRAINTS,
        "Cs": [list, tuple, np.ndarray],
        "alphas": [list, tuple, np.ndarray],
        "n_trees": [list, tuple, np.ndarray],
        "label_graph_penalty": [NON_NEGATIVE],
        "views": [list, tuple, StrOptions({"auto"})],
        "n_landmarks": [POSITIVE_INT],
        "false_positive_rate": [RATE, StrOptions({"auto"})],
        "false_negative_rate": [RATE, StrOptions({"auto"})],
        "keep_fraction": [FRACTION, StrOptions({"auto"})],
        "dependency_weight": [UNIT_INTERVAL],
        "completion_weight": [UNIT_INTERVAL],
        "completion": COMPLETION_CONSTRAINTS,
        "decision": DECISION_CONSTRAINTS,
        "cv": "no_validation",  # by make_folds
        "scoring": [str],
    }

    Cs: Sequence[float] = CS
    alphas: Sequence[float] = ALPHAS
    n_trees: Sequence[int] = N_TREES
    label_graph_penalty: float = 1.0
    views: str | Sequence[str | View] = "auto"
    n_landmarks: int = 300
    false_positive_rate: float | str = "auto"
    false_negative_rate: float | str = "auto"
    keep_fraction: float | str = "auto"
    dependency_weight: float = 0.3
    completion_weight: float = 1.0
    completion: str = "linear"
    decision: DecisionOption = "f1"
    cv: Any = 3
    scoring: str = "ranking_loss"
    n_jobs: int | None = None
    device: str | None = None
    random_state: Any = None
    callback: Any = None
    verbose: bool | int = False

    @property
    def decision_rule_(self) -> DecisionRule:
        """Rule for decisions."""
        return self.correction_.decision_rule_

    def _check_parameters(self) -> None:
        check_views(self.views, self.Cs, self.alphas, self.n_trees)
        HeldOutLoss(self.scoring)

    def _make_views(self, default: Sequence[str] = VIEWS[:4], *, label_graph: bool = True) -> dict[str, View]:
        penalty = self.label_graph_penalty if label_graph else 0.0
        views = default if isinstance(self.views, str) else self.views
        return make_views(views, self.Cs, self.alphas, self.n_trees, penalty, self.n_landmarks)

    def _max_iterations(self) -> int:
        """Return the maximum number of records of `cv_results_`."""
        return sum(len(view.path) for view in self._make_views().values())

    def _fit_blocks(self, data: BlockData) -> None:
        rng, (n, d, l) = check_random_state(self.random_state), (data.n, *data.shape)
        label_decisions(self.decision, l, data.labels.names)
        signed = replace(data.labels, classes=SIGNS, one_dimensional=False)
        data.X, data = (), replace(data, labels=signed, feature_names=None).convert(self._to_device)
        label_graph = uses_graph(d, l, data.features.n_values, data.entries.n_observed / (n * l))
        views = self._make_views(default_views(n, d, l), label_graph=label_graph)
        self.transformers_, features = fit_transformers(views, data, rng)
        shared = {"random_state": rng.randint(2**31 - 1), "device": self.device}
        views = {name: view.with_params(**shared) for name, view in views.items()}
        entries = TrainingEntries.of(data)
        (X, *_) = data.engine.in_memory(data.X) or (np.zeros((n, 0)),)
        hashed, seed = next(iter(features.values())).X, rng.randint(2**31 - 1)
        entries, self.n_repeated_samples_ = entries.add_folds(self.cv, X, hashed, seed)
        device = str(X.device) if on_accelerator(X) else self.device
        data.release()
        options = entries, HeldOutLoss(self.scoring), self.n_jobs
        training = {name: TrainingData(features[name], *options) for name in views}
        self._set_rates(views, training, entries)
        scores, paced = self._fit_views(views, training, entries)
        self._fit_correction(scores, entries, device)
        for mixed, weights in zip(data.engine.in_memory(scores), data.engine.in_memory(paced), strict=True):
            self.self_paced_weights_, self.out_of_fold_scores_ = weights, self.correction_.correct(mixed)
            # Of many samples, the corrections and calibrations have seen only these.
            self.out_of_fold_scores_[entries.sampled()] = self.correction_.held_out_scores_

    def _to_device(self, X: Any) -> Any:
        X = contiguous(X)
        return X if sp.issparse(X) else to_device(X, self.device)

    def _set_rates(self, views: Mapping[str, View], data: Mapping[str, TrainingData], entries: TrainingEntries) -> None:
        """Estimate the noise rates, unless they are given."""
        scaled = data["linear" if "linear" in data else next(iter(data))]
        boosting = views["boosting"].estimator if "boosting" in views else None
        self.noise_, rates = estimate_rates(
            replace(scaled, loss=entry_log_loss),
            entries,
            (self.false_positive_rate, self.false_negative_rate),
            boosting=boosting,
            device=self.device,
        )
        self.false_positive_rate_, self.false_negative_rate_ = rates

    def _fit_views(
        self, views: Mapping[str, View], data: Mapping[str, TrainingData], entries: TrainingEntries
    ) -> tuple[BlockValues, BlockValues]:
        """Search the paths of the views, trim, fit the views and their mixture.

        Returns
        -------
        scores, self_paced_weights
            Out-of-fold scores of the mixture, and the self-paced weights, in row blocks.
        """
        rates = {"false_positive_rate": self.false_positive_rate_, "false_negative_rate": self.false_negative_rate_}
        views = {name: view.with_params(**rates) for name, view in views.items()}
        self.cv_results_: list[dict[str, Any]] = []
        with report_progress(self) as report:

            def record(result: dict[str, Any]) -> bool:
                self.cv_results_.append(result)
                return report(result)

            results = {name: search_path(view, data[name], record) for name, view in views.items()}
        self.params_ = {name: result.params for name, result in results.items()}
        self.view_weights_ = view_weights({name: result.loss for name, result in results.items()})
        trimming = choose_trimming(views, results, data, self.keep_fraction, noisy=self.noise_.identified)
        self.keep_fraction_ = trimming.keep_fraction
        self.estimators_, scores = fit_views(results, data, trimming)
        self.mixture_, mixed = fit_mixture(self.view_weights_, scores, entries)
        return mixed, trimming.weights

    def _fit_correction(self, scores: BlockValues, entries: TrainingEntries, device: str | None) -> None:
        """Fit the correction for label dependencies, the calibration and the rule for decisions."""
        trusted = None if entries.trusted is None else entries.rows(entries.trusted)[0]
        values = scores, entries.signs, entries.weights, entries.fold, entries.learned()
        sample, signs, weights, fold, learned = entries.sample(*values)
        known = np.where(np.isnan(self.class_prior_), signs, signs > 0)  # no weak negatives
        self.correction_ = ScoreCorrection(
            dependency_weight=self.dependency_weight,
            completion_weight=self.completion_weight,
            completion=self.completion,
            random_state=check_random_state(self.random_state).randint(2**31 - 1),
            decision=self.decision,
            device=device,
        ).fit(
            sample,
            Labels(signs, SIGNS, entries.names, trusted=trusted),
            weights,
            fold,
            learned,
            known=Labels(known, SIGNS),
            rates=NoiseRates(self.false_positive_rate_, self.false_negative_rate_),
        )
        self.label_dependencies_ = self.correction_.dependency_.label_dependencies_

    def _scores(self, X: Any) -> Any:
        return move(self.correction_.correct(self._view_scores(X)), X)

    def _probabilities_for(self, X: Any, labels: Labels | None = None) -> Any:
        if labels is None:
            return super()._probabilities_for(X)
        return move(self.correction_.completed_probabilities(self._view_scores(X), labels), X)

    def _margins(self, scores: Any) -> Any:
        return self.correction_.margins(scores)

    def _completion_margins(self, p: Any) -> Any:
        return self.correction_.decision_rule_.margins(p)

    def _view_scores(self, X: Any) -> Scores:
        """Return the weighted mean of the calibrated scores of the views."""
        X = contiguous(X)
        return self.mixture_.combine(
            {
                name: to_numpy(estimator.decision_function(self.transformers_[name].transform(X)))
                for name, estimator in self.estimators_.items()
            }
        )
