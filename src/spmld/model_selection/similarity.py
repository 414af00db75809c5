r"""Similar samples: copies of a sample, identical or nearly so, which share a fold of a cross-validation.

Copies, such as frames of a video or edited texts, have the labels of each other, so that held-out copies look easier
than new samples. Groups of similar samples depend on the features only: if they depended on the labels of single
samples, these labels would be missing in the training samples. Whether the groups are copies, rather than independent
draws, is decided once for all samples, by all of their labels.

**Near samples.** If samples fill a space of m dimensions, the number of pairs within a distance r is proportional to
:math:`r^m`. For the distances :math:`d_1 \le d_2 \le \dots` of the pairs, :math:`k \log(d_{k+1} / d_k)` are then
independent, with exponential distributions of mean 1 / m (Rényi 1953). Copies leave a gap between their distances and
those of other pairs that is wider than even one dimension explains.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize

from spmld._arrays import CACHE, largest_value, row_slices
from spmld.core.scaling import fit_scaling, scale, total_of

_Indices = NDArray[np.intp]

MAX_COPIES = 10
"""Maximum mean number of similar samples that are copies of each other."""
MAX_DIFFERENCES = 0.1
"""Maximum number of labels in which copies differ, relative to that of any samples."""
MAX_NEAR_SAMPLES = 20_000
"""Maximum number of samples of which near ones are searched."""
N_PROBES = 1000
"""Number of samples by whose neighbors it is decided whether to search those of all samples."""
GAP_LEVEL = 0.01
"""Probability of a gap among the distances of samples that fill one dimension."""
COMPLETE = 0.1
"""Quantile of the distances of the last neighbors up to which pairs are compared, as most of them are then found."""
SAME_DISTANCE = 1e-6
"""Distances below this one, relative to the largest, are those of identical samples."""


class SimilarSamples(NamedTuple):
    """Similar samples.

    Attributes
    ----------
    groups : ndarray of shape (n_samples,)
        Group of each sample, named by its first sample.
    n_repeated : int
        Number of samples that are identical to an earlier one.
    n_near : int
        Number of other samples in groups with an earlier one.
    together : bool
        Whether the samples of a group share a fold.

    Examples
    --------
    See `find_similar`.
    """

    groups: _Indices
    n_repeated: int
    n_near: int
    together: bool


def find_similar(X: Any, signs: NDArray[np.int8], n_folds: int, similar: str = "auto") -> SimilarSamples:
    """Return which samples are similar, and whether they share a fold.

    Near samples are searched among at most 20,000. They are left out if a group of them does not fit into a fold.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Samples.
    signs : ndarray of shape (n_samples, n_labels)
        Labels: 1, -1, and 0 where missing.
    n_folds : int
        Number of folds, the minimum number of groups.
    similar : {"auto", "together", "apart"}, default="auto"
        Whether similar samples share a fold. "auto" decides by `are_copies`, and only counts near samples if they do.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.model_selection.similarity import find_similar
    >>> rng = np.random.default_rng(0)
    >>> X, signs = rng.normal(size=(100, 5)), rng.choice([-1, 1], size=(100, 4))
    >>> edited = np.vstack([X, X + 0.01 * rng.normal(size=X.shape)])
    >>> found = find_similar(edited, np.vstack([signs, signs]), n_folds=3)
    >>> found.n_near, found.together, bool((found.groups[:100] == found.groups[100:]).all())
    (100, True, True)
    >>> find_similar(edited, np.vstack([signs, signs[::-1]]), n_folds=3).together  # their labels differ
    False
    """
    hashes = hash_samples(X)
    identical, n_repeated = group_identical(hashes)

    def share(groups: _Indices) -> bool:
        n_groups = len(np.unique(groups))
        return n_folds <= n_groups < len(groups) and (similar == "together" or are_copies(groups, signs))

    if similar == "apart":
        return SimilarSamples(identical, n_repeated, 0, False)
    if len(hashes) <= MAX_NEAR_SAMPLES and np.isfinite(largest_value(X)):
        near = _group_near(X, identical, hashes != 0, share)
        if near is not None and np.bincount(near).max() * n_folds <= len(near):
            return SimilarSamples(near, n_repeated, len(near) - len(np.unique(near)) - n_repeated, True)
    return SimilarSamples(identical, n_repeated, 0, share(identical))


def are_copies(groups: NDArray[np.intp], signs: NDArray[np.int8]) -> bool:
    """Return whether similar samples are copies of each other, rather than independent draws.

    Labels of copies agree. They are copies if pairs of them differ in at most a tenth as many observed labels as pairs
    of any samples would, and if there are at most ten of each on average: a table with fewer distinct samples has
    categories, of which new data consist, too.

    Parameters
    ----------
    groups : ndarray of shape (n_samples,)
        Group of each sample.
    signs : ndarray of shape (n_samples, n_labels)
        Labels: 1, -1, and 0 where missing.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.model_selection.similarity import are_copies
    >>> signs = np.random.default_rng(0).choice([-1, 1], size=(50, 4))
    >>> groups = np.arange(100) % 50
    >>> are_copies(groups, np.vstack([signs, signs])), are_copies(groups, np.vstack([signs, signs[::-1]]))
    (True, False)
    """
    names, group = np.unique(groups, return_inverse=True)
    if len(groups) > MAX_COPIES * len(names):
        return False
    different = 0.0
    expected = 0.0
    for of_label in signs.T:
        n_observed = np.bincount(group, of_label != 0, len(names))
        n_positives = np.bincount(group, of_label > 0, len(names))
        frequency = n_positives.sum() / max(n_observed.sum(), 1)
        different += float(n_positives @ (n_observed - n_positives))
        expected += float(n_observed @ (n_observed - 1)) * frequency * (1 - frequency)
    return bool(different <= MAX_DIFFERENCES * expected)


def _group_near(
    X: Any, identical: _Indices, present: NDArray[np.bool_], share: Callable[[_Indices], bool]
) -> _Indices | None:
    """Return groups of near samples if they share a fold; None if they do not, or if there are none.

    Samples without features are near to no others. The neighbors of some samples decide first.
    """
    rows = np.flatnonzero(present)
    positions = _positions(X[rows])
    probes = np.unique(np.linspace(0, len(rows) - 1, N_PROBES).astype(np.intp))
    pairs, distances = _neighbors(positions, probes)
    radius = find_gap(distances)
    if radius is None:
        return None
    groups = _join(rows[pairs[:, distances <= radius]], identical)
    if len(probes) < len(rows) and share(groups):
        pairs, distances = _neighbors(positions, np.arange(len(rows)))
        groups = _join(rows[pairs[:, distances <= radius]], identical)
    return groups if share(groups) else None


def _positions(X: Any) -> Any:
    """Return samples whose distances are meaningful: features with equal variances, or directions if most are 0."""
    mean, factor = fit_scaling(total_of(X), X.shape[0], X)
    scaled = scale(X, mean, factor)
    return normalize(scaled) if np.ndim(factor) == 0 else scaled


def _neighbors(positions: Any, probes: _Indices) -> tuple[_Indices, NDArray[np.float64]]:
    """Return pairs of probes and near samples, each once, and their distances.

    Distances are those at which most probes have all of their neighbors among the pairs.
    """
    n_neighbors = min(2 * MAX_COPIES + 1, positions.shape[0])
    search = NearestNeighbors(n_neighbors=n_neighbors).fit(positions)
    distances, neighbors = search.kneighbors(positions[probes])
    probed = np.zeros(positions.shape[0], dtype=bool)
    probed[probes] = True
    once = (neighbors > probes[:, None]) | ~probed[neighbors]
    once &= distances <= np.quantile(distances[:, -1], COMPLETE)
    first = np.broadcast_to(probes[:, None], neighbors.shape)
    return np.stack([first[once], neighbors[once]]), distances[once]


def find_gap(distances: NDArray[np.float64]) -> float | None:
    """Return a distance in the clearest gap between distances of pairs; None if no gap is clear.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.model_selection.similarity import find_gap
    >>> distances = np.random.default_rng(0).random(1000)
    >>> find_gap(distances) is None, 0.0001 < find_gap(np.append(distances + 0.01, np.full(50, 0.0001))) < 0.02
    (True, True)
    """
    ordered = np.sort(distances[distances > SAME_DISTANCE * distances.max(initial=0.0)])
    spacings = np.arange(1, len(ordered)) * np.diff(np.log(ordered))
    if len(spacings) == 0 or spacings.max() <= np.log(len(ordered) / GAP_LEVEL):
        return None
    k = int(spacings.argmax())
    return float(np.sqrt(ordered[k] * ordered[k + 1]))


def _join(pairs: _Indices, identical: _Indices) -> _Indices:
    """Return groups of samples that are connected by pairs, or identical, named by their first samples."""
    n = len(identical)
    first, second = np.hstack([pairs, [np.arange(n), identical]])
    graph = sp.coo_array((np.ones(len(first), dtype=bool), (first, second)), shape=(n, n))
    _, groups = connected_components(graph, directed=False)
    _, start, groups = np.unique(groups, return_index=True, return_inverse=True)
    return np.asarray(start[groups])


def hash_samples(X: Any) -> NDArray[np.uint64]:
    """Return a number for each sample that is the same for identical samples, and 0 if all features are 0.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Samples.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.model_selection.similarity import hash_samples
    >>> a, b, c = hash_samples(np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]]))
    >>> bool(a == c), bool(a == b)
    (True, False)
    """
    d = X.shape[1]
    # Products with random odd integers modulo 2^64; sums do not depend on the order.
    factors = np.random.default_rng(0).integers(2**63, size=d, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    if not sp.issparse(X):
        X = np.asarray(X)
        hashes = np.zeros(X.shape[0], dtype=np.uint64)
        for rows in row_slices(X.shape[0], d, CACHE):
            hashes[rows] = _bits(X[rows]) @ factors
        return hashes
    X = sp.csr_array(X)
    total = np.concatenate([[np.uint64(0)], np.cumsum(_bits(X.data) * factors[X.indices], dtype=np.uint64)])
    return np.asarray(total[X.indptr[1:]] - total[X.indptr[:-1]])


def group_identical(hashes: NDArray[np.uint64]) -> tuple[NDArray[np.intp], int]:
    """Return the group of each sample, the same for identical samples, and the number of repeated samples.

    Samples without features are not repeated samples.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.model_selection.similarity import group_identical
    >>> groups, n_repeated = group_identical(np.array([7, 0, 7, 0], dtype=np.uint64))
    >>> n_repeated, bool(groups[0] == groups[2]), bool(groups[1] == groups[3])
    (1, True, False)
    """
    _, first, groups = np.unique(hashes, return_index=True, return_inverse=True)
    groups = first[groups]
    empty = hashes == 0
    groups[empty] = np.flatnonzero(empty)
    return groups, len(groups) - len(np.unique(groups))


def copied_groups(X: Any, signs: NDArray[np.int8], n_folds: int) -> _Indices | None:
    """Return groups of copies for `make_folds`; None if there are none, or if X is not numeric.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Samples.
    signs, n_folds
        As in `find_similar`.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.model_selection.similarity import copied_groups
    >>> copied_groups([[1.0], [2.0], [1.0]], np.array([[1], [-1], [1]]), 2).tolist()
    [0, 1, 0]
    """
    X = X if sp.issparse(X) else np.asarray(X)
    if X.ndim != 2 or X.dtype.kind not in "fiub" or X.shape[1] == 0:
        return None
    found = find_similar(X, signs, n_folds)
    return found.groups if found.together else None


def _bits(values: NDArray[Any]) -> NDArray[np.uint64]:
    """Return the bits of numbers as integers; those of 0 are 0."""
    values = np.ascontiguousarray(values, dtype=np.float64) + 0.0  # -0.0 becomes 0.0
    bits: NDArray[np.uint64] = values.view(np.uint64)
    # Floating-point numbers with few digits have zeros at the end, so products alone would collide.
    return bits ^ (bits >> np.uint64(31))
