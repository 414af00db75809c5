"""Growth of a regression tree on codes of features, in NumPy; `compiled_trees` has the same functions, compiled."""

import os
from functools import cache
from importlib import import_module
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spmld.estimators.feature_codes import FeatureCodes

VARIABLE = "SPMLD_COMPILED"
"""Environment variable; 0 stands for NumPy even if numba is installed."""
MAX_TARGET = 2**13
"""Maximum absolute value of an integer target, so that those of a batch of samples add up to 32 bits."""
MAX_SUM = 2**31
"""Upper bound of the sum of the absolute values of all integer targets, so that sums of squares have 64 bits."""
_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]
_Targets = NDArray[np.int32]


class Draws(NamedTuple):
    """Random numbers of the nodes that may be split, in the order in which they are visited.

    Attributes
    ----------
    features : ndarray of shape (n_nodes, n_considered)
        Features that are considered for the split of a node, without duplicates.
    uniforms : ndarray of shape (n_nodes, n_considered)
        Positions of the cuts between the lowest and the highest code in the node, in [0, 1).

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.estimators.tree_growth import Draws
    >>> Draws.sample(np.random.default_rng(0), n_nodes=7, n_features=50, n_considered=16).features.shape
    (7, 16)
    """

    features: _Integers
    uniforms: _Floats

    @classmethod
    def sample(cls, rng: np.random.Generator, n_nodes: int, n_features: int, n_considered: int) -> "Draws":
        """Return random numbers; nodes that follow each other share no features, as far as there are enough."""
        n_nodes_each = n_features // n_considered
        orders = rng.random((-(-n_nodes // n_nodes_each), n_features)).argsort(axis=1)
        features = orders[:, : n_nodes_each * n_considered].reshape(-1, n_considered)[:n_nodes]
        return cls(np.ascontiguousarray(features), rng.random((n_nodes, n_considered)))


class Nodes(NamedTuple):
    """The nodes of a tree, ordered by their depth, and the leaves of the samples it was grown on.

    Attributes
    ----------
    feature, cut : ndarray of shape (n_nodes,)
        A sample goes to the left child if the code of this feature is at most the cut.
    left : ndarray of shape (n_nodes,)
        Index of the left child, which the right child follows; a leaf has its own index.
    sizes : ndarray of shape (n_nodes,)
        Number of samples of each node.
    leaves : ndarray of shape (n_samples,)
        Leaf of each sample.
    depth : int
        Largest number of decisions.

    Examples
    --------
    See `TreeKernels`.
    """

    feature: _Integers
    cut: _Integers
    left: _Integers
    sizes: _Integers
    leaves: _Integers
    depth: int


class TreeKernels:
    """What takes the time of boosting, in NumPy. Sums are exact, or in the order of the samples.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.estimators.feature_codes import FeatureCodes
    >>> from spmld.estimators.tree_growth import Draws, TreeKernels
    >>> coded = FeatureCodes.encode(np.array([[0.0], [1.0], [2.0], [3.0]], dtype=np.float32))
    >>> draws = Draws(np.array([[0]]), np.array([[0.5]]))
    >>> nodes = TreeKernels().grow(coded, np.arange(4), np.array([[1], [1], [-1], [-1]], np.int32), draws, 1, 1)
    >>> nodes.leaves
    array([1, 1, 2, 2])
    """

    def grow(
        self, coded: FeatureCodes, rows: _Integers, targets: _Targets, draws: Draws, max_depth: int, min_leaf: int
    ) -> Nodes:
        """Return a tree that is grown on integer targets of some samples.

        Each considered feature is cut at random (Geurts et al. 2006). The cut with the largest sum of squared means of
        the targets in the children, weighted by their sizes, becomes the decision; of equal ones it is the first.
        """
        members = [np.arange(len(rows))]
        values = np.column_stack([np.ones(len(rows)), targets])
        sums = [values.sum(axis=0)]
        depths = [0]
        decisions: list[tuple[int, int, int]] = []
        visited = 0
        for node, member in enumerate(members):  # which grows
            split = None
            if depths[node] < max_depth and len(member) >= 2 * min_leaf:
                considered, uniforms = (numbers[visited] for numbers in draws)
                codes = coded.part(considered, rows[member])
                split = _best_split(codes, uniforms, values.take(member, axis=0), sums[node], min_leaf)
                visited += 1
            if split is None:
                decisions.append((0, 0, node))
                continue
            place, cut, is_left, of_left = split
            decisions.append((int(considered[place]), cut, len(members)))
            members += [member[is_left], member[~is_left]]
            sums += [of_left, sums[node] - of_left]
            depths += [depths[node] + 1] * 2
        leaves = np.zeros(len(rows), int)
        for node, member in enumerate(members):
            leaves[member] = node
        sizes = np.array([len(member) for member in members])
        feature, cut, left = np.array(decisions).T
        return Nodes(feature, cut, left, sizes, leaves, depths[-1])

    def route(self, coded: FeatureCodes, rows: _Integers, nodes: Nodes) -> _Integers:
        """Return the leaves of samples."""
        used, place = np.unique(nodes.feature, return_inverse=True)
        codes = coded.part(used, rows)
        samples = np.arange(len(rows))
        leaves = np.zeros(len(rows), int)
        is_inner = nodes.left != np.arange(len(nodes.left))
        for _ in range(nodes.depth):
            is_right = codes[place[leaves], samples] > nodes.cut[leaves]
            leaves = nodes.left[leaves] + (is_right & is_inner[leaves])
        return leaves

    def leaf_sums(self, leaves: _Integers, n_nodes: int, values: _Floats) -> _Floats:
        """Return the sums of the rows of values in each leaf."""
        n = len(leaves)
        member = sp.csr_array((np.ones(n), leaves, np.arange(n + 1)), shape=(n, n_nodes))
        return member.T @ values

    def add_leaves(self, scores: _Floats, leaves: _Integers, values: NDArray[np.float32]) -> None:
        """Add the values of the leaves to the scores."""
        scores += values[leaves]


def _best_split(
    codes: NDArray[np.uint16], uniforms: _Floats, values: _Floats, sums: _Floats, min_leaf: int
) -> tuple[int, int, NDArray[np.bool_], _Floats] | None:
    """Return the best split of a node, or None without a valid one; values are ones and targets, with their sums.

    It is the number of the feature, the cut, which samples go left, and their sums.
    """
    low, high = codes.min(axis=1), codes.max(axis=1)
    cuts = low + (uniforms * (high - low)).astype(np.uint16)
    is_left = codes <= cuts[:, None]
    of_left = is_left.astype(float) @ values  # exact, as these are integers
    of_right = sums - of_left
    n_left, n_right = of_left[:, 0], of_right[:, 0]
    valid = (n_left >= min_leaf) & (n_right >= min_leaf)
    if not valid.any():
        return None
    squares = ((sides[:, 1:].astype(np.int64) ** 2).sum(axis=1) for sides in (of_left, of_right))
    gains = sum(of_side / np.maximum(n, 1) for of_side, n in zip(squares, (n_left, n_right), strict=True))
    best = int(np.argmax(np.where(valid, gains, -1.0)))
    return best, int(cuts[best]), is_left[best], of_left[best]


def as_integers(targets: _Floats) -> _Targets:
    """Return integers in proportion to the targets, of which sums, and sums of squares of sums, are exact.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.estimators.tree_growth import as_integers
    >>> as_integers(np.array([[0.5], [-1.0], [0.0]])).ravel()
    array([ 4096, -8192,     0], dtype=int32)
    """
    largest = np.abs(targets).max(initial=0.0)
    if largest == 0:
        return np.zeros(targets.shape, np.int32)
    relative = targets / largest
    relative *= min(MAX_TARGET, (MAX_SUM - targets.size) / np.abs(relative).sum())
    return np.rint(relative).astype(np.int32)


@cache
def _fastest_kernels() -> TreeKernels:
    try:
        import_module("numba")  # takes a second
    except ImportError:
        return TreeKernels()
    from spmld.estimators.compiled_trees import CompiledTreeKernels

    return CompiledTreeKernels()


def tree_kernels() -> TreeKernels:
    """Return the compiled functions if numba is installed, unless the variable ``SPMLD_COMPILED`` is 0.

    Examples
    --------
    >>> from spmld.estimators.tree_growth import TreeKernels, tree_kernels
    >>> isinstance(tree_kernels(), TreeKernels)
    True
    """
    return TreeKernels() if os.environ.get(VARIABLE) == "0" else _fastest_kernels()
