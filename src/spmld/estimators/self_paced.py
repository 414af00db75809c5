"""SelfPacedClassifier: self-paced weights for any base estimator."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import Tags, check_random_state, get_tags
from sklearn.utils.validation import has_fit_parameter

from spmld._arrays import Array, move
from spmld._response import label_scores
from spmld._validation import MAX_SEED, HasMethods, NonNegative, PositiveInt, RandomState
from spmld.core.iteration import Iterations, Status
from spmld.core.losses import LOSSES
from spmld.estimators.base import MultiLabelEstimator
from spmld.estimators.linear_models import MaskedLogistic
from spmld.estimators.outputs import log_odds
from spmld.estimators.per_label import PerLabelClassifier
from spmld.estimators.progress import report_progress, warn_not_converged
from spmld.labels import Labels
from spmld.labels.encoding import SIGNS
from spmld.model_selection.cross_fitting import cross_fit
from spmld.model_selection.folds import Fold, make_folds
from spmld.model_selection.samples import Samples
from spmld.pacing import HardPacing, PacingRule, QuantileSchedule
from spmld.pacing.groups import entry_groups, gather, group_positions, scatter


@dataclass(eq=False, repr=False)
class SelfPacedClassifier(MetaEstimatorMixin, MultiLabelEstimator):
    r"""Self-paced weights of observed labels for any base estimator.

    The base estimator f and a weight :math:`P_{ij} \in [0, 1]` for label j of sample i are optimized alternately
    (equations 4 to 6 of the paper, for any estimator with a loss), over the observed entries:

    .. math::

        \min_{f, P} \sum_{ij} P_{ij} \ell(Y_{ij}, f_j(x_i)) + R(f) + \text{penalty of the pacing}(P)

    The base estimator is fitted with the current weights; the pacing rule then computes new weights from its losses. A
    schedule that ends below full weights permanently excludes the entries that contradict the others most, which makes
    the fit robust to wrong labels. With ``entry_weight`` the base estimator is fitted with the product of both weights;
    the pacing rule depends on the losses only.

    Parameters
    ----------
    estimator : estimator object, default=None
        Base estimator. If its ``fit`` accepts ``entry_weight``, it receives the weights directly. A binary classifier
        whose ``fit`` accepts ``sample_weight`` is fitted for each label, see `PerLabelClassifier`. The default is
        ``MaskedLogistic(warm_start=True)``.
    pacing : PacingRule or None, default=None
        Pacing rule with its schedule, see `spmld.pacing`. The default is
        ``HardPacing(schedule=QuantileSchedule(start=(0.9, 0.5), stop=(0.97, 0.8)))``, which excludes the hardest 20 %
        of the positives and 3 % of the negatives of each label. Groups without polarity use 0.5 and 0.8.
    groups : {"label_polarity", "label", "all"}, default="label_polarity"
        Groups of entries: the positives and the negatives of each label; the entries of each label; or all entries.
        Other groups are passed to `fit` as ``pacing_groups``. Most entries are easy negatives. With one threshold for
        all of them the positives of rare labels are never easy; with "label_polarity" they have a separate threshold,
        and the easiest positive of a label always has weight 1.
    cv : int, splitter or None, default=None
        Folds for out-of-fold losses: the training loss of a flexible estimator hides wrong labels. None uses training
        losses.
    max_iter : int, default=20
        Maximum number of iterations.
    tol : float, default=1e-3
        Mean change of the weights below which the iteration stops, once the schedule has ended.
    n_jobs : int or None, default=None
        Number of folds, or labels of a scikit-learn classifier, to fit in parallel.
    random_state : int, RandomState or None, default=None
        Seed for the folds. It is not passed to the base estimator.
    callback, verbose
        As in `GLOCAL`.

    Attributes
    ----------
    estimator_ : estimator
        The base estimator, fitted with the final weights.
    self_paced_weights_ : ndarray of shape (n_samples, n_labels)
        Self-paced weights; 0 where a label is missing.
    losses_ : ndarray of shape (n_samples, n_labels)
        Losses from which the weights are computed; NaN where a label is missing.
    history_ : list of dict
        One record per iteration: "iteration"; "objective", the sum of the weighted losses "fit" and the penalty
        "pacing", without the penalty of the base estimator and without ``entry_weight``; "mean_weight" of observed
        labels, "mean_weight_per_label", "mean_weight_positive" and "mean_weight_negative"; "change", the mean change
        of a weight; mean "threshold" and "diversity" of the groups; "seconds".
    n_iter_ : int
        Number of iterations.

    See Also
    --------
    SPMLD : Self-paced weights for latent labels.
    MultiLabelEstimator : The attributes that all estimators share.

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

    estimator: Annotated[Any, HasMethods("fit")] | None = None
    _: KW_ONLY
    pacing: PacingRule | None = None
    groups: Literal["label_polarity", "label", "all"] = "label_polarity"
    cv: Annotated[Any, "cv_object"] = None
    max_iter: PositiveInt = 20
    tol: NonNegative = 1e-3
    n_jobs: int | None = None
    random_state: RandomState = None
    callback: Callable[..., Any] | None = None
    verbose: bool | int = False

    _pacing_groups = None
    """Groups of the running fit."""

    def fit(
        self,
        X: Any,
        y: Any = None,
        mask: Any = None,
        entry_weight: Any = None,
        trusted: Any = None,
        pacing_groups: Any = None,
        **unknown: Any,
    ) -> Self:
        """Fit the base estimator to the observed labels, with self-paced weights.

        Parameters
        ----------
        X, y, mask, entry_weight, trusted, **unknown
            As in `MultiLabelEstimator.fit`, in memory.
        pacing_groups : array-like of shape (n_samples,) or (n_samples, n_labels), optional
            Group of each sample, such as its cluster, or of each entry, instead of those of the parameter `groups`.
            Cross-validation splits them with the samples.

        Returns
        -------
        self
        """
        with self._new_state() as fitted:
            fitted._pacing_groups = pacing_groups
            super(SelfPacedClassifier, fitted).fit(X, y, mask, entry_weight, trusted, **unknown)
            del fitted._pacing_groups
        return self

    def _check_parameters(self) -> None:
        base = self.estimator
        if base is not None and not any(has_fit_parameter(base, name) for name in ("entry_weight", "sample_weight")):
            raise ValueError(
                "The 'estimator' parameter of SelfPacedClassifier must be an estimator whose fit accepts entry_weight "
                f"or sample_weight. Got {base!r} instead. A Pipeline does not: make SelfPacedClassifier its last step."
            )

    def _base_estimator(self) -> Any:
        """Return the unfitted base estimator, whose fit accepts entry weights."""
        if self.estimator is None:
            return MaskedLogistic(warm_start=True)
        base = clone(self.estimator)
        return base if has_fit_parameter(base, "entry_weight") else PerLabelClassifier(base, n_jobs=self.n_jobs)

    def _rule(self) -> PacingRule:
        if self.pacing is not None:
            return self.pacing
        if self._by_polarity:
            return HardPacing(schedule=QuantileSchedule(start=(0.9, 0.5), stop=(0.97, 0.8)))
        return HardPacing(schedule=QuantileSchedule(start=0.5, stop=0.8))

    @property
    def _by_polarity(self) -> bool:
        return self._pacing_groups is None and self.groups == "label_polarity"

    def _fit(self, samples: Samples) -> None:
        X = samples.X
        labels = samples.labels
        base = self._base_estimator()
        rng = check_random_state(self.random_state)
        positions = group_positions(*entry_groups(self.groups, labels, self._pacing_groups))
        pacing = partial(self._rule().update, at_least_one=self._by_polarity)
        Y = np.where(labels.observed, labels.signs, np.nan)
        folds = None if self.cv is None else make_folds(self.cv, X, Y, random_state=rng.randint(MAX_SEED))
        weights = samples.weights.astype(float)
        observed = labels.observed
        P = observed.astype(float)
        iterations = Iterations(self.max_iter, callback=partial(report_progress, self))
        for number in iterations:
            base = self._fitted(base, X, Y, P * weights)
            losses = self._losses(base, X, Y, P * weights, folds)
            paced = pacing(number - 1, gather(losses, positions))
            before = P
            P = scatter(paced.weights, positions, losses.shape)
            fit = float((P * losses).sum())
            change = float(np.abs(P - before)[observed].mean())
            record = {
                "objective": fit + paced.penalty,
                "fit": fit,
                "pacing": paced.penalty,
                **mean_weights(P, labels),
                "change": change,
                **paced.record,
            }
            ended = paced.ended or record["mean_weight"] >= 1
            iterations.record(record, ended and change <= self.tol)
        if iterations.status is Status.MAX_ITER and not ended:
            message = f"The pacing schedule did not end within max_iter={self.max_iter} iterations; increase max_iter"
            warn_not_converged(self, message)
        self.estimator_ = self._fitted(base, X, Y, P * weights)
        self.self_paced_weights_ = P
        self.losses_ = np.where(observed, losses, np.nan)
        self.history_ = iterations.history
        self.n_iter_ = len(iterations.history)

    def _fitted(self, base: Any, X: Any, Y: NDArray[Any], weights: NDArray[Any]) -> Any:
        """Fit a clone of the base estimator, or the estimator itself if it has a warm start."""
        if not getattr(base, "warm_start", False):
            base = clone(base)
        return base.fit(X, Y, entry_weight=weights)

    def _losses(
        self, fitted: Any, X: Any, Y: NDArray[Any], weights: NDArray[Any], folds: list[Fold] | None
    ) -> NDArray[Any]:
        """Return the training losses of the fitted estimator, or out-of-fold losses of its clones.

        Missing entries count as positives. Losses are 0 for the test samples of a fold without training entries.
        """
        score = partial(scores_from, n_labels=Y.shape[1])
        if folds is None:
            scores = score(fitted, X)
        else:
            scores = cross_fit(fitted, X, Y, folds, entry_weight=weights, score=score, n_jobs=self.n_jobs).scores
        # The logistic loss of log-odds is -log p.
        loss = fitted.loss if isinstance(fitted, MultiLabelEstimator) else "logistic"
        losses = LOSSES[loss].value(np.where(Y < 0, -1, 1), scores)
        for train, test in folds or ():
            if not weights[train].any():
                losses[test] = 0
        return losses

    def _scores(self, X: Any) -> Array:
        return move(scores_from(self.estimator_, X, self.n_labels_), X)

    def _responses(self, X: Any) -> tuple[Any, Any]:
        return self._scores(X), self._probabilities_for(X)

    def _probabilities_for(self, X: Any, labels: Labels | None = None) -> Array:
        if isinstance(self.estimator_, MultiLabelEstimator):
            return self.estimator_._probabilities_for(X, labels)
        if not hasattr(self.estimator_, "predict_proba"):
            return self._probabilities(self._scores(X))
        return move(label_scores(self.estimator_, X, "predict_proba", SIGNS, self.n_labels_), X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if self.estimator is not None:
            tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
        return tags


def scores_from(estimator: Any, X: Any, n_labels: int) -> NDArray[Any]:
    """Return the scores of a fitted estimator, or the log-odds of its probabilities if it has no scores."""
    if hasattr(estimator, "decision_function"):
        return label_scores(estimator, X, "decision_function", SIGNS, n_labels)
    return log_odds(label_scores(estimator, X, "predict_proba", SIGNS, n_labels))


def mean_weights(P: NDArray[Any], labels: Labels) -> dict[str, Any]:
    """Return the mean weights of observed entries: of all, per label, and of positives and negatives."""

    def mean(chosen: NDArray[np.bool_], axis: int | None = None) -> NDArray[Any]:
        count = chosen.sum(axis=axis)
        return np.where(count > 0, np.where(chosen, P, 0).sum(axis=axis) / np.maximum(count, 1), 1.0)

    return {
        "mean_weight": float(mean(labels.observed)),
        "mean_weight_per_label": [float(value) for value in mean(labels.observed, axis=0)],
        "mean_weight_positive": float(mean(labels.signs > 0)),
        "mean_weight_negative": float(mean(labels.signs < 0)),
    }
