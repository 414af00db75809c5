"""Rare labels that are fitted on few rows: the solution is that of all rows."""

import numpy as np
import pytest
import scipy.sparse as sp

from spmld.core import rare_labels
from spmld.core.designs import Features, Penalty
from spmld.core.linear_objective import LinearObjective
from spmld.core.losses import LOSSES
from spmld.core.newton import Tolerances, minimize, minimize_columns, newton_minimize
from spmld.core.problem import make_problem
from spmld.core.rare_labels import minimize_rare_labels
from spmld.noise import NoisyLogistic

N, D, L = 3000, 60, 40


def make_data(seed=0, dtype=np.float64):
    """Return sparse features, signs of labels with 3 to 300 positives, and initial intercepts."""
    rng = np.random.default_rng(seed)
    X = sp.random(N, D, density=0.1, random_state=rng, format="csr", dtype=np.float64).astype(dtype)
    scores = X @ rng.normal(size=(D, L)) + 0.3 * rng.normal(size=(N, L))
    counts = np.geomspace(3, 300, L).astype(int)
    Y = np.where(np.argsort(np.argsort(-scores, axis=0), axis=0) < counts, 1, -1).astype(np.int8)
    B = np.zeros((D + 1, L), dtype=dtype)
    B[-1] = np.log(counts / (N - counts))
    return X, Y, B


def solve(X, Y, J, B, solver, tol, loss=LOSSES["logistic"], **options):
    problem = make_problem(X, Y, J, np.zeros(N, dtype=np.int8), 1, block_rows=N)
    return newton_minimize(problem, loss, Features(), Penalty(0.1, True), B, tol=tol, solve=solver, **options)


@pytest.mark.parametrize("dense", [False, True])
def test_solution_is_that_of_all_rows(dense):
    X, Y, B = make_data()
    J = np.random.default_rng(1).random(Y.shape) < 0.8
    X = X.toarray() if dense else X
    expected = solve(X, Y, J, B, minimize, 1e-10).B
    result = solve(X, Y, J, B, minimize_rare_labels, 1e-9)
    assert result.converged
    np.testing.assert_allclose(result.B, expected, atol=2e-4)


@pytest.mark.parametrize("few_rows", [0, 10**6])
def test_models_with_many_rows_and_models_in_the_space_of_rows_agree(few_rows, monkeypatch):
    monkeypatch.setattr(rare_labels, "FEW_ROWS", few_rows)
    X, Y, B = make_data()
    J = np.ones(Y.shape, dtype=bool)
    np.testing.assert_allclose(
        solve(X, Y, J, B, minimize_rare_labels, 1e-9).B, solve(X, Y, J, B, minimize, 1e-10).B, atol=2e-4
    )


def test_models_of_rare_labels_have_few_rows(monkeypatch):
    sizes, minimize_columns = [], rare_labels.minimize_columns

    def record(objective, *args):
        sizes.append(objective.problem.n)
        return minimize_columns(objective, *args)

    monkeypatch.setattr(rare_labels, "minimize_columns", record)
    X, Y, B = make_data()
    result = solve(X, Y[:, :10], np.ones((N, 10), dtype=bool), B[:, :10], minimize_rare_labels, 0.1)
    assert result.converged
    assert sizes[0] <= N / rare_labels.STEP + (Y[:, :10] > 0).any(axis=1).sum() + 1
    assert max(sizes) < N / 2


def test_order_of_labels_does_not_matter():
    X, Y, B = make_data()
    J = np.ones(Y.shape, dtype=bool)
    order = np.random.default_rng(0).permutation(L)
    expected = solve(X, Y, J, B, minimize_rare_labels, 1e-9).B
    np.testing.assert_allclose(solve(X, Y, J, B, minimize_rare_labels, 1e-9, order=order).B, expected, atol=2e-4)


def test_missing_entries_are_not_read():
    X, Y, B = make_data()
    J = np.random.default_rng(1).random(Y.shape) < 0.5
    results = [solve(X, np.where(J, Y, fill), J, B, minimize_rare_labels, 1e-3).B for fill in (-1, 1)]
    np.testing.assert_array_equal(*results)


