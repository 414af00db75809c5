"""Regression trees as arrays: evaluation, contributions of features, and concatenation."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spmld._arrays import CACHE, Array, largest_value, row_slices
from spmld.estimators.tree_growth import Nodes

_Floats = NDArray[np.float64]
_Indices = NDArray[np.int32]


@dataclass(frozen=True)
class Trees:
    """Trees whose leaves have a value for each label. Their nodes follow each other, and children follow parents.

    Attributes
    ----------
    roots : ndarray of shape (n_trees,)
        Index of the root of each tree.
    feature, threshold : ndarray of shape (n_nodes,)
        A sample goes to the left child if this feature, in single precision, is at most the threshold.
    left, right : ndarray of shape (n_nodes,)
        Indices of the children; those of a leaf are its own index.
    weight : ndarray of shape (n_nodes,)
        Number of the training samples of each node.
    value : ndarray of shape (n_nodes, n_labels)
        Values of the leaves; 0 for other nodes.
    depth : int
        Largest number of decisions.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from spmld.estimators.trees import Trees
    >>> X = np.array([[0.0], [1.0], [2.0]], dtype=np.float32)
    >>> tree = DecisionTreeRegressor(max_depth=1, random_state=0).fit(X, [[0.0], [5.0], [5.0]])
    >>> trees = Trees.from_tree(tree.tree_, tree.tree_.value[:, :, 0])
    >>> Trees.concatenate([trees, trees]).scores(X).ravel()
    array([ 0., 10., 10.])
    """

    roots: _Indices
    feature: _Indices
    threshold: _Floats
    left: _Indices
    right: _Indices
    weight: _Floats
    value: NDArray[Any]
    depth: int

    @classmethod
    def from_tree(cls, tree: Any, value: _Floats) -> "Trees":
        """Return a tree of scikit-learn with other values."""
        leaf, own = tree.children_left < 0, np.arange(tree.node_count)
        left, right = (np.where(leaf, own, A).astype(np.int32) for A in (tree.children_left, tree.children_right))
        feature = np.where(leaf, 0, tree.feature).astype(np.int32)
        value = np.where(leaf[:, None], value, 0.0)
        weight = tree.weighted_n_node_samples.astype(float)
        return cls(np.zeros(1, np.int32), feature, tree.threshold, left, right, weight, value, int(tree.max_depth))

    @classmethod
    def from_nodes(cls, nodes: Nodes, value: NDArray[np.float32]) -> "Trees":
        """Return a tree whose thresholds are cuts of codes."""
        inner = nodes.left != np.arange(len(nodes.left))
        left, right = nodes.left.astype(np.int32), (nodes.left + inner).astype(np.int32)
        value = np.where(inner[:, None], np.float32(0), value)
        return cls(
            np.zeros(1, np.int32),
            nodes.feature.astype(np.int32),
            nodes.cut.astype(float),
            left,
            right,
            nodes.sizes.astype(float),
            value,
            depth=nodes.depth,
        )

    @classmethod
    def from_boosting(cls, model: Any) -> tuple["Trees", float, NDArray[np.bool_]]:
        """Return the trees of a HistGradientBoostingClassifier of two classes, its intercept, and a mask of the nodes.

        It has no categorical features. Missing values go to the left child where the mask is True.
        """
        parts = []
        missing_left = []
        for (predictor,) in model._predictors:
            nodes = predictor.nodes
            leaf = nodes["is_leaf"].astype(bool)
            own = np.arange(len(nodes))
            left, right = (np.where(leaf, own, nodes[name]).astype(np.int32) for name in ("left", "right"))
            value = np.where(leaf, nodes["value"], 0.0)[:, None]
            feature = nodes["feature_idx"].astype(np.int32)
            weight = nodes["count"].astype(float)
            depth = int(nodes["depth"].max())
            parts.append(cls(np.zeros(1, np.int32), feature, nodes["num_threshold"], left, right, weight, value, depth))
            missing_left.append(nodes["missing_go_to_left"].astype(bool))
        return cls.concatenate(parts), float(np.ravel(model._baseline_prediction)[0]), np.concatenate(missing_left)

    @classmethod
    def empty(cls, n_labels: int) -> "Trees":
        """Return no trees."""
        indices, floats = np.zeros(0, np.int32), np.zeros(0)
        return cls(indices, indices, floats, indices, indices, floats, np.zeros((0, n_labels), np.float32), 0)

    @staticmethod
    def concatenate(parts: list["Trees"]) -> "Trees":
        """Return the trees of all parts."""
        starts = np.cumsum([0, *(len(part.feature) for part in parts)])[:-1].astype(np.int32)
        shifted = {
            name: np.concatenate([getattr(part, name) + start for part, start in zip(parts, starts, strict=True)])
            for name in ("roots", "left", "right")
        }
        others = {
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in ("feature", "threshold", "weight", "value")
        }
        return Trees(**shifted, **others, depth=max(part.depth for part in parts))

    def between(self, ordered: NDArray[np.float32]) -> "Trees":
        """Return the trees with thresholds halfway between sorted values of each feature, for the same decisions.

        The value of a sample may be a threshold, where rounding errors would change a decision.
        """
        threshold = self.threshold.copy()
        order = np.argsort(self.feature, kind="stable")
        features, starts = np.unique(self.feature[order], return_index=True)
        for j, nodes in zip(features, np.split(order, starts)[1:], strict=True):
            values = ordered[:, j].astype(float)
            above = np.searchsorted(values, threshold[nodes], side="right")
            inner = (above > 0) & (above < len(values))
            threshold[nodes[inner]] = (values[above[inner] - 1] + values[above[inner]]) / 2
        return replace(self, threshold=threshold)

    def first(self, n_trees: int) -> "Trees":
        """Return the first trees."""
        if n_trees >= len(self.roots):
            return self
        stop = slice(int(self.roots[n_trees]))
        nodes = {name: getattr(self, name)[stop] for name in ("feature", "threshold", "left", "right", "weight")}
        return Trees(self.roots[:n_trees], **nodes, value=self.value[stop], depth=self.depth)

    def scores(self, X: Any) -> _Floats:
        """Return the sum of the values of the trees, of shape (n_samples, n_labels)."""
        scores = np.zeros((X.shape[0], self.value.shape[1]))
        for rows in row_slices(X.shape[0], max(len(self.roots), X.shape[1])):
            for leaves in self.leaves(X[rows]).T:
                scores[rows] += self.value[leaves]
        return scores

    def leaves(self, X: Any) -> NDArray[np.int32]:
        """Return the leaf of each sample in each tree, of shape (n_samples, n_trees)."""
        slices = list(row_slices(X.shape[0], max(len(self.roots), X.shape[1]), CACHE)) or [slice(0)]
        return np.concatenate([self._leaves_of(single_precision(X[rows])) for rows in slices])

    def _leaves_of(self, X: NDArray[np.float32]) -> NDArray[np.int32]:
        """Return the leaves of a few samples."""
        columns, n = X.T.ravel(), X.shape[0]
        children = np.stack([self.right, self.left], axis=1).ravel()
        nodes, samples = np.repeat(self.roots[:, None], n, axis=1), np.arange(n)
        for _ in range(self.depth):
            is_left = columns[self.feature[nodes] * np.int64(n) + samples] <= self.threshold[nodes]
            nodes = children[2 * nodes + is_left]
        return nodes.T

    def contributions(self, X: Any, weights: _Floats) -> Array:
        """Return the contributions of the features to the weighted sum of the scores of the labels of each sample.

        The contribution of a decision is the difference between the expected values of the child and of its parent, so
        that the contributions add up to the scores minus those of the roots.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            Samples.
        weights : ndarray of shape (n_samples, n_labels)
            Weights of the labels.

        Returns
        -------
        ndarray or sparse array of shape (n_samples, n_features)
            Sparse if X is sparse.
        """
        expected, parts, (n_trees, l) = self.expected_values(), [], (len(self.roots), self.value.shape[1])
        for rows in row_slices(X.shape[0], max(X.shape[1], n_trees * l)):
            part, of_labels = single_precision(X[rows]), weights[rows]
            contributions = np.zeros(part.size)
            for index, nodes, children in self._descend(part):
                samples = index // n_trees
                change = ((expected[children] - expected[nodes]) * of_labels[samples]).sum(axis=1)
                places = samples * part.shape[1] + self.feature[nodes]
                contributions += np.bincount(places, change, minlength=part.size)
            of_features = contributions.reshape(part.shape)
            parts.append(sp.csr_array(of_features) if sp.issparse(X) else of_features)
        return sp.vstack(parts, format="csr") if sp.issparse(X) else np.concatenate(parts)

    def expected_values(self) -> _Floats:
        """Return the mean value of the training samples of each node."""
        expected = self.value.astype(float)
        for node in np.flatnonzero(self.left != np.arange(len(self.left)))[::-1]:
            children = [self.left[node], self.right[node]]
            expected[node] = np.average(expected[children], axis=0, weights=self.weight[children])
        return expected

    def _descend(self, X: NDArray[np.float32]) -> Iterator[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]:
        """Yield, for each level, the pairs of a sample and a tree that are not in a leaf, their nodes and the children.

        The index of the pair of sample i and tree t is ``i * n_trees + t``.
        """
        n_trees = len(self.roots)
        index, nodes = np.arange(len(X) * n_trees), np.tile(self.roots, len(X))
        while True:
            inner = self.left[nodes] != nodes
            index, nodes = index[inner], nodes[inner]
            if not len(index):
                return
            values = X[index // n_trees, self.feature[nodes]]
            children = np.where(values <= self.threshold[nodes], self.left[nodes], self.right[nodes])
            yield index, nodes, children
            nodes = children


def single_precision(X: Any) -> NDArray[np.float32]:
    """Return X as a dense array in single precision, in which trees compare features with thresholds."""
    check_single_precision(X)
    return np.ascontiguousarray(X.toarray() if sp.issparse(X) else X, dtype=np.float32)


def check_single_precision(X: Any) -> None:
    """Raise ValueError if a feature is too large for the single precision of trees."""
    if (largest := largest_value(X)) > float(np.finfo(np.float32).max):
        raise ValueError(f"X contains values too large for float32, got {largest:.3g}; scale the features first")
