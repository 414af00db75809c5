"""SelfPacedEnsemble: several views of the labels, chosen, averaged and paced by what held-out labels say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from spmld._arrays import features_to_numpy, move
from spmld.core.losses import LOSSES
from spmld.estimators._base import MultiLabelEstimator
from spmld.estimators._folds import Fold, folds_once
from spmld.estimators._inputs import is_integer, is_number, require
from spmld.estimators._scaling import Landmarks, Scale
from spmld.estimators.ensemble.dependency import DependencyCorrection
from spmld.estimators.masked import MaskedLogistic
from spmld.estimators.progress import PROGRESS_CONSTRAINTS, CallbackSupportMixin, report_progress
from spmld.estimators.spmld import SPMLD
from spmld.labels import Labels
from spmld.metrics import get_metric
from spmld.pacing.trimming import estimate_keep_fraction, trim

__all__ = ["SelfPacedEnsemble"]

VIEWS = ("linear", "kernel", "latent")
Scores = NDArray[np.float64]
Params = dict[str, float]
Path = list[Params]
Recorder = Callable[[str, Any, float], bool]


@dataclass(frozen=True)
class _Held:
    """The best setting of a view, and what it says of samples that were held out."""

    params: Params
    scores: Scores
    loss: float


class SelfPacedEnsemble(CallbackSupportMixin, MultiLabelEstimator):
    r"""Self-paced multi-label learning that chooses its own settings by held-out observed labels.

    Three views of the labels, each a logistic model of the observed entries:

    - "linear": each label from the features, drawn towards the labels it occurs with (`MaskedLogistic` with its label
      graph, the global correlation);
    - "kernel": each label from how near a sample is to landmarks, which are training samples: local groups without a
      border, each with label correlations of its own;
    - "latent": all labels from few latent ones (`SPMLD`).

    All see features on a common scale. Scores are a weighted mean over the views, with weights that fall with the
    eighth power of each one's loss on held-out labels: of equals all count, and one half as good again hardly does.
    Then the fit is paced: of the positives and of the negatives of each label, those with the largest losses

    .. math:: \ell_{ij} = \log(1 + e^{-Y_{ij} s_{ij}})

    do not count, with :math:`s_{ij}` the score of entry (i, j) by models that have not seen sample i. It is
    equation 4 of the paper with a threshold for each label and polarity, so that all labels keep their share: wrong
    labels are among the hardest, and labels that are merely hard mislead too. How far the pacing goes is chosen by
    held-out labels as well, in models whose weights come from none of them.

    Last, labels hear of each other. To the score of each label is added a share of what makes the labels of held-out
    samples likeliest, given the scores of all,

    .. math:: \delta_{ij} = \sum_{k \ne j} z_{ik} M_{kj} + a_j s_{ij} + c_j, \qquad z_{ik} = 1 / (1 + e^{-s_{ik}})

    with M, a and c penalised. In `complete` z is 1 or 0 where a label is known, so that it tells about the others.

    Parameters
    ----------
    Cs : sequence of float, default=(1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
        Inverse strengths of the penalty to choose from, for samples of mean square norm 1. They are tried in rising
        order, until the loss has risen twice.
    label_graph_penalties : sequence of float, default=(1.0, 0.0, 5.0)
        Strengths of the label graph to choose from, for the view "linear". All Cs are tried with the first, the others
        with the best C.
    views : sequence of {"linear", "kernel", "latent"}, default=("linear", "kernel", "latent")
        Views to use.
    n_landmarks : int, default=300
        Landmarks of the view "kernel"; no more than there are samples are used.
    keep_fractions : sequence of float or "auto", default=("auto", 1.0)
        Shares q of the positives of each label that count, to choose from: the first that is within two standard
        errors of the best. Of its negatives 1 - 0.3 (1 - q) count, as they are many and few of them are wrong.
        "auto" is 1 - 2w, but from 0.8 to 0.95, with w the share of wrong positives as `spmld.pacing.noise`, which is
        cautious, estimates it. ``(1.0,)`` never paces.
    dependency_weight : float, default=0.3
        How much of what labels say about each other, :math:`\delta`, is added to their scores: from 0 to 1.
    completion_weight : float, default=0.5
        How much of it is added in `complete`, where it has labels that are known to go by: from 0 to 1.
    cv : int or splitter, default=3
        Folds of the samples. Each must be held out once.
    scoring : str, default="ranking_loss"
        Metric of scores, by its name in `spmld.metrics`, that choices are made by.
    n_jobs : int or None, default=None
        Folds fitted at the same time.
    random_state : int, RandomState or None, default=None
        Seed of folds, landmarks and latent labels.
    callback : callable or None, default=None
        Called with each record of `cv_results_`; if it returns True no other setting of that view is tried, and the
        best so far is taken.
    verbose : bool or int, default=False
        Whether to log each record, at level INFO to the logger "spmld".

    Attributes
    ----------
    estimators_ : dict
        The fitted model of each view.
    params_ : dict
        What was chosen for each view.
    view_weights_ : dict
        The weight of each view; they sum to 1.
    keep_fraction_ : float
        The share that was chosen.
    self_paced_weights_ : ndarray of shape (n_samples, n_labels)
        1 where a label counts, 0 where it does not or is not observed.
    out_of_fold_scores_ : ndarray of shape (n_samples, n_labels)
        Scores of the training samples by models that have not seen them, without a pacing, before labels hear of each
        other.
    label_dependencies_ : ndarray of shape (n_labels, n_labels)
        M: row k has what the probability of label k adds to the scores of the others.
    cv_results_ : list of dict
        For each choice: its "part" (a view, or "pacing"), what was tried, and its "loss" on held-out labels.
    classes_, n_labels_, label_names_, n_features_in_, feature_names_in_
        As in `GLOCAL`.

    See Also
    --------
    SPMLD : One model with fixed settings.
    SelfPacedClassifier : Paces any learner, by losses and a schedule.

    Examples
    --------
    >>> from spmld import SelfPacedEnsemble
    >>> from spmld.datasets import make_planted
    >>> from spmld.labels import hide_labels
    >>> data = make_planted(n_samples=300, random_state=0)
    >>> Y = hide_labels(data.Y, observed_fraction=0.5, random_state=0)
    >>> model = SelfPacedEnsemble(random_state=0).fit(data.X, Y)
    >>> model.predict_proba(data.X[:2]).shape
    (2, 12)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = PROGRESS_CONSTRAINTS

    def __init__(
        self,
        *,
        Cs: Sequence[float] = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0),
        label_graph_penalties: Sequence[float] = (1.0, 0.0, 5.0),
        views: Sequence[str] = VIEWS,
        n_landmarks: int = 300,
        keep_fractions: Sequence[float | str] = ("auto", 1.0),
        dependency_weight: float = 0.3,
        completion_weight: float = 0.5,
        cv: Any = 3,
        scoring: str = "ranking_loss",
        n_jobs: int | None = None,
        random_state: Any = None,
        callback: Any = None,
        verbose: bool | int = False,
    ):
        self.Cs = Cs
        self.label_graph_penalties = label_graph_penalties
        self.views = views
        self.n_landmarks = n_landmarks
        self.keep_fractions = keep_fractions
        self.dependency_weight = dependency_weight
        self.completion_weight = completion_weight
        self.cv = cv
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    def _check_parameters(self) -> None:
        self._validate_params()

        def several(name: str, accepted: str, fits: Callable[[Any], bool]) -> None:
            given = getattr(self, name)
            listed = isinstance(given, (list, tuple, np.ndarray)) and len(given) > 0
            require(self, name, f"a sequence of {accepted}", listed and all(fits(value) for value in given))

        several("Cs", "positive numbers", lambda v: is_number(v) and v > 0)
        several("label_graph_penalties", "numbers of 0 or more", lambda v: is_number(v) and v >= 0)
        several("views", " or ".join(map(repr, VIEWS)), lambda v: isinstance(v, str) and v in VIEWS)
        several(
            "keep_fractions",
            "numbers above 0, up to 1, or 'auto'",
            lambda v: v == "auto" if isinstance(v, str) else is_number(v) and 0 < v <= 1,
        )
        landmarks = is_integer(self.n_landmarks) and self.n_landmarks >= 1
        require(self, "n_landmarks", "an integer of 1 or more", landmarks)
        for name in ("dependency_weight", "completion_weight"):
            require(self, name, "from 0 to 1", is_number(getattr(self, name)) and 0 <= getattr(self, name) <= 1)
        self._metric()

    def _metric(self) -> Callable[[NDArray[Any], Scores], Scores]:
        """The metric to choose by, of each sample if it is a mean over samples, as a loss of 0 or more."""
        try:
            metric, options = get_metric(self.scoring)
        except ValueError as error:
            raise ValueError(
                f"scoring of SelfPacedEnsemble must be the name of a metric, got {self.scoring!r}"
            ) from error
        require(self, "scoring", "a metric of scores", metric.needs == "scores")
        options = {**options, **({"average": None} if metric.over == "samples" else {})}

        def loss(Y: NDArray[Any], scores: Scores) -> Scores:
            value = np.atleast_1d(metric.function(Y, scores, **options))
            return metric.range[1] - value if metric.greater_is_better else value

        return loss

    def _fit(self, X: Any, labels: Labels, weights: Any) -> None:
        rng = check_random_state(self.random_state)
        X = _rows(X)
        self._designs = self._views(X, rng)
        designs = {view: design(X) for view, design in self._designs.items()}
        paths = self._paths(rng.randint(2**31 - 1))
        given, Y = weights.astype(float), np.where(labels.observed, labels.signs, np.nan)
        folds = folds_once(self, X, Y, rng)
        judge = self._judge(Y)
        self.cv_results_: list[dict[str, Any]] = []
        with report_progress(self) as report:

            def record(part: str, choice: Any, loss: float) -> bool:
                self.cv_results_.append({"part": part, "choice": choice, "loss": loss})
                return report(self.cv_results_[-1])

            self._learn(designs, paths, Y, given, folds, judge, record)

    def _learn(
        self,
        designs: dict[str, Any],
        paths: dict[str, tuple[Any, Path, list[Params]]],
        Y: NDArray[Any],
        given: Scores,
        folds: list[Fold],
        judge: Callable[[Scores], Scores],
        record: Recorder,
    ) -> None:
        held = {view: self._best(view, *paths[view], designs[view], Y, given, folds, judge, record) for view in paths}
        self.params_ = {view: each.params for view, each in held.items()}
        least_loss = min(each.loss for each in held.values())
        votes = {view: (least_loss / each.loss) ** 8 for view, each in held.items()}
        self.view_weights_ = {view: vote / sum(votes.values()) for view, vote in votes.items()}
        self.out_of_fold_scores_ = self._weighted({view: each.scores for view, each in held.items()})

        auto, i = estimate_keep_fraction(self.out_of_fold_scores_, Y), 0
        shares = [auto if share == "auto" else float(share) for share in self.keep_fractions]
        if len(shares) > 1:
            view = max(votes, key=votes.__getitem__)
            host, plain = _with(paths[view][0], self.params_[view]), held[view].scores
            paced = self._paced_scores(host, designs[view], Y, given, folds, shares, plain)
            i = self._choose("pacing", shares, [judge(each) for each in paced], record)
        self.keep_fraction_ = shares[i]
        self.self_paced_weights_ = trim(self.out_of_fold_scores_, Y, self.keep_fraction_)
        self.estimators_ = {
            view: _with(paths[view][0], self.params_[view]).fit(
                designs[view], Y, entry_weight=self.self_paced_weights_ * given
            )
            for view in paths
        }
        signs = np.nan_to_num(Y).astype(np.int8)
        self._correlation = DependencyCorrection(self.out_of_fold_scores_, signs, given)
        self._correlation_with_known = DependencyCorrection(self.out_of_fold_scores_, signs, given, known=signs)
        self.label_dependencies_ = self._correlation.between()

    def _views(self, X: Any, rng: np.random.RandomState) -> dict[str, Callable[[Any], Any]]:
        """What each view sees of the features."""
        scale = Scale(X)
        makers: dict[str, Callable[[], Callable[[Any], Any]]] = {
            "linear": lambda: scale,
            "kernel": lambda: Landmarks(X, self.n_landmarks, rng),
            "latent": lambda: scale,
        }
        return {view: makers[view]() for view in VIEWS if view in self.views}

    def _paths(self, seed: int) -> dict[str, tuple[Any, Path, list[Params]]]:
        """The model of each view, its path from the strongest penalty to the weakest, and what to change then."""
        logistic, Cs = MaskedLogistic(warm_start=True), sorted(self.Cs)
        first, *graphs = self.label_graph_penalties
        every: dict[str, tuple[Any, Path, list[Params]]] = {
            "linear": (
                logistic,
                [{"C": C, "label_graph_penalty": first} for C in Cs],
                [{"label_graph_penalty": g} for g in graphs],
            ),
            "kernel": (logistic, [{"C": C, "label_graph_penalty": 1.0} for C in Cs], []),
            "latent": (SPMLD(standardize=False, tol=1e-2, random_state=seed), [{}], []),
        }
        return {view: every[view] for view in self._designs}

    def _max_iterations(self) -> int:
        """Records of `cv_results_` at most: all settings of each view, and the shares if there is a choice."""
        settings = {"linear": len(self.Cs) + len(self.label_graph_penalties) - 1, "kernel": len(self.Cs), "latent": 1}
        shares = len(self.keep_fractions) if len(self.keep_fractions) > 1 else 0
        return sum(settings[view] for view in set(self.views)) + shares

    def _judge(self, Y: NDArray[Any]) -> Callable[[Scores], Scores]:
        """Losses on held-out labels: the metric, or the logistic loss where it is not defined, as for one label."""
        metric, observed = self._metric(), ~np.isnan(Y)
        if not np.isnan(metric(Y, np.zeros(Y.shape))).all():
            return lambda scores: metric(Y, scores)
        return lambda scores: LOSSES["logistic"].value(Y[observed], scores[observed])

    def _best(
        self,
        view: str,
        host: Any,
        path: Path,
        changes: list[Params],
        X: Any,
        Y: NDArray[Any],
        given: Scores,
        folds: list[Fold],
        judge: Callable[[Scores], Scores],
        record: Recorder,
    ) -> _Held:
        """The setting with the least held-out loss, where each fit starts from the one before.

        The path is left when the loss has risen twice in a row: what is left of it is slow to fit and seldom good.
        Then the best of it is tried with each of the changes.
        """
        parts = [(X[train], Y[train], given[train], X[test]) for train, test in folds]
        hosts, stopped = [clone(host) for _ in folds], False

        def held(params: Params) -> _Held:
            nonlocal stopped
            fitted = Parallel(n_jobs=self.n_jobs)(
                delayed(_scored)(each.set_params(**params), *part) for each, part in zip(hosts, parts, strict=True)
            )
            hosts[:], scores = [each for each, _ in fitted], np.zeros(Y.shape)
            for (_, test), (_, part) in zip(folds, fitted, strict=True):
                scores[test] = part
            loss = max(float(np.nanmean(judge(scores))), 1e-9)
            stopped = record(view, params, loss)
            return _Held(params, scores, loss)

        best = held(path[0])
        losses = [best.loss]
        for params in path[1:]:
            if stopped or (len(losses) > 2 and losses[-3] < losses[-2] < losses[-1]):
                break
            each = held(params)
            losses.append(each.loss)
            best = min(best, each, key=lambda one: one.loss)
        for change in changes if not stopped else []:
            best = min(best, held({**best.params, **change}), key=lambda one: one.loss)
        return best

    def _paced_scores(
        self,
        host: Any,
        X: Any,
        Y: NDArray[Any],
        given: Scores,
        folds: list[Fold],
        shares: list[float],
        plain: Scores,
    ) -> list[Scores]:
        """For each share, held-out scores of a model that was paced without the held-out samples."""
        scores = [plain if share == 1 else np.zeros(Y.shape) for share in shares]
        for train, test in folds:
            seen = np.zeros(Y.shape)
            for _, other in folds:
                if other is not test:
                    # The weights of a training fold must not come from a model that has seen the held-out one.
                    fit = np.setdiff1d(train, other)
                    seen[other] = _scored(clone(host), X[fit], Y[fit], given[fit], X[other])[1]
            for share, held in zip(shares, scores, strict=True):
                if share < 1:
                    P = trim(seen[train], Y[train], share)
                    held[test] = _scored(clone(host), X[train], Y[train], P * given[train], X[test])[1]
        return scores

    def _choose(self, part: str, choices: Sequence[Any], losses: list[Scores], record: Recorder) -> int:
        """The number of the first choice that is worse than the best by at most two standard errors."""
        means = [float(np.nanmean(loss)) for loss in losses]
        for choice, mean in zip(choices, means, strict=True):
            record(part, choice, mean)
        best = losses[int(np.argmin(means))]

        def near(loss: Scores) -> bool:
            differences = (loss - best)[~np.isnan(loss - best)]
            return bool(differences.mean() <= 2 * differences.std() / len(differences) ** 0.5)

        return next(i for i, loss in enumerate(losses) if near(loss))

    def _scores(self, X: Any) -> Any:
        return self._correlated(X, self._correlation, self.dependency_weight)

    def _completed_scores(self, X: Any, labels: Labels) -> Any:
        return self._correlated(X, partial(self._correlation_with_known, known=labels.signs), self.completion_weight)

    def _correlated(self, X: Any, change: Callable[[Scores], Scores], share: float) -> Any:
        rows = _rows(X)
        views = {view: model._scores(self._designs[view](rows)) for view, model in self.estimators_.items()}
        scores = self._weighted(views)
        return move(scores + share * change(scores) if share else scores, X)

    def _weighted(self, scores: dict[str, Scores]) -> Scores:
        return sum((self.view_weights_[view] * each for view, each in scores.items()), np.zeros(()))


def _rows(X: Any) -> Any:
    """X for NumPy, row after row in memory, so that sums have the same rounding however X was given."""
    X = features_to_numpy(X)
    return np.ascontiguousarray(X) if isinstance(X, np.ndarray) else X


def _with(host: Any, params: dict[str, float]) -> Any:
    return clone(host).set_params(**params)


def _scored(host: Any, X: Any, Y: NDArray[Any], weights: Scores, new: Any) -> tuple[Any, Scores]:
    """A model fitted, and its scores of new samples; 0 if there is nothing to learn from."""
    if not weights.any():
        return host, np.zeros((new.shape[0], Y.shape[1]))
    return host, host.fit(X, Y, entry_weight=weights).decision_function(new)
