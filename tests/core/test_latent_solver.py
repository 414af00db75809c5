"""The solver of the latent-label model: monotone decrease, status, agreement of solvers, initialization."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import Ridge as RidgeRegression

from spmld.core.descent import DESCENT
from spmld.core.initialization import random_init, spectral_init
from spmld.core.iteration import Status
from spmld.core.latent_solver import EXACT, guarded, solve_spmld, try_extrapolation
from spmld.core.losses import LOSSES
from spmld.core.problem import State
from spmld.core.steps import UpdateU, UpdateV, UpdateW
from spmld.core.terms import Correlation, Coupling, Ridge
from spmld.pacing import GeometricSchedule, GroupSparsePacing, QuantileSchedule

from .cases import SIZES, make_case


def initial(problem, seed=0):
    rng = np.random.default_rng(seed)
    return spectral_init(problem, SIZES["k"], SIZES["r"], lambda shape: rng.random(shape))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("solver", ["exact", "descent"])
def test_every_iteration_lowers_the_objective(loss, solver):
    problem, objective, _ = make_case(loss=loss)
    steps = EXACT if solver == "exact" else DESCENT
    result = solve_spmld(
        problem, objective, initial(problem), steps, extrapolate=solver == "exact", max_iter=40, tol=None
    )
    values = np.array([record["objective"] for record in result.history])
    assert (np.diff(values) <= 1e-9 * values[0]).all()
    assert values[-1] < 0.98 * values[0]
    assert result.status is Status.COMPLETED


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_solvers_agree_after_many_iterations(loss):
    problem, objective, _ = make_case(loss=loss)
    exact = solve_spmld(problem, objective, initial(problem), max_iter=1000, tol=1e-8)
    slow = solve_spmld(problem, objective, initial(problem), DESCENT, extrapolate=False, max_iter=300, tol=1e-7)
    assert slow.history[-1]["objective"] == pytest.approx(exact.history[-1]["objective"], rel=1e-3)
    first = slow.history[0]["objective"]
    assert first > 1.02 * exact.history[-1]["objective"]  # the first iteration is not yet converged


def test_terms_of_a_record_sum_to_the_objective():
    problem, objective, _ = make_case()
    pacing = GroupSparsePacing(schedule=QuantileSchedule(start=0.4, stop=0.8, n_iter=3, diversity=0.3))._update_blocks
    result = solve_spmld(problem, objective, initial(problem), pacing=pacing, max_iter=6, tol=None)
    for record in result.history:
        terms = sum(record[name] for name in ("fit", "coupling", "correlation", "ridge", "pacing"))
        assert record["objective"] == pytest.approx(terms)
        assert record["mean_weight"] == pytest.approx(np.mean(record["mean_weight_per_component"]))
        assert record["seconds"] > 0
    P = np.concatenate([rows.P for rows in result.state.rows])
    assert result.history[-1]["mean_weight"] == pytest.approx(P.mean())
    means = [record["mean_weight"] for record in result.history]
    assert means[0] < means[1] < means[2]


def test_weights_of_an_iteration_minimize_its_objective():
    problem, objective, _ = make_case()
    pacing = GroupSparsePacing(schedule=GeometricSchedule(threshold=0.3, diversity=0.5))._update_blocks
    result = solve_spmld(problem, objective, initial(problem), pacing=pacing, max_iter=1, tol=None)
    rng, record = np.random.default_rng(0), result.history[0]
    P = np.concatenate([rows.P for rows in result.state.rows])
    L = np.concatenate([objective.coupling.losses(rows.V, rows.T) for rows in result.state.rows])

    def in_weights(P):
        return np.sum(P * L) - record["threshold"] * P.sum() + record["diversity"] * np.sqrt((P**2).sum(axis=0)).sum()

    assert in_weights(P) == pytest.approx(record["coupling"] + record["pacing"])
    for _ in range(50):
        other = np.clip(P + rng.normal(scale=rng.choice([0.01, 0.3]), size=P.shape), 0, 1)
        assert in_weights(P) <= in_weights(other) + 1e-12


def test_status_of_the_solver():
    problem, objective, _ = make_case()
    assert solve_spmld(problem, objective, initial(problem), max_iter=500, tol=1e-6).status is Status.CONVERGED
    assert solve_spmld(problem, objective, initial(problem), max_iter=2, tol=1e-12).status is Status.MAX_ITER
    slow = GroupSparsePacing(schedule=QuantileSchedule(stop=0.8, n_iter=30))._update_blocks
    result = solve_spmld(problem, objective, initial(problem), pacing=slow, max_iter=200, tol=1e-2)
    assert result.status is Status.CONVERGED
    assert len(result.history) >= 30  # not before the schedule has ended


def test_an_objective_that_is_not_finite_raises():
    problem, objective, state = make_case()
    with np.errstate(all="ignore"), pytest.raises(FloatingPointError, match="objective became"):
        solve_spmld(problem, objective, replace(state, U=state.U * 1e200, b=state.b * np.nan), steps=(UpdateV(),))


def test_extrapolation_is_accepted_only_if_it_lowers_the_objective():
    problem, objective, state = make_case()
    near = UpdateW()(problem, objective, UpdateV()(problem, objective, state))
    for length in (0.1, 1.0, 100.0):
        terms = objective.values(problem, near)
        after, lower, next_length = try_extrapolation(problem, objective, state, near, terms, length)
        assert lower == pytest.approx(objective.values(problem, after))
        assert sum(lower.values()) <= sum(terms.values())
        accepted = after is not near
        assert next_length == pytest.approx(min(1.5 * length, 30) if accepted else 0.5 * length)
        for block, rows in zip(problem.blocks, after.rows, strict=True):
            np.testing.assert_allclose(rows.T, block.X @ after.W, atol=1e-10)


def test_extrapolation_through_the_middle_reaches_the_minimum_and_grows():
    problem, objective, state = make_case()
    best = UpdateW()(problem, objective, state)
    rows = tuple(replace(a, T=(a.T + b.T) / 2) for a, b in zip(state.rows, best.rows, strict=True))
    middle = replace(state, W=(state.W + best.W) / 2, rows=rows)
    terms = objective.values(problem, middle)
    for length, grown in ((1.0, 1.5), (0.5, 0.75)):
        after, lower, next_length = try_extrapolation(problem, objective, state, middle, terms, length)
        assert sum(lower.values()) < sum(terms.values())
        assert next_length == pytest.approx(grown)
        np.testing.assert_allclose(after.W, state.W + (1 + length) / 2 * (best.W - state.W), atol=1e-10)


@pytest.mark.parametrize("loss", ["logistic", "squared"])
@pytest.mark.parametrize("steps", [EXACT, DESCENT], ids=["exact", "descent"])
def test_the_fit_that_steps_report_is_that_of_their_state(steps, loss):
    problem, objective, state = make_case(loss=loss)
    value, fit = objective.value(problem, state), None
    for step in steps:
        state, value, fit = guarded((step,), problem, objective, state, value, fit)
        assert fit is None or fit == pytest.approx(objective.values(problem, state)["fit"], rel=1e-12)
    assert (fit is not None) == (loss == "logistic" and steps is EXACT)


class Reckless:
    """A step that raises the objective unless `safe` is True."""

    models_fit = True

    def __init__(self):
        self.calls = []

    def __call__(self, problem, objective, state, safe=True):
        self.calls.append(safe)
        return UpdateV()(problem, objective, state) if safe else replace(state, U=100 * state.U)


@pytest.mark.parametrize("others", [(), (UpdateU(),)])
def test_steps_that_would_raise_the_objective_are_repeated_safely(others):
    problem, objective, state = make_case(loss="logistic")
    step, value = Reckless(), objective.value(problem, state)
    new, bound, _ = guarded((*others, step), problem, objective, state, value)
    assert step.calls == [False, True]
    assert objective.value(problem, new) <= bound == value
    for other in others:  # these are repeated, too
        state = other(problem, objective, state, True)
    np.testing.assert_array_equal(new.rows[0].V, UpdateV()(problem, objective, state).rows[0].V)


def test_only_steps_that_model_a_fit_which_is_not_quadratic_are_checked():
    problem, objective, state = make_case(loss="squared")
    step = Reckless()
    guarded((step,), problem, objective, state, objective.value(problem, state))
    assert step.calls == [False]
    assert [type(step).__name__ for step in (*EXACT, *DESCENT) if step.models_fit] == ["UpdateV", "UpdateU"]


def test_reduces_to_ridge_regression_when_each_label_is_its_own_latent_label():
    """With U = I fixed, full labels, a free V and no correlation, W is a ridge solution with penalty t (1 + a) / a."""
    problem, objective, state = make_case(correlation=Correlation(), coupling=Coupling(0.7), ridge=Ridge(tW=0.5))
    rng = np.random.default_rng(0)
    l, d = SIZES["l"], SIZES["d"]
    Y = [rng.normal(size=block.Y.shape) for block in problem.blocks]
    blocks = tuple(replace(b, Y=y, J=np.ones_like(y)) for b, y in zip(problem.blocks, Y, strict=True))
    problem = replace(problem, blocks=blocks)
    rows = tuple(
        replace(r, V=np.zeros_like(y), T=np.zeros_like(y), P=np.ones_like(y))
        for r, y in zip(state.rows, Y, strict=True)
    )
    state = State(U=np.eye(l), b=np.zeros(l), W=np.zeros((d, l)), Z=state.Z, rows=rows)
    steps = (UpdateV(tol=1e-12), UpdateW(tol=1e-12))
    result = solve_spmld(problem, objective, state, steps, max_iter=500, tol=1e-15)
    X = np.concatenate([block.X for block in problem.blocks])
    ridge = RidgeRegression(alpha=0.5 * 1.7 / 0.7, fit_intercept=False).fit(X, np.concatenate(Y))
    np.testing.assert_allclose(result.state.W.T, ridge.coef_, atol=1e-5)


def test_spectral_initialization_is_the_best_low_rank_fit_and_permutes_with_the_data():
    problem, _, _ = make_case(block_rows=100)
    state = initial(problem)
    block = problem.blocks[0]
    b = block.Y.sum(axis=0) / block.J.sum(axis=0)
    np.testing.assert_allclose(state.b, b)
    centered = block.J * (block.Y - b)
    u, s, vt = np.linalg.svd(centered, full_matrices=False)
    best = u[:, :3] * s[:3] @ vt[:3]
    np.testing.assert_allclose(state.rows[0].V @ state.U.T, best, atol=1e-9)
    order = np.random.default_rng(0).permutation(len(block.group))
    labels = np.random.default_rng(1).permutation(block.Y.shape[1])
    moved = replace(
        block, X=block.X[order], Y=block.Y[order][:, labels], J=block.J[order][:, labels], group=block.group[order]
    )
    other = initial(replace(problem, blocks=(moved,)))
    np.testing.assert_allclose(other.rows[0].V @ other.U.T, best[order][:, labels], atol=1e-9)


def test_random_initialization_is_that_of_the_released_code():
    problem, _, _ = make_case()
    rng = np.random.default_rng(0)
    state = random_init(problem, 3, 4, lambda shape: rng.random(shape))
    assert 0 <= state.U.min() <= state.U.max() < 1
    assert 0 <= state.rows[0].V.min() <= state.rows[0].V.max() < 1
    assert (state.W == 0).all()
    assert (state.b == 0).all()
    assert (state.rows[0].P == 1).all()
    np.testing.assert_allclose(np.linalg.norm(state.Z, axis=2), 1)
