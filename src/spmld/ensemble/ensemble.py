"""SelfPacedEnsemble: views with noise rates and trimming, corrected for label dependencies, calibrated."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from spmld._arrays import Array, Matrix, contiguous, move, namespace, on_accelerator, to_device
from spmld._threads import Map, thread_map
from spmld._validation import MAX_SEED, Fraction, NonNegative, PositiveInt, RandomState, Rate, UnitInterval
from spmld.cluster.cluster_samples import ClusterSamples
from spmld.core.losses import logistic
from spmld.ensemble.all_rows import fit_all_rows, fit_tested
from spmld.ensemble.correction import ScoreCorrection, calibrated_rows, learned_entries
from spmld.ensemble.costs import LINEAR_VIEWS, default_views, uses_graph
from spmld.ensemble.division import divide, in_memory
from spmld.ensemble.formula import EnsembleFormula, ViewTerm
from spmld.ensemble.mixture import ViewMixture
from spmld.ensemble.noise_scores import estimate_rates, noise_trees
from spmld.ensemble.search import fit_transformers, fit_views, search_views
from spmld.ensemble.summary import known_signs, summarize_samples
from spmld.ensemble.trimming import Trimming, check_keep_fraction, choose_trimming
from spmld.ensemble.updating import NOISE_PARAMETERS, KeptData, update_ensemble
from spmld.ensemble.views import (
    ALPHAS,
    CS,
    N_TREES,
    VIEWS,
    View,
    check_views,
    make_views,
)
from spmld.estimators.base import MultiLabelEstimator
from spmld.estimators.progress import report_progress
from spmld.labels import Labels
from spmld.labels.encoding import SIGNS
from spmld.model_selection.cross_fitting import CrossFit
from spmld.model_selection.folds import split_samples
from spmld.model_selection.path_search import HeldOutLoss, PathResult
from spmld.model_selection.samples import Samples
from spmld.model_selection.thresholds import DecisionOption, DecisionRule, label_decisions


@dataclass(kw_only=True, eq=False, repr=False)
class SelfPacedEnsemble(MultiLabelEstimator):
    r"""Self-paced multi-label ensemble that selects its settings on held-out observed labels.

    1. A floor of the frequency of positives and, with verified entries, noise rates are estimated from out-of-fold
       scores of logistic regression, see `spmld.noise.estimate_noise`. They are 0 unless there is clear evidence.
       Otherwise, the logistic views and the trees maximize the likelihood of labels that are observed with them.
    2. Views of the data, each a model of the observed entries, are tuned by cross-validation:

       - "linear": a linear model for each label with the logistic loss, whose weights are drawn toward those of
         co-occurring labels (`MaskedLogistic` with its label graph);
       - "ridge": a linear model for each label with the squared loss (`MaskedRidge`);
       - "kernel": the same model as "linear" of the similarities to landmarks, which are training samples;
       - "boosting": gradient boosting with trees that all labels share (`MaskedBoosting`);
       - "label boosting": gradient boosting with trees of each label (`LabelBoosting`);
       - "forest": a random forest for each label (`MaskedForest`);
       - "latent" (optional): all labels from a few latent labels (`SPMLD`).

       Features are scaled. All views but "latent" are fitted in single precision. By default, the views with trees
       are tried in the order of their costs, and each is left out unless it lowers the loss of the mixture of the
       views before it on the first fold (a race).

    3. Trimming: the hardest positives and negatives of each label, by the out-of-fold losses of the best view, get
       weight 0, because wrong labels are among the hardest. Nothing is trimmed if there is a floor or noise, or unless
       this decreases the loss of held-out entries. The views are fitted to the remaining entries.
    4. Scores are the weighted mean of the calibrated scores of the views. The weights minimize the logistic loss of
       out-of-fold scores (stacking).
    5. The scores are corrected for label dependencies, see `DependencyCorrection`. In `complete`, the correction uses
       the observed labels of the sample.
    6. The scores are calibrated, so that they are log-odds of the observed labels, and a rule for decisions is set.
       Decisions by F1 are made without the floor.

    Every model, correction and calibration that contributes to the out-of-fold score of a sample is fitted without the
    labels of its fold. Copies of a sample are in the same fold, see `similar_samples`.

    With more than `max_search_samples` samples, noise rates, settings, weights of the views and trimming are those of a
    random sample. Calibrations do not carry over to more samples: each view is fitted to all samples but a fifth, at
    most 10,000, whose scores calibrate and correct the ensemble. Linear views and the leaves of trees are then fitted
    to all samples. An entry of another sample is trimmed if its loss by a model of the first fold exceeds the losses of
    the same label and class that are kept in the sample. Views that cannot be fitted to Dask collections, such as
    trees, are fitted to the sample only.

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
    views : "auto" or sequence of str or View, default="auto"
        Views of the ensemble: names of the list above, or other views. "auto" are the first three and, unless the data
        are large, sparse or on a GPU, those with trees that win their race, see `default_views`.
    max_cost : float, default=1e9
        Maximum predicted number of operations of a fit of "label boosting" or "forest", with ``views="auto"``;
        0 leaves out these views.
    n_landmarks : int, default=300
        Number of landmarks of the view "kernel", limited to the number of samples.
    false_positive_rate, false_negative_rate : float or "auto", default="auto"
        Probability that a true negative is observed as positive, and that a true positive is observed as negative.
        "auto" estimates them for each label from trusted entries, without which they are not identified. For candidate
        labels, where every true label is among the positives and negatives are certain, pass ``false_negative_rate=0``.
    keep_fraction : float or "auto", default="auto"
        Fraction q of the positives of each label to keep. Of the negatives, 1 - 0.3 (1 - q) are kept. "auto" is 0.9 if
        this decreases the loss of held-out entries. Otherwise, or if there is a floor or noise, which the likelihood
        explains, or with two folds, it is 1.0: nothing is trimmed. A number below 1 requires three folds. Trusted
        entries are always kept.
    dependency_weight : float or "auto", default="auto"
        Weight of the correction for label dependencies, from 0 to 1. "auto" is the weight with the highest likelihood
        of held-out entries, which is 0 if labels are independent.
    completion_weight : float or "auto", default="auto"
        Weight of the correction in `complete`, where it uses observed labels, in the same way.
    completion : {"linear", "boosting"}, default="linear"
        Correction in `complete`: linear in the observed labels, or with boosted trees in addition, which takes longer
        and pays with many samples, see `CompletionTrees`.
    decision : {"f1", "micro_f1", "macro_f1", "sample_f1"}, float, int or dict, default="f1"
        Which labels to predict: those that maximize an expected F1, those with a probability above a threshold, or a
        fixed number for each sample. A dict has thresholds and precision targets for single labels, such as
        ``{"sad": 0.7, "rock": "precision>=0.9"}``. See `spmld.model_selection.DecisionRule`.
    keep_data : bool, default=False
        Whether to keep the training data in the model, and in model files, so that `update` can be used.
    cv : int, splitter or iterable of splits, default=3
        Folds of the samples. Each sample must be tested exactly once.
    similar_samples : {"auto", "together", "apart"}, default="auto"
        Whether similar samples are in the same fold, if `cv` is a number: those that are identical, and those with a
        distance below a clear gap in the distances of samples. Copies must be, since the labels of one are known from
        the others, but not samples of a few categories, of which new data consist, too. "auto" decides by the labels of
        all similar samples.
    max_search_samples : int or None, default=20_000
        Maximum number of samples on which noise rates, settings, views and trimming are searched. They are random, but
        with ten positives of each label, where there are so many, and verified samples. None is all.
    scoring : str, default="ranking_loss"
        Name of the metric of scores used for model selection, see `spmld.metrics`.
    n_jobs : int or None, default=None
        Number of threads for the fits of the views on the folds.
    device : str or None, default=None
        As in `MaskedLogistic`.
    random_state : int, RandomState or None, default=None
        Seed for the folds, the landmarks, the base estimators and the samples of `reference_`.
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
    likelihood_rates_ : NoiseRates
        The floor, or the noise rates, with which the views and the calibration are fitted.
    false_positive_rate_, false_negative_rate_ : ndarray of shape (n_labels,)
        The noise rates: those that were stated, or that verified entries identify; otherwise 0.
    noise_ : NoiseEstimate
        The estimate of the floor and of the noise rates.
    n_repeated_samples_ : int
        Number of samples that are identical to an earlier sample.
    n_near_samples_ : int
        Number of other samples that share the fold of an earlier one, to which they are near.
    similar_together_ : bool
        Whether similar samples are in the same fold.
    keep_fraction_ : float
        The fraction of positives that is kept.
    search_samples_ : ndarray of int
        Indices of the samples on which the settings were searched; all of them up to `max_search_samples`.
    held_out_samples_ : ndarray of int
        Indices of the samples from which calibrations, correction and decisions were fitted if not all samples were
        searched; otherwise none.
    self_paced_weights_ : ndarray of shape (n_samples, n_labels)
        1 for entries that are kept, 0 for entries that are trimmed or missing. Of a Dask collection that is not
        searched as a whole, it has the rows of `search_samples_`.
    out_of_fold_scores_ : ndarray of shape (n_samples, n_labels)
        Scores of the training samples by models, corrections and calibrations that were not fitted on the labels of
        their fold, comparable to `decision_function`. If not all samples were searched, the folds are those of
        `held_out_samples_`, and other samples have NaN; of a Dask collection, it has the rows of these only.
    label_dependencies_ : ndarray of shape (n_labels, n_labels)
        M: row k holds the effects of label k on the scores of the other labels.
    mixture_ : ViewMixture
        The calibration of the scores of each view.
    correction_ : ScoreCorrection
        The correction for label dependencies, the calibration and the rule for decisions.
    formula_ : EnsembleFormula
        The fitted ensemble as one formula: the views, their mixture, the correction and the rule for decisions.
    decision_rule_ : DecisionRule
        The rule for decisions. Its `label_precisions_` are the held-out precisions of labels with a decision of their
        own.
    reference_ : spmld.monitoring.Reference
        Summary of the training data for `spmld.monitoring.monitor`, if there is a linear view.
    training_data_ : KeptData or None
        The training data with the estimators of the folds, if `keep_data`.
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
    >>> data = make_planted(n_samples=150, observed_fraction=0.5, random_state=0)
    >>> sorted(SelfPacedEnsemble(random_state=0).fit(data.X, data.Y).view_weights_)
    ['kernel', 'linear', 'ridge']
    """

    fits_collections: ClassVar[bool] = True

    Cs: Sequence[float] = CS
    alphas: Sequence[float] = ALPHAS
    n_trees: Sequence[int] = N_TREES
    label_graph_penalty: NonNegative = 1.0
    views: Sequence[str | View] | Literal["auto"] = "auto"
    max_cost: NonNegative = 1e9
    n_landmarks: PositiveInt = 300
    false_positive_rate: Rate | Literal["auto"] = "auto"
    false_negative_rate: Rate | Literal["auto"] = "auto"
    keep_fraction: Fraction | Literal["auto"] = "auto"
    dependency_weight: UnitInterval | Literal["auto"] = "auto"
    completion_weight: UnitInterval | Literal["auto"] = "auto"
    completion: Literal["linear", "boosting"] = "linear"
    decision: DecisionOption = "f1"
    keep_data: bool = False
    cv: Any = 3
    similar_samples: Literal["auto", "together", "apart"] = "auto"
    max_search_samples: PositiveInt | None = 20_000
    scoring: str = "ranking_loss"
    n_jobs: int | None = None
    device: str | None = None
    random_state: RandomState = None
    callback: Callable[..., Any] | None = None
    verbose: bool | int = False

    @property
    def decision_rule_(self) -> DecisionRule:
        """Rule for decisions."""
        return self.correction_.decision_rule_

    @property
    def view_weights_(self) -> dict[str, float]:
        """The weight of each view."""
        return self.mixture_.weights_

    @property
    def formula_(self) -> EnsembleFormula:
        """The fitted ensemble as one formula."""
        factors = self.mixture_.factors_
        views = [
            ViewTerm(name, factors[name], self.transformers_[name], estimator)
            for name, estimator in self.estimators_.items()
        ]
        return EnsembleFormula(views, self.mixture_.offset_, self.correction_.formula_, self.decision_rule_)

    def uses_trusted(self) -> bool:
        """Return True: verified entries are never trimmed, and determine noise rates and the calibration."""
        return True

    def update(
        self,
        X: Any,
        y: Any = None,
        mask: Any = None,
        entry_weight: Any = None,
        trusted: Any = None,
        *,
        samples: Any = None,
    ) -> Self:
        """Update the model with new samples, corrected labels or new labels.

        The settings of the views and their transformers stay the same. The views are fitted to all samples, and to the
        training samples of each fold, so that their weights, the correction for label dependencies, the calibration,
        the decisions and the summary for monitoring are those of all samples, as in `fit`. The fits are fast: linear
        views start from their coefficients, and the trees of the view "boosting" keep their decisions and get new
        leaves. Noise rates decrease by the errors that are corrected. Trimmed entries stay trimmed, unless they are
        corrected, verified or weighted. If an error is raised, the model does not change.

        Parameters
        ----------
        X, y, mask, entry_weight, trusted
            As in `fit`. If labels have names, in `fit` and here, `y` may have new labels, and labels of the model that
            it does not have are missing.
        samples : array-like of int of shape (n_samples,), optional
            Index of the training sample of each row whose labels are corrected, -1 for a new sample. By default, all
            samples are new. Observed entries of `y` replace the labels; features of training samples do not change.
            New samples follow the others in `training_data_`, in their order.

        Returns
        -------
        self

        Examples
        --------
        >>> from spmld import SelfPacedEnsemble
        >>> from spmld.datasets import make_planted
        >>> data = make_planted(n_samples=400, random_state=0)
        >>> model = SelfPacedEnsemble(views=("ridge", "linear"), keep_data=True, random_state=0)
        >>> model.fit(data.X[:300], data.Y[:300]).update(data.X[300:], data.Y[300:]).training_data_.samples.shape
        (400, 30, 12)
        """
        check_is_fitted(self)
        with self._new_state(keep_fitted=True) as updated:
            update_ensemble(updated, X, y, mask, entry_weight, trusted, samples)
        return self

    def _check_parameters(self) -> None:
        check_views(self.views, self.Cs, self.alphas, self.n_trees)
        HeldOutLoss(self.scoring)

    def _make_views(self, default: Sequence[str] = VIEWS[:6], *, label_graph: bool = True) -> dict[str, View]:
        penalty = self.label_graph_penalty if label_graph else 0.0
        views = default if isinstance(self.views, str) else self.views
        return make_views(views, self.Cs, self.alphas, self.n_trees, penalty, self.n_landmarks)

    def _max_iterations(self) -> int:
        """Return the maximum number of records of `cv_results_`."""
        return sum(len(view.path) for view in self._make_views().values())

    def _fit(self, samples: Samples | ClusterSamples) -> None:
        label_decisions(self.decision, samples.shape[2], samples.labels.names)
        if self.keep_data and isinstance(samples, ClusterSamples):
            raise ValueError("keep_data=True requires X in memory, got a Dask collection; leave it out")
        samples = replace(samples, labels=replace(samples.labels, classes=SIGNS, one_dimensional=False))
        rng = check_random_state(self.random_state)
        division = divide(samples, self.max_search_samples, self.cv, self.similar_samples, rng)
        searched = in_memory(samples, division.searched)
        searched = replace(searched, X=self._to_device(searched.X), feature_names=None)
        views, racing = self._choose_views(searched)
        self.transformers_, features = fit_transformers(views, searched, rng)
        views = {name: view.with_seed(rng).with_params(device=self.device) for name, view in views.items()}
        folds, found = split_samples(division.cv, searched, rng.randint(MAX_SEED), division.similar_samples)
        _, self.n_repeated_samples_, self.n_near_samples_, self.similar_together_ = found
        check_keep_fraction(self.keep_fraction, len(folds))
        n_jobs = effective_n_jobs(self.n_jobs)
        loss = HeldOutLoss(self.scoring)
        costly = [name for name, view in views.items() if view.costly]
        # The six steps of the class. Views wait for their fits, which are distributed over `n_jobs` threads.
        with thread_map(n_jobs) as over, thread_map(len(VIEWS) if n_jobs > 1 else 1) as over_views:
            cross = CrossFit(folds, searched.shape[0], over)
            given = self.false_positive_rate, self.false_negative_rate
            trees = noise_trees(views, cross, rng, searched if isinstance(self.views, str) else None)
            self.noise_, self.likelihood_rates_ = estimate_rates(features, cross, trees, given, self.device)
            fitted = {"boosting": trees} if "boosting" in views and not self.likelihood_rates_.any() else {}
            features = {name: self._in_likelihood(of_view) for name, of_view in features.items()}
            rates = dict(zip(NOISE_PARAMETERS, self.likelihood_rates_, strict=True))
            views = {name: view.with_params(**rates) for name, view in views.items()}
            report = partial(report_progress, self)
            results, self.cv_results_ = search_views(views, features, cross, loss, fitted, report, over_views, racing)
            noisy = self.likelihood_rates_.any()
            trimming = choose_trimming(results, features, cross, loss, self.keep_fraction, costly=costly, noisy=noisy)
            self._seed = rng.randint(MAX_SEED)
            self.training_data_ = None
            self.transformers_ = {name: self.transformers_[name] for name in results}
            if division.is_partial:
                fit_all_rows(self, samples, division, views, features, cross, results, trimming, over_views)
            else:
                self._fit_formula(self._in_likelihood(searched), features, cross, results, trimming, over_views)
                if self.keep_data:
                    self.training_data_ = KeptData.from_fit(searched, cross, results, trimming)
        self.params_ = {name: result.params for name, result in results.items()}
        self.search_samples_ = division.searched
        self.held_out_samples_ = division.held_out

    def _choose_views(self, samples: Samples) -> tuple[dict[str, View], list[str]]:
        """Return the views that suit the size of the data, and the names of those that have to prove useful."""
        n, d, l = samples.shape
        label_graph = uses_graph(d, l, samples.n_values, samples.n_observed / (n * l))
        # Trees are grown on the CPU, which would take most of the time of a fit on a GPU.
        default = LINEAR_VIEWS if on_accelerator(samples.X) else default_views(samples, self.max_cost)
        views = self._make_views(default, label_graph=label_graph)
        return views, [name for name in default[len(LINEAR_VIEWS) :] if isinstance(self.views, str)]

    def _to_device(self, X: Any) -> Matrix:
        X = contiguous(X)
        return X if sp.issparse(X) else to_device(X, self.device)

    @property
    def false_positive_rate_(self) -> NDArray[np.float64]:
        """Probability that a true negative is observed as positive, for each label."""
        return self.likelihood_rates_.alpha * self._is_known(self.false_positive_rate)

    @property
    def false_negative_rate_(self) -> NDArray[np.float64]:
        """Probability that a true positive is observed as negative, for each label."""
        return self.likelihood_rates_.beta * self._is_known(self.false_negative_rate)

    def _is_known(self, rate: Any) -> bool:
        """Return whether a noise rate is stated, or identified by verified entries; otherwise it is a floor."""
        return self.noise_.identified or not isinstance(rate, str)

    def _noise_is_known(self) -> bool:
        return self._is_known(self.false_positive_rate) and self._is_known(self.false_negative_rate)

    def _in_likelihood(self, samples: Samples) -> Samples:
        """Return the samples of the likelihood: a floor is that of verified entries, too, but noise is not."""
        if self._noise_is_known() or not self.likelihood_rates_.any():
            return samples
        return replace(samples, labels=replace(samples.labels, trusted=None))

    def _fit_formula(
        self,
        samples: Samples,
        features: Mapping[str, Samples],
        cross: CrossFit,
        results: Mapping[str, PathResult],
        trimming: Trimming,
        over_views: Map = map,
        start: Mapping[str, Any] | None = None,
    ) -> None:
        """Fit the views to all samples, from `start`; weigh and correct their scores, and summarize the samples."""
        rng = check_random_state(self._seed)
        self.keep_fraction_ = trimming.keep_fraction
        self.self_paced_weights_ = trimming.kept.astype(float)
        self.estimators_, scores = fit_views(results, features, cross, trimming, over_views, start)
        if (cross.number < 0).any():
            fit_tested(self, samples, results, scores, cross)
            return
        learned = learned_entries(samples.signs, cross)
        self.out_of_fold_scores_ = self._fit_correction(samples, scores, cross, learned, rng)
        # The samples of a fold are not random if identical samples, or those of a group, are in the same fold.
        left_out = rng.permutation(len(learned)) % len(cross.folds) == 0
        summarize_samples(self, samples, features, results, learned, left_out)

    def _fit_correction(
        self, samples: Samples, scores: Mapping[str, Any], cross: CrossFit, learned: NDArray[np.bool_], rng: Any
    ) -> NDArray[np.float64]:
        """Weigh, calibrate and correct the out-of-fold scores of the views, and return the scores."""
        self.mixture_ = ViewMixture().fit(scores, samples.signs, samples.weights, cross.over)
        mixed = self.mixture_.combine(scores)
        rows = calibrated_rows(samples)
        self.correction_ = ScoreCorrection(
            dependency_weight=self.dependency_weight,
            completion_weight=self.completion_weight,
            completion=self.completion,
            random_state=rng.randint(MAX_SEED),
            decision=self.decision,
            device=str(samples.X.device) if on_accelerator(samples.X) else self.device,
        ).fit(
            mixed[rows],
            samples.labels[rows],
            samples.weights[rows],
            CrossFit.of(cross.number[rows], cross.over),
            learned[rows],
            known=Labels(known_signs(samples, self.class_prior_)[rows], SIGNS),
            rates=self.likelihood_rates_,
        )
        self.label_dependencies_ = self.correction_.dependency_.label_dependencies_
        corrected = self.correction_.formula_.apply(mixed)
        # With many samples, the corrections and calibrations are fitted to these only.
        corrected[rows] = self.correction_.held_out_scores_
        return corrected

    def _scores(self, X: Any) -> Array:
        formula = self.formula_
        return move(formula.correction.apply(formula.mixture(X)), X)

    def _probabilities_for(self, X: Any, labels: Labels | None = None) -> Array:
        if labels is None:
            return super()._probabilities_for(X)
        return move(self.correction_.completed_probabilities(self.formula_.mixture(X), labels), X)

    def predict_true_proba(self, X: Any) -> Array:
        """Predict the probability that each label is truly positive, under the noise rates.

        `predict_proba` is the probability that a label would be observed as positive by those who labeled the training
        samples. The two are equal if verified entries show no noise.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)

        Raises
        ------
        ValueError
            If noise rates are neither stated nor known from verified entries: observed labels alone do not tell errors
            from causes that the features do not show.
        """
        check_is_fitted(self)
        known = self._noise_is_known()
        if not known and not self.noise_.verified:
            raise ValueError(
                "predict_true_proba needs noise rates, which observed labels do not identify: fit with verified "
                "positives and negatives (trusted=...), or state false_positive_rate and false_negative_rate"
            )
        formula = self.formula_
        features = self._read_features(X)
        scores = formula.mixture(features)
        correction = formula.correction
        log_odds = correction.log_odds(scores) if known else correction.apply(scores)
        p = move(logistic(log_odds), features)
        return self._wrap(namespace(p).concat([1 - p, p], axis=1) if self._labels.one_dimensional else p, X)

    def _margins(self, scores: Any) -> Array:
        return self.decision_rule_.margins(logistic(scores))

    def _completion_margins(self, p: Any) -> Array:
        return self.decision_rule_.margins(p)
