"""The correlation step against the mathematics and against a Riemannian gradient method."""

import autograd.numpy as anp
import numpy as np
import pymanopt
import pytest
from pymanopt.manifolds import Oblique
from pymanopt.optimizers import ConjugateGradient

from spmld.core.steps import _sweep, mix, normalize_rows


def random_case(l, k, r, g=1, seed=0):
    rng = np.random.default_rng(seed)
    T = rng.normal(size=(g, 4 * k, k))
    return np.swapaxes(T, 1, 2) @ T, rng.normal(size=(l, k)), normalize_rows(rng.normal(size=(g, l, r)))


def trace(H, U, Z):
    return sum(np.trace(z.T @ U @ h @ U.T @ z) for h, z in zip(H, Z, strict=True))


def test_rows_keep_unit_length_and_every_sweep_lowers_the_trace():
    H, U, Z = random_case(12, 5, 3, g=2)
    values = [trace(H, U, Z)]
    for _ in range(20):
        Z = mix(H, U, Z, sweeps=1, tol=0)
        np.testing.assert_allclose(np.linalg.norm(Z, axis=2), 1, atol=1e-12)
        values.append(trace(H, U, Z))
    assert (np.diff(values) <= 1e-9 * values[0]).all()
    assert values[-1] < 0.5 * values[0]


def test_a_sweep_is_the_row_by_row_rule():
    H, U, Z = random_case(7, 3, 4)
    A, z = U @ H[0] @ U.T, Z[0].copy()
    for i in range(7):
        pull = sum(A[i, j] * z[j] for j in range(7) if j != i)
        z[i] = -pull / np.linalg.norm(pull)
    np.testing.assert_allclose(_sweep(U @ H, np.diag(A)[None], U, Z, U.T @ Z)[0], z, atol=1e-12)
    # If the extrapolation does not help, both are equal up to rounding errors.
    assert trace(H, U, mix(H, U, Z, sweeps=1)) <= trace(H, U, z[None]) * (1 + 1e-12)


def test_groups_are_independent():
    (H, U, Z), (other, _, _) = random_case(7, 3, 4), random_case(7, 3, 4)
    first, second = (mix(h, U, Z, sweeps=3, tol=0) for h in (H, 2 * other + H))
    both = mix(np.concatenate([H, 2 * other + H]), U, np.concatenate([Z, Z]), sweeps=3, tol=0)
    np.testing.assert_allclose(both, np.concatenate([first, second]), atol=1e-9)


def test_input_is_not_modified_and_rows_without_gradient_stay():
    H, U, Z = random_case(6, 3, 4)
    U[2] = 0
    before = Z.copy()
    after = mix(H, U, Z)
    np.testing.assert_array_equal(Z, before)
    np.testing.assert_array_equal(after[:, 2], before[:, 2])


@pytest.mark.parametrize(("l", "k", "r"), [(8, 8, 8), (15, 20, 10), (40, 10, 6)])
def test_trace_is_no_higher_than_that_of_a_converged_riemannian_method(l, k, r):
    H, U, Z = random_case(l, k, r)
    A = U @ H[0] @ U.T
    manifold = Oblique(r, l)  # unit columns

    @pymanopt.function.autograd(manifold)
    def cost(z):
        return anp.trace(z @ A @ z.T)

    solver = ConjugateGradient(verbosity=0, max_iterations=3000, min_gradient_norm=1e-8, max_time=60)
    riemannian = solver.run(pymanopt.Problem(manifold, cost), initial_point=Z[0].T).cost
    assert trace(H, U, mix(H, U, Z, sweeps=5000, tol=1e-12)) <= riemannian + 1e-4 * trace(H, U, Z)
