"""ML-LRC: thresholding is the proximal map, steps lower the objective, and known minima are reached."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from spmld.core.iteration import Status
from spmld.core.mllrc_solver import MapFit, regression, solve_mllrc, targets, threshold
from spmld.core.problem import make_problem

from .cases import make_case

A, T = 0.7, 0.4


def pose(problem, a=A, t=T):
    """The regression of the labels and the smooth part."""
    block = problem.blocks[0]
    full = targets(problem, np.float64)
    start = np.zeros((block.X.shape[1] + int(problem.fit_intercept), block.Y.shape[1]))
    B = regression(full, t, start, 1e-12)
    return B, MapFit.of(problem, full, B, t, a)


def whole(problem):
    """X, the labels times their weights, and the weights, of all blocks."""
    X, Y, J = (np.concatenate([getattr(block, name) for block in problem.blocks]) for name in "XYJ")
    return X, J * Y, J


def objective(problem, B, S, c, a=A, t=T):
    """The formula, in W = B (with an intercept in the last row if there is one) and S."""
    X, Y, J = whole(problem)
    W, b = (B[:-1], B[-1]) if problem.fit_intercept else (B, 0.0)
    fit, completion = X @ W + b - Y @ S, Y @ S - Y
    nuclear = np.linalg.svd(S)[1].sum()
    return 0.5 * (fit**2).sum() + a / 2 * (J * completion**2).sum() + t / 2 * (W**2).sum() + c * nuclear


def random_case(n=40, l=5, seed=0, observed=1.0, **options):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(n, 4)), rng.choice([-1.0, 1.0], size=(n, l))
    J = (rng.random((n, l)) < observed).astype(float)
    return make_problem(X, Y, J, np.zeros(n, dtype=int), 1, block_rows=15, **options)


@pytest.mark.parametrize("t", [0.0, 0.3, 1.5, 100.0])
def test_thresholding_is_the_proximal_map_of_the_nuclear_norm(t):
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(3, 3))
    S, s = threshold(matrix, t)
    np.testing.assert_allclose(np.linalg.svd(S)[1], s, atol=1e-12)

    def value(S):
        return 0.5 * ((S - matrix) ** 2).sum() + t * np.linalg.svd(S)[1].sum()

    for size in (1e-6, 1e-3, 0.1, 1.0):
        for _ in range(50):
            assert value(S + size * rng.normal(size=S.shape)) >= value(S)
    # A general optimizer; the norm is smoothed so little that the minimum changes by less than the tolerance.
    smooth = minimize(
        lambda x: (
            0.5 * ((x.reshape(3, 3) - matrix) ** 2).sum()
            + t * np.sqrt(np.linalg.svd(x.reshape(3, 3))[1] ** 2 + 1e-8).sum()
        ),
        matrix.ravel(),
        method="BFGS",
    )
    np.testing.assert_allclose(S, smooth.x.reshape(3, 3), atol=1e-2)


@pytest.mark.parametrize("intercept", [False, True])
def test_regression_times_the_map_is_the_best_regression(intercept):
    """For every S, no other W has a lower objective than B S, and the reported value equals the formula."""
    problem, _, _ = make_case(weighted=True, fit_intercept=intercept)
    B, fit = pose(problem)
    rng = np.random.default_rng(0)
    for _ in range(3):
        S = rng.normal(size=(6, 6))
        best = objective(problem, B @ S, S, 0.0)
        assert float(fit.value_and_gradient(S)[0]) == pytest.approx(best)
        for size in (1e-4, 1e-2, 1.0):
            W = B @ S + size * rng.normal(size=B.shape)
            assert objective(problem, W, S, 0.0) > best


def test_gradient_is_the_slope_of_the_value():
    problem, _, _ = make_case(weighted=True)
    _, fit = pose(problem)
    rng = np.random.default_rng(0)
    S, D = rng.normal(size=(6, 6)), rng.normal(size=(6, 6))
    up, down = (float(fit.value_and_gradient(S + step * D)[0]) for step in (1e-5, -1e-5))
    assert (fit.value_and_gradient(S)[1] * D).sum() == pytest.approx((up - down) / 2e-5)


def test_curvature_bounds_the_smooth_part_tightly():
    """The bound is at least the largest eigenvalue of the Hessian and, for weights 1, at most (1 + a) |Y|^2."""
    problem = random_case(observed=0.5, fit_intercept=False)
    _, fit = pose(problem)
    _, Y, _ = whole(problem)
    zero = fit.value_and_gradient(np.zeros((5, 5)))[1]
    columns = [(fit.value_and_gradient(e.reshape(5, 5))[1] - zero).ravel() for e in np.eye(25)]
    top = np.linalg.eigvalsh(np.array(columns)).max()
    assert top <= fit.curvature() <= (1 + A) * np.linalg.norm(Y, 2) ** 2 * 1.001
    heavy = replace(problem, blocks=tuple(replace(block, J=9 * block.J) for block in problem.blocks))
    _, fit = pose(heavy)
    zero = fit.value_and_gradient(np.zeros((5, 5)))[1]
    columns = [(fit.value_and_gradient(e.reshape(5, 5))[1] - zero).ravel() for e in np.eye(25)]
    assert np.linalg.eigvalsh(np.array(columns)).max() <= fit.curvature()


@pytest.mark.parametrize("c", [0.0, 5.0, 500.0])
@pytest.mark.parametrize("seed", range(2))
def test_no_step_raises_the_objective(seed, c):
    problem, _, _ = make_case(seed=seed, weighted=True)
    B, fit = pose(problem)
    result = solve_mllrc(fit, c, max_iter=3000, tol=1e-9)
    S, history = result.state, result.history
    assert result.status is Status.CONVERGED
    values = np.array([objective(problem, B, np.eye(6), c), *(record["objective"] for record in history)])
    assert (np.diff(values) <= 0).all()
    assert history[-1]["objective"] == pytest.approx(objective(problem, B @ S, S, c))


@pytest.mark.parametrize("c", [0.5, 10.0])
def test_fit_ends_at_a_fixed_point_and_nothing_near_is_lower(c):
    problem, _, _ = make_case(weighted=True)
    B, fit = pose(problem)
    S = solve_mllrc(fit, c, max_iter=20000, tol=1e-12).state
    for step in (0.1, 0.01):  # fixed points do not depend on the step length
        again, _ = threshold(S - step * fit.value_and_gradient(S)[1], step * c)
        np.testing.assert_allclose(again, S, atol=1e-6)
    rng = np.random.default_rng(0)
    lowest = objective(problem, B @ S, S, c)
    for size in (1e-4, 1e-2, 1.0):
        for _ in range(20):
            other = S + size * rng.normal(size=S.shape)
            assert objective(problem, B @ other + size * rng.normal(size=B.shape), other, c) > lowest


def test_steps_are_those_of_accelerated_proximal_gradient():
    """The steps equal those of Beck and Teboulle (2009) until the objective would rise."""
    problem, _, _ = make_case(weighted=True)
    _, fit = pose(problem)
    step, S, Z, t = 1 / fit.curvature(), np.eye(6), np.eye(6), 1.0
    for _ in range(8):
        new, _ = threshold(Z - step * fit.value_and_gradient(Z)[1], 0.5 * step)
        faster = (1 + np.sqrt(1 + 4 * t**2)) / 2
        S, Z, t = new, new + (t - 1) / faster * (new - S), faster
    result = solve_mllrc(fit, 0.5, max_iter=8, tol=1e-12)
    np.testing.assert_allclose(result.state, S, atol=1e-10)
    assert len(result.history) == 8


def test_nuclear_norm_and_rank_decrease_with_the_penalty():
    problem = random_case(observed=0.6)
    _, fit = pose(problem)
    maps = [solve_mllrc(fit, c, max_iter=5000, tol=1e-10).state for c in (0, 0.1, 0.5, 1, 2, 5, 10, 20, 50)]
    norms = [np.linalg.svd(S)[1].sum() for S in maps]
    ranks = [np.linalg.matrix_rank(S, tol=1e-8) for S in maps]
    assert (np.diff(norms) < 1e-9).all()
    assert (np.diff(ranks) <= 0).all()
    assert ranks[0] == 5
    assert 0 < ranks[-3] < 5
    assert ranks[-1] == 0


@pytest.mark.parametrize("observed", [1.0, 0.5])
def test_without_nuclear_norm_the_map_is_a_linear_system_per_label(observed):
    """(M + a G_i) s_i = a G_i e_i with G_i = Y^T diag(J_i) Y."""
    problem = random_case(observed=observed)
    _, fit = pose(problem)
    _, Y, J = whole(problem)
    S = solve_mllrc(fit, 0.0, max_iter=20000, tol=1e-12).state
    for i in range(5):
        G = (Y.T * J[:, i]) @ Y
        np.testing.assert_allclose(S[:, i], np.linalg.solve(fit.M + A * G, A * G[:, i]), atol=1e-6)


def test_close_completion_of_full_labels_does_not_change_them():
    """S = I - (M + a G)^-1 M: the distance to I decreases as 1/a, and W is the ridge regression of the labels."""
    problem = random_case()
    distances = []
    for a in (1e2, 1e3, 1e4):
        _, fit = pose(problem, a=a)
        S = solve_mllrc(fit, 0.0, max_iter=5000, tol=1e-13).state
        distances.append(np.abs(S - np.eye(5)).max())
    np.testing.assert_allclose(distances[:2], [10 * distances[1], 10 * distances[2]], rtol=0.02)
    assert distances[-1] < 1e-3


def test_completed_labels_are_better_than_zeros():
    """There are two kinds of samples, and observed labels determine the hidden ones."""
    rng = np.random.default_rng(0)
    kinds = rng.choice([-1.0, 1.0], size=(2, 12))
    Y = rng.choice([-1.0, 1.0], size=(400, 1)) * kinds[rng.integers(2, size=400)]
    J = (rng.random(Y.shape) < 0.4).astype(float)
    X = np.hstack([Y[:, :2], rng.normal(size=(400, 3))])
    problem = make_problem(X, np.where(J > 0, Y, np.nan), J, np.zeros(400, dtype=int), 1, block_rows=90)
    _, fit = pose(problem, a=10.0, t=1.0)
    result = solve_mllrc(fit, 600.0, max_iter=500, tol=1e-6)
    completed = (J * Y) @ result.state
    hidden = J == 0
    assert (np.sign(completed) == Y)[hidden].mean() > 0.93  # 0.5 by chance
    assert ((completed - Y) ** 2)[hidden].mean() < 0.4  # 1 for zeros
    assert result.history[-1]["rank"] == 2


def test_weights_and_penalties_scale_together():
    """Multiplying weights by s, completion by 1/s and nuclear norm by s^2 keeps the map and multiplies scores by s."""
    problem, _, _ = make_case(weighted=True)
    scaled = replace(problem, blocks=tuple(replace(block, J=3.0 * block.J) for block in problem.blocks))
    B, fit = pose(problem)
    B3, fit3 = pose(scaled, a=A / 3)
    S = solve_mllrc(fit, 0.7, max_iter=5000, tol=1e-11).state
    S3 = solve_mllrc(fit3, 0.7 * 9, max_iter=5000, tol=1e-11).state
    np.testing.assert_allclose(S3, S, atol=1e-6)
    np.testing.assert_allclose(B3 @ S3, 3 * B @ S, atol=1e-6)


def test_labels_never_observed_have_zero_coefficients():
    problem, _, _ = make_case()
    observed = np.array([0, 1, 1, 1, 1, 1])
    blocks = tuple(replace(b, J=b.J * observed, Y=np.where(observed, b.Y, 0)) for b in problem.blocks)
    B, fit = pose(replace(problem, blocks=blocks))
    S = solve_mllrc(fit, 0.5, max_iter=5000, tol=1e-10).state
    np.testing.assert_allclose((B @ S)[:, 0], 0, atol=1e-9)


def test_it_ends_with_the_first_step_shorter_than_the_tolerance_times_the_norm_of_the_identity():
    _, fit = pose(random_case())
    first = np.linalg.norm(solve_mllrc(fit, 0.5, max_iter=1, tol=0.0).state - np.eye(5))
    for factor, status in ((0.99, Status.MAX_ITER), (1.01, Status.CONVERGED)):
        assert solve_mllrc(fit, 0.5, max_iter=1, tol=factor * first / np.sqrt(5)).status is status
