"""MaskedBoosting: gradient boosting of the observed entries of all labels, with shared trees."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from spmld._arrays import Array, features_to_numpy, move, row_slices, to_numpy
from spmld._validation import FloatFraction, Fraction, NonNegative, PositiveInt, RandomState
from spmld.core.losses import Loss
from spmld.estimators.base import MultiLabelEstimator
from spmld.estimators.feature_codes import FeatureCodes
from spmld.estimators.inputs import check_rates, has_rates, with_short_indices
from spmld.estimators.label_prior import smoothed_frequency
from spmld.estimators.outputs import log_odds
from spmld.estimators.tree_growth import Draws, TreeKernels, as_integers, tree_kernels
from spmld.estimators.trees import Trees, check_single_precision, single_precision
from spmld.labels import Labels
from spmld.model_selection.samples import Samples, hash_rows

CACHED_ENTRIES = 2**14
"""Number of entries whose derivatives are computed at once: temporary arrays stay in the cache of the CPU."""
SMALLEST = np.finfo(float).tiny
MAX_STEP = 0.4
"""Maximum sum of the learning rates of trees whose leaves are fitted together."""
MAX_TREE_SAMPLES = 20_000
"""Maximum number of samples of trees where other models are fitted to all samples."""
MAX_TREE_VALUES = 10**7
"""Maximum number of values that are compared for the splits of one level of a tree, see `is_affordable`."""
_Floats = NDArray[np.float64]
_Values = NDArray[Any]


@dataclass(kw_only=True, eq=False, repr=False)
class MaskedBoosting(MultiLabelEstimator):
    r"""Gradient boosting of the observed entries, with trees that all labels share.

    The scores are :math:`F = 1 b^\top + \eta \sum_t f_t(X)`. In each iteration, a regression tree is grown on the
    negative gradients of the logistic loss, which are 0 for missing entries, divided by their scale for each label, so
    that rare labels count as much as frequent ones. The value of label j in a leaf S is a Newton step,

    .. math:: f_j = \frac{\sum_{i \in S} g_{ij}}{\sum_{i \in S} h_{ij} + \lambda},

    with the negative gradients g and the second derivatives h of the observed entries. A tree serves all labels, so
    that the cost hardly depends on their number, and labels with few observed entries share the structure that others
    have determined.

    Parameters
    ----------
    n_estimators : int, default=200
        Number of trees.
    learning_rate : float in (0, 1], default=0.1
        :math:`\eta`.
    max_depth : int, default=6
        Maximum depth of a tree.
    min_samples_leaf : int, default=5
        Minimum number of samples of a leaf.
    max_features : int, float, {"auto", "sqrt", "log2"} or None, default="auto"
        Number of features that are considered for each split, as in scikit-learn, each with a random threshold (Geurts
        et al. 2006), one of 65,535 at equal distances. "auto" is the square root of the number of features, but at
        least 16 if there are as many.
    subsample : float, default=0.5
        Fraction of the samples from which a tree is grown.
    n_projections : int, default=8
        Maximum number of targets of a tree. With more labels, a tree is grown on random sums and differences of their
        gradients, so that the cost of a split does not depend on the number of labels (Joly et al. 2014).
    max_samples : int or None, default=None
        Maximum number of samples to fit on. If there are more, evenly spaced samples are used. None means all.
    l2_regularization : float, default=1.0
        :math:`\lambda`.
    warm_start : bool, default=False
        Whether to keep the trees of the last fit if its data were the same, and only add or remove trees.
    keep_decisions : bool, default=False
        Whether to keep the decisions of the trees of the last fit, and only fit the values of their leaves to all
        samples, for updates with new samples or labels.
    random_state : int, RandomState or None, default=None
        Seed for the samples and the features of each tree.
    false_positive_rate, false_negative_rate : float or array-like of shape (n_labels,), default=0.0
        Noise rates of the labels, as in `MaskedLogistic`.

    Attributes
    ----------
    trees_ : Trees
        The trees, with values multiplied by the learning rate.
    intercept_ : ndarray of shape (n_labels,)
        b, the log-odds of the label frequencies.

    See Also
    --------
    MaskedForest : A random forest for each label.
    PerLabelClassifier : Any scikit-learn classifier for each label.
    MultiLabelEstimator : The attributes that all estimators share.

    References
    ----------
    Friedman, J. H. (2002). Stochastic gradient boosting. Computational Statistics & Data Analysis 38(4), 367-378.

    Geurts, P., Ernst, D. and Wehenkel, L. (2006). Extremely randomized trees. Machine Learning 63(1), 3-42.

    Joly, A., Geurts, P. and Wehenkel, L. (2014). Random forests with random projections of the output space for high
    dimensional multi-label classification. ECML PKDD, 607-622.

    Examples
    --------
    >>> from spmld import MaskedBoosting
    >>> from spmld.datasets import make_planted
    >>> data = make_planted(n_samples=300, observed_fraction=0.5, random_state=0)
    >>> model = MaskedBoosting(n_estimators=50, random_state=0).fit(data.X, data.Y)
    >>> model.predict_proba(data.X[:2]).shape
    (2, 12)
    """

    n_estimators: PositiveInt = 200
    learning_rate: Fraction = 0.1
    max_depth: PositiveInt = 6
    min_samples_leaf: PositiveInt = 5
    max_features: PositiveInt | FloatFraction | Literal["auto", "sqrt", "log2"] | None = "auto"
    subsample: Fraction = 0.5
    l2_regularization: NonNegative = 1.0
    n_projections: PositiveInt = 8
    max_samples: PositiveInt | None = None
    warm_start: bool = False
    keep_decisions: bool = False
    random_state: RandomState = None
    false_positive_rate: Any = 0.0
    false_negative_rate: Any = 0.0

    def uses_trusted(self) -> bool:
        """Return whether `fit` distinguishes verified entries: if noise rates are above 0."""
        return has_rates(self)

    def _fit(self, samples: Samples) -> None:
        samples = samples.spaced(self.max_samples)
        X, labels, weights = features_to_numpy(samples.X), samples.labels, samples.weights
        rates = check_rates(self, labels.shape[1])
        loss, signs, weights = rates.unless(labels.trusted).loss(), labels.signs, to_numpy(weights)
        p = rates.true_probability(smoothed_frequency(labels.signs, weights))
        edge = 1 / (2 + weights.sum(axis=0))
        self.intercept_ = log_odds(np.clip(p, edge, 1 - edge))
        if self.keep_decisions and hasattr(self, "trees_"):
            self.trees_, self._fitted_to = self._fit_leaves(X, signs, weights, loss), ""
            return
        trees = self._last_trees(X, labels, weights)
        self.trees_ = self.boost(X, signs, weights, self.intercept_ + trees.scores(X), loss, trees)

    def boost(
        self, X: Any, signs: _Values, weights: _Values, scores: _Floats, loss: Loss, trees: Trees | None = None
    ) -> Trees:
        """Return trees that decrease the loss of scores.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            Features.
        signs, weights : ndarray of shape (n_samples, n_labels)
            Labels -1 and +1, and weights of the entries, which are 0 where labels are missing.
        scores : ndarray of shape (n_samples, n_labels)
            Scores to start from.
        loss : Loss
            Loss of an entry.
        trees : Trees, optional
            First trees, whose values the scores include; by default none.

        Returns
        -------
        Trees
            `n_estimators` trees.
        """
        trees = Trees.empty(signs.shape[1]) if trees is None else trees
        scores, parts, kernels = scores.copy(), [Trees.empty(signs.shape[1])], tree_kernels()
        coded = FeatureCodes.encode(_in_single_precision(X))
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=self.n_estimators)
        for seed in seeds[len(trees.roots) :]:
            derivatives = partial(_derivatives, loss, signs, weights, scores)
            tree, leaves = self._grow(kernels, coded, derivatives, np.random.default_rng(seed))
            kernels.add_leaves(scores, leaves, tree.value)
            parts.append(tree)
        grown = Trees.concatenate(parts)
        return Trees.concatenate([trees, replace(grown, threshold=coded.thresholds(grown.feature, grown.threshold))])

    def _grow(
        self, kernels: TreeKernels, coded: FeatureCodes, derivatives: Any, rng: np.random.Generator
    ) -> tuple[Trees, NDArray[np.intp]]:
        """Return a tree, with leaf values that are multiplied by the learning rate, and the leaves of all samples."""
        n, d = coded.codes.shape
        is_chosen = rng.random(n) < self.subsample
        chosen, others = np.flatnonzero(is_chosen), np.flatnonzero(~is_chosen)
        if not len(chosen):
            chosen, others = others, chosen
        g, h = derivatives(chosen)
        n_nodes = min(2**self.max_depth - 1, max(2 * (len(chosen) // self.min_samples_leaf) - 1, 1))
        draws = Draws.sample(rng, n_nodes, d, self._n_split_features(d))
        nodes = kernels.grow(coded, chosen, self._targets(g, h, rng), draws, self.max_depth, self.min_samples_leaf)
        leaves = np.empty(n, int)
        leaves[chosen] = nodes.leaves
        leaves[others] = kernels.route(coded, others, nodes)
        sums = (kernels.leaf_sums(nodes.leaves, len(nodes.left), values) for values in (g, h))
        return Trees.from_nodes(nodes, self._values(*sums)), leaves

    def _values(self, g: _Floats, h: _Floats) -> NDArray[np.float32]:
        """Return the Newton steps of leaves with these sums of derivatives, times the learning rate.

        They are in single precision, because the trees of many labels are larger than the data.
        """
        return (-self.learning_rate * (g / (h + self.l2_regularization + SMALLEST))).astype(np.float32)

    def _fit_leaves(self, X: Any, signs: _Values, weights: _Values, loss: Loss) -> Trees:
        """Return the trees of the last fit with leaves that are fitted to all samples, some trees at a time."""
        trees, n = self.trees_, len(signs)
        leaves_of_trees = trees.leaves(X)
        scores = np.tile(self.intercept_, (n, 1))
        value = np.zeros((len(trees.feature), signs.shape[1]), np.float32)
        ends, n_trees = [*trees.roots, len(value)], max(round(MAX_STEP / self.learning_rate), 1)
        for first in range(0, len(trees.roots), n_trees):
            stop = min(first + n_trees, len(trees.roots))
            nodes, leaves = slice(ends[first], ends[stop]), leaves_of_trees[:, first:stop] - ends[first]
            rows = np.arange(0, leaves.size + 1, stop - first)
            member = sp.csr_array((np.ones(leaves.size), leaves.ravel(), rows), shape=(n, nodes.stop - nodes.start))
            g, h = _derivatives(loss, signs, weights, scores, np.arange(n))
            value[nodes] = self._values(member.T @ g, member.T @ h)
            scores += member @ value[nodes]
        return replace(trees, value=value)

    def _targets(self, g: _Floats, h: _Floats, rng: np.random.Generator) -> NDArray[np.int32]:
        """Return what a tree is grown on: gradients of the same scale for all labels, or random sums of them.

        They are integers, so that sums are exact, and ties between splits do not depend on the CPU.
        """
        inverse_scale = 1 / np.sqrt(h.sum(axis=0) + SMALLEST)
        n_labels = len(inverse_scale)
        if n_labels <= self.n_projections:
            return as_integers(g * inverse_scale)
        signs = 2.0 * rng.integers(2, size=(n_labels, self.n_projections)) - 1
        return as_integers(g @ (signs * inverse_scale[:, None]))

    def _n_split_features(self, n_features: int) -> int:
        """Return the number of features that are considered for each split."""
        match self.max_features:
            case "auto":
                return min(n_features, max(16, int(np.sqrt(n_features))))
            case "sqrt" | "log2":
                return max(1, int(getattr(np, self.max_features)(n_features)))
            case None:
                return n_features
            case float():
                return max(1, int(self.max_features * n_features))
            case _:
                return min(n_features, self.max_features)

    def _last_trees(self, X: Any, labels: Labels, weights: _Values) -> Trees:
        """Return the trees of the last fit that can be kept."""
        if not self.warm_start:
            return Trees.empty(labels.shape[1])
        fitted_to = hash_rows(X, (labels.signs, labels.trusted), weights)
        last, self._fitted_to = getattr(self, "_fitted_to", None), fitted_to
        return self.trees_.first(self.n_estimators) if last == fitted_to else Trees.empty(labels.shape[1])

    def _scores(self, X: Any) -> Array:
        return move(self.intercept_ + self.trees_.scores(features_to_numpy(X)), X)


def is_affordable(n_samples: int, n_features: int, n_labels: int) -> bool:
    """Return whether boosted trees take about as long as linear models.

    A level of a tree compares about n sqrt(d) k values of n samples, d features and k targets.

    Examples
    --------
    >>> from spmld.estimators.masked_boosting import is_affordable
    >>> is_affordable(2000, 300, 20), is_affordable(20_000, 50_000, 200)
    (True, False)
    """
    n_targets = min(n_labels, MaskedBoosting.n_projections)
    return bool(min(n_samples, MAX_TREE_SAMPLES) * np.sqrt(n_features) * n_targets <= MAX_TREE_VALUES)


def _derivatives(
    loss: Loss, signs: _Values, weights: _Values, scores: _Floats, samples: NDArray[np.intp]
) -> tuple[_Floats, _Floats]:
    """Return the weighted slope and the weighted curvature of the entries of some samples."""
    shape = len(samples), signs.shape[1]
    g, h = np.empty(shape), np.empty(shape)
    for part in row_slices(*shape, CACHED_ENTRIES):
        rows = samples[part]
        slope, curvature = loss.at(rows, slice(None)).derivatives(signs.take(rows, axis=0), scores.take(rows, axis=0))
        of_part = weights.take(rows, axis=0)
        np.multiply(slope, of_part, out=g[part])
        np.multiply(curvature, of_part, out=h[part])
    return g, h


def _in_single_precision(X: Any) -> Any:
    """Return X in single precision, dense or in CSR format without duplicates."""
    if not sp.issparse(X):
        return single_precision(X)
    check_single_precision(X)
    rows = sp.csr_array(with_short_indices(X).astype(np.float32))
    rows.sum_duplicates()
    return rows
