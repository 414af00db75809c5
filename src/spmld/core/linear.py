"""Models whose scores are linear in their parameters B: how scores follow from B, and what B costs.

The objective of all of them is

  sum J o loss(Y, scores(B)) + 1/2 <B, penalty(B)>

and `newton.py` minimises it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from array_api_compat import array_namespace

from spmld._arrays import row_slices
from spmld.core.losses import Array
from spmld.core.problem import Block, Problem


class Design(Protocol):
    """A linear map from parameters to the scores of a block of rows."""

    separable: bool
    """Whether column i of the parameters acts on column i of the scores alone."""

    def scores(self, block: Block, B: Array) -> Array:
        """The scores, (n, l)."""
        ...

    def pull(self, block: Block, D: Array) -> Array:
        """The adjoint: what slopes D in the scores are in the parameters."""
        ...

    def squares(self, block: Block, C: Array) -> Array:
        """The diagonal of pull(C o scores(.))."""
        ...

    def columns(self, keep: Array | slice) -> Design:
        """The map of some columns alone, where it is separable."""
        ...


@dataclass(frozen=True)
class Features:
    """Scores X W + 1 b^T: one model per label. B is W, (d, l), with b^T below it if there is an intercept."""

    intercept: bool = True
    separable = True

    def scores(self, block: Block, B: Array) -> Array:
        return block.X @ B[:-1, :] + B[-1, :] if self.intercept else block.X @ B

    def pull(self, block: Block, D: Array) -> Array:
        return self._stack(block.X.T @ D, D)

    def squares(self, block: Block, C: Array) -> Array:
        return self._stack(column_squares(block.X, C), C)

    def columns(self, keep: Array | slice) -> Features:
        return self

    def _stack(self, W: Array, D: Array) -> Array:
        xp = array_namespace(W)
        return xp.concat([W, xp.sum(D, axis=0, keepdims=True)]) if self.intercept else W


@dataclass(frozen=True)
class Factored:
    """Scores X W H^T + 1 b^T with H, (l, k), and b given. B is W, (d, k)."""

    H: Array
    separable = False

    def scores(self, block: Block, B: Array) -> Array:
        return (block.X @ B) @ self.H.T

    def pull(self, block: Block, D: Array) -> Array:
        return block.X.T @ (D @ self.H)

    def squares(self, block: Block, C: Array) -> Array:
        return column_squares(block.X, C @ (self.H * self.H))

    def columns(self, keep: Array | slice) -> Factored:
        raise TypeError("columns of the scores of a factored model depend on all parameters")


@dataclass(frozen=True)
class Others:
    """Scores Z (B - diag B) + S diag B + 1 b^T: each label from what is known of all others, and from its own score.

    X is Z and S side by side, (n, 2 l). B is (l, l) with b^T below it; what is on its diagonal belongs to S.
    """

    own: Array
    """The number of the label of each column."""
    separable = True

    def scores(self, block: Block, B: Array) -> Array:
        Z, S = self._parts(block)
        W = B[:-1, :]
        return Z @ W + (S - Z[:, self.own]) * W[self.own, self._each(B)] + B[-1, :]

    def pull(self, block: Block, D: Array) -> Array:
        Z, S = self._parts(block)
        return self._stack(Z.T @ D, S * D, D)

    def squares(self, block: Block, C: Array) -> Array:
        Z, S = self._parts(block)
        return self._stack(column_squares(Z, C), S * S * C, C)

    def columns(self, keep: Array | slice) -> Others:
        return Others(self.own[keep])

    def _parts(self, block: Block) -> tuple[Array, Array]:
        l = block.X.shape[1] // 2
        return block.X[:, :l], block.X[:, l:][:, self.own]

    def _each(self, B: Array) -> Array:
        return array_namespace(B).arange(B.shape[1], device=B.device)

    def _stack(self, W: Array, own: Array, D: Array) -> Array:
        """Slopes with those of each label's own score in place, and those of the intercepts below."""
        xp = array_namespace(W)
        W[self.own, self._each(W)] = xp.sum(own, axis=0)
        return xp.concat([W, xp.sum(D, axis=0, keepdims=True)])


@dataclass(frozen=True)
class Penalty:
    """t/2 |B|^2 + g/2 tr(W L W^T), L a label graph's Laplacian. An intercept, B's last row, is free."""

    t: float
    intercept: bool = False
    L: Array | None = None
    g: float = 0.0

    @property
    def separable(self) -> bool:
        return self.L is None or self.g == 0

    def slope(self, B: Array) -> Array:
        """The gradient, linear in B."""
        slope = self.t * B if self.separable else self.t * B + self.g * (B @ self.L)
        return self._free(slope)

    def diagonal(self, B: Array) -> Array:
        xp = array_namespace(B)
        diagonal = self.t + xp.zeros_like(B)
        if not self.separable:
            diagonal = diagonal + self.g * xp.linalg.diagonal(self.L)
        return self._free(diagonal)

    def _free(self, A: Array) -> Array:
        if not self.intercept:
            return A
        return array_namespace(A).concat([A[:-1, :], 0 * A[-1:, :]])


def column_squares(X: Any, C: Array) -> Array:
    """(X o X)^T C: the diagonal of X^T diag(c_i) X for each column of C. A dense X is squared a chunk at a time."""
    if hasattr(X, "power"):
        return X.power(2).T @ C
    return sum((X[s, :] * X[s, :]).T @ C[s, :] for s in row_slices(X.shape[0], X.shape[1]))


def label_laplacian(problem: Problem, like: Array) -> Array:
    """The Laplacian D - A of the labels' co-occurrence: A_ij the cosine of their positives where both are observed.

    An entry of weight w counts as w entries do.
    """
    xp = array_namespace(like)

    def counts(block: Block) -> tuple[Array, Array]:
        root = xp.sqrt(xp.astype(block.J, like.dtype))
        positive, seen = root * xp.astype(block.Y > 0, like.dtype), xp.astype(block.J != 0, like.dtype)
        return positive.T @ positive, (positive * positive).T @ seen

    both, own = problem.sum(counts)
    scale = xp.sqrt(own * own.T)
    A = xp.where(scale > 0, both / xp.where(scale > 0, scale, xp.ones_like(scale)), xp.zeros_like(scale))
    return xp.sum(A, axis=1) * xp.eye(A.shape[0], dtype=A.dtype, device=A.device) - A
