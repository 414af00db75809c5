"""The objective of models whose scores are linear in their parameters, and its restriction to some labels.

  sum J o loss(Y, scores(B) + offset) + 1/2 <B, penalty(B)>

It is minimized in `newton.py`.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from spmld._arrays import namespace
from spmld.core.designs import Design, Features, Penalty
from spmld.core.losses import Array, Loss
from spmld.core.problem import Block, Problem


@dataclass(frozen=True)
class LinearObjective:
    """The objective and its derivatives; one value per column if columns are independent, else one number."""

    problem: Problem
    losses: tuple[Loss, ...]
    """The loss of each row block."""
    design: Design
    penalty: Penalty
    offsets: tuple[Array | float, ...]
    """For each row block a number, one number per label, or an array with the shape of the labels."""

    @property
    def separable(self) -> bool:
        """Whether the columns of B are independent problems."""
        return self.design.separable and self.penalty.separable

    def columns(self, keep: Array | slice) -> "LinearObjective":
        """Return the objective of some columns of B. All entries must be stored."""

        def part(block: Block) -> Block:
            return Block(block.X, block.Y[:, keep], block.J[:, keep], block.group)

        offsets = tuple(offset if isinstance(offset, float) else offset[..., keep] for offset in self.offsets)
        problem = replace(self.problem, blocks=self.problem.map(part))
        losses = tuple(loss.columns(keep) for loss in self.losses)
        return replace(self, problem=problem, losses=losses, design=self.design.columns(keep), offsets=offsets)

    def label(self, j: int, by_label: tuple[sp.csc_array, ...]) -> tuple["LinearObjective", Any]:
        """Return the objective of one label on its observed rows, and which rows of B occur in it.

        Only the observed entries must be stored, see `entries_by_label`, and the design must be `Features`. Features
        that are 0 in these rows do not occur; their coefficients are 0.
        """
        if not isinstance(self.design, Features):
            raise TypeError(f"the labels of a design of type {type(self.design).__name__} cannot be fitted one by one")

        def part(block: Block, loss: Loss, index: sp.csc_array) -> tuple[Block, Loss]:
            column = slice(index.indptr[j], index.indptr[j + 1])
            rows, entries = index.indices[column], index.data[column]
            labels = Block(block.X[rows], block.Y[entries, None], block.J[entries, None], block.group[rows])
            return labels, loss.columns(slice(j, j + 1)).rows(rows)

        blocks, losses = zip(*self.problem.map(part, self.losses, by_label), strict=True)
        offsets = tuple(offset if isinstance(offset, float) else offset[j : j + 1] for offset in self.offsets)
        blocks, occurring = self.design.occurring(blocks)
        return replace(self, problem=replace(self.problem, blocks=blocks), losses=losses, offsets=offsets), occurring

    def as_real(self, like: Array) -> "LinearObjective":
        """Convert labels and weights to the type of the scores once, instead of in every product."""
        xp = namespace(like)

        def part(block: Block) -> Block:
            return replace(block, Y=xp.astype(block.Y, like.dtype), J=xp.astype(block.J, like.dtype))

        return replace(self, problem=replace(self.problem, blocks=self.problem.map(part)))

    def total(self, A: Array) -> Array:
        """Return column sums, or the sum of all entries if the columns are not independent."""
        return namespace(A).sum(A, axis=0 if self.separable else None)

    def norm(self, G: Array) -> Array:
        return namespace(G).sqrt(self.total(G * G))

    def scores_at_zero(self, B: Array) -> tuple[Array, ...]:
        """Return the scores at B = 0."""
        xp = namespace(B)

        def zeros(block: Block, offset: Array | float) -> Array:
            scores = xp.zeros(block.Y.shape, dtype=B.dtype, device=B.device)
            return scores + (offset if isinstance(offset, float) else block.entries.spread(offset))

        return self.problem.map(zeros, self.offsets)

    def scores(self, B: Array) -> tuple[Array, ...]:
        def add(block: Block, offset: Array) -> Array:
            return self.design.scores(block, B) + offset

        return self.problem.map(add, self.scores_at_zero(B))

    def value(self, B: Array, S: tuple[Array, ...]) -> Array:
        fit = self.problem.sum(lambda block, loss, s: self.total(block.J * loss.value(block.Y, s)), self.losses, S)
        return fit + 0.5 * self.total(B * self.penalty.slope(B))

    def derivatives(self, B: Array, S: tuple[Array, ...]) -> tuple[Array, tuple[Array, ...]]:
        """Return the gradient and the curvature in each score.

        A lower bound on the curvature keeps directions finite where all scores of a label are large.
        """

        def differentiate(block: Block, loss: Loss, s: Array) -> tuple[Array, Array]:
            slope, curvature = loss.derivatives(block.Y, s)
            return self.design.pull(block, block.J * slope), block.J * (curvature + 1e-6)

        parts = self.problem.map(differentiate, self.losses, S)
        return sum(G for G, _ in parts) + self.penalty.slope(B), tuple(C for _, C in parts)

    def diagonal(self, B: Array, C: tuple[Array, ...]) -> Array:
        """Return the diagonal of the Hessian for the curvatures C."""
        return self.problem.sum(self.design.squares, C) + self.penalty.diagonal(B)

    def hessian_product(self, C: tuple[Array, ...], D: Array) -> Array:
        """Return the Hessian for the curvatures C, applied to D."""

        def product(block: Block, c: Array) -> Array:
            return self.design.pull(block, c * self.design.scores(block, D))

        return self.problem.sum(product, C) + self.penalty.slope(D)


def entries_by_label(problem: Problem) -> tuple[sp.csc_array, ...]:
    """Return for each block, in which only the observed entries are stored, the index of its entries by label."""
    return problem.map(lambda block: block.entries.matrix(np.arange(block.Y.shape[0])).tocsc())
