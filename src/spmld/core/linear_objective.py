"""Models whose scores are linear in their parameters B: designs, penalties, and the objective.

  sum J o loss(Y, scores(B) + offset) + 1/2 <B, penalty(B)>

It is minimized in `newton.py`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp

from spmld._arrays import Array, Matrix, column_squares, namespace
from spmld.core.losses import Loss
from spmld.core.problem import Block, Engine, Problem


@dataclass(frozen=True)
class Features:
    """Scores X W + 1 b^T: one model per label. B is W, (d, l), with b^T below it if there is an intercept."""

    intercept: bool = True
    separable = True
    """Whether column i of the parameters affects only column i of the scores."""

    def scores(self, block: Block, B: Array) -> Array:
        """Return the scores, (n, l)."""
        return block.X @ B[:-1, :] + B[-1, :] if self.intercept else block.X @ B

    def pull(self, block: Block, D: Array) -> Array:
        """Apply the adjoint: the gradient in the parameters from slopes D in the scores."""
        return self._stack(block.XT @ D, D)

    def squares(self, block: Block, C: Array) -> Array:
        """Return the diagonal of pull(C o scores(.))."""
        return self._stack(column_squares(block.X, C), C)

    def columns(self, keep: Array | slice) -> "Features":
        """Return the map of some columns, if it is separable."""
        return self

    def features(self, block: Block, keep: Array | slice) -> Matrix:
        """Return the features of some columns."""
        return block.X

    def _stack(self, W: Array, D: Array) -> Array:
        xp = namespace(W)
        return xp.concat([W, xp.sum(D, axis=0, keepdims=True)]) if self.intercept else W


class StackedFeatures:
    """Scores of labels whose features are the diagonal blocks of X, see `label_stack.py`. B has a column per label."""

    separable = True

    def scores(self, block: Block, B: Array) -> Array:
        return _columns(block.X @ _vector(B), B.shape[1])

    def pull(self, block: Block, D: Array) -> Array:
        return _columns(block.XT @ _vector(D), D.shape[1])

    def squares(self, block: Block, C: Array) -> Array:
        return _columns(column_squares(block.X, _vector(C)[:, None]), C.shape[1])

    def columns(self, keep: Array | slice) -> "StackedFeatures":
        return self

    def features(self, block: Block, keep: Any) -> Matrix:
        m, l = block.Y.shape
        g = len(keep)
        width = block.X.shape[1] // l
        X = block.X[(m * keep[:, None] + np.arange(m)).ravel()]
        shifts = np.repeat(np.repeat(width * (keep - np.arange(g)), m), np.diff(X.indptr))
        return sp.csr_array((X.data, X.indices - shifts.astype(np.int32), X.indptr), shape=(g * m, g * width))


def _vector(A: Array) -> Array:
    """Return the columns of an array one after the other."""
    return A.T.reshape(-1)


def _columns(v: Array, count: int) -> Array:
    """Return the array from its `_vector`."""
    return v.reshape(count, -1).T


@dataclass(frozen=True)
class Factored:
    """Scores X W H^T + 1 b^T with H, (l, k), and b given. B is W, (d, k)."""

    H: Array
    separable = False

    def scores(self, block: Block, B: Array) -> Array:
        return block.entries.scores(block.X @ B, self.H)

    def pull(self, block: Block, D: Array) -> Array:
        return block.XT @ block.entries.times(D, self.H)

    def squares(self, block: Block, C: Array) -> Array:
        return column_squares(block.X, block.entries.times(C, self.H * self.H))

    def columns(self, keep: Array | slice) -> NoReturn:
        raise TypeError("a factored model is not separable, because each score depends on all parameters")


@dataclass(frozen=True)
class OtherLabels:
    """Scores Z (B - diag B) + S diag B + 1 b^T: each label from inputs Z of all other labels and its score in S.

    X is Z and S side by side, (n, 2 l). B is (l, l) with b^T below it; its diagonal belongs to S.
    """

    label: Array
    """Index of the label of each column, in increasing order."""
    separable = True

    def scores(self, block: Block, B: Array) -> Array:
        Z, S = self._parts(block)
        W = B[:-1, :]
        return Z @ W + (S - Z[:, self._label_slice()]) * W[self.label, self._columns(B)] + B[-1, :]

    def pull(self, block: Block, D: Array) -> Array:
        Z, S = self._parts(block)
        return self._stack(Z.T @ D, S * D, D)

    def squares(self, block: Block, C: Array) -> Array:
        Z, S = self._parts(block)
        return self._stack(column_squares(Z, C), S * S * C, C)

    def columns(self, keep: Array | slice) -> "OtherLabels":
        return OtherLabels(self.label[keep])

    def features(self, block: Block, keep: Array | slice) -> Matrix:
        return block.X

    def _parts(self, block: Block) -> tuple[Array, Array]:
        l = block.X.shape[1] // 2
        return block.X[:, :l], block.X[:, l:][:, self._label_slice()]

    def _label_slice(self) -> Array | slice:
        """Return the index of the labels, as a slice if they are consecutive, which needs no copies."""
        first, last = int(self.label[0]), int(self.label[-1])
        return slice(first, last + 1) if last - first + 1 == self.label.shape[0] else self.label

    def _columns(self, B: Array) -> Array:
        return namespace(B).arange(B.shape[1], device=B.device)

    def _stack(self, W: Array, diagonal: Array, D: Array) -> Array:
        """Put the slopes of the scores S on the diagonal, and those of the intercepts below."""
        xp = namespace(W)
        W[self.label, self._columns(W)] = xp.sum(diagonal, axis=0)
        return xp.concat([W, xp.sum(D, axis=0, keepdims=True)])


Design = Features | StackedFeatures | Factored | OtherLabels
"""A linear map from parameters to the scores of a row block."""


@dataclass(frozen=True)
class Penalty:
    """t/2 |B|^2 + g/2 tr(W L W^T) with the Laplacian L of a label graph. Intercepts, the last row of B, are free."""

    t: float
    intercept: bool = False
    L: Array | None = None
    g: float = 0.0

    @property
    def separable(self) -> bool:
        return self.L is None or self.g == 0

    def slope(self, B: Array) -> Array:
        """Return the gradient, which is linear in B."""
        slope = self.t * B if self.separable else self.t * B + self.g * (B @ self.L)
        return self._free(slope)

    def diagonal(self, B: Array) -> Array:
        xp = namespace(B)
        diagonal = self.t + xp.zeros_like(B)
        if not self.separable:
            diagonal = diagonal + self.g * xp.linalg.diagonal(self.L)
        return self._free(diagonal)

    def _free(self, A: Array) -> Array:
        """Set the row of the intercepts to 0."""
        if self.intercept:
            A[-1, :] = 0
        return A


def label_laplacian(problem: Problem, like: Array) -> Array:
    """Return the Laplacian D - A of label co-occurrence: A_ij is the cosine of positives where both are observed.

    An entry of weight w counts as w entries.
    """
    xp = namespace(like)

    def counts(block: Block) -> tuple[Array, Array]:
        root = xp.sqrt(xp.astype(block.J, like.dtype))
        positive = root * xp.astype(block.Y > 0, like.dtype)
        observed = xp.astype(block.J != 0, like.dtype)
        return positive.T @ positive, (positive * positive).T @ observed

    both, single = problem.sum(counts)
    scale = xp.sqrt(single * single.T)
    A = xp.where(scale > 0, both / xp.where(scale > 0, scale, xp.ones_like(scale)), xp.zeros_like(scale))
    return xp.sum(A, axis=1) * xp.eye(A.shape[0], dtype=A.dtype, device=A.device) - A


MIN_CURVATURE = 1e-6
"""Added to the curvature in each score, so that directions are finite where all scores of a label are large."""


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

    @property
    def rounded(self) -> Callable[[Array], Array]:
        """Function that rounds directions and their sums to be sent; alternating updates of factors need all digits."""
        return self.problem.engine.rounded if self.separable else Engine.rounded

    def columns(self, keep: Array | slice, dtype: Any) -> "LinearObjective":
        """Return the objective of some columns of B. All entries must be stored.

        Labels and weights are converted to the type of the scores once, instead of in every product.
        """
        design = self.design.columns(keep)

        def part(block: Block) -> Block:
            xp = namespace(block.Y)
            Y, J = (xp.astype(A[:, keep], dtype, copy=False) for A in (block.Y, block.J))
            return Block(design.features(block, keep), Y, J, block.group)

        offsets = tuple(offset if isinstance(offset, float) else offset[..., keep] for offset in self.offsets)
        problem = replace(self.problem, blocks=self.problem.map(part))
        losses = tuple(loss.columns(keep) for loss in self.losses)
        return replace(self, problem=problem, losses=losses, design=design, offsets=offsets)

    def total(self, A: Array) -> Array:
        """Return column sums, or the sum of all entries if the columns are not independent."""
        return namespace(A).sum(A, axis=0 if self.separable else None)

    def norm(self, G: Array) -> Array:
        """Return the norms of the columns of G, or its norm; squares of finite values do not overflow."""
        xp = namespace(G)
        unit = (float(xp.max(xp.abs(G))) if G.shape[0] else 0.0) or 1.0
        return unit * xp.sqrt(self.total((G / unit) ** 2))

    def scores_at_zero(self, B: Array, intercepts: Array | float = 0.0) -> tuple[Array, ...]:
        """Return the scores at B = 0, plus the intercepts of the columns."""
        xp = namespace(B)

        def zeros(block: Block, offset: Array | float) -> Array:
            scores = xp.zeros_like(block.Y, dtype=B.dtype)
            for term in (offset, intercepts):
                scores = scores + (term if isinstance(term, float) else block.entries.spread(term))
            return scores

        return self.problem.map(zeros, self.offsets)

    def scores(self, B: Array) -> tuple[Array, ...]:
        return self.problem.map(lambda block, offset: self.design.scores(block, B) + offset, self.scores_at_zero(B))

    def value(self, B: Array, S: tuple[Array, ...]) -> Array:
        fit = self.problem.sum(lambda block, loss, s: self.total(block.J * loss.value(block.Y, s)), self.losses, S)
        return fit + self.total(B * (0.5 * self.penalty.slope(B)))

    def derivatives(self, B: Array, S: tuple[Array, ...]) -> tuple[Array, tuple[Array, ...]]:
        """Return the gradient and the curvature in each score."""

        def differentiate(block: Block, loss: Loss, s: Array) -> tuple[Array, Array]:
            slope, curvature = loss.derivatives(block.Y, s)
            return self.design.pull(block, block.J * slope), block.J * (curvature + MIN_CURVATURE)

        engine = self.problem.engine
        parts = self.problem.map(differentiate, self.losses, S)
        G = engine.sum(lambda part: part[0], parts) + self.penalty.slope(B)
        return G, engine.map(lambda part: part[1], parts)

    def diagonal(self, B: Array, C: tuple[Array, ...]) -> Array:
        """Return the diagonal of the Hessian for the curvatures C."""
        design, rounded = self.design, self.rounded
        squares = self.problem.sum(lambda block, c: rounded(design.squares(block, c)), C)
        return squares + self.penalty.diagonal(B)

    def hessian_product(self, C: tuple[Array, ...], D: Array) -> Array:
        """Return the Hessian for the curvatures C, applied to D."""
        if self.separable and not self.problem.engine.in_memory:
            return self._product_of_columns(C, D)

        def product(block: Block, c: Array) -> Array:
            return self.design.pull(block, c * self.design.scores(block, D))

        return self.problem.sum(product, C) + self.penalty.slope(D)

    def _product_of_columns(self, C: tuple[Array, ...], D: Array) -> Array:
        """Return the Hessian product with the columns of D that are not 0; only these are sent, rounded."""
        keep = np.flatnonzero((D != 0).any(axis=0))
        design, rounded = self.design.columns(keep), self.rounded
        directions = rounded(D[:, keep])

        def product(block: Block, c: Array) -> Array:
            return rounded(design.pull(block, c[:, keep] * design.scores(block, directions)))

        result = self.penalty.slope(D)
        result[:, keep] += self.problem.sum(product, C)
        return result
