"""Initial values of the latent-label model."""

from collections.abc import Callable
from functools import partial

from spmld._arrays import Array, namespace
from spmld.core.problem import Block, Problem, Rows, State
from spmld.core.steps import normalize_rows

Uniform = Callable[[tuple[int, ...]], Array]
"""Draws an array of a given shape, uniform on [0, 1), with the array type and precision of the fit."""

MANY_LABELS = 2000
"""Largest number of labels whose matrix of second moments is computed."""
MIN_FACTOR = 1e-3
"""Minimum size of a factor relative to the largest, so that no column of U is 0 initially."""
TINY_FACTOR = 1e-12
"""Size of the factors of labels that are all 0."""


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
    U = uniform((problem.n_labels, k))
    Z = uniform((problem.sizes.shape[0], problem.n_labels, r))
    return _initial_state(problem, U, 0 * U[:, 0], Z, tuple(uniform((n, k)) for n in problem.counts))


def _initial_state(problem: Problem, U: Array, b: Array, Z: Array, V: tuple[Array, ...]) -> State:
    """Return a state with W = 0, all weights 1, and the rows of Z scaled to unit length."""
    shape = (problem.n_features, U.shape[1])
    W = namespace(U).zeros(shape, dtype=U.dtype, device=U.device)
    rows = problem.engine.map(lambda v: Rows(V=v, T=0 * v, P=0 * v + 1), V)
    return State(U=U, b=b, W=W, Z=normalize_rows(Z), rows=rows)


def spectral_init(problem: Problem, k: int, r: int, uniform: Uniform, max_exact: int = MANY_LABELS) -> State:
    """Return the best rank-k factors of the centered labels, 0 where missing, scaled equally, and b, the label means.

    It needs sums over rows only, and permuting samples or labels permutes it. With more than `max_exact` labels, the
    factors are found by subspace iteration.
    """
    like = uniform((problem.n_labels, k))
    Z = uniform((problem.sizes.shape[0], problem.n_labels, r))
    xp = namespace(like)
    b = label_means(problem, like) if problem.fit_intercept else 0 * like[:, 0]

    def centered(block: Block) -> Array:
        return block.J * (block.Y - block.entries.spread(b))

    def second_moments(block: Block) -> Array:
        return block.entries.second_moments(centered(block))

    def times_second_moments(block: Block, Q: Array) -> Array:
        D = centered(block)
        return block.entries.transposed_times(D, block.entries.times(D, Q))

    if problem.n_labels <= max_exact:
        values, vectors = _largest(xp.linalg.eigh(problem.sum(second_moments)), k)
    else:
        guess = uniform((problem.n_labels, min(2 * k, problem.n_labels))) - 0.5
        values, vectors = subspace_iteration(lambda Q: problem.sum(partial(times_second_moments, Q=Q)), guess, k)
    root = xp.sqrt(xp.sqrt(xp.where(values > 0, values, xp.zeros_like(values))))
    floor = MIN_FACTOR * xp.max(root) + TINY_FACTOR
    root = xp.where(root > floor, root, xp.ones_like(root) * floor)
    V = problem.map(lambda block: block.entries.times(centered(block), vectors) / root)
    return _initial_state(problem, vectors * root, b, Z, V)


def subspace_iteration(apply: Callable[[Array], Array], Q: Array, k: int, iterations: int = 10) -> tuple[Array, Array]:
    """Return the k largest eigenvalues, in decreasing order, and the eigenvectors of a positive semidefinite operator.

    Q has at least k columns. Eigenvalues that are close to the largest one that is not in the space of Q are inexact.
    """
    xp = namespace(Q)
    for _ in range(iterations):
        Q = xp.linalg.qr(apply(Q))[0]
    values, vectors = _largest(xp.linalg.eigh(Q.T @ apply(Q)), k)
    return values, Q @ vectors


def _largest(eigen: tuple[Array, Array], k: int) -> tuple[Array, Array]:
    """Return the k largest of increasing eigenvalues, in decreasing order, and their vectors."""
    values, vectors = eigen
    order = namespace(values).flip(namespace(values).arange(values.shape[0], device=values.device))[:k]
    return values[order], vectors[:, order]
