"""The pacing step: exact, whatever the input; and the released code's variant, to the digit."""

import os
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize
from spmld.core.released import released, released_weights
from spmld.pacing.functions import PacingParameters, group_sparse, group_sparse_penalty, quantiles, room

from spmld.pacing.groups import Columns

COLUMNS = Columns()


def weights(L, threshold, diversity):
    L = np.asarray(L, dtype=float)
    column = L[:, None] if L.ndim == 1 else L
    (P,) = group_sparse([column], PacingParameters(threshold, diversity), COLUMNS)
    return P[:, 0] if L.ndim == 1 else P


def cost(p, L, threshold, diversity):
    return p @ (L - threshold) + diversity * np.sqrt(p @ p)


def best_of_a_general_solver(L, threshold, diversity):
    """The lowest cost that bounded quasi-Newton steps find from three starts; 0 is attained by no weight at all."""

    def with_slope(p):
        norm = np.sqrt(p @ p) + 1e-300
        return cost(p, L, threshold, diversity), L - threshold + diversity * p / norm

    starts = (np.full(len(L), 0.5), np.ones(len(L)), np.clip(threshold - L, 0.01, 1))
    found = [minimize(with_slope, p, jac=True, bounds=[(0, 1)] * len(L), method="L-BFGS-B").fun for p in starts]
    return min(0.0, *found)


def random_problem(rng):
    """Losses with ties, and a diversity from each regime."""
    n = int(rng.integers(1, 12))
    L = np.round(rng.random(n) ** 2, int(rng.integers(1, 6)))
    threshold = rng.choice([rng.random(), L[rng.integers(n)], L.min(), L.min() / 2, L.max() + rng.random()])
    switch_off = np.sqrt(np.sum(np.clip(threshold - L, 0, None) ** 2))
    part, most = rng.random() * switch_off, np.sqrt(rng.random()) * switch_off
    diversity = rng.choice([0.0, part, most, switch_off, 1.5 * switch_off + 0.1])
    return L, float(threshold), float(diversity)


def test_no_general_solver_does_better_on_a_thousand_problems():
    rng = np.random.default_rng(0)
    softened = 0
    for _ in range(1000):
        L, threshold, diversity = random_problem(rng)
        p = weights(L, threshold, diversity)
        assert ((p >= 0) & (p <= 1)).all()
        assert cost(p, L, threshold, diversity) <= best_of_a_general_solver(L, threshold, diversity) + 1e-10
        softened += ((p > 0) & (p < 1)).any()
    assert softened > 100  # the interesting regime was met


problems = st.tuples(
    arrays(float, st.integers(1, 30), elements=st.floats(0, 1).map(lambda x: round(x, 3))),
    st.floats(0, 1.5),
    st.floats(0, 3),
)


@given(problems)
def test_conditions_of_optimality(problem):
    L, threshold, diversity = problem
    p = weights(L, threshold, diversity)
    norm = np.sqrt(p @ p)
    if norm == 0:
        assert np.sqrt(np.sum(np.clip(threshold - L, 0, None) ** 2)) <= diversity * (1 + 1e-9) + 1e-12
        return
    slope = L - threshold + diversity * p / norm
    tolerance = 1e-7 * (1 + diversity)
    assert (slope[p == 1] <= tolerance).all()
    assert (slope[p == 0] >= -tolerance).all()
    assert (np.abs(slope[(p > 0) & (p < 1)]) <= tolerance).all()


@given(problems, st.floats(0, 1))
def test_easier_entries_weigh_no_less_and_a_later_age_no_less(problem, more):
    L, threshold, diversity = problem
    p = weights(L, threshold, diversity)
    assert (np.diff(p[np.argsort(L, kind="stable")]) <= 1e-12).all()
    assert (weights(L, threshold + more, diversity) >= p - 1e-9).all()
    assert (weights(L, threshold, diversity * (1 - more)) >= p - 1e-9).all()


def test_without_diversity_it_is_the_hard_rule():
    L = np.array([0.1, 0.5, 0.5, 0.9])
    np.testing.assert_array_equal(weights(L, 0.5, 0.0), [1, 0, 0, 0])
    np.testing.assert_array_equal(weights(L, 0.05, 0.0), 0)
    np.testing.assert_array_equal(weights(L, 2.0, 0.0), 1)


def test_columns_are_independent_and_may_have_their_own_age():
    rng = np.random.default_rng(0)
    L, threshold, diversity = rng.random((40, 3)), np.array([0.2, 0.9, 0.5]), np.array([0.0, 2.0, 100.0])
    P = weights(L, threshold, diversity)
    for i in range(3):
        np.testing.assert_allclose(P[:, i], weights(L[:, i], threshold[i], diversity[i]), atol=1e-12)
    assert (P[:, 2] == 0).all()  # group sparsity: a column without enough room is left out


