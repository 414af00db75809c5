"""Isotonic projection: the nearest numbers that do not increase from a label to its children.

In a forest, where a label has at most one parent, the projection pools blocks of adjacent violators: from the leaves to
the roots, the block of a label absorbs the largest block below it while that is larger than its own mean. All samples
are processed together. A hierarchy in which labels have several parents is an intersection of forests. Dykstra's
algorithm alternates between the projections onto them.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

PROJECTION_TOL = 1e-10
"""Change of the values at which Dykstra's algorithm stops."""
MAX_CYCLES = 10_000
_Floats = NDArray[np.float64]
_Indices = NDArray[np.intp]


def project(values: _Floats, parents: Sequence[Sequence[int]], order: Sequence[int], weights: _Floats) -> _Floats:
    """Return the nearest values with ``value[child] <= value[parent]``, by weighted least squares.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_labels)
        Values to project.
    parents : sequence of length n_labels
        Indices of the parents of each label.
    order : sequence of int
        Indices of the labels, parents before children.
    weights : ndarray of shape (n_labels,)
        Positive weights of the labels.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.labels.isotonic import project
    >>> project(np.array([[0.2, 0.6, 0.3]]), [[], [0], [1]], [0, 1, 2], np.ones(3))
    array([[0.4, 0.4, 0.3]])
    """
    values = np.array(values, dtype=float)
    edges = [(child, parent) for child, above in enumerate(parents) for parent in above]
    if not edges:
        return values
    lower, upper = np.array(edges).T
    rows = np.flatnonzero((values[:, lower] > values[:, upper]).any(axis=1))
    forests = [
        np.array([above[k] if k < len(above) else -1 for above in parents]) for k in range(max(map(len, parents)))
    ]
    if len(forests) == 1:
        values[rows] = _project_forest(values[rows], forests[0], order, weights)
        return values
    x = values[rows]
    corrections = [np.zeros((len(rows), values.shape[1])) for _ in forests]
    for _ in range(MAX_CYCLES):
        change = 0.0
        for k, forest in enumerate(forests):
            shifted = x + corrections[k]
            x = _project_forest(shifted, forest, order, weights)
            last = corrections[k]
            corrections[k] = shifted - x
            change = max(change, np.abs(corrections[k] - last).max(initial=0.0))
        if change <= PROJECTION_TOL:
            break
    for child in order:  # what remains are violations within the tolerance
        if len(parents[child]):
            x[:, child] = np.minimum(x[:, child], x[:, parents[child]].min(axis=1))
    values[rows] = x
    return values


def _project_forest(values: _Floats, parent: _Indices, order: Sequence[int], weights: _Floats) -> _Floats:
    """Return the projection onto the forest with one parent for each label, -1 for roots."""
    mean = values.copy()
    weight = np.tile(weights, (len(values), 1))
    head = np.tile(np.arange(values.shape[1]), (len(values), 1))  # the top label of the block of each label
    below: dict[int, list[int]] = {label: [] for label in order}
    for label in reversed(order):
        if (above := int(parent[label])) >= 0:
            below[above] += [label, *below[label]]
        members = np.array(below[label], dtype=np.intp)
        rows = np.arange(len(values) if len(members) else 0)
        while len(rows):
            blocks = head[np.ix_(rows, members)]
            # Blocks that are next to that of the label: their top is a child of one of its members.
            adjacent = (blocks == members) & (head[rows][:, parent[members]] == label)
            candidates = np.where(adjacent, mean[np.ix_(rows, members)], -np.inf)
            largest = candidates.argmax(axis=1)
            violating = candidates[np.arange(len(rows)), largest] > mean[rows, label]
            rows = rows[violating]
            block = members[largest[violating]]
            blocks = blocks[violating]
            weight[rows, label] += weight[rows, block]
            step = (mean[rows, block] - mean[rows, label]) * weight[rows, block] / weight[rows, label]
            mean[rows, label] += step
            head[np.ix_(rows, members)] = np.where(blocks == block[:, None], label, blocks)
    return np.take_along_axis(mean, head, axis=1)
