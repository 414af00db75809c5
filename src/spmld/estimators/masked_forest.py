"""MaskedForest: a random forest for each label, on the samples where the label is observed."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier

from spmld._arrays import Array, features_to_numpy, move
from spmld._threads import thread_map
from spmld._validation import FloatFraction, PositiveInt, RandomState
from spmld.estimators.base import MultiLabelEstimator
from spmld.estimators.inputs import check_rates, with_short_indices
from spmld.estimators.label_prior import smoothed_frequency
from spmld.estimators.outputs import log_odds
from spmld.estimators.per_label import fit_label
from spmld.estimators.trees import Trees, check_single_precision
from spmld.model_selection.samples import Samples

_Floats = NDArray[np.float64]


@dataclass(kw_only=True, eq=False, repr=False)
class MaskedForest(MultiLabelEstimator):
    r"""A random forest for each label, on the samples where this label is observed.

    The probability that label j is observed as positive is :math:`q_j = (T_j \bar p_j + \pi_j) / (T_j + 1)`, where
    :math:`\bar p_j` is the mean probability of its :math:`T_j` trees, and its frequency :math:`\pi_j` counts as another
    tree, so that it is neither 0 nor 1. With the noise rates :math:`\alpha` and :math:`\beta`, the label is positive
    with probability :math:`(q_j - \alpha) / (1 - \alpha - \beta)`. The score is its log-odds.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees for each label.
    min_samples_leaf : int, default=1
        Minimum number of samples of a leaf.
    max_features : int, float, {"sqrt", "log2"} or None, default="sqrt"
        Number of features that are considered for each split, as in scikit-learn.
    max_samples : int or None, default=None
        Maximum number of samples to fit on, evenly spaced; None for all.
    false_positive_rate, false_negative_rate : float or array-like of shape (n_labels,), default=0.0
        Noise rates, as in `MaskedLogistic`.
    n_jobs : int or None, default=None
        Number of labels fitted in parallel threads.
    random_state : int, RandomState or None, default=None
        Seed for the trees.

    Attributes
    ----------
    trees_ : list of Trees of length n_labels
        The trees of each label, whose values are probabilities; none for a label with one observed class.
    prior_ : ndarray of shape (n_labels,)
        Frequency of each label.

    See Also
    --------
    MaskedBoosting : Boosted trees that all labels share.
    PerLabelClassifier : Any classifier for each label.
    MultiLabelEstimator : The attributes that all estimators share.

    Examples
    --------
    >>> from spmld import MaskedForest
    >>> from spmld.datasets import make_planted
    >>> data = make_planted(n_samples=300, observed_fraction=0.5, random_state=0)
    >>> model = MaskedForest(n_estimators=20, random_state=0).fit(data.X, data.Y)
    >>> model.predict_proba(data.X[:2]).shape
    (2, 12)
    """

    n_estimators: PositiveInt = 100
    min_samples_leaf: PositiveInt = 1
    max_features: PositiveInt | FloatFraction | Literal["sqrt", "log2"] | None = "sqrt"
    max_samples: PositiveInt | None = None
    false_positive_rate: Any = 0.0
    false_negative_rate: Any = 0.0
    n_jobs: int | None = None
    random_state: RandomState = None

    def _fit(self, samples: Samples) -> None:
        samples = samples.spaced(self.max_samples)
        check_rates(self, samples.shape[2])
        forest = RandomForestClassifier(
            self.n_estimators,
            min_samples_leaf=self.min_samples_leaf,
            max_features=self.max_features,
            random_state=self.random_state,
        )
        # Trees compare features in single precision; here they are converted once, and not for each label.
        X = features_to_numpy(samples.X)
        check_single_precision(X)
        X = with_short_indices(X).astype(np.float32, copy=False)

        ordered = None if sp.issparse(X) else np.sort(X, axis=0)

        def fit_trees(signs: NDArray[np.int8], weight: _Floats) -> Trees:
            trees = _trees_of(fit_label(forest, X, signs, weight))
            return trees if ordered is None else trees.between(ordered)

        self.prior_ = smoothed_frequency(samples.signs, samples.weights)
        with thread_map(self.n_jobs) as over:
            self.trees_ = list(over(fit_trees, samples.signs.T, samples.weights.T))

    @property
    def n_trees_(self) -> NDArray[np.int64]:
        """Number of trees of each label."""
        return np.array([len(trees.roots) for trees in self.trees_])

    def mean_probabilities(self, X: Any) -> _Floats:
        """Return the mean probabilities of the trees; the frequency of a label without trees."""
        totals = np.hstack([trees.scores(X) for trees in self.trees_])
        return np.where(self.n_trees_ > 0, totals / np.maximum(self.n_trees_, 1), self.prior_)

    def probability_slope(self) -> tuple[_Floats, _Floats]:
        """Return slope and intercept of the probabilities as a function of the mean probabilities of the trees."""
        rates = check_rates(self, len(self.prior_))
        # The probabilities of trees that agree that the label is absent, and that it is present.
        absent, present = map(rates.true_probability, self.probability_range())
        return present - absent, absent

    def probability_range(self) -> tuple[_Floats, _Floats]:
        """Return the smallest and the largest probability of each label without noise, those of trees that agree."""
        prior, T = self.prior_, self.n_trees_
        return prior / (T + 1), (T + prior) / (T + 1)

    def scores_of(self, means: _Floats) -> _Floats:
        """Return the scores for mean probabilities of the trees."""
        slope, intercept = self.probability_slope()
        return log_odds(np.clip(slope * means + intercept, *self.probability_range()))

    def _scores(self, X: Any) -> Array:
        return move(self.scores_of(self.mean_probabilities(features_to_numpy(X))), X)


def _trees_of(forest: RandomForestClassifier | None) -> Trees:
    """Return the trees of a forest with the probability of the positive class as value."""
    if forest is None:
        return Trees.empty(1)
    return Trees.concatenate([Trees.from_tree(tree.tree_, tree.tree_.value[:, 0, 1:]) for tree in forest.estimators_])