def test_solution_is_a_fixed_point():
    X, Y, B = make_data()
    J = np.ones(Y.shape, dtype=bool)
    solution = solve(X, Y, J, B, minimize, 1e-10).B
    result = solve(X, Y, J, solution, minimize_rare_labels, 1e-6)
    assert result.steps == 0
    np.testing.assert_array_equal(result.B, solution)


def test_noise_rates_and_weights():
    X, Y, B = make_data()
    rng = np.random.default_rng(2)
    weights, loss = rng.random(Y.shape), NoisyLogistic(np.full(L, 0.001), np.full(L, 0.1))
    expected = solve(X, Y, weights, B, minimize, 1e-9, loss).B
    result = solve(X, Y, weights, B, minimize_rare_labels, 1e-8, loss).B
    np.testing.assert_allclose(X @ result[:-1] + result[-1], X @ expected[:-1] + expected[-1], atol=0.02)


def test_single_precision():
    X, Y, B = make_data(dtype=np.float32)
    J = np.ones(Y.shape, dtype=bool)
    result = solve(X, Y, J, B, minimize_rare_labels, 1e-5)
    assert result.B.dtype == np.float32
    assert result.converged
    np.testing.assert_allclose(result.B, solve(X, Y, J, B, minimize, 1e-6).B, atol=0.05)


def test_a_model_in_the_space_of_rows_starts_at_the_current_coefficients():
    """Of the form X^T A - L / t, as all iterates; without steps, they do not change."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(12, 30)), rng.choice([-1.0, 1.0], size=(12, 2))
    linear = np.concatenate([rng.normal(size=(30, 2)), np.ones((1, 2))])
    problem = make_problem(X, Y, np.ones((12, 2)), np.zeros(12, dtype=int), 1)
    model = LinearObjective(problem, (LOSSES["logistic"],), Features(), Penalty(0.5, True), (0.4,), linear=linear)
    B = np.concatenate([X.T @ rng.normal(size=(12, 2)) - linear[:-1] / 0.5, [[0.3, -0.2]]])
    start = rare_labels._minimize_model(model, B, np.zeros(2), Tolerances(max_iter=0))
    np.testing.assert_allclose(start, B, atol=1e-3)
    minimum = rare_labels._minimize_model(model, B, np.full(2, 1e-9), Tolerances(tol=1e-9))
    np.testing.assert_allclose(minimum, minimize_columns(model, B, np.full(2, 1e-9), Tolerances()).B, atol=1e-3)


@pytest.mark.parametrize("weights", ["equal", "missing", "random"])
@pytest.mark.parametrize("dense", [False, True])
def test_gradient_at_intercepts(weights, dense):
    X, Y, B = make_data()
    rng = np.random.default_rng(3)
    J = {"equal": np.full(Y.shape, 0.5), "missing": rng.random(Y.shape) < 0.3, "random": rng.random(Y.shape)}[weights]
    problem = make_problem(X.toarray() if dense else X, Y, J, np.zeros(N, dtype=np.int8), 1, block_rows=1000)
    objective = LinearObjective(problem, (LOSSES["logistic"],) * 3, Features(), Penalty(0.1, True), (0.0,) * 3)
    S = tuple(np.zeros((1000, L)) + B[-1] for _ in range(3))
    expected = objective.derivatives(B, S)[0]
    np.testing.assert_allclose(rare_labels._gradient_at_intercepts(objective, S), expected, atol=1e-9)


def test_columns_with_one_sign_do_not_change():
    X, Y, B = make_data()
    J = np.ones(Y.shape, dtype=bool)
    Y[:, 0], J[Y[:, 1] > 0, 1], Y[:, 2] = -1, False, 1
    result = solve(X, Y, J, B, minimize_rare_labels, 1e-3)
    assert result.converged
    np.testing.assert_array_equal(result.B[:, :3], B[:, :3])
    assert np.abs(result.B[:-1, 3:]).max(axis=0).min() > 0
