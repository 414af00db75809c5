"""Algorithms on the observed entries only give the results of those on all entries, with weight 0 where missing."""

import numpy as np
import pytest
import scipy.sparse as sp

from spmld.core.descent import DESCENT
from spmld.core.initialization import label_means, spectral_init
from spmld.core.latent_solver import EXACT, solve_spmld
from spmld.core.leml_solver import Factors, solve_leml
from spmld.core.linear_objective import Features, Penalty
from spmld.core.losses import LOSSES
from spmld.core.newton import newton_minimize
from spmld.core.problem import ALL_ENTRIES, ObservedEntries, make_problem
from spmld.noise.likelihood import NoisyLogistic
from tests.core.cases import make_case

each_loss = pytest.mark.parametrize("loss", ["squared", "logistic"])


def both(**options):
    """The same case with all entries, and with the observed entries only."""
    return make_case(**options), make_case(**options, observed_only=True)


def test_operations_are_those_of_a_matrix_with_zeros_elsewhere():
    rng = np.random.default_rng(0)
    mask = rng.random((7, 5)) < 0.4
    mask[3] = False  # a row without entries
    mask[:, 2] = False  # a label without entries
    entries, D = ObservedEntries.at(*np.nonzero(mask), mask.shape), np.where(mask, rng.normal(size=mask.shape), 0)
    V, U, b = rng.normal(size=(7, 3)), rng.normal(size=(5, 3)), rng.normal(size=5)
    np.testing.assert_allclose(entries.scores(V, U, b), ALL_ENTRIES.scores(V, U, b)[mask])
    np.testing.assert_allclose(entries.spread(b), np.broadcast_to(b, mask.shape)[mask])
    np.testing.assert_allclose(entries.times(D[mask], U), ALL_ENTRIES.times(D, U))
    np.testing.assert_allclose(entries.transposed_times(D[mask], V), ALL_ENTRIES.transposed_times(D, V))
    np.testing.assert_allclose(entries.column_sums(D[mask]), ALL_ENTRIES.column_sums(D))
    np.testing.assert_allclose(entries.second_moments(D[mask]), ALL_ENTRIES.second_moments(D))
    for s in (slice(0, 4), slice(3, 4), slice(4, 9)):
        part, inside = entries.part(s)
        np.testing.assert_allclose(part.times(D[mask][inside], U), D[s] @ U)


@each_loss
@pytest.mark.parametrize("weighted", [False, True])
def test_values_and_steps_are_the_same(loss, weighted):
    (problem, objective, state), (observed, _, _) = both(loss=loss, weighted=weighted)
    assert all(block.Y.ndim == 1 for block in observed.blocks)
    assert objective.value(observed, state) == pytest.approx(objective.value(problem, state))
    for step in EXACT:
        for safe in (False, True):
            expected, result = (step(data, objective, state, safe) for data in (problem, observed))
            for name in ("U", "b", "W", "Z"):
                np.testing.assert_allclose(getattr(result, name), getattr(expected, name), atol=1e-6)
            for a, b in zip(result.rows, expected.rows, strict=True):
                np.testing.assert_allclose(a.V, b.V, atol=1e-6)
    for step in DESCENT:  # a line search amplifies rounding errors
        expected, result = (objective.value(data, step(data, objective, state)) for data in (problem, observed))
        assert result == pytest.approx(expected, rel=1e-2)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_fits_are_the_same(fit_intercept):
    (problem, objective, _), (observed, _, _) = both(loss="logistic", fit_intercept=fit_intercept)
    results = []
    for data in (problem, observed):
        state = spectral_init(data, 3, 4, np.random.default_rng(0).random)
        results.append(solve_spmld(data, objective, state, max_iter=5, tol=None).history[-1]["objective"])
    assert results[1] == pytest.approx(results[0], rel=1e-6)
    np.testing.assert_allclose(label_means(observed, np.zeros(1)), label_means(problem, np.zeros(1)))


def linear_problem(observed_only, dtype=float, sparse=False, block_rows=None):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 9)) * (rng.random((60, 9)) < 0.4)
    J = (rng.random((60, 4)) < 0.3) * rng.random((60, 4))
    J[:, 3] = 0  # a label without entries
    Y = np.where(J > 0, rng.choice([-1.0, 1.0], size=(60, 4)), np.nan)
    X[:, 5] = 0  # a feature that is always 0
    X[J[:, 1] > 0, 2] = 0  # and one that is 0 where label 1 is observed
    X = sp.csr_array(X.astype(dtype)) if sparse else X.astype(dtype)
    return make_problem(
        X, Y.astype(dtype), J.astype(dtype), np.zeros(60, int), 1, observed_only=observed_only, block_rows=block_rows
    )


@each_loss
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_newton_solves_single_labels(loss, sparse, intercept):
    penalty, start = Penalty(0.5, intercept), np.random.default_rng(0).normal(size=(9 + intercept, 4))
    expected = newton_minimize(
        linear_problem(False), LOSSES[loss], Features(intercept), penalty, start, tol=1e-10, max_iter=1000
    )
    problem = linear_problem(True, sparse=sparse)
    B = newton_minimize(problem, LOSSES[loss], Features(intercept), penalty, start, tol=1e-10, max_iter=1000).B
    observed = slice(None) if not intercept else slice(0, 3)  # nothing determines the last intercept
    np.testing.assert_allclose(B[:, observed], expected.B[:, observed], atol=1e-6)
    if sparse:
        assert (B[5] == 0).all()
        assert B[2, 1] == 0


def test_newton_selects_rates_of_the_entries_and_offsets_of_the_labels():
    rates, offset = np.random.default_rng(2).random((2, 60, 4)) / 4, np.array([0.5, -1.0, 2.0, 0.0])
    results = []
    for observed_only in (False, True):
        problem = linear_problem(observed_only, block_rows=None if observed_only else 25)
        model = NoisyLogistic(*rates), Features(False), Penalty(1.0), np.zeros((9, 4))
        results.append(newton_minimize(problem, *model, offset=offset, tol=1e-9).B)
    np.testing.assert_allclose(results[1], results[0], atol=1e-6)


def test_single_precision_follows_double_precision():
    double, single = (linear_problem(True, dtype) for dtype in (np.float64, np.float32))
    fit = [
        newton_minimize(data, LOSSES["logistic"], Features(), Penalty(1.0, True), np.zeros((10, 4), dtype), tol=1e-5).B
        for data, dtype in ((double, np.float64), (single, np.float32))
    ]
    assert fit[1].dtype == np.float32
    np.testing.assert_allclose(fit[1][:, :3], fit[0][:, :3], atol=1e-3)


@each_loss
def test_leml_is_the_same(loss):
    rng = np.random.default_rng(3)
    factors = Factors(rng.random((9, 2)), rng.random((4, 2)), np.zeros(4))
    expected, result = (
        solve_leml(linear_problem(observed_only), LOSSES[loss], 1.0, factors, max_iter=3, tol=None)
        for observed_only in (False, True)
    )
    np.testing.assert_allclose(result.state.W, expected.state.W, atol=1e-4)
    assert result.history[-1]["objective"] == pytest.approx(expected.history[-1]["objective"], rel=1e-6)
