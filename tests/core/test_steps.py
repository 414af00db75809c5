"""Exact block updates: they minimize their block, never raise the objective, and agree with simple implementations."""

from dataclasses import replace

import numpy as np
import pytest

from spmld._arrays import CACHE
from spmld.core.descent import DescendU, DescendV, DescendW, DescendZ, descend
from spmld.core.latent_solver import REDUCTION
from spmld.core.losses import LOSSES
from spmld.core.problem import Rows, set_rows, set_W
from spmld.core.steps import UpdateU, UpdateV, UpdateW, UpdateZ
from spmld.core.terms import Correlation, Coupling, Ridge
from studies.released import ReleasedCorrelation, ReleasedCoupling, RowNormRidge

from .cases import difference, make_case

EXACT = {"V": UpdateV(), "U": UpdateU(), "W": UpdateW(), "Z": UpdateZ()}
DESCENT = {"V": DescendV(), "U": DescendU(), "W": DescendW(), "Z": DescendZ()}
RELEASED = {
    "correlation": ReleasedCorrelation(0.3, 0.2),
    "coupling": ReleasedCoupling(0.7),
    "ridge": RowNormRidge(tU=0.4, tV=0.3, tW=0.5),
}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("variant", ["paper", "released"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", "VUWZ")
@pytest.mark.parametrize("steps", [EXACT, DESCENT], ids=["exact", "descent"])
def test_no_step_raises_the_objective(steps, name, loss, variant, seed):
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
def test_gradient_of_a_block_is_zero_after_its_exact_step(name, blocks, sparse):
    problem, objective, state = make_case(sparse=sparse, weighted=True)
    before = np.abs(derivative(problem, objective, state, name)).max()
    state = replace(EXACT[name], tol=1e-12)(problem, objective, state)
    for block in blocks:
        assert np.abs(derivative(problem, objective, state, block)).max() < 1e-6 < 1e-3 * before


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", "VW")
def test_a_gradient_reduced_to_a_tenth_is_most_of_the_decrease(name, seed):
    problem, objective, state = make_case(seed=seed)
    steps = (replace(EXACT[name], tol=tol) for tol in (REDUCTION, 1e-12))
    before = objective.value(problem, state)
    decrease, possible = (before - objective.value(problem, step(problem, objective, state)) for step in steps)
    assert 0.95 * possible <= decrease <= possible * (1 + 1e-9)


@pytest.mark.parametrize("name", "VUW")
def test_descent_converges_to_the_exact_step(name):
    problem, objective, state = make_case(seed=3)
    exact = objective.value(problem, EXACT[name](problem, objective, state))
    for _ in range(60):
        state = DESCENT[name](problem, objective, state)
    assert objective.value(problem, state) == pytest.approx(exact, rel=1e-5)


def test_latent_labels_solve_one_system_per_sample():
    problem, objective, state = make_case(weighted=True)
    new = UpdateV(tol=1e-12)(problem, objective, state)
    for block, old, rows in zip(problem.blocks, state.rows, new.rows, strict=True):
        for j in range(len(block.group)):
            U, c, p = state.U, block.J[j], 0.7 * old.P[j]
            A = U.T @ np.diag(c) @ U + np.diag(p) + 0.3 * np.eye(3)
            expected = np.linalg.solve(A, U.T @ (c * (block.Y[j] - state.b)) + p * old.T[j])
            np.testing.assert_allclose(rows.V[j], expected, atol=1e-9)


def test_loadings_are_a_ridge_regression_per_label():
    problem, objective, state = make_case(weighted=True, correlation=Correlation())
    new = UpdateU()(problem, objective, state)
    V = np.concatenate([rows.V for rows in state.rows])
    Y, J = (np.concatenate([getattr(block, name) for block in problem.blocks]) for name in "YJ")
    V1 = np.column_stack([V, np.ones(len(V))])
    penalty = np.diag([0.4, 0.4, 0.4, 0.0])
    for i in range(Y.shape[1]):
        expected = np.linalg.solve((V1.T * J[:, i]) @ V1 + penalty, V1.T @ (J[:, i] * Y[:, i]))
        np.testing.assert_allclose([*new.U[i], new.b[i]], expected, atol=1e-10)


@pytest.mark.parametrize("loss", LOSSES)
def test_label_without_observed_entries_has_zero_loadings(loss):
    problem, objective, state = make_case(loss=loss, correlation=Correlation())
    blocks = tuple(replace(b, J=b.J * np.array([0, 1, 1, 1, 1, 1])) for b in problem.blocks)
    new = UpdateU()(replace(problem, blocks=blocks), objective, state)
    assert new.b[0] == 0
    np.testing.assert_array_equal(new.U[0], 0)


def test_without_intercept_it_stays_zero():
    problem, objective, state = make_case(fit_intercept=False)
    new = UpdateU(tol=1e-12)(problem, objective, state)
    np.testing.assert_array_equal(new.b, 0)
    assert np.abs(derivative(problem, objective, new, "U")).max() < 1e-6


@pytest.mark.parametrize("name", "VU")
def test_close_model_lowers_the_objective_more_than_the_safe_one(name):
    problem, objective, state = make_case(loss="logistic", weighted=True)
    for _ in range(30):  # near the minimum, the closer model is better
        state = EXACT[name](problem, objective, state, True)
    state = replace(state, U=state.U * 1.05, b=state.b * 1.05)
    values = {safe: objective.value(problem, EXACT[name](problem, objective, state, safe)) for safe in (True, False)}
    assert values[False] < values[True]


@pytest.mark.parametrize("step", [UpdateZ(), DescendZ()])
def test_without_correlation_its_factors_do_not_change(step):
    problem, objective, state = make_case(correlation=Correlation())
    np.testing.assert_array_equal(step(problem, objective, state).Z, state.Z)


@pytest.mark.parametrize("tol", [1e-2, 1e-6])
def test_systems_are_solved_as_accurately_as_the_tolerance_requires(tol):
    """The objective at an inexact solution exceeds the minimum by about the square of the tolerance."""
    problem, objective, state = make_case(weighted=True)
    for name in "VUW":
        exact, inexact = (
            objective.value(problem, replace(EXACT[name], tol=t)(problem, objective, state)) for t in (1e-12, tol)
        )
        assert 0 <= inexact - exact + 1e-9 < 10 * tol**2 * objective.value(problem, state) + 2e-9
        unchanged = replace(EXACT[name], max_iter=0)(problem, objective, state)
        assert objective.value(problem, unchanged) == pytest.approx(objective.value(problem, state))


def test_a_block_that_exceeds_the_cache_has_the_steps_of_small_blocks():
    n, size = CACHE // 8, CACHE // 80
    problem, objective, state = make_case(weighted=True, n=n, block_rows=n)
    assert len(list(problem.blocks[0].parts(3))) > 1  # it is computed in slices
    small, _, _ = make_case(weighted=True, n=n, block_rows=size)
    (rows,), starts = state.rows, range(0, n, size)
    parts = tuple(Rows(*(A[start : start + size] for A in (rows.V, rows.T, rows.P))) for start in starts)
    for name in "VU":
        whole = EXACT[name](problem, objective, state)
        split = EXACT[name](small, objective, replace(state, rows=parts))
        np.testing.assert_allclose(split.U, whole.U, atol=1e-9)
        np.testing.assert_allclose(np.concatenate([r.V for r in split.rows]), whole.rows[0].V, atol=1e-9)


def test_weights_of_features_are_finite_without_any_term():
    problem, objective, state = make_case(correlation=Correlation(), coupling=Coupling(0.0), ridge=Ridge())
    np.testing.assert_array_equal(UpdateW()(problem, objective, state).W, state.W)


def test_descent_in_the_weights_of_features_is_that_of_the_objective():
    """The predicted latent labels, which change with W, do not count as variables."""
    problem, objective, state = make_case()

    def value(x):
        return objective.value(problem, set_W(problem, state, x[0]))

    def gradient(x):
        return (difference(lambda W: value((W,)), x[0]),)

    (W,) = descend((state.W,), value, gradient, max_iter=2)
    np.testing.assert_allclose(DescendW(max_iter=2)(problem, objective, state).W, W, atol=1e-5)


@pytest.mark.parametrize("name", "VU")
def test_steps_are_safe_by_default(name):
    problem, objective, state = make_case(loss="logistic", weighted=True)
    default, safe, close = (EXACT[name](problem, objective, state, *options) for options in ((), (True,), (False,)))
    values = [objective.value(problem, new) for new in (default, safe, close)]
    assert values[0] == values[1] != values[2]
