"""Label hierarchies: which labels imply others."""

import reprlib
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld._arrays import Matrix
from spmld._validation import did_you_mean, list_names, plural
from spmld.labels.encoding import Labels, read_labels
from spmld.labels.single_class import LabelWarning

PROJECTION_TOL = 1e-10
"""Change of the values at which Dykstra's algorithm stops."""
MAX_EXAMPLES = 3
"""Maximum number of contradictions that a warning lists."""
MAX_CYCLES = 10_000
_Floats = NDArray[np.float64]
_Indices = NDArray[np.intp]


def _project(values: _Floats, parents: Sequence[Sequence[int]], order: Sequence[int], weights: _Floats) -> _Floats:
    """Return the nearest values, by weighted least squares, in which no label exceeds its parents.

    `parents` has the indices of the parents of each label, and `order` lists parents before children.
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


@dataclass(frozen=True, repr=False)
class Hierarchy:
    """Hierarchy of labels: a sample with a label has all its ancestors, too.

    A label may have several parents, and there may be several roots. Labels that are not in the hierarchy have no
    parents and no children.

    Parameters
    ----------
    edges : mapping or iterable of pairs
        The children of each parent, such as ``{"rock": ["metal", "punk"]}``, or pairs (parent, child). Labels without
        names are given by their indices.

    Attributes
    ----------
    edges : tuple of pairs
        Pairs (parent, child).
    names : tuple
        Labels of the hierarchy, parents before children.

    Examples
    --------
    >>> from spmld.labels import Hierarchy
    >>> hierarchy = Hierarchy({"music": ["rock", "jazz"], "rock": ["metal"]})
    >>> hierarchy.infer([[None, 1, 0, None], [0, None, None, None]], names=["music", "rock", "metal", "jazz"])
    array([[ 1.,  1.,  0., nan],
           [ 0.,  0.,  0.,  0.]])
    """

    edges: Any

    def __post_init__(self) -> None:
        pairs: Iterable[Any] = self.edges
        if isinstance(pairs, Mapping):
            pairs = [(parent, child) for parent, children in pairs.items() for child in _as_list(children)]
        object.__setattr__(self, "edges", tuple(dict.fromkeys((parent, child) for parent, child in pairs)))
        try:
            self.names  # noqa: B018, a cycle has no order
        except CycleError as error:
            cycle = " > ".join(map(str, reversed(error.args[1])))
            raise ValueError(f"hierarchy must not have a cycle, got {cycle}; remove one of these pairs") from None

    def __repr__(self) -> str:
        return f"Hierarchy({reprlib.repr(self.edges)})"

    @classmethod
    def from_paths(cls, paths: Iterable[str], sep: str = "/") -> "Hierarchy":
        """Return the hierarchy of labels that are paths, such as "genre/rock/metal", below "genre/rock" and "genre".

        Parameters
        ----------
        paths : iterable of str
            Names of labels.
        sep : str, default="/"
            Separator of the parts of a path.

        Examples
        --------
        >>> from spmld.labels import Hierarchy
        >>> Hierarchy.from_paths(["genre/rock/metal", "mood"]).edges
        (('genre', 'genre/rock'), ('genre/rock', 'genre/rock/metal'))
        """
        nodes = [path_nodes(path, sep) for path in paths]
        return cls([pair for path in nodes for pair in pairwise(path)])

    @property
    def names(self) -> tuple[Any, ...]:
        """Labels of the hierarchy, parents before children."""
        graph = TopologicalSorter[Any]()
        for parent, child in self.edges:
            graph.add(child, parent)
        return tuple(graph.static_order())

    def ancestors(self, names: Sequence[Any]) -> NDArray[np.bool_]:
        """Return which labels are ancestors of others.

        Parameters
        ----------
        names : sequence of length n_labels
            Names of the labels, or their indices if they have no names.

        Returns
        -------
        ndarray of bool of shape (n_labels, n_labels)
            True in row i and column j if j is an ancestor of i, or i itself.
        """
        places = {name: j for j, name in enumerate(names)}
        unknown = [name for name in self.names if name not in places]
        if unknown:
            hints = filter(None, (did_you_mean(name, places) for name in unknown))
            hint = next(hints, "; add them to Y, or remove them from the hierarchy")
            listed = f"{plural(len(unknown), 'unknown label')}: {list_names(map(repr, unknown))}"
            accepted = f"the {len(places)} labels of Y, {list_names(map(repr, places))}"
            raise ValueError(f"hierarchy has {listed}; accepted are {accepted}{hint}")
        above = np.eye(len(places), dtype=bool)
        parents: dict[Any, list[int]] = {}
        for parent, child in self.edges:
            parents.setdefault(child, []).append(places[parent])
        for child in self.names:
            above[places[child]] |= above[parents.get(child, [])].any(axis=0)
        return above

    def infer(self, Y: Any, names: Sequence[Any] | None = None) -> Matrix:
        """Fill in the missing labels that others imply, and resolve contradictions.

        The ancestors of a positive label are positive, and the descendants of a negative label are negative. A negative
        label with a positive descendant becomes positive, with a `LabelWarning` that lists such entries: that a label
        was chosen says more than that a more general one was not.

        Parameters
        ----------
        Y : labels in any form accepted by `spmld.labels.read_labels`
            Labels.
        names : sequence of length n_labels, optional
            Names of the labels, by default the columns of a DataFrame, or else indices.

        Returns
        -------
        ndarray or DataFrame of float
            Labels in the encoding of `Y`, NaN where missing.
        """
        labels = read_labels(Y)
        named = labels if names is None else replace(labels, names=list(names))
        return self.infer_labels(named).write_with_missing(Y)

    def infer_labels(self, labels: Labels, samples: Sequence[Any] | None = None) -> Labels:
        """Return the result of `infer` for labels that were read; labels that it changes are not trusted.

        The warning about contradictions has the names of the samples, by default their indices.
        """
        ancestors = self.ancestors(_names(labels))
        positive = (labels.signs > 0).astype(np.float32) @ ancestors > 0
        negative = (labels.signs < 0).astype(np.float32) @ ancestors.T > 0
        contradictions = np.argwhere(positive & (labels.signs < 0))
        if len(contradictions):
            _warn_contradictions(labels, contradictions, ancestors, samples)
        signs = np.where(positive, 1, -negative.astype(np.int8)).astype(np.int8)
        trusted = None if labels.trusted is None else labels.trusted & (signs == labels.signs)
        return replace(labels, signs=signs, trusted=trusted)

    def project(self, values: Any, names: Sequence[Any] | None = None, weights: Any = None) -> NDArray[np.float64]:
        """Return the nearest values in which no label has a larger value than its parents.

        This is the isotonic regression with weighted least squares, of each sample. Coherent samples are unchanged.

        Parameters
        ----------
        values : array-like of shape (n_samples, n_labels)
            Probabilities or other values.
        names : sequence of length n_labels, optional
            Names of the labels, by default their indices.
        weights : array-like of shape (n_labels,), optional
            Positive weights of the labels, by default 1.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)

        Examples
        --------
        >>> from spmld.labels import Hierarchy
        >>> Hierarchy({0: [1, 2]}).project([[0.3, 0.5, 0.1]])
        array([[0.4, 0.4, 0.1]])
        """
        values = np.asarray(values, dtype=float)
        ancestors = self.ancestors(range(values.shape[1]) if names is None else names)
        strict = ancestors & ~np.eye(len(ancestors), dtype=bool)
        # An edge is redundant if there is a longer path.
        direct = strict & ~(strict.astype(np.float32) @ strict.astype(np.float32) > 0)
        parents = [np.flatnonzero(row).tolist() for row in direct]
        order = np.argsort(strict.sum(axis=1), kind="stable").tolist()
        weights = np.ones(values.shape[1]) if weights is None else np.asarray(weights, dtype=float)
        return _project(values, parents, order, weights)


def path_nodes(path: str, sep: str = "/") -> list[str]:
    """Return the label of a path after its ancestors.

    Examples
    --------
    >>> from spmld.labels.hierarchy import path_nodes
    >>> path_nodes("genre / rock/metal")
    ['genre', 'genre/rock', 'genre/rock/metal']
    """
    parts = [part.strip() for part in str(path).split(sep) if part.strip()]
    return [sep.join(parts[: k + 1]) for k in range(len(parts))]


def inference_weights(labels: Labels, inferred: Labels) -> NDArray[np.float64]:
    """Return weights with which labels that were filled in keep their frequencies among the observed entries.

    Positives of general labels and negatives of specific ones are filled in more often than others, so that labels
    which are filled in are not representative, even if entries are observed at random.

    Parameters
    ----------
    labels, inferred : Labels
        Labels before and after `Hierarchy.infer_labels`.

    Returns
    -------
    ndarray of shape (n_samples, n_labels)
        Weights of the positives and of the negatives of each label, 0 where a label is missing.

    Examples
    --------
    >>> from spmld.labels import Hierarchy, read_labels
    >>> from spmld.labels.hierarchy import inference_weights
    >>> labels = read_labels([[1, None], [0, 0], [None, 1], [None, 1]])
    >>> inference_weights(labels, Hierarchy({0: [1]}).infer_labels(labels)).round(2)
    array([[0.78, 0.  ],
           [1.67, 1.  ],
           [0.78, 1.  ],
           [0.78, 1.  ]])
    """
    positive, negative = inferred.signs > 0, inferred.signs < 0
    frequency = positive.sum(axis=0) / np.maximum(inferred.observed.sum(axis=0), 1)
    # The frequency after inference counts as one more entry, since some labels have few observed ones.
    target = ((positive & labels.observed).sum(axis=0) + frequency) / (labels.observed.sum(axis=0) + 1)
    limit = 1 / (len(positive) + 1)  # below the frequency of any class
    return positive * target / np.maximum(frequency, limit) + negative * (1 - target) / np.maximum(1 - frequency, limit)


def _names(labels: Labels) -> list[Any]:
    return list(range(labels.shape[1])) if labels.names is None else labels.names


def _as_list(children: Any) -> list[Any]:
    return [children] if isinstance(children, str | int) else list(children)


def _warn_contradictions(
    labels: Labels, entries: NDArray[np.intp], ancestors: NDArray[np.bool_], samples: Sequence[Any] | None
) -> None:
    """Warn about negative entries with a positive descendant."""
    names = _names(labels)
    listed = []
    for sample, label in entries[:MAX_EXAMPLES]:
        descendant = np.flatnonzero((labels.signs[sample] > 0) & ancestors[:, label])[0]
        listed.append(
            f"sample {sample if samples is None else samples[sample]}: {names[descendant]!r} without {names[label]!r}"
        )
    examples = "; ".join(listed) + ("; ..." if len(entries) > MAX_EXAMPLES else "")
    warnings.warn(
        f"{plural(len(entries), 'negative label')} with a positive descendant became positive ({examples})",
        LabelWarning,
        stacklevel=4,
    )
