"""Terms of the objective: values equal the formulas, gradients equal finite differences."""

from dataclasses import replace

import numpy as np
import pytest

from spmld.core.losses import LOSSES
from spmld.core.problem import Problem, set_rows, set_W
from spmld.core.terms import Correlation, Coupling, Ridge
from studies.released import ReleasedCorrelation, ReleasedCoupling, RowNormRidge

from .cases import difference, make_case

RELEASED = {"correlation": ReleasedCorrelation(0.3, 0.2), "coupling": ReleasedCoupling(0.7)}


def whole(problem: Problem, state):
    """All arrays without blocks, for formulas as in the paper."""
    X = np.concatenate([b.X for b in problem.blocks])
    Y, J, group = (np.concatenate([getattr(b, name) for b in problem.blocks]) for name in ("Y", "J", "group"))
    V, T, P = (np.concatenate([getattr(r, name) for r in state.rows]) for name in "VTP")
    return X, Y, J, group, V, T, P


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("released", [False, True])
def test_values_are_the_formulas(loss, released):
    problem, objective, state = make_case(loss=loss, weighted=True, **(RELEASED if released else {}))
    X, Y, J, group, V, _, P = whole(problem, state)
    F = V @ state.U.T + state.b
    entry = {
        "logistic": np.log1p(np.exp(-Y * F)),
        "squared": (Y - F) ** 2 / 2,
    }[loss]
    power = 2 if released else 1
    latent = (P if released else 1) * (X @ state.W)
    S = latent @ state.U.T
    correlation = 0
    for m, Z in enumerate(state.Z):
        rows = group == m
        correlation += 0.3 * rows.mean() * np.sum((S @ Z) ** 2) / 2 + 0.2 * np.sum((S[rows] @ Z) ** 2) / 2
    expected = {
        "fit": np.sum(J * entry),
        "coupling": 0.7 / 2 * np.sum(P**power * (V - X @ state.W) ** 2),
        "correlation": correlation,
        "ridge": 0.2 * np.sum(state.U**2) + 0.15 * np.sum(V**2) + 0.25 * np.sum(state.W**2),
    }
    assert objective.values(problem, state) == pytest.approx(expected, rel=1e-12)
    assert objective.value(problem, state) == pytest.approx(sum(expected.values()))


@pytest.mark.parametrize("loss", LOSSES)
def test_gradients_of_the_fit(loss):
    problem, objective, state = make_case(loss=loss, weighted=True)
    fit, block, V = objective.fit, problem.blocks[0], state.rows[0].V
    D = fit.slope(block, V, state.U, state.b)
    by_V = difference(lambda V: fit.value(block, V, state.U, state.b), V)
    by_U = difference(lambda U: fit.value(block, V, U, state.b), state.U)
    by_b = difference(lambda b: fit.value(block, V, state.U, b), state.b)
    np.testing.assert_allclose(D @ state.U, by_V, atol=1e-7)
    np.testing.assert_allclose(D.T @ V, by_U, atol=1e-7)
    np.testing.assert_allclose(D.sum(axis=0), by_b, atol=1e-7)


@pytest.mark.parametrize("coupling", [Coupling(0.7), ReleasedCoupling(0.7)])
def test_gradients_of_the_coupling(coupling):
    _, _, state = make_case()
    V, T, P = state.rows[0].V, state.rows[0].T, state.rows[0].P
    slope = coupling.slope(V, T, P)
    np.testing.assert_allclose(slope, difference(lambda V: coupling.value(V, T, P), V), atol=1e-7)
    np.testing.assert_allclose(-slope, difference(lambda T: coupling.value(V, T, P), T), atol=1e-7)


def test_losses_of_the_pacing_are_the_coupling_at_weight_one():
    _, objective, state = make_case()
    V, T = state.rows[0].V, state.rows[0].T
    assert objective.coupling.losses(V, T).sum() == pytest.approx(objective.coupling.value(V, T, np.ones_like(V)))


@pytest.mark.parametrize("correlation", [Correlation(0.3, 0.2), ReleasedCorrelation(0.3, 0.2)])
def test_gradients_of_the_correlation(correlation):
    problem, objective, state = make_case(correlation=correlation)
    term = objective.correlation
    H = term.moments(problem, state)
    by_U = difference(lambda U: term.value(H, U, state.Z), state.U)
    by_Z = difference(lambda Z: term.value(H, state.U, Z), state.Z)
    np.testing.assert_allclose(term.gradient_U(H, state.U, state.Z), by_U, atol=1e-6)
    np.testing.assert_allclose(term.gradient_Z(H, state.U, state.Z), by_Z, atol=1e-6)

    def of_first_rows(T):
        parts = [T, *(r.T for r in state.rows[1:])]
        return term.value(term.moments(problem, set_rows(state, T=parts)), state.U, state.Z)

    rows = state.rows[0]
    N = term.couplings(problem, state.U, state.Z)
    gradient = term.gradient_T(problem.blocks[0], rows, N)
    np.testing.assert_allclose(gradient, difference(of_first_rows, rows.T), atol=1e-6)


@pytest.mark.parametrize("ridge", [Ridge(tW=0.5), RowNormRidge(tW=0.5)])
def test_slope_and_majorizer_of_the_penalty_on_features(ridge):
    rng = np.random.default_rng(0)
    W, other = rng.normal(size=(5, 3)), rng.normal(size=(5, 3))
    c = ridge.curvature_W(W)
    np.testing.assert_allclose(c * W, difference(ridge.value_W, W), atol=1e-7)
    np.testing.assert_allclose(ridge.slope_W(W), difference(ridge.value_W, W), atol=1e-7)
    above = ridge.value_W(W) + np.sum(c / 2 * (other**2 - W**2))
    assert above >= ridge.value_W(other) - 1e-12


@pytest.mark.parametrize("sparse", [False, True])
def test_blocks_do_not_change_the_objective(sparse):
    one, many = (make_case(block_rows=rows, sparse=sparse) for rows in (100, 4))
    state = one[2]
    rows = state.rows[0]
    edges = np.cumsum([0, *many[0].counts])
    parts = tuple(
        replace(r, V=rows.V[i:j], T=rows.T[i:j], P=rows.P[i:j])
        for r, i, j in zip(many[2].rows, edges[:-1], edges[1:], strict=True)
    )
    split = replace(state, rows=parts)
    assert many[1].values(many[0], split) == pytest.approx(one[1].values(one[0], state), rel=1e-12)


def test_predicted_latent_labels_change_with_the_weights():
    problem, _, state = make_case()
    W = np.random.default_rng(1).normal(size=state.W.shape)
    state = set_W(problem, state, W)
    for block, rows in zip(problem.blocks, state.rows, strict=True):
        np.testing.assert_allclose(rows.T, block.X @ W)
