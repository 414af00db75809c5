"""The weights of the paper are exact minimizers for every input; quantiles and slacks of groups."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize

from spmld._arrays import CACHE
from spmld.core.bisection import Columns, find_quantiles
from spmld.pacing import GroupSparsePacing, exact_weights
from spmld.pacing.schedules import slack_norms


def cost(p, L, threshold, diversity):
    return p @ (L - threshold) + diversity * np.sqrt(p @ p)


def best_of_a_general_solver(L, threshold, diversity):
    """Return the lowest cost of a bounded quasi-Newton method from three initial points; zero weights have cost 0."""

    def with_slope(p):
        norm = np.sqrt(p @ p) + 1e-300
        return cost(p, L, threshold, diversity), L - threshold + diversity * p / norm

    initial = (np.full(len(L), 0.5), np.ones(len(L)), np.clip(threshold - L, 0.01, 1))
    costs = [minimize(with_slope, p, jac=True, bounds=[(0, 1)] * len(L), method="L-BFGS-B").fun for p in initial]
    return min(0.0, *costs)


def random_problem(rng):
    """Losses with ties, and a diversity from each regime."""
    n = int(rng.integers(1, 12))
    L = np.round(rng.random(n) ** 2, int(rng.integers(1, 6)))
    threshold = rng.choice([rng.random(), L[rng.integers(n)], L.min(), L.min() / 2, L.max() + rng.random()])
    switch_off = np.sqrt(np.sum(np.clip(threshold - L, 0, None) ** 2))
    part, most = rng.random() * switch_off, np.sqrt(rng.random()) * switch_off
    diversity = rng.choice([0.0, part, most, switch_off, 1.5 * switch_off + 0.1])
    return L, float(threshold), float(diversity)


def test_no_general_solver_is_better_on_a_thousand_problems():
    rng = np.random.default_rng(0)
    n_soft = 0
    for _ in range(1000):
        L, threshold, diversity = random_problem(rng)
        p = exact_weights(L, threshold, diversity)
        assert ((p >= 0) & (p <= 1)).all()
        assert cost(p, L, threshold, diversity) <= best_of_a_general_solver(L, threshold, diversity) + 1e-10
        n_soft += ((p > 0) & (p < 1)).any()
    assert n_soft > 100  # weights between 0 and 1 occurred


def test_no_weights_on_a_grid_are_better():
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 21)] * 3), axis=-1).reshape(-1, 3)
    for L in (np.array([0.1, 0.3, 0.9]), np.array([0.2, 0.2, 0.25]), np.array([0.0, 0.4, 0.45])):
        for diversity in (0.0, 0.1, 0.3, 0.6, 1.0):
            lowest = (grid @ (L - 0.5) + diversity * np.linalg.norm(grid, axis=1)).min()
            assert cost(exact_weights(L, 0.5, diversity), L, 0.5, diversity) <= lowest + 1e-12


problems = st.tuples(
    arrays(float, st.integers(1, 30), elements=st.floats(0, 1).map(lambda x: round(x, 3))),
    st.floats(0, 1.5),
    st.floats(0, 3),
)


@given(problems)
def test_optimality_conditions(problem):
    L, threshold, diversity = problem
    p = exact_weights(L, threshold, diversity)
    norm = np.sqrt(p @ p)
    if norm == 0:
        assert np.sqrt(np.sum(np.clip(threshold - L, 0, None) ** 2)) <= diversity * (1 + 1e-9) + 1e-12
        return
    slope = L - threshold + diversity * p / norm
    tolerance = 1e-7 * (1 + diversity)
    assert (slope[p == 1] <= tolerance).all()
    assert (slope[p == 0] >= -tolerance).all()
    assert (np.abs(slope[(p > 0) & (p < 1)]) <= tolerance).all()


def test_without_diversity_it_is_the_hard_rule():
    L = np.array([0.1, 0.5, 0.5, 0.9])
    np.testing.assert_array_equal(exact_weights(L, 0.5, 0.0), [1, 0, 0, 0])
    np.testing.assert_array_equal(exact_weights(L, 0.05, 0.0), 0)
    np.testing.assert_array_equal(exact_weights(L, 2.0, 0.0), 1)


@pytest.mark.parametrize("n", [50, CACHE // 3])
def test_columns_are_independent_and_missing_losses_have_weight_0(n):
    """Sums over many samples are sums over blocks that fit into the cache."""
    rng = np.random.default_rng(0)
    L = np.where(rng.random((n, 4)) < 0.3, np.nan, rng.random((n, 4)))
    L[:, 3] = np.nan
    threshold, diversity = np.array([0.3, 0.6, np.inf, 0.5]), np.array([0.0, 1.5, 0.5, 0.1])
    P = exact_weights(L, threshold, diversity)
    for column, p, t, g in zip(L.T, P.T, threshold, diversity, strict=True):
        observed = ~np.isnan(column)
        np.testing.assert_allclose(p[observed], exact_weights(column[observed], t, g), atol=1e-12)
        assert (p[~observed] == 0).all()
    np.testing.assert_array_equal(GroupSparsePacing().weights(L, threshold, diversity), P)
    tensors = (torch.from_numpy(A) for A in (L, threshold, diversity))
    np.testing.assert_allclose(exact_weights(*tensors).numpy(), P, atol=1e-12)


def test_the_penalty_is_that_of_the_paper():
    P = np.random.default_rng(0).random((50, 4))
    expected = -0.6 * P.sum() + 1.5 * np.sqrt((P**2).sum(axis=0)).sum()
    assert GroupSparsePacing().penalty(P, 0.6, 1.5) == pytest.approx(expected)
    P[7] = np.nan
    assert GroupSparsePacing().penalty(P, 0.6, 1.5) == pytest.approx(
        GroupSparsePacing().penalty(np.delete(P, 7, axis=0), 0.6, 1.5)
    )


def test_slack_norm_is_the_diversity_that_drops_a_column():
    L = np.random.default_rng(0).random((50, 2))
    off = slack_norms(Columns.of(L), np.array([0.5, 0.7]))
    assert (exact_weights(L, np.array([0.5, 0.7]), off * 1.0001) == 0).all()
    assert (exact_weights(L, np.array([0.5, 0.7]), off * 0.9999) > 0).any(axis=0).all()


@pytest.mark.parametrize("fraction", [0.1, 0.5, 0.77, 0.999])
def test_quantiles_are_those_of_numpy(fraction):
    L = np.random.default_rng(0).random((200, 3)) ** 3
    q = find_quantiles(Columns.of(L), np.full(3, fraction))
    expected = np.quantile(L, fraction, axis=0, method="inverted_cdf")
    np.testing.assert_allclose(q, expected, atol=1e-9)
    assert (find_quantiles(Columns.of(L), np.ones(3)) == np.inf).all()
