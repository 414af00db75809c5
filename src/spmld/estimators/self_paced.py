"""SelfPacedClassifier: any learner, on the entries it finds easy first."""

from __future__ import annotations

from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import has_fit_parameter

from spmld._arrays import move, to_numpy
from spmld._response import label_scores
from spmld.core.losses import LOSSES
from spmld.estimators._base import MultiLabelEstimator
from spmld.estimators._inputs import check_pacing, clusters, is_integer, is_number, require
from spmld.estimators._progress import CallbackSupportMixin, check_progress, rounds, warn_of_limit
from spmld.estimators.masked import MaskedLogistic
from spmld.estimators.per_label import PerLabelClassifier
from spmld.estimators.probabilities import log_odds
from spmld.labels import Labels
from spmld.model_selection.cross_fitting import Fold, cross_fit, make_folds
from spmld.pacing import HardPacing, QuantileSchedule
from spmld.pacing.groups import Members, polarity_groups

__all__ = ["SelfPacedClassifier"]

GROUPS = ("label_polarity", "label", "cluster", "all")
SIGNS = np.array([-1, 1])


class SelfPacedClassifier(CallbackSupportMixin, MetaEstimatorMixin, MultiLabelEstimator):
    r"""Any learner, with self-paced weights for observed labels.

    The learner and a weight :math:`P_{ij} \in [0, 1]` for label j of sample i are found in turn (equations 4 to 6 of
    the paper, for any learner with a loss), over the observed entries:

    .. math::

        \min_{f, P} \sum_{ij} P_{ij} \ell(Y_{ij}, f_j(x_i)) + R(f) + \text{penalty of the pacing}(P)

    The learner is fitted to the labels as weighted; then its losses say, by the rule of the pacing, which labels count
    in the next round. A schedule that ends below full weights leaves out for good what contradicts the rest most: that
    is what makes the fit robust against wrong labels. With ``entry_weight`` the learner is fitted to the product of
    both weights; the pacing judges an entry by its loss alone.

    Parameters
    ----------
    estimator : estimator of this library or scikit-learn classifier, default=None
        The learner. Estimators whose ``fit`` takes ``entry_weight`` get the weights as they are. Any binary classifier
        whose ``fit`` takes ``sample_weight`` is fitted for each label, see `PerLabelClassifier`. None:
        ``MaskedLogistic(warm_start=True)``.
    pacing : pacing object or None, default=None
        Rule and schedule of the weights, see `spmld.pacing`. None:
        ``HardPacing(schedule=QuantileSchedule(start=(0.9, 0.5), stop=(0.97, 0.8)))``, which leaves out for good the hardest fifth
        of the positives and 3 % of the negatives of each label. (Groups without polarity take 0.5 and 0.8.)
    groups : {"label_polarity", "label", "cluster", "all"} or array-like, default="label_polarity"
        Entries that are paced together: the positives and the negatives of each label apart; the entries of each
        label; those of each cluster of samples, by k-means; all; or given as a number for each sample or each entry.
        Most entries are easy negatives. With one threshold for all of them the positives of rare labels are never
        easy; with polarity they have their own, and the easiest positive of a label always counts.
    n_clusters : int, default=8
        Clusters of samples for ``groups="cluster"``.
    response_method : {"auto", "decision_function", "predict_proba"}, default="auto"
        What losses are computed from: "auto" is scores, if the learner has them. "predict_proba" gives -log p of the
        observed label. The loss of a score is that of the learner, if it is one of this library, or else the logistic
        loss.
    cv : int, splitter or None, default=None
        Folds for losses from learners that have not seen the sample: a flexible learner's own training loss hides its
        mistakes. None: losses of the learner on its training samples.
    max_iter : int, default=20
        Most rounds.
    tol : float, default=1e-3
        Stop when the schedule has ended and the weights of a round differ by less than this on average.
    n_jobs : int or None, default=None
        Folds, or labels of a scikit-learn classifier, fitted at the same time.
    random_state : int, RandomState or None, default=None
        Seed of the folds and of the clusters. The learner has its own.
    callback : callable or None, default=None
        Called after each round with its record of `history_`; if it returns True the fit ends there.
    verbose : bool or int, default=False
        Whether to log each round, at level INFO to the logger "spmld".

    Attributes
    ----------
    estimator_ : estimator
        The learner, fitted with the weights of the last round.
    self_paced_weights_ : ndarray of shape (n_samples, n_labels)
        The weights; 0 where a label is not observed.
    losses_ : ndarray of shape (n_samples, n_labels)
        The losses they come from; NaN where a label is not observed.
    history_ : list of dict
        For each round: its number; "objective", which the weights minimise: the sum of "fit", the losses as the pacing
        weighs them, and "pacing", its penalty, without the learner's own and whatever ``entry_weight`` says; "mean_weight",
        the mean weight of observed labels, and "mean_weight_per_label", "mean_weight_positive" and "mean_weight_negative" likewise;
        "change", the mean change of a weight; mean "threshold" and "diversity" of the groups; seconds.
    n_iter_ : int
        Rounds run.
    classes_, n_labels_, label_names_, n_features_in_, feature_names_in_
        As in `GLOCAL`.

    See Also
    --------
    SPMLD : Paces the latent labels of its host.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from spmld import SelfPacedClassifier
    >>> from spmld.datasets import make_planted
    >>> from spmld.labels import corrupt_labels
    >>> data = make_planted(n_samples=300, random_state=0)
    >>> Y = corrupt_labels(data.Y, "permute", 0.2, random_state=0)
    >>> model = SelfPacedClassifier(LogisticRegression()).fit(data.X, Y)
    >>> [round(record["mean_weight_positive"], 1) for record in model.history_][:4]
    [0.5, 0.6, 0.7, 0.8]
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        pacing: Any = None,
        groups: Any = "label_polarity",
        n_clusters: int = 8,
        response_method: str = "auto",
        cv: Any = None,
        max_iter: int = 20,
        tol: float = 1e-3,
        n_jobs: int | None = None,
        random_state: Any = None,
        callback: Any = None,
        verbose: bool | int = False,
    ):
        self.estimator = estimator
        self.pacing = pacing
        self.groups = groups
        self.n_clusters = n_clusters
        self.response_method = response_method
        self.cv = cv
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    def _check_parameters(self) -> None:
        check_progress(self)
        host = self.estimator
        fits = host is None or (hasattr(host, "fit") and not isinstance(host, type))
        require(self, "estimator", "None or an estimator", fits)
        weighted = fits and (host is None or any(has_fit_parameter(host, n) for n in ("entry_weight", "sample_weight")))
        accepted = "one whose fit takes entry_weight or sample_weight (a Pipeline does not: put this one at its end)"
        require(self, "estimator", accepted, weighted)
        check_pacing(self)
        if isinstance(self.groups, str):
            require(self, "groups", " or ".join(map(repr, GROUPS)) + " or an array", self.groups in GROUPS)
        responses = ("auto", "decision_function", "predict_proba")
        require(self, "response_method", " or ".join(map(repr, responses)), self.response_method in responses)
        for name in ("n_clusters", "max_iter"):
            value = getattr(self, name)
            require(self, name, "an integer of 1 or more", is_integer(value) and value >= 1)
        require(self, "tol", "0 or more", is_number(self.tol) and self.tol >= 0)

    def _host(self) -> Any:
        """The learner, unfitted, with a fit that takes entry weights."""
        if self.estimator is None:
            return MaskedLogistic(warm_start=True)
        host = clone(self.estimator)
        return host if has_fit_parameter(host, "entry_weight") else PerLabelClassifier(host, n_jobs=self.n_jobs)

    def _default_pacing(self) -> HardPacing:
        if isinstance(self.groups, str) and self.groups == "label_polarity":
            return HardPacing(schedule=QuantileSchedule(start=(0.9, 0.5), stop=(0.97, 0.8)))
        return HardPacing(schedule=QuantileSchedule(start=0.5, stop=0.8))

    def _fit(self, X: Any, labels: Labels, weights: Any) -> None:
        rng = check_random_state(self.random_state)
        host = self._host()
        pacing = self.pacing if self.pacing is not None else self._default_pacing()
        groups = self._members(X, labels, rng)
        signs = np.where(labels.observed, labels.signs, np.nan)
        folds = None if self.cv is None else make_folds(self.cv, X, signs, random_state=rng.randint(2**31 - 1))
        given, observed = weights.astype(float), labels.observed
        P, history = observed.astype(float), []
        with rounds(self) as report:
            for round in range(self.max_iter):
                started = perf_counter()
                host = self._fitted(host, X, labels, P * given)
                losses = self._losses(host, X, labels, P * given, folds)
                parameters = pacing.parameters(round, (losses,), groups)
                (new,) = pacing.weights((losses,), parameters, groups)
                if isinstance(self.groups, str) and self.groups == "label_polarity":
                    new = keep_easiest(new, losses, groups)
                change = float(np.abs(new - P)[observed].mean())
                P = new
                fit, penalty = float((P * losses).sum()), float(pacing.penalty((P,), parameters, groups))
                history.append(
                    {
                        "iteration": round + 1,
                        "objective": fit + penalty,
                        "fit": fit,
                        "pacing": penalty,
                        **shares(P, labels),
                        "change": change,
                        "threshold": float(np.mean(parameters.threshold)),
                        "diversity": float(np.mean(parameters.diversity)),
                        "seconds": perf_counter() - started,
                    }
                )
                if report(history[-1]):
                    break
                settled = pacing.has_ended(round) or history[-1]["mean_weight"] >= 1
                if settled and change <= self.tol:
                    break
            else:
                if not settled:
                    warn_of_limit(self, f"the schedule of the pacing has not ended in max_iter={self.max_iter} rounds")
        self.estimator_ = self._fitted(host, X, labels, P * given)
        self.self_paced_weights_ = P
        self.losses_ = np.where(observed, losses, np.nan)
        self.history_ = history
        self.n_iter_ = len(history)

    def _fitted(self, host: Any, X: Any, labels: Labels, weights: NDArray[Any]) -> Any:
        """The learner fitted with weights: another one than `host`, unless that goes on from where it is."""
        if not getattr(host, "warm_start", False):
            host = clone(host)
        return host.fit(X, np.where(labels.observed, labels.signs, np.nan), entry_weight=weights)

    def _losses(
        self, host: Any, X: Any, labels: Labels, weights: NDArray[Any], folds: list[Fold] | None
    ) -> NDArray[Any]:
        """Return the loss of each label; missing labels are treated as positive."""
        response = self.response_method
        if response == "auto":
            response = "decision_function" if hasattr(host, "decision_function") else "predict_proba"
        score = partial(scores_from, response=response, n_labels=labels.signs.shape[1])
        if folds is None:
            scores = score(host, X)
        else:
            Y = np.where(labels.observed, labels.signs, np.nan)
            scores = cross_fit(host, X, Y, folds, entry_weight=weights, score=score, n_jobs=self.n_jobs).scores
        # The logistic loss of log-odds is -log p.
        loss = getattr(host, "loss", None) if response == "decision_function" else None
        return LOSSES[loss if loss in LOSSES else "logistic"].value(np.where(labels.signs < 0, -1, 1), scores)

    def _members(self, X: Any, labels: Labels, rng: np.random.RandomState) -> Members:
        """The groups, by a number for each entry."""
        (n, l), groups = labels.signs.shape, self.groups
        numbers = np.zeros((n, l), dtype=np.int64)
        if not isinstance(groups, str):
            given = np.asarray(to_numpy(groups))
            if given.shape not in ((n,), (n, l)):
                raise ValueError(f"groups of SelfPacedClassifier must have shape {(n,)} or {(n, l)}, got {given.shape}")
            try:
                numbers += np.unique(given, return_inverse=True)[1].reshape(n, -1)
            except TypeError as error:
                raise ValueError(f"groups of SelfPacedClassifier must be of one type: {error}") from None
        elif groups == "label_polarity":
            return polarity_groups(labels.signs)
        elif groups == "label":
            numbers += np.arange(l)
        elif groups == "cluster":
            numbers += clusters(X, min(self.n_clusters, n), rng)[:, None]
        count = int(numbers.max()) + 1
        return Members((np.where(labels.observed, numbers, count),), count)

    def _scores(self, X: Any) -> Any:
        if isinstance(self.estimator_, MultiLabelEstimator):
            return self.estimator_._scores(X)
        response = "decision_function" if hasattr(self.estimator_, "decision_function") else "predict_proba"
        return move(scores_from(self.estimator_, X, response, self.n_labels_), X)

    def _probabilities_for(self, X: Any, labels: Labels | None = None) -> Any:
        if isinstance(self.estimator_, MultiLabelEstimator):
            return self.estimator_._probabilities_for(X, labels)
        if not hasattr(self.estimator_, "predict_proba"):
            return self._probabilities(self._scores(X))
        return move(label_scores(self.estimator_, X, "predict_proba", SIGNS, self.n_labels_), X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.estimator is not None:
            tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
        return tags


def scores_from(host: Any, X: Any, response: str, n_labels: int) -> NDArray[Any]:
    """Scores of a fitted learner, or the log-odds of its probabilities."""
    values = label_scores(host, X, response, SIGNS, n_labels)
    return log_odds(values) if response == "predict_proba" else values


def keep_easiest(P: NDArray[Any], losses: NDArray[Any], groups: Members) -> NDArray[Any]:
    """Weights in which the easiest entry of each group counts in full, should the group's sum to less than 1."""
    (sums,) = groups.sum(lambda P: (P,), (P,))
    (number,) = groups.numbers
    (ranks,) = groups.ranks((losses,))
    lacking = np.append(sums < 1, False)[number]
    return np.where(lacking & (ranks == 1), 1.0, P)


def shares(P: NDArray[Any], labels: Labels) -> dict[str, Any]:
    """Mean weights of observed entries: of all, by label, and of positives and negatives."""
    observed = labels.observed

    def mean(chosen: NDArray[np.bool_], axis: int | None = None) -> Any:
        count = chosen.sum(axis=axis)
        return np.where(count > 0, np.where(chosen, P, 0).sum(axis=axis) / np.maximum(count, 1), 1.0)

    return {
        "mean_weight": float(mean(observed)),
        "mean_weight_per_label": [float(share) for share in mean(observed, axis=0)],
        "mean_weight_positive": float(mean(labels.signs > 0)),
        "mean_weight_negative": float(mean(labels.signs < 0)),
    }
