"""LabelBoosting: histogram gradient boosting for each label, on the samples where the label is observed."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier

from spmld._arrays import features_to_numpy, move
from spmld._threads import one_openmp_thread, thread_map
from spmld._validation import FloatFraction, NonNegative, PositiveInt, RandomState
from spmld.estimators.base import MultiLabelEstimator
from spmld.estimators.label_prior import smoothed_frequency
from spmld.estimators.outputs import log_odds
from spmld.estimators.per_label import dense_features, fit_label
from spmld.estimators.trees import Trees, check_single_precision
from spmld.model_selection.samples import Samples

_Floats = NDArray[np.float64]


@dataclass(kw_only=True, eq=False, repr=False)
class LabelBoosting(MultiLabelEstimator):
    r"""Boosted trees for each label, on the samples where this label is observed.

    This is scikit-learn's `HistGradientBoostingClassifier` for each label. The trees of a label have decisions of their
    own, unlike those of `MaskedBoosting`, which all labels share: they suit labels that depend on different
    interactions of features, and take longer with many labels. The score of label j is :math:`\log(\pi_j / (1 -
    \pi_j))` plus the sum of its trees, with the frequency :math:`\pi_j` of its observed positives.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees for each label.
    learning_rate : float in (0, 1], default=0.1
        Factor of the values of a tree.
    max_leaf_nodes : int, default=15
        Maximum number of leaves of a tree.
    min_samples_leaf : int, default=20
        Minimum number of samples of a leaf.
    max_bins : int, default=63
        Maximum number of intervals of a feature. Fewer of them take less time if there are few samples.
    l2_regularization : float, default=0.0
        Penalty of the values of the leaves.
    max_samples : int or None, default=None
        Maximum number of samples to fit on, evenly spaced; None for all.
    n_jobs : int or None, default=None
        Number of labels fitted in parallel threads.
    random_state : int, RandomState or None, default=None
        Seed for the samples from which the intervals are determined, if there are more than 200,000.

    Attributes
    ----------
    trees_ : list of Trees of length n_labels
        The trees of each label; none for a label with one observed class.
    intercept_ : ndarray of shape (n_labels,)
        Score of each label without its trees.

    See Also
    --------
    MaskedBoosting : Boosted trees that all labels share.
    MaskedForest : A random forest for each label.
    MultiLabelEstimator : The attributes that all estimators share.

    Examples
    --------
    >>> from spmld import LabelBoosting
    >>> from spmld.datasets import make_planted
    >>> data = make_planted(n_samples=300, observed_fraction=0.5, random_state=0)
    >>> model = LabelBoosting(n_estimators=20).fit(data.X, data.Y)
    >>> model.predict_proba(data.X[:2]).shape
    (2, 12)
    """

    n_estimators: PositiveInt = 100
    learning_rate: FloatFraction = 0.1
    max_leaf_nodes: PositiveInt = 15
    min_samples_leaf: PositiveInt = 20
    max_bins: PositiveInt = 63
    l2_regularization: NonNegative = 0.0
    max_samples: PositiveInt | None = None
    n_jobs: int | None = None
    random_state: RandomState = None

    def _fit(self, samples: Samples) -> None:
        samples = samples.spaced(self.max_samples)
        boosting = HistGradientBoostingClassifier(
            max_iter=self.n_estimators,
            learning_rate=self.learning_rate,
            max_leaf_nodes=self.max_leaf_nodes,
            min_samples_leaf=self.min_samples_leaf,
            max_bins=self.max_bins,
            l2_regularization=self.l2_regularization,
            early_stopping=False,
            random_state=self.random_state,
        )
        X = dense_features(features_to_numpy(samples.X), type(self).__name__)
        check_single_precision(X)
        X = X.astype(np.float32, copy=False)
        ordered = np.sort(X, axis=0)

        def fit_trees(signs: NDArray[np.int8], weight: _Floats) -> tuple[Trees, float | None]:
            with one_openmp_thread():
                fitted = fit_label(boosting, X, signs, weight)
            if fitted is None:
                return Trees.empty(1), None
            trees, intercept, _ = Trees.from_boosting(fitted)
            return trees.between(ordered), intercept

        with thread_map(self.n_jobs) as over:
            fits = list(over(fit_trees, samples.signs.T, samples.weights.T))
        self.trees_ = [trees for trees, _ in fits]
        prior = log_odds(smoothed_frequency(samples.signs, samples.weights))
        self.intercept_ = np.array([p if own is None else own for (_, own), p in zip(fits, prior, strict=True)])

    def _scores(self, X: Any) -> Any:
        features = features_to_numpy(X)
        return move(np.hstack([trees.scores(features) for trees in self.trees_]) + self.intercept_, X)
