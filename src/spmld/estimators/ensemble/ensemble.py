"""SelfPacedEnsemble: an ensemble of views with trimming of hard labels and a label-dependency correction."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from spmld._arrays import features_to_numpy, move
from spmld._validation import COMMON_CONSTRAINTS, FRACTION, NON_NEGATIVE, POSITIVE, POSITIVE_INT, UNIT_INTERVAL
from spmld.estimators._base import MultiLabelEstimator
from spmld.estimators.ensemble.dependency import DependencyCorrection
from spmld.estimators.ensemble.keep_fraction import choose_keep_fraction
from spmld.estimators.ensemble.path_search import Recorder, search_path
from spmld.estimators.ensemble.training_data import HeldOutLoss, Scores, TrainingData
from spmld.estimators.ensemble.views import CS, LABEL_GRAPH_PENALTIES, View, kernel_view, latent_view, linear_view
from spmld.estimators.ensemble.weighting import view_weights, weighted_scores
from spmld.estimators.progress import CallbackSupportMixin, report_progress
from spmld.labels import Labels
from spmld.model_selection.cross_fitting import make_folds
from spmld.pacing.trimming import estimate_keep_fraction, trim

VIEWS = ("linear", "kernel", "latent")


@dataclass(kw_only=True, eq=False, repr=False)
class SelfPacedEnsemble(CallbackSupportMixin, MultiLabelEstimator):
    r"""Self-paced multi-label ensemble that selects its settings on held-out observed labels.

    1. Three views of the data, each a logistic model of the observed entries, are tuned by cross-validation:

       - "linear": a linear model for each label, whose weights are drawn toward those of co-occurring labels
         (`MaskedLogistic` with its label graph);
       - "kernel": a linear model for each label of the similarities to landmarks, which are training samples;
       - "latent": all labels from a few latent labels (`SPMLD`).

    2. Scores are the weighted mean over the views, with weights proportional to ``loss ** -8``, where the loss is
       that of out-of-fold scores.
    3. The hardest positives and negatives of each label, by their out-of-fold losses, get weight 0, see
       `spmld.pacing.trimming.trim`: wrong labels are among the hardest. The fraction to keep is estimated from the data
       and accepted if it does not raise the held-out loss.
    4. The views are fitted to the remaining entries.
    5. The scores are corrected for label dependencies, see `DependencyCorrection`: for each label, the weighted
       correction

       .. math:: \delta_{ij} = \sum_{k \ne j} z_{ik} M_{kj} + a_j s_{ij} + c_j, \qquad z_{ik} = 1 / (1 + e^{-s_{ik}})

       is added to the score. In `complete`, z is 1 or 0 for observed labels.

    Parameters
    ----------
    Cs : sequence of float, default=(1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
        Inverse regularization strengths to choose from, for samples of mean square norm 1. They are tried in ascending
        order until the loss has risen twice in a row.
    label_graph_penalties : sequence of float, default=(1.0, 0.0, 5.0)
        Penalties of the label graph to choose from, for the view "linear". All Cs are tried with the first, the others
        with the best C.
    views : sequence of {"linear", "kernel", "latent"} or View, default=("linear", "kernel", "latent")
        Views of the ensemble.
    n_landmarks : int, default=300
        Number of landmarks of the view "kernel", limited to the number of samples.
    keep_fractions : sequence of float or "auto", default=("auto", 1.0)
        Fractions q of the positives of each label to keep, to choose from: the first within two standard errors of the
        lowest held-out loss is selected. Of the negatives, 1 - 0.3 (1 - q) are kept. "auto" is the fraction of
        `spmld.pacing.trimming.estimate_keep_fraction`. ``(1.0,)`` disables trimming.
    dependency_weight : float, default=0.3
        Weight of the correction for label dependencies, from 0 to 1.
    completion_weight : float, default=0.5
        Weight of the correction in `complete`, where it uses observed labels, from 0 to 1.
    cv : int, splitter or iterable of splits, default=3
        Folds of the samples. Each sample must be tested exactly once.
    scoring : str, default="ranking_loss"
        Name of the metric of scores used for model selection, see `spmld.metrics`.
    n_jobs : int or None, default=None
        Number of folds fitted in parallel.
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
    keep_fraction_ : float
        The selected fraction.
    self_paced_weights_ : ndarray of shape (n_samples, n_labels)
        1 for entries that are kept, 0 for entries that are trimmed or missing.
    out_of_fold_scores_ : ndarray of shape (n_samples, n_labels)
        Scores of the training samples by models that were not fitted on them, without trimming and correction.
    label_dependencies_ : ndarray of shape (n_labels, n_labels)
        M: row k holds the effects of label k on the scores of the other labels.
    cv_results_ : list of dict
        A record for each setting: "part" (the name of a view, or "trimming"), "choice" and "loss", the held-out loss.

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
    ['kernel', 'latent', 'linear']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **COMMON_CONSTRAINTS,
        "Cs": [list, tuple, np.ndarray],
        "label_graph_penalties": [list, tuple, np.ndarray],
        "views": [list, tuple],
        "n_landmarks": [POSITIVE_INT],
        "keep_fractions": [list, tuple, np.ndarray],
        "dependency_weight": [UNIT_INTERVAL],
        "completion_weight": [UNIT_INTERVAL],
        "cv": "no_validation",  # by make_folds
        "scoring": [str],
    }

    Cs: Sequence[float] = CS
    label_graph_penalties: Sequence[float] = LABEL_GRAPH_PENALTIES
    views: Sequence[str | View] = VIEWS
    n_landmarks: int = 300
    keep_fractions: Sequence[float | str] = ("auto", 1.0)
    dependency_weight: float = 0.3
    completion_weight: float = 0.5
    cv: Any = 3
    scoring: str = "ranking_loss"
    n_jobs: int | None = None
    random_state: Any = None
    callback: Any = None
    verbose: bool | int = False

    def _check_parameters(self) -> None:
        def check_each(name: str, accepted: str, is_valid: Callable[[Any], bool]) -> None:
            values = getattr(self, name)
            if len(values) == 0 or not all(is_valid(value) for value in values):
                raise ValueError(f"{name} must be a non-empty sequence of {accepted}, got {values!r}")

        check_each("Cs", "positive numbers", POSITIVE.is_satisfied_by)
        check_each("label_graph_penalties", "non-negative numbers", NON_NEGATIVE.is_satisfied_by)
        check_each(
            "keep_fractions", "numbers in (0, 1] or 'auto'", lambda q: _is_auto(q) or FRACTION.is_satisfied_by(q)
        )
        names = ", ".join(map(repr, VIEWS))
        check_each("views", f"{names} or View", lambda v: isinstance(v, View) or (isinstance(v, str) and v in VIEWS))
        custom = [view.name for view in self.views if isinstance(view, View)]
        if len({*custom, *VIEWS}) < len(custom) + len(VIEWS):
            raise ValueError(f"views must have distinct names other than {names}, got {custom!r}")
        HeldOutLoss(self.scoring)

    def _make_views(self) -> dict[str, View]:
        """Return the views by name, the built-in ones first."""
        built_in = (
            linear_view(self.Cs, self.label_graph_penalties),
            kernel_view(self.Cs, self.n_landmarks),
            latent_view(),
        )
        views = [view for view in built_in if view.name in self.views]
        return {view.name: view for view in (*views, *(view for view in self.views if isinstance(view, View)))}

    def _max_iterations(self) -> int:
        """Return the maximum number of records of `cv_results_`."""
        n_fractions = len(self.keep_fractions) if len(self.keep_fractions) > 1 else 0
        return sum(view.n_settings for view in self._make_views().values()) + n_fractions

    def _fit(self, X: Any, labels: Labels, weights: Any) -> None:
        rng, X = check_random_state(self.random_state), _contiguous(X)
        views = self._fit_transformers(X, rng)
        Y, weights = np.where(labels.observed, labels.signs, np.nan), weights.astype(float)
        folds = make_folds(self.cv, X, Y, random_state=rng.randint(2**31 - 1))
        shared = (Y, weights, folds, HeldOutLoss(self.scoring), self.n_jobs)
        data = {name: TrainingData(view.transformer.transform(X), *shared) for name, view in views.items()}
        self.cv_results_: list[dict[str, Any]] = []
        with report_progress(self) as report:

            def record(result: dict[str, Any]) -> bool:
                self.cv_results_.append(result)
                return report(result)

            results = {name: search_path(view, data[name], record) for name, view in views.items()}
            self.params_ = {name: result.params for name, result in results.items()}
            self.view_weights_ = view_weights({name: result.loss for name, result in results.items()})
            scores = weighted_scores({name: result.scores for name, result in results.items()}, self.view_weights_)
            best = max(self.view_weights_, key=self.view_weights_.__getitem__)
            chosen = views[best], data[best], results[best].scores
            self.keep_fraction_ = self._choose_keep_fraction(scores, *chosen, record)
            self.self_paced_weights_ = trim(scores, Y, self.keep_fraction_)
            self.estimators_ = {
                name: self._estimator(view).fit(data[name].X, Y, entry_weight=self.self_paced_weights_ * weights)
                for name, view in views.items()
            }
            self._dependency = DependencyCorrection().fit(scores, Y, weights)
            known = np.where((Y > 0) | np.isnan(self.class_prior_), Y, np.nan)  # without weak negatives
            self._completion = DependencyCorrection().fit(scores, Y, weights, known=known)
        self.out_of_fold_scores_, self.label_dependencies_ = scores, self._dependency.label_dependencies_

    def _fit_transformers(self, X: Any, rng: np.random.RandomState) -> dict[str, View]:
        """Return the views with fitted transformers and seeded estimators."""
        views = self._make_views()
        self.transformers_ = {name: _seeded(view.transformer, rng).fit(X) for name, view in views.items()}
        seed = rng.randint(2**31 - 1)
        return {
            name: replace(view, transformer=self.transformers_[name], estimator=_seeded(view.estimator, seed))
            for name, view in views.items()
        }

    def _choose_keep_fraction(
        self, scores: Scores, view: View, data: TrainingData, view_scores: Scores, record: Recorder
    ) -> float:
        """Choose among `keep_fractions` by one view."""
        auto = estimate_keep_fraction(scores, data.Y)
        fractions = [auto if _is_auto(fraction) else float(fraction) for fraction in self.keep_fractions]
        if len(fractions) == 1:
            return fractions[0]
        return choose_keep_fraction(self._estimator(view), data, fractions, view_scores, record)

    def _estimator(self, view: View) -> Any:
        """Return the base estimator of a view with the selected parameters, unfitted."""
        return clone(view.estimator).set_params(**self.params_[view.name])

    def _scores(self, X: Any) -> Any:
        return move(self._dependency.correct(self._view_scores(X), weight=self.dependency_weight), X)

    def _completed_scores(self, X: Any, labels: Labels) -> Any:
        known = np.where(labels.observed, labels.signs, np.nan)
        return move(self._completion.correct(self._view_scores(X), known, weight=self.completion_weight), X)

    def _view_scores(self, X: Any) -> Scores:
        """Return the weighted mean of the scores of the views."""
        X = _contiguous(X)
        scores = {
            name: estimator.decision_function(self.transformers_[name].transform(X))
            for name, estimator in self.estimators_.items()
        }
        return weighted_scores(scores, self.view_weights_)


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def _seeded(estimator: Any, random_state: Any) -> Any:
    """Return a clone, with `random_state` if it has this parameter."""
    copy = clone(estimator)
    return copy.set_params(random_state=random_state) if "random_state" in copy.get_params() else copy


def _contiguous(X: Any) -> Any:
    """Return X as a NumPy array in row-major order, so that rounding errors are the same for all input formats."""
    X = features_to_numpy(X)
    return np.ascontiguousarray(X) if isinstance(X, np.ndarray) else X
