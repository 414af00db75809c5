"""Exact steps: minimisers of their block, never raising the full objective, equal to slow twins."""

from dataclasses import replace

import numpy as np
import pytest

from spmld.core.correlation import update_Z
from spmld.core.descent import descend_U, descend_V, descend_W, descend_Z
from spmld.core.losses import LOSSES
from spmld.core.problem import set_rows, set_W
from spmld.core.steps import conjugate_gradient, update_U, update_V, update_W
from spmld.core.terms import Correlation, Coupling, Ridge

from .cases import difference, make_case

EXACT = {"V": update_V, "U": update_U, "W": update_W, "Z": update_Z}
DESCENT = {"V": descend_V, "U": descend_U, "W": descend_W, "Z": descend_Z}
RELEASED = {
    "correlation": Correlation(0.3, 0.2, paced=True),
    "coupling": Coupling(0.7, power=2),
    "ridge": Ridge(tU=0.4, tV=0.3, tW=0.5, row_sparse=True),
}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("variant", ["paper", "released"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", "VUWZ")
@pytest.mark.parametrize("steps", [EXACT, DESCENT], ids=["exact", "descent"])
def test_no_step_raises_the_full_objective(steps, name, loss, variant, seed):
    options = RELEASED if variant == "released" else {}
    problem, objective, state = make_case(seed=seed, loss=loss, weighted=True, **options)
    for _ in range(3):
        new = steps[name](problem, objective, state)
        assert objective.value(problem, new) <= objective.value(problem, state) + 1e-10
        state = new


def derivative(problem, objective, state, name):
    """The gradient of the full objective in one block, by differences."""
    if name == "V":
        rest = [r.V for r in state.rows[1:]]
        return difference(lambda V: objective.value(problem, set_rows(state, V=[V, *rest])), state.rows[0].V)
    if name == "W":
        return difference(lambda W: objective.value(problem, set_W(problem, state, W)), state.W)
    return difference(lambda x: objective.value(problem, replace(state, **{name: x})), getattr(state, name))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("name", "blocks"), [("V", "V"), ("U", "Ub"), ("W", "W")])
def test_exact_step_is_where_the_gradient_of_its_block_is_zero(name, blocks, sparse):
    problem, objective, state = make_case(sparse=sparse, weighted=True)
    before = np.abs(derivative(problem, objective, state, name)).max()
    state = EXACT[name](problem, objective, state, tol=1e-12)
    for block in blocks:
        assert np.abs(derivative(problem, objective, state, block)).max() < 1e-6 < 1e-3 * before


@pytest.mark.parametrize("name", "VUW")
def test_descent_run_long_finds_the_exact_step(name):
    problem, objective, state = make_case(seed=3)
    exact = objective.value(problem, EXACT[name](problem, objective, state))
    for _ in range(60):
        state = DESCENT[name](problem, objective, state)
    assert objective.value(problem, state) == pytest.approx(exact, rel=1e-5)


def test_latent_labels_equal_one_solve_per_row():
    problem, objective, state = make_case(weighted=True)
    new = update_V(problem, objective, state, tol=1e-12)
    for block, old, rows in zip(problem.blocks, state.rows, new.rows, strict=True):
        for j in range(block.n):
            U, c, p = state.U, block.J[j], 0.7 * old.P[j]
            A = U.T @ np.diag(c) @ U + np.diag(p) + 0.3 * np.eye(3)
            expected = np.linalg.solve(A, U.T @ (c * (block.Y[j] - state.b)) + p * old.T[j])
            np.testing.assert_allclose(rows.V[j], expected, atol=1e-9)


def test_loadings_equal_one_ridge_per_label():
    problem, objective, state = make_case(weighted=True, correlation=Correlation())
    new = update_U(problem, objective, state)
    V = np.concatenate([rows.V for rows in state.rows])
    Y, J = (np.concatenate([getattr(block, name) for block in problem.blocks]) for name in "YJ")
    V1 = np.column_stack([V, np.ones(len(V))])
    penalty = np.diag([0.4, 0.4, 0.4, 0.0])
    for i in range(Y.shape[1]):
        expected = np.linalg.solve((V1.T * J[:, i]) @ V1 + penalty, V1.T @ (J[:, i] * Y[:, i]))
        np.testing.assert_allclose([*new.U[i], new.b[i]], expected, atol=1e-10)


@pytest.mark.parametrize("loss", LOSSES)
def test_label_without_observed_entries_gets_nothing(loss):
    problem, objective, state = make_case(loss=loss, correlation=Correlation())
    blocks = tuple(replace(b, J=b.J * np.array([0, 1, 1, 1, 1, 1])) for b in problem.blocks)
    new = update_U(replace(problem, blocks=blocks), objective, state)
    assert new.b[0] == 0
    np.testing.assert_array_equal(new.U[0], 0)


def test_without_intercept_it_stays():
    problem, objective, state = make_case(fit_intercept=False)
    new = update_U(problem, objective, state, tol=1e-12)
    np.testing.assert_array_equal(new.b, 0)
    assert np.abs(derivative(problem, objective, new, "U")).max() < 1e-6


@pytest.mark.parametrize("name", "VU")
def test_close_model_gains_more_than_the_safe_one(name):
    problem, objective, state = make_case(loss="logistic", weighted=True)
    for _ in range(30):  # near the minimum the closer curvature must win
        state = EXACT[name](problem, objective, state, True)
    state = replace(state, U=state.U * 1.05, b=state.b * 1.05)
    gain = {safe: objective.value(problem, EXACT[name](problem, objective, state, safe)) for safe in (True, False)}
    assert gain[False] < gain[True]


@pytest.mark.parametrize("axis", [None, 1])
def test_conjugate_gradient_solves(axis):
    rng = np.random.default_rng(0)
    B, x = rng.normal(size=(4, 4)), rng.normal(size=(7, 4))
    A = B @ B.T + np.eye(4)
    x[2] = 0  # a row whose target is zero must not divide by it
    found = conjugate_gradient(
        lambda v: v @ A, lambda r: r / np.diag(A), x @ A, rng.normal(size=x.shape), 1e-12, 50, axis
    )
    np.testing.assert_allclose(found, x, atol=1e-9)
