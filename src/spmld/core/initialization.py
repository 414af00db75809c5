"""Initial values of the latent-label model."""

from collections.abc import Callable

from spmld._arrays import namespace
from spmld.core.correlation import normalize_rows
from spmld.core.losses import Array
from spmld.core.problem import Block, Problem, Rows, State

Uniform = Callable[[tuple[int, ...]], Array]
"""Draws an array of a given shape, uniform on [0, 1), with the array type and precision of the fit."""


def label_means(problem: Problem, like: Array) -> Array:
    """Return the mean observed sign of each label, 0 where none is observed, with the type of an array."""
    xp = namespace(like)

    def sums(block: Block) -> tuple[Array, Array]:
        J = xp.astype(block.J, like.dtype)
        return block.entries.column_sums(J * block.Y), block.entries.column_sums(J)

    total, count = problem.sum(sums)
    return total / xp.where(count > 0, count, xp.ones_like(count))


def random_init(problem: Problem, k: int, r: int, uniform: Uniform) -> State:
    """Return uniform U and V, W = 0, uniform Z with rows scaled to unit length, and b = 0, as in the released code."""
    U, Z = uniform((problem.n_labels, k)), _random_factors(problem, r, uniform)
    return _initial_state(problem, U, 0 * U[:, 0], Z, problem.map(lambda block: uniform((block.n, k))))


def _random_factors(problem: Problem, r: int, uniform: Uniform) -> Array:
    return normalize_rows(uniform((problem.sizes.shape[0], problem.n_labels, r)))


def _initial_state(problem: Problem, U: Array, b: Array, Z: Array, V: tuple[Array, ...]) -> State:
    """Return a state with W = 0 and all weights 1."""
    shape = (problem.blocks[0].X.shape[1], U.shape[1])
    W = namespace(U).zeros(shape, dtype=U.dtype, device=U.device)
    return State(U=U, b=b, W=W, Z=Z, rows=tuple(Rows(V=v, T=0 * v, P=0 * v + 1) for v in V))


def spectral_init(problem: Problem, k: int, r: int, uniform: Uniform) -> State:
    """Return the best rank-k factors of the centered labels, 0 where missing, scaled equally, and b, the label means.

    It needs sums over rows only, and permuting samples or labels permutes it.
    """
    like, Z = uniform((problem.n_labels, k)), _random_factors(problem, r, uniform)
    xp = namespace(like)
    b = label_means(problem, like) if problem.fit_intercept else 0 * like[:, 0]

    def centered(block: Block) -> Array:
        return block.J * (block.Y - block.entries.spread(b))

    def second_moments(block: Block) -> Array:
        return block.entries.second_moments(centered(block))

    values, vectors = xp.linalg.eigh(problem.sum(second_moments))
    order = xp.flip(xp.arange(values.shape[0], device=values.device))[:k]
    values, vectors = values[order], vectors[:, order]
    root = xp.sqrt(xp.sqrt(xp.where(values > 0, values, xp.zeros_like(values))))
    floor = 1e-3 * xp.max(root) + 1e-12
    root = xp.where(root > floor, root, xp.ones_like(root) * floor)
    V = problem.map(lambda block: block.entries.times(centered(block), vectors) / root)
    return _initial_state(problem, vectors * root, b, Z, V)
