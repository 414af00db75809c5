"""LEML: both updates lower the objective and end where its gradient is zero; known minima are reached."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from spmld.core.iteration import Status
from spmld.core.leml_solver import Factors, latent, solve_leml, update_H, update_W, value
from spmld.core.linear_objective import Factored, Features, LinearObjective, Penalty
from spmld.core.losses import LOSSES
from spmld.core.problem import make_problem

from .cases import difference, make_case

RIDGE = 0.3


def make_factors(k=2, seed=0, intercept=True, **options):
    """A problem in blocks, weighted and partly observed, and random factors."""
    problem, _, _ = make_case(seed=seed, weighted=True, fit_intercept=intercept, **options)
    rng = np.random.default_rng(seed)
    (d, l) = problem.blocks[0].X.shape[1], problem.blocks[0].Y.shape[1]
    b = rng.normal(size=l) if intercept else np.zeros(l)
    return problem, Factors(rng.uniform(size=(d, k)), rng.uniform(size=(l, k)), b)


def objective(problem, loss, factors):
    return value(latent(problem, factors.W), loss, RIDGE, factors)


def full_labels(X, Y, intercept=False):
    return make_problem(X, Y, np.ones(Y.shape), np.zeros(len(X), dtype=int), 1, fit_intercept=intercept, block_rows=17)


@pytest.mark.parametrize("name", LOSSES)
def test_objective_is_the_formula(name):
    problem, factors = make_factors()
    X, Y, J = (np.concatenate([getattr(block, a) for block in problem.blocks]) for a in "XYJ")
    scores = X @ factors.W @ factors.H.T + factors.b
    margins = Y * scores
    losses = {
        "squared": (Y - scores) ** 2 / 2,
        "logistic": np.log(1 + np.exp(-margins)),
    }
    total = (J * losses[name])[J > 0].sum() + RIDGE / 2 * ((factors.W**2).sum() + (factors.H**2).sum())
    assert objective(problem, LOSSES[name], factors) == pytest.approx(total)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", LOSSES)
def test_every_update_lowers_the_objective(name, seed, intercept):
    problem, factors = make_factors(k=3, seed=seed, intercept=intercept)
    before = objective(problem, LOSSES[name], factors)
    history = solve_leml(problem, LOSSES[name], RIDGE, factors, max_iter=15, tol=None).history
    assert [record["iteration"] for record in history] == list(range(1, 16))
    values = np.array([before, *(record[name] for record in history for name in ("objective_after_W", "objective"))])
    assert (np.diff(values) <= 1e-12 * values[0]).all()
    assert values[1] < 0.99 * values[0]


@pytest.mark.parametrize("name", ["logistic", "squared"])
def test_gradients_are_those_of_the_objective(name):
    """The gradient in Newton's method for each update is that of the whole objective."""
    problem, factors = make_factors()
    loss = LOSSES[name]
    losses = problem.map(lambda block: loss)
    fit = LinearObjective(problem, losses, Factored(factors.H), Penalty(RIDGE), problem.map(lambda block: factors.b))
    gradient = fit.derivatives(factors.W, fit.scores(factors.W))[0]
    expected = difference(lambda W: objective(problem, loss, replace(factors, W=W)), factors.W)
    np.testing.assert_allclose(gradient, expected, atol=1e-5)
    offsets = problem.map(lambda block: 0.0)
    fit = LinearObjective(latent(problem, factors.W), losses, Features(True), Penalty(RIDGE, True), offsets)
    B = np.vstack([factors.H.T, factors.b])
    gradient = fit.derivatives(B, fit.scores(B))[0]
    expected_H = difference(lambda H: objective(problem, loss, replace(factors, H=H)), factors.H)
    expected_b = difference(lambda b: objective(problem, loss, replace(factors, b=b)), factors.b)
    np.testing.assert_allclose(gradient, np.vstack([expected_H.T, expected_b]), atol=1e-5)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", LOSSES)
def test_accurate_updates_end_where_the_gradient_of_their_block_is_zero(name, sparse):
    problem, factors = make_factors(sparse=sparse)
    loss = LOSSES[name]
    factors = update_W(problem, loss, RIDGE, factors, tol=1e-10, max_iter=50, cg_iter=200)
    slope = difference(lambda W: objective(problem, loss, replace(factors, W=W)), factors.W)
    assert np.abs(slope).max() < 1e-6
    factors = update_H(latent(problem, factors.W), loss, RIDGE, factors, tol=1e-10)
    for block in ("H", "b"):
        slope = difference(
            lambda x, block=block: objective(problem, loss, replace(factors, **{block: x})), getattr(factors, block)
        )
        assert np.abs(slope).max() < 1e-6