def test_blocks_of_rows_give_the_weights_of_the_whole():
    L = np.random.default_rng(0).random((50, 4))
    parameters = PacingParameters(0.6, 1.5)
    (whole,) = group_sparse([L], parameters, COLUMNS)
    parts = group_sparse([L[:7], L[7:30], L[30:]], parameters, COLUMNS)
    np.testing.assert_allclose(np.concatenate(parts), whole, atol=1e-12)
    penalty = group_sparse_penalty(parts, parameters, COLUMNS)
    assert penalty == pytest.approx(-0.6 * whole.sum() + 1.5 * np.sqrt((whole**2).sum(axis=0)).sum())
    np.testing.assert_allclose(
        np.concatenate(released([L[:7], L[7:]], PacingParameters(0.1, 0.2), COLUMNS)),
        released([L], PacingParameters(0.1, 0.2), COLUMNS)[0],
    )


def test_room_is_the_diversity_that_switches_a_column_off():
    L = np.random.default_rng(0).random((50, 2))
    off = room([L], np.array([0.5, 0.7]), COLUMNS)
    assert (weights(L, np.array([0.5, 0.7]), off * 1.0001) == 0).all()
    assert (weights(L, np.array([0.5, 0.7]), off * 0.9999) > 0).any(axis=0).all()


@pytest.mark.parametrize("share", [0.1, 0.5, 0.77, 0.999])
def test_quantiles_hold_their_share(share):
    L = np.random.default_rng(0).random((200, 3)) ** 3
    q = quantiles([L[:90], L[90:]], share, COLUMNS)
    expected = np.quantile(L, share, axis=0, method="inverted_cdf")
    np.testing.assert_allclose(q, expected, atol=1e-9)
    assert (quantiles([L], 1.0, COLUMNS) == np.inf).all()


def test_float32_follows_float64():
    L = np.random.default_rng(0).random((500, 3))
    single = weights(L, 0.5, 3.0)
    (P,) = group_sparse([L.astype(np.float32)], PacingParameters(0.5, 3.0), COLUMNS)
    assert P.dtype == np.float32
    np.testing.assert_allclose(P, single, atol=1e-5)


def test_torch_gives_the_weights_of_numpy():
    L = np.random.default_rng(0).random((60, 3))
    tensors = [torch.from_numpy(L[:25]), torch.from_numpy(L[25:])]
    for rule in (group_sparse, released):
        (expected,) = rule([L], PacingParameters(0.3, 0.8), COLUMNS)
        found = torch.concat(list(rule(tensors, PacingParameters(0.3, 0.8), COLUMNS)))
        np.testing.assert_allclose(found.numpy(), expected, atol=1e-12)
    np.testing.assert_allclose(quantiles(tensors, 0.3, COLUMNS).numpy(), quantiles([L], 0.3, COLUMNS), atol=1e-12)


def test_released_rule_written_out():
    """The rule as the released code loops over it, one index at a time."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        n = int(rng.integers(2, 15))
        L, lam, gam = rng.random(n), rng.random(), rng.random()
        order = np.argsort(L)
        l = [None, *L[order]]
        k1 = next((j for j in range(1, n + 1) if l[j] >= lam), n)
        s = max([j for j in range(1, n + 1) if l[j] <= lam - gam], default=1)
        r = sum((lam - l[j]) ** 2 for j in range(2, k1))
        q = sum(lam - l[j] for j in range(2, k1))
        c = {k: np.sqrt(complex(k / (gam**2 - r))).real for k in range(1, n + 1)}
        h = [0.0] * (n + 1)
        for k in range(s, k1):
            h[k] = sum(l[1 : k + 1]) - lam * (k + c[1] * q) + gam * np.sqrt(k + r * c[1] ** 2)
        k0 = int(np.argmin(h[1:])) + 1
        p = [1.0 if j <= k0 else c[k0] * (lam - l[j]) if j < k1 else 0.0 for j in range(1, n + 1)]
        expected = np.empty(n)
        expected[order] = p
        np.testing.assert_allclose(released_weights(L, lam, gam), expected, atol=1e-12)


def test_released_rule_gives_what_the_released_code_gave():
    folder = os.environ.get("SPMLD_DATA")
    files = list(Path(folder).parent.rglob("released_pstep.mat")) if folder else []
    if not files:
        pytest.skip("outputs of the released code (released_pstep.mat) are not beside SPMLD_DATA")
    cases = scipy.io.loadmat(files[0], simplify_cells=True)["cases"]
    assert len(cases) == 24
    for case in cases:
        for L, expected in zip(np.atleast_2d(case["L"]), np.atleast_2d(case["P"]), strict=True):
            found = released_weights(L, float(case["lambda"]), float(case["gamma"]))
            np.testing.assert_allclose(found, expected, atol=1e-12)
