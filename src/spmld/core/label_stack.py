"""Linear models of labels with few observed entries, side by side in one matrix.

A label is fitted on the rows where it is observed and the features that occur there. Products with so few values take
less time than the calls of the functions, so that several labels are fitted at the same time: their features are the
diagonal blocks of one sparse matrix, and their coefficients, labels and scores are the columns of arrays, padded to the
same length. Padded entries have weight 0, and padded coefficients stay 0.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from spmld._arrays import Array, Matrix, n_values
from spmld.core.linear_objective import LinearObjective, StackedFeatures
from spmld.core.problem import Block

MAX_VALUES = 2**18
"""Maximum number of values of X in a stack of several labels."""
MAX_COEFFICIENTS = 2**17
"""Maximum number of coefficients in a stack of several labels."""


@dataclass(frozen=True)
class LabelStacks:
    """Groups of labels that are fitted side by side.

    Parameters
    ----------
    objective : LinearObjective
        Objective with the design `Features` and one row block, which stores the observed entries only.
    block : Block
        The row block.
    by_label : csc_array
        The index of each entry at its row and label.
    max_values, max_coefficients : int
        Limits of a stack of several labels.
    """

    objective: LinearObjective
    block: Block
    by_label: sp.csc_array
    max_values: int = MAX_VALUES
    max_coefficients: int = MAX_COEFFICIENTS

    @classmethod
    def of(cls, objective: LinearObjective) -> "LabelStacks":
        """Return the stacks of an objective."""
        block: Any
        (block,) = objective.problem.blocks
        block = replace(block, X=_with_ones(block.X, objective.penalty.intercept))
        return cls(objective, block, block.entries.matrix(np.arange(block.Y.shape[0])).tocsc())

    def groups(self) -> Iterator[Array]:
        """Return groups of labels with similar numbers of observed entries."""
        counts = np.diff(self.by_label.indptr)
        X = self.block.X
        # Dense features would be stored as sparse ones, whose products take longer.
        cost = (1 if sp.issparse(X) else 4) * n_values(X) / max(1, X.shape[0])
        left = np.argsort(-counts, kind="stable")
        while len(left):
            values = max(1.0, cost * counts[left[0]])
            size = max(1, int(min(self.max_values / values, self.max_coefficients / min(values, X.shape[1]))))
            yield left[:size]
            left = left[size:]

    def select(self, labels: Array, dtype: Any) -> tuple[LinearObjective, tuple[Array, Array]]:
        """Return the objective of some labels, and the rows and columns of its coefficients in those of all labels.

        Labels and weights are of the given type. Padded coefficients have the row after the last one.
        """
        objective = self.objective
        block = self.block
        index = self.by_label[:, labels]
        g = len(labels)
        counts = np.diff(index.indptr)
        label = np.repeat(np.arange(g), counts)
        slot = np.arange(len(label)) - index.indptr[label]

        def pad(values: Array) -> Array:
            """Return values of the entries as an array with a column for each label."""
            padded = np.zeros((g, counts.max()), dtype=values.dtype)
            padded[label, slot] = values
            return padded.T

        Y, J, rows = (pad(values) for values in (block.Y[index.data], block.J[index.data], index.indices))
        X = block.X[index.indices]
        if g == 1 and not sp.issparse(X):
            features = np.arange(X.shape[1])[None, :]
        else:
            X, features = _diagonal_blocks(sp.csr_array(X), label, label * len(Y) + slot, Y.shape)
        stacked = Block(X, Y.astype(dtype), J.astype(dtype), np.zeros(len(Y), dtype=np.int8))
        offsets = tuple(offset if isinstance(offset, float) else offset[labels] for offset in objective.offsets)
        part = replace(
            objective,
            problem=replace(objective.problem, blocks=(stacked,)),
            losses=tuple(loss.at(rows, labels) for loss in objective.losses),
            design=StackedFeatures(),
            offsets=offsets,
        )
        return part, (features.T, labels[None, :])  # in column-major order, as scores


def _with_ones(X: Any, intercept: bool) -> Matrix:
    """Return X with a last column of ones, if there is an intercept."""
    if not intercept:
        return X
    ones = np.ones((X.shape[0], 1), dtype=X.dtype)
    return sp.hstack([X, sp.csr_array(ones)], format="csr") if sp.issparse(X) else np.concatenate([X, ones], axis=1)


def _diagonal_blocks(X: sp.csr_array, label: Array, row: Array, shape: tuple[int, int]) -> tuple[sp.csr_array, Array]:
    """Return the features of each label as a diagonal block, and the features of its columns, (g, width).

    A block has columns for the features that occur. Narrower blocks are padded in front, with the feature after the
    last one. `row` is the row of each sample among the m padded samples of the g labels.
    """
    m, g = shape
    d = X.shape[1]
    place = X.indices + np.repeat(d * label, np.diff(X.indptr))
    occurs = np.zeros(g * d, dtype=bool)
    occurs[place] = True
    occurring = np.flatnonzero(occurs)
    first = np.searchsorted(occurring, d * np.arange(g + 1))
    width = max(1, int(np.diff(first).max()))
    owner, feature = divmod(occurring, d)
    position = np.arange(len(occurring)) + (width * np.arange(1, g + 1) - first[1:])[owner]
    column = np.zeros(g * d, dtype=np.int32)
    features = np.full(g * width, d)
    column[occurring] = position
    features[position] = feature
    starts = np.zeros(g * m + 1, dtype=np.int32)
    starts[row + 1] = np.diff(X.indptr)
    starts = np.cumsum(starts, dtype=np.int32)
    return sp.csr_array((X.data, column[place], starts), shape=(g * m, g * width)), features.reshape(g, width)
