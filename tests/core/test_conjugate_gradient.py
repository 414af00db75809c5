"""Conjugate gradient: solutions, stopping, and rounding errors."""

import numpy as np
import pytest

from spmld.core.conjugate_gradient import conjugate_gradient


def identity(r):
    return r


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_the_solution_is_found_from_any_start(axis):
    rng = np.random.default_rng(0)
    B, x = rng.normal(size=(4, 4)), rng.normal(size=(7, 4))
    A = B @ B.T + np.eye(4)
    x[2] = 0  # a zero target must not lead to a division by zero
    diagonal = np.diag(A)
    if axis == 0:
        x, diagonal = x.T, diagonal[:, None]

    def apply(v):
        return A @ v if axis == 0 else v @ A

    for start in (rng.normal(size=x.shape), None):
        solution = conjugate_gradient(apply, lambda r: r / diagonal, apply(x), start, 1e-12, 50, axis)
        np.testing.assert_allclose(solution, x, atol=1e-9)


def test_it_stops_at_the_first_residual_below_the_tolerance():
    values, target = np.linspace(1, 50, 30)[:, None], np.ones((30, 1))
    for tol in (0.3, 1e-3):
        count = 0

        def apply(x):
            nonlocal count
            count += 1
            return values * x

        x = conjugate_gradient(apply, identity, target, None, tol, 100)
        n_steps = count
        before = conjugate_gradient(apply, identity, target, None, 0.0, n_steps - 1)
        sizes = [np.linalg.norm(target - values * v) / np.linalg.norm(target) for v in (x, before)]
        assert sizes[0] <= tol < sizes[1]


def test_systems_solved_together_are_those_solved_alone():
    rng = np.random.default_rng(0)
    values, target = rng.uniform(0.1, 1, (5, 8)) ** [[0], [1], [2], [3], [4]], rng.normal(size=(5, 8))
    together = conjugate_gradient(lambda x: values * x, identity, target, None, 1e-3, 50, 1, 4)
    for i in range(5):
        row = slice(i, i + 1)
        alone = conjugate_gradient(lambda x, row=row: values[row] * x, identity, target[row], None, 1e-3, 50, 1, 4)
        np.testing.assert_array_equal(together[row], alone)


def test_no_step_is_made_along_a_direction_without_positive_curvature():
    target = np.ones((3, 2))
    for curvature in (0.0, -1.0):
        x = conjugate_gradient(lambda x, c=curvature: c * x, identity, target, None, 1e-3, 5)
        np.testing.assert_array_equal(x, 0)


@pytest.mark.parametrize("axis", [None, 0])
def test_rounding_errors_do_not_grow_with_reorthogonalization(axis):
    # Two isolated large eigenvalues: plain residuals lose their orthogonality when these have converged.
    values = np.append(np.linspace(0.08, 5, 798), [9.1, 14.3])[:, None]
    rng = np.random.default_rng(0)
    target = rng.normal(size=(800, 1))
    perturbed = target * (1 + 1e-14 * rng.normal(size=target.shape))

    def difference(**options):
        first, second = (
            conjugate_gradient(lambda x: values * x, identity, b, None, 0.0, 20, axis, **options)
            for b in (target, perturbed)
        )
        return np.abs(first - second).max()

    assert difference(n_kept=20) < 1e-11
    assert difference(n_kept=0) > 1e-6
    # A residual and its dual are kept: memory for all 20 of them, and for none.
    for memory, exact in ((2 * 800 * 20, True), (2 * 800 - 1, False)):
        assert (difference(n_kept=20, max_values=memory) < 1e-11) == exact


def test_a_few_residuals_are_enough_for_small_systems():
    """As for latent labels, of which some have little weight."""
    rng = np.random.default_rng(0)
    U = rng.normal(size=(30, 12)) @ np.diag(np.geomspace(2, 0.2, 12)) @ np.linalg.qr(rng.normal(size=(12, 12)))[0]
    D = np.where(rng.random((200, 12)) < 0.5, 1e-3, 1.0)
    target = rng.normal(size=(200, 12))
    perturbed = target * (1 + 1e-15 * rng.normal(size=target.shape))
    scale = 1 / ((U * U).sum(axis=0) + D)

    def difference(n_kept):
        first, second = (
            conjugate_gradient(lambda A: A @ U.T @ U + D * A, lambda r: scale * r, b, None, 1e-4, 100, 1, n_kept)
            for b in (target, perturbed)
        )
        return np.abs(first - second).max()

    assert difference(n_kept=4) < 0.01 * difference(n_kept=0)