@pytest.mark.parametrize("name", LOSSES)
def test_rank_one_fit_is_as_low_as_that_of_a_general_optimizer(name):
    """The problem is not convex: the best of a few initializations is compared, and fits cannot be improved."""
    problem, factors = make_factors(k=1, intercept=False, block_rows=100)
    loss, (d, l) = LOSSES[name], (len(factors.W), len(factors.H))
    rng = np.random.default_rng(1)
    starts = rng.normal(size=(3, d + l))

    def unpack(x):
        return Factors(x[:d, None], x[d:, None], factors.b)

    def reference(x):
        return minimize(lambda x: objective(problem, loss, unpack(x)), x, method="L-BFGS-B").fun

    ends = [solve_leml(problem, loss, RIDGE, unpack(x), max_iter=300, tol=1e-11) for x in starts]
    values = [end.history[-1]["objective"] for end in ends]
    assert min(values) == pytest.approx(min(reference(x) for x in starts), abs=1e-5)
    for end, reached in zip(ends, values, strict=True):
        assert reference(np.concatenate([end.state.W[:, 0], end.state.H[:, 0]])) >= reached - 1e-6


@pytest.mark.parametrize("k", [2, 4])
def test_orthonormal_features_give_thresholded_singular_values(k):
    """The penalty on the factors is t times the nuclear norm of their product, and k bounds the rank.

    With X^T X = I the minimum is therefore X^T Y with its k largest singular values reduced by t.
    """
    rng = np.random.default_rng(0)
    X = np.linalg.qr(rng.normal(size=(40, 5)))[0]
    Y = 3 * rng.normal(size=(40, 4))
    U, s, Vt = np.linalg.svd(X.T @ Y, full_matrices=False)
    t = 0.5 * (s[2] + s[3])
    expected = (U[:, :k] * np.maximum(s - t, 0)[:k]) @ Vt[:k]
    start = Factors(rng.uniform(size=(5, k)), rng.uniform(size=(4, k)), np.zeros(4))
    factors = solve_leml(full_labels(X, Y), LOSSES["squared"], t, start, max_iter=3000, tol=1e-15).state
    np.testing.assert_allclose(factors.W @ factors.H.T, expected, atol=1e-3)
    assert np.linalg.matrix_rank(factors.W @ factors.H.T, tol=1e-3) == min(k, 3)
    # At the minimum both factors have the same penalty.
    np.testing.assert_allclose(factors.W.T @ factors.W, factors.H.T @ factors.H, atol=1e-2)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("side", [0.9, 1.1])
def test_penalty_above_the_slopes_at_zero_gives_zero_factors(name, side):
    problem, start = make_factors(k=3, intercept=False)
    loss = LOSSES[name]
    slopes = problem.sum(lambda block: block.X.T @ (block.J * loss.slope(block.Y, np.zeros(block.Y.shape))))
    t = side * np.linalg.norm(slopes, 2)
    factors = solve_leml(problem, loss, t, start, max_iter=150, tol=None).state
    size = np.abs(factors.W @ factors.H.T).max()
    assert size < 1e-5 if side > 1 else size > 1e-3


def test_planted_low_rank_model_is_recovered():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8))
    truth = rng.normal(size=(8, 2)) @ rng.normal(size=(2, 10))
    Y, J = X @ truth, rng.random((300, 10)) < 0.3
    problem = make_problem(
        X, np.where(J, Y, np.nan), J, np.zeros(300, dtype=int), 1, fit_intercept=False, block_rows=70
    )
    start = Factors(rng.uniform(size=(8, 2)), rng.uniform(size=(10, 2)), np.zeros(10))
    factors = solve_leml(problem, LOSSES["squared"], 1e-6, start, max_iter=100, tol=1e-9).state
    np.testing.assert_allclose(factors.W @ factors.H.T, truth, atol=1e-3)


@pytest.mark.parametrize("name", LOSSES)
def test_permuting_rows_features_and_labels_permutes_the_factors(name):
    rng = np.random.default_rng(0)
    X, Y, J = rng.normal(size=(30, 5)), rng.choice([-1.0, 1.0], size=(30, 6)), rng.random((30, 6))
    start = Factors(rng.uniform(size=(5, 2)), rng.uniform(size=(6, 2)), np.zeros(6))
    rows, columns, labels = rng.permutation(30), rng.permutation(5), rng.permutation(6)

    def fitted(X, Y, J, start, block_rows):
        problem = make_problem(X, Y, J, np.zeros(30, dtype=int), 1, block_rows=block_rows)
        return solve_leml(problem, LOSSES[name], RIDGE, start, max_iter=6, tol=None).state

    expected = fitted(X, Y, J, start, 7)
    moved = fitted(
        X[rows][:, columns],
        Y[rows][:, labels],
        J[rows][:, labels],
        Factors(start.W[columns], start.H[labels], start.b),
        30,
    )
    np.testing.assert_allclose(moved.W, expected.W[columns], atol=1e-6)
    np.testing.assert_allclose(moved.H, expected.H[labels], atol=1e-6)
    np.testing.assert_allclose(moved.b, expected.b[labels], atol=1e-6)


def test_fit_ends_when_an_iteration_lowers_the_objective_too_little():
    problem, factors = make_factors()
    result = solve_leml(problem, LOSSES["squared"], RIDGE, factors, max_iter=100, tol=1e-2)
    assert result.status is Status.CONVERGED
    ends = np.array([record["objective"] for record in result.history])
    gains = -np.diff(ends) / ends[1:]
    assert gains[-1] <= 1e-2
    assert (gains[:-1] > 1e-2).all()
