"""The functions of `tree_growth`, compiled by numba without the GIL. Equal results are tested."""
# mypy: allow-untyped-defs

from typing import Any

import numpy as np

from spmld.estimators.feature_codes import N_CODES, FeatureCodes
from spmld.estimators.tree_growth import Draws, Nodes, TreeKernels

BATCH = 1024
"""Number of samples whose codes and targets stay in the cache of the CPU."""
GROUP = 4
"""Number of targets that are summed at the same time."""
LANES = 64
"""Number of samples that are summed at the same time; the last ones are followed by codes above all cuts."""


def _compiled(function: Any) -> Any:
    """Return the function, compiled when it is first called; the next process reads it from a cache."""
    try:
        from numba import njit
    except ImportError:  # the module can be imported without the extra "fast"
        return function
    try:
        return njit(cache=True, nogil=True)(function)
    except RuntimeError:  # no folder can be written to
        return njit(nogil=True)(function)


class CompiledTreeKernels(TreeKernels):
    """The compiled functions.

    Examples
    --------
    See `TreeKernels`.
    """

    def grow(self, coded: FeatureCodes, rows: Any, targets: Any, draws: Draws, max_depth: int, min_leaf: int) -> Nodes:
        """Return a tree that is grown on integer targets of some samples."""
        groups = np.zeros((len(rows), -(-targets.shape[1] // GROUP) * GROUP), np.int32)
        groups[:, : targets.shape[1]] = targets
        return Nodes(*_grow(_arrays(coded), rows, groups, *draws, max_depth, min_leaf))

    def route(self, coded: FeatureCodes, rows: Any, nodes: Nodes) -> Any:
        """Return the leaves of samples."""
        return _route(_arrays(coded), rows, nodes.feature, nodes.cut, nodes.left)

    def leaf_sums(self, leaves: Any, n_nodes: int, values: Any) -> Any:
        """Return the sums of the rows of values in each leaf."""
        return _leaf_sums(leaves, n_nodes, values)

    def add_leaves(self, scores: Any, leaves: Any, values: Any) -> None:
        """Add the values of the leaves to the scores."""
        _add_leaves(scores, leaves, values)


def _arrays(coded: FeatureCodes) -> Any:
    """Return the codes as dense array, and as arrays of the CSR format; one of them is empty."""
    codes = coded.codes
    if isinstance(codes, np.ndarray):
        none = np.zeros(0, np.int32)
        return codes, none, none, np.zeros(0, np.uint16), coded.of_zero
    return np.zeros((0, 0), np.uint16), codes.indptr, codes.indices, codes.data, coded.of_zero


@_compiled
def _read_codes(arrays, rows, features, places, codes):
    """Write the codes of some features of some samples into the rows of an array, and return their bounds."""
    dense, starts, columns, differences, of_zero = arrays
    if len(dense):
        for i in range(len(rows)):
            of_sample = dense[rows[i]]
            for j in range(len(features)):
                codes[j, i] = of_sample[features[j]]
        return
    for j in range(len(features)):
        places[features[j]] = j
        codes[j, : len(rows)] = of_zero[features[j]]
    for i in range(len(rows)):
        for k in range(starts[rows[i]], starts[rows[i] + 1]):
            j = places[columns[k]]
            if j >= 0:
                codes[j, i] += differences[k]
    for j in range(len(features)):
        places[features[j]] = -1


@_compiled
def _add_sums(codes, cut, targets, sums):
    """Add the sums of the targets of the samples on the left, and return the number of these samples."""
    n_left = np.int32(0)
    for i in range(len(codes)):
        n_left = np.int32(n_left + np.int32(codes[i] <= cut))
    for k in range(0, len(targets), GROUP):
        first, second, third, fourth = targets[k], targets[k + 1], targets[k + 2], targets[k + 3]
        a = b = c = d = np.int32(0)
        for i in range(len(codes)):  # without branches, in integers of 32 bits: the compiler uses vectors
            mask = -np.int32(codes[i] <= cut)
            a = np.int32(a + (mask & first[i]))
            b = np.int32(b + (mask & second[i]))
            c = np.int32(c + (mask & third[i]))
            d = np.int32(d + (mask & fourth[i]))
        sums[k] += a
        sums[k + 1] += b
        sums[k + 2] += c
        sums[k + 3] += d
    return n_left


@_compiled
def _sum_left(codes, cuts, targets, members, batch, sums, counts):
    """Write the sums of the targets, and the numbers, of the samples on the left of each cut."""
    sums[:] = 0
    counts[:] = 0
    for start in range(0, len(members), BATCH):
        stop = min(start + BATCH, len(members))
        for i in range(start, stop):
            of_sample = targets[members[i]]
            for k in range(len(of_sample)):
                batch[k, i - start] = of_sample[k]
        end = start + -(-(stop - start) // LANES) * LANES
        for j in range(len(cuts)):
            codes[j, stop:end] = N_CODES - 1
            counts[j] += _add_sums(codes[j][start:end], cuts[j], batch, sums[j])


@_compiled
def _draw_cuts(codes, size, uniforms, cuts):
    """Write cuts between the lowest and the highest code of each feature."""
    for j in range(len(cuts)):
        of_feature = codes[j][:size]
        low = high = of_feature[0]
        for i in range(len(of_feature)):
            low = min(low, of_feature[i])
            high = max(high, of_feature[i])
        cuts[j] = low + np.uint16(uniforms[j] * (high - low))


@_compiled
def _best_cut(sums, counts, totals, size, min_leaf):
    """Return the number of the feature with the largest gain, or -1 without a valid split."""
    best = -1
    best_gain = -1.0
    for j in range(len(counts)):
        if counts[j] < min_leaf or size - counts[j] < min_leaf:
            continue
        of_left = of_right = 0
        for k in range(len(totals)):
            right = totals[k] - sums[j, k]
            of_left += sums[j, k] * sums[j, k]
            of_right += right * right
        gain = of_left / counts[j] + of_right / (size - counts[j])
        if gain > best_gain:
            best = j
            best_gain = gain
    return best


@_compiled
def _partition(members, codes, cut, other):
    """Move the samples on the left to the front; both sides keep their order. Return the number on the left."""
    n_left = n_right = 0
    for i in range(len(members)):
        sample = members[i]
        is_left = codes[i] <= cut
        members[n_left] = sample
        other[n_right] = sample
        n_left += is_left
        n_right += not is_left
    for i in range(n_right):
        members[n_left + i] = other[i]
    return n_left


@_compiled
def _grow(arrays, rows, targets, features, uniforms, max_depth, min_leaf):
    n_considered = features.shape[1]
    max_nodes = 2 * len(features) + 1
    feature, cut, left = np.zeros((3, max_nodes), np.int64)
    starts, stops, depths = np.zeros((3, max_nodes), np.int64)
    stops[0] = len(rows)
    n_targets = targets.shape[1]
    totals = np.zeros((max_nodes, n_targets), np.int64)
    for i in range(len(targets)):
        for k in range(n_targets):
            totals[0, k] += targets[i, k]
    members, other = np.arange(len(rows)), np.empty(len(rows), np.int64)
    codes = np.empty((n_considered, len(rows) + LANES), np.uint16)
    batch = np.zeros((n_targets, BATCH), np.int32)
    places = np.full(len(arrays[4]), -1)
    cuts, counts = np.empty(n_considered, np.uint16), np.empty(n_considered, np.int64)
    sums = np.empty((n_considered, n_targets), np.int64)
    n_nodes, visited, node = 1, 0, 0
    while node < n_nodes:
        left[node] = node
        inside = members[starts[node] : stops[node]]
        size = len(inside)
        if depths[node] < max_depth and size >= 2 * min_leaf:
            _read_codes(arrays, rows[inside], features[visited], places, codes)
            _draw_cuts(codes, size, uniforms[visited], cuts)
            _sum_left(codes, cuts, targets, inside, batch, sums, counts)
            best = _best_cut(sums, counts, totals[node], size, min_leaf)
            if best >= 0:
                feature[node], cut[node], left[node] = features[visited, best], cuts[best], n_nodes
                middle = starts[node] + _partition(inside, codes[best], cuts[best], other)
                starts[n_nodes], stops[n_nodes] = starts[node], middle
                starts[n_nodes + 1], stops[n_nodes + 1] = middle, stops[node]
                depths[n_nodes] = depths[n_nodes + 1] = depths[node] + 1
                for k in range(n_targets):
                    totals[n_nodes, k] = sums[best, k]
                    totals[n_nodes + 1, k] = totals[node, k] - sums[best, k]
                n_nodes += 2
            visited += 1
        node += 1
    leaves = np.empty(len(rows), np.int64)
    for node in range(n_nodes):
        if left[node] == node:
            leaves[members[starts[node] : stops[node]]] = node
    count = stops[:n_nodes] - starts[:n_nodes]
    return feature[:n_nodes], cut[:n_nodes], left[:n_nodes], count, leaves, depths[n_nodes - 1]


@_compiled
def _route(arrays, rows, feature, cut, left):
    dense, starts, columns, differences, of_zero = arrays
    leaves = np.zeros(len(rows), np.int64)
    for i in range(len(rows)):
        row = rows[i]
        node = 0
        while left[node] != node:
            if len(dense):
                code = dense[row, feature[node]]
            else:
                code = of_zero[feature[node]]
                k = _find(columns, starts[row], starts[row + 1], feature[node])
                if k >= 0:
                    code = np.uint16(code + differences[k])
            node = left[node] + (code > cut[node])
        leaves[i] = node
    return leaves


@_compiled
def _find(values, start, stop, value):
    """Return the index of a value in a sorted part of an array, or -1."""
    while start < stop:
        middle = (start + stop) // 2
        if values[middle] == value:
            return middle
        if values[middle] < value:
            start = middle + 1
        else:
            stop = middle
    return -1


@_compiled
def _leaf_sums(leaves, n_nodes, values):
    sums = np.zeros((n_nodes, values.shape[1]))
    for i in range(len(leaves)):
        for j in range(values.shape[1]):
            sums[leaves[i], j] += values[i, j]
    return sums


@_compiled
def _add_leaves(scores, leaves, values):
    for i in range(len(leaves)):
        for j in range(values.shape[1]):
            scores[i, j] += values[leaves[i], j]
