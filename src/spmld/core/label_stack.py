"""Linear models of labels with few observed entries, side by side in one matrix.

A label is fitted on the rows where it is observed and the features that occur there. Products with so few values take
less time than the calls of the functions, so that several labels are fitted at the same time: their features are the
diagonal blocks of one sparse matrix, and their coefficients, labels and scores are the columns of arrays, padded to the
same length. Padded entries have weight 0, and padded coefficients stay 0.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from spmld._arrays import n_values
from spmld.core.designs import Features, StackedFeatures
from spmld.core.linear_objective import LinearObjective
from spmld.core.losses import Array
from spmld.core.problem import Block

MAX_VALUES = 2**18
"""Maximum number of values of X in a stack of several labels."""
MAX_COEFFICIENTS = 2**15
"""Maximum number of coefficients in a stack of several labels."""


class _Observed(NamedTuple):
    """The observed entries of the labels of a stack in one block, label by label."""

    rows: Array
    entries: Array
    """Index in the arrays of entries of the block."""
    label: Array
    """Position of the label in the stack."""
    slot: Array
    """Position among the entries of the label."""
    shape: tuple[int, int]
    """Number of labels, and largest number of entries of a label."""


@dataclass(frozen=True)
class LabelStacks:
    """Groups of labels that are fitted side by side.

    Parameters
    ----------
    objective : LinearObjective
        Objective with the design `Features`, of which only the observed entries are stored.
    intercept : bool
        Whether there are intercepts.
    by_label : tuple of csc_array
        For each block, the index of each entry at its row and label.
    """

    objective: LinearObjective
    intercept: bool
    by_label: tuple[sp.csc_array, ...]

    @classmethod
    def of(cls, objective: LinearObjective) -> "LabelStacks":
        """Return the stacks of an objective."""
        if not isinstance(objective.design, Features):
            name = type(objective.design).__name__
            raise TypeError(f"the labels of a design of type {name} cannot be fitted on their observed entries")
        by_label = objective.problem.map(lambda block: block.entries.matrix(np.arange(block.Y.shape[0])).tocsc())
        return cls(objective, objective.design.intercept, by_label)

    @property
    def _n_features(self) -> int:
        return int(self.objective.problem.blocks[0].X.shape[1])

    def groups(self) -> Iterator[Array]:
        """Return groups of labels with similar numbers of observed entries."""
        problem, counts = self.objective.problem, sum(np.diff(index.indptr) for index in self.by_label)
        # Dense features would be stored as sparse ones, whose products take longer.
        factors = [1 if sp.issparse(block.X) else 4 for block in problem.blocks]
        cost = sum(f * n_values(block.X) for f, block in zip(factors, problem.blocks, strict=True)) / max(1, problem.n)
        left = np.argsort(-counts, kind="stable")
        while len(left):
            values = max(1.0, cost * counts[left[0]])
            size = max(1, int(min(MAX_VALUES / values, MAX_COEFFICIENTS / min(values, self._n_features))))
            yield left[:size]
            left = left[size:]

    def select(self, labels: Array) -> tuple[LinearObjective, tuple[Array, Array]]:
        """Return the objective of some labels, and the rows and columns of its coefficients in those of all labels.

        Padded coefficients have the row after the last one.
        """
        objective, g, intercept = self.objective, len(labels), self.intercept
        observed = [_select(index, labels) for index in self.by_label]
        X = [block.X[part.rows] for block, part in zip(objective.problem.blocks, observed, strict=True)]
        X = X if g == 1 else [sp.csr_array(features) for features in X]
        places = [
            _places(features, part, self._n_features + intercept) for features, part in zip(X, observed, strict=True)
        ]
        column, rows = _arrange(places, g, self._n_features, intercept)
        width = rows.shape[1]

        def stack(block: Block, features: Any, place: Any, part: _Observed) -> Block:
            if sp.issparse(features):
                A = _diagonal_blocks(features, column[place], part, width, intercept)
            else:
                A = np.concatenate([features, np.ones((len(features), int(intercept)), features.dtype)], axis=1)
            Y, J = (np.zeros(part.shape, dtype=values.dtype) for values in (block.Y, block.J))
            Y[part.label, part.slot], J[part.label, part.slot] = block.Y[part.entries], block.J[part.entries]
            return Block(A, Y.T, J.T, np.zeros(part.shape[1], dtype=np.int8))

        def at_rows(loss: Any, part: _Observed) -> Any:
            places = np.zeros(part.shape, dtype=np.int64)
            places[part.label, part.slot] = part.rows
            return loss.at(places.T, labels)

        engine = objective.problem.engine
        problem = replace(objective.problem, blocks=objective.problem.map(stack, X, places, observed))
        losses = engine.map(at_rows, objective.losses, observed)
        offsets = tuple(offset if isinstance(offset, float) else offset[labels] for offset in objective.offsets)
        stacked = replace(objective, problem=problem, losses=losses, design=StackedFeatures(), offsets=offsets)
        return stacked, (rows.T, labels[None, :])  # in column-major order, as scores


def _select(index: sp.csc_array, labels: Array) -> _Observed:
    """Return the observed entries of some labels."""
    part = index[:, labels]
    counts = np.diff(part.indptr)
    label = np.repeat(np.arange(len(labels)), counts)
    slot = np.arange(len(label)) - part.indptr[label]
    return _Observed(part.indices, part.data, label, slot, (len(labels), int(counts.max())))


def _places(X: Any, part: _Observed, n_features: int) -> Any:
    """Return the index of the label and feature of each value of X among those of all labels of the stack."""
    if not sp.issparse(X):
        return slice(None)
    if part.shape[0] == 1:
        return X.indices
    return X.indices + np.repeat(n_features * part.label, np.diff(X.indptr))


def _arrange(places: list[Any], g: int, d: int, intercept: bool) -> tuple[Array, Array]:
    """Return the column of each label and feature in the stack, and the feature of each coefficient of each label.

    The last coefficient is the intercept. Before it, padded coefficients have the feature after the last one.
    """
    total = d + intercept
    occurs = np.zeros((g, total), dtype=bool)
    occurs[:, d:] = True
    for place in places:
        occurs.reshape(-1)[place] = True
    occurring = np.flatnonzero(occurs)
    label, feature = divmod(occurring, total) if g > 1 else (0, occurring)
    first = np.searchsorted(occurring, total * np.arange(g + 1))
    width = int(np.diff(first).max())
    position = np.arange(len(occurring)) + (width * np.arange(g) - first[:-1])[label]
    if intercept:
        position[first[1:] - 1] = width * np.arange(1, g + 1) - 1
    column, rows = np.zeros(g * total, dtype=np.int32), np.full(g * width, total)
    column[occurring], rows[position] = position, feature
    return column, rows.reshape(g, width)


def _diagonal_blocks(X: Any, columns: Array, part: _Observed, width: int, intercept: bool) -> sp.csr_array:
    """Return the features of each label as a diagonal block, with a last column of ones if there is an intercept."""
    (g, m), data = part.shape, X.data
    if intercept:
        columns = np.insert(columns, X.indptr[1:], width * part.label + width - 1)
        data = np.insert(data, X.indptr[1:], 1)
    starts = np.zeros(g * m + 1, dtype=np.int32)
    starts[part.label * m + part.slot + 1] = np.diff(X.indptr) + intercept
    return sp.csr_array((data, columns, np.cumsum(starts, dtype=np.int32)), shape=(g * m, g * width))
