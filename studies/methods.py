"""Methods of the studies that are not estimators of the library: ablations, competitors and auditors."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from spmld._io import need
from spmld._validation import PositiveInt, UnitInterval
from spmld.audit import LabelIssues, find_label_issues
from spmld.estimators import MaskedLogistic, PerLabelClassifier, SelfPacedClassifier
from spmld.pacing import GroupSparsePacing, HardPacing, QuantileSchedule

FRACTIONS: dict[str, Any] = {"start": (0.9, 0.5), "stop": (0.97, 0.8)}
"""Fractions of negatives and positives at the first and the last iteration, as in `SelfPacedClassifier`."""


def self_paced_logistic(**params: Any) -> SelfPacedClassifier:
    """Return the full model: group-sparse weights, groups by label and polarity, out-of-fold losses.

    Parameters
    ----------
    **params
        Other parameters of `SelfPacedClassifier`.

    Examples
    --------
    >>> from studies.methods import self_paced_logistic
    >>> self_paced_logistic().cv
    3
    """
    pacing = GroupSparsePacing(schedule=QuantileSchedule(**FRACTIONS, diversity=0.5))
    return SelfPacedClassifier(MaskedLogistic(warm_start=True), **{"pacing": pacing, "cv": 3, **params})


def without_diversity() -> SelfPacedClassifier:
    """Return the model with weights of 0 and 1."""
    return self_paced_logistic(pacing=HardPacing(schedule=QuantileSchedule(**FRACTIONS)))


def without_polarity() -> SelfPacedClassifier:
    """Return the model with one threshold for the positives and the negatives of a label."""
    schedule = QuantileSchedule(start=0.8, stop=0.94, diversity=0.5)  # the overall fractions of FRACTIONS
    return self_paced_logistic(groups="label", pacing=GroupSparsePacing(schedule=schedule))


def without_cross_fitting() -> SelfPacedClassifier:
    """Return the model with training losses instead of out-of-fold losses."""
    return self_paced_logistic(cv=None)


def random_forest() -> PerLabelClassifier:
    """Return a random forest of 200 trees for each label.

    Examples
    --------
    >>> from studies.methods import random_forest
    >>> random_forest().estimator.n_estimators
    200
    """
    return PerLabelClassifier(RandomForestClassifier(200, random_state=0))


def gradient_boosting() -> PerLabelClassifier:
    """Return scikit-learn's histogram-based gradient boosting for each label.

    Examples
    --------
    >>> from studies.methods import gradient_boosting
    >>> len(gradient_boosting().estimator)
    2
    """
    dense = FunctionTransformer(_dense, accept_sparse=True)
    return PerLabelClassifier(make_pipeline(dense, HistGradientBoostingClassifier(random_state=0)))


def lightgbm() -> PerLabelClassifier:
    """Return LightGBM for each label.

    Examples
    --------
    >>> from studies.methods import lightgbm
    >>> lightgbm().estimator
    LightGBM()
    """
    return PerLabelClassifier(LightGBM())


class LightGBM(ClassifierMixin, BaseEstimator):
    """LightGBM with default parameters, which is imported by `fit`."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to one label."""
        model = need("lightgbm", "bench").LGBMClassifier(random_state=0, n_jobs=1, verbose=-1)
        self.model_ = model.fit(X, y, sample_weight=sample_weight)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of both classes."""
        return self.model_.predict_proba(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _dense(X: Any) -> Any:
    return X.toarray() if sp.issparse(X) else X


@dataclass(kw_only=True, eq=False, repr=False)
class AssumeNegative(MaskedLogistic):
    """Logistic regression that treats missing labels as negative.

    Examples
    --------
    >>> from spmld.datasets import make_planted
    >>> from spmld.labels import hide_labels
    >>> from studies.methods import AssumeNegative
    >>> data = make_planted(n_samples=300, random_state=0)
    >>> Y = hide_labels(data.Y, kind="single_positive", random_state=0)
    >>> AssumeNegative(C=10.0).fit(data.X, Y).predict_proba(data.X).shape
    (300, 12)
    """

    def fit(self, X: Any, y: Any) -> Self:  # type: ignore[override]
        """Fit to labels of 1, and NaN where missing."""
        y = np.asarray(y, dtype=float)
        return self._fit_weighted(X, np.nan_to_num(y), np.where(np.isnan(y), self._negative_weight(y.shape[1]), 1.0))

    def _fit_weighted(self, X: Any, y: Any, weight: Any) -> Self:
        super().fit(X, y, entry_weight=weight)
        return self

    def _negative_weight(self, n_labels: int) -> float:
        return 1.0


@dataclass(kw_only=True, eq=False, repr=False)
class WeakNegatives(AssumeNegative):
    """Logistic regression that treats missing labels as negative, with weight 1 / (n_labels - 1).

    The positive and the assumed negatives of a sample then have the same total weight, as in Cole et al., "Multi-label
    learning from single positive labels", CVPR 2021.
    """

    def _negative_weight(self, n_labels: int) -> float:
        return 1.0 / max(n_labels - 1, 1)


@dataclass(kw_only=True, eq=False, repr=False)
class LargeLossRejection(AssumeNegative):
    """Logistic regression that treats missing labels as negative, except those with the largest losses.

    The first model uses all assumed negatives. In each further iteration, a larger fraction of them is left out, those
    with the largest losses, as in Kim et al., "Large loss matters in weakly supervised multi-label classification",
    CVPR 2022.

    Parameters
    ----------
    rejected : float, default=0.05
        Fraction of the assumed negatives that are left out in the end.
    n_iter : int, default=5
        Number of iterations after the first model.
    """

    rejected: UnitInterval = 0.05
    n_iter: PositiveInt = 5

    def fit(self, X: Any, y: Any) -> Self:  # type: ignore[override]
        """Fit to labels of 1, and NaN where missing."""
        y = np.asarray(y, dtype=float)
        super().fit(X, y)
        for iteration in range(1, self.n_iter + 1):
            p = np.where(np.isnan(y), self.predict_proba(X), 0.0)
            largest = np.quantile(p[np.isnan(y)], 1 - self.rejected * iteration / self.n_iter)
            self._fit_weighted(X, np.nan_to_num(y), (p <= largest).astype(float))
        return self


@dataclass(kw_only=True, eq=False, repr=False)
class PositiveUnlabelledEM(AssumeNegative):
    r"""Logistic regression fitted by expectation maximization, with the missing labels as latent variables.

    A positive label is observed with the same probability c for all entries, and a negative label never is. The
    probability that a missing label is positive is then

    .. math:: q = p (1 - c) / (1 - c p),

    where p is the probability of the model. In each iteration a missing entry is a positive of weight q and a negative
    of weight 1 - q. The first model treats missing labels as negative. Its mean out-of-fold probability of the observed
    positives is the estimate of c of Elkan and Noto, "Learning classifiers from only positive and unlabeled data", KDD
    2008. It is not updated: its maximum likelihood estimate tends to 1, which is the first model again.

    Parameters
    ----------
    n_iter : int, default=10
        Number of iterations.

    Attributes
    ----------
    label_frequency_ : float
        c.
    """

    n_iter: PositiveInt = 10

    def fit(self, X: Any, y: Any) -> Self:  # type: ignore[override]
        """Fit to labels of 1, and NaN where missing."""
        y = np.asarray(y, dtype=float)
        observed, p = ~np.isnan(y), np.empty(y.shape)
        for train, test in KFold(3, shuffle=True, random_state=0).split(y):
            p[test] = super().fit(X[train], y[train]).predict_proba(X[test])
        label_frequency = float(p[observed].mean())
        p = super().fit(X, y).predict_proba(X)
        twice = sp.vstack([X, X], format="csr") if sp.issparse(X) else np.vstack([X, X])
        # The first copy of a sample has its observed positives and negatives, the second one its possible positives.
        labels = np.vstack([observed, np.ones_like(observed)]).astype(float)
        for _ in range(self.n_iter):
            q = expected_label(p, label_frequency)
            weight = np.vstack([np.where(observed, 1.0, 1 - q), np.where(observed, 0.0, q)])
            p = self._fit_weighted(twice, labels, weight).predict_proba(X)
        self.label_frequency_ = label_frequency
        return self


def expected_label(p: Any, label_frequency: float) -> NDArray[np.float64]:
    """Return the probability that a missing label is positive, from that of a label and that of observing a positive.

    Examples
    --------
    >>> from studies.methods import expected_label
    >>> float(expected_label(0.5, 0.5).round(3))
    0.333
    """
    p = np.asarray(p, dtype=float)
    return p * (1 - label_frequency) / np.maximum(1 - label_frequency * p, np.finfo(float).tiny)


class Audit(BaseEstimator):
    """`spmld.audit.find_label_issues` with its default estimator.

    Parameters
    ----------
    random_state : int, default=0
        Seed for the folds.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.datasets import make_planted
    >>> from studies.methods import Audit
    >>> from spmld.labels import corrupt_labels
    >>> data = make_planted(n_samples=300, random_state=0)
    >>> Y = corrupt_labels(data.Y, "flip", 0.03, random_state=0)
    >>> scores = Audit().error_scores(data.X, Y)
    >>> bool(np.mean(scores[Y != data.Y]) > np.mean(scores[Y == data.Y]))
    True
    """

    def __init__(self, *, random_state: int = 0):
        self.random_state = random_state

    def issues(self, X: Any, Y: Any) -> LabelIssues:
        """Return the result of the audit."""
        return find_label_issues(None, X, Y, random_state=self.random_state)

    def error_scores(self, X: Any, Y: Any) -> NDArray[np.float64]:
        """Return scores of observed entries, higher for likely errors; NaN where labels are missing."""
        return -self.issues(X, Y).quality_log_odds


class Cleanlab(Audit):
    """cleanlab's label quality scores of each class, from out-of-fold probabilities of the audit's tuned model.

    cleanlab (Northcutt, Jiang and Chuang, 2021) does not support missing labels. Each class is scored on the samples
    whose label is observed.

    Parameters
    ----------
    method : {"self_confidence", "normalized_margin", "confidence_weighted_entropy"}, default="self_confidence"
        Label quality score.
    adjust : bool, default=False
        Whether to adjust the probabilities by class.
    random_state
        As in `Audit`.
    """

    def __init__(self, *, method: str = "self_confidence", adjust: bool = False, random_state: int = 0):
        super().__init__(random_state=random_state)
        self.method = method
        self.adjust = adjust

    def error_scores(self, X: Any, Y: Any) -> NDArray[np.float64]:
        """Return the negative label quality of observed entries; NaN where labels are missing."""
        return -label_quality(self.issues(X, Y), self.method, self.adjust)


def label_quality(issues: LabelIssues, method: str, adjust: bool) -> NDArray[np.float64]:
    """Return cleanlab's label quality of each observed entry; NaN where labels are missing."""
    from cleanlab.multilabel_classification.rank import get_label_quality_scores_per_class

    quality = np.full(issues.signs.shape, np.nan)
    for j, signs in enumerate(issues.signs.T):
        observed = np.flatnonzero(signs)
        positive, p = signs[observed] > 0, issues.probabilities[observed, j]
        if positive.all() or not positive.any():
            quality[observed, j] = np.where(positive, p, 1 - p)  # cleanlab needs two values per class
            continue
        labels = [[0] if is_positive else [] for is_positive in positive]
        scores = get_label_quality_scores_per_class(labels, p[:, None], method=method, adjust_pred_probs=adjust)
        quality[observed, j] = np.reshape(scores, -1)
    return quality
