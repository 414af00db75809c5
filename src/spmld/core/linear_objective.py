"""The objective of models whose scores are linear in their parameters, and its restriction to some labels.

  sum J o loss(Y, scores(B) + offset) + 1/2 <B, penalty(B)>

It is minimized in `newton.py`.
"""

from dataclasses import dataclass, replace

from spmld._arrays import namespace
from spmld.core.designs import Design, Penalty
from spmld.core.losses import Array, Loss
from spmld.core.problem import Block, Problem

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

    def columns(self, keep: Array | slice) -> "LinearObjective":
        """Return the objective of some columns of B. All entries must be stored."""
        design = self.design.columns(keep)

        def part(block: Block) -> Block:
            return Block(design.features(block, keep), block.Y[:, keep], block.J[:, keep], block.group)

        offsets = tuple(offset if isinstance(offset, float) else offset[..., keep] for offset in self.offsets)
        problem = replace(self.problem, blocks=self.problem.map(part))
        losses = tuple(loss.columns(keep) for loss in self.losses)
        return replace(self, problem=problem, losses=losses, design=design, offsets=offsets)

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
        return self.problem.sum(self.design.squares, C) + self.penalty.diagonal(B)

    def hessian_product(self, C: tuple[Array, ...], D: Array) -> Array:
        """Return the Hessian for the curvatures C, applied to D."""

        def product(block: Block, c: Array) -> Array:
            return self.design.pull(block, c * self.design.scores(block, D))

        return self.problem.sum(product, C) + self.penalty.slope(D)
