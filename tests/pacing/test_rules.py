"""Pacing rules: the weights minimize the penalty, and are monotone in losses and thresholds."""

from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize_scalar

from spmld.core.bisection import Columns, find_quantiles
from spmld.pacing import DiversePacing, GroupSparsePacing, HardPacing, LinearPacing, LogarithmicPacing

SOFT = [LinearPacing(), LogarithmicPacing(softness=0.2)]
every_rule = pytest.mark.parametrize("rule", [HardPacing(), *SOFT, GroupSparsePacing(), DiversePacing()], ids=repr)

losses = arrays(float, st.integers(1, 6), elements=st.floats(0, 1).map(lambda x: round(x, 2)))
thresholds, diversities = st.floats(0.01, 1.5), st.floats(0, 1)


def weights(rule, L, threshold, diversity=0.0):
    return rule.weights(np.asarray(L, float)[:, None], threshold, diversity)[:, 0]


def cost(rule, p, L, threshold, diversity):
    return float(p @ L + rule.penalty(np.asarray(p, float)[:, None], threshold, diversity))


@every_rule
@given(L=losses, threshold=thresholds, diversity=diversities)
def test_no_other_weights_cost_less(rule, L, threshold, diversity):
    p = weights(rule, L, threshold, diversity)
    assert ((p >= 0) & (p <= 1)).all()
    lowest = cost(rule, p, L, threshold, diversity)
    for corner in product([0.0, 1.0], repeat=len(L)):
        assert lowest <= cost(rule, np.array(corner), L, threshold, diversity) + 1e-9
    rng = np.random.default_rng(0)
    for other in (*rng.random((20, len(L))), *np.clip(p + 0.05 * rng.normal(size=(20, len(L))), 0, 1)):
        assert lowest <= cost(rule, other, L, threshold, diversity) + 1e-9


@pytest.mark.parametrize("rule", SOFT, ids=repr)
@given(L=st.floats(0, 1), threshold=thresholds)
def test_soft_weights_are_the_minimum_of_a_line_search(rule, L, threshold):
    (p,) = weights(rule, [L], threshold)
    minimum = minimize_scalar(
        lambda q: cost(rule, np.array([q]), np.array([L]), threshold, 0.0),
        bounds=(0, 1),
        method="bounded",
        options={"xatol": 1e-9},
    )
    assert p == pytest.approx(minimum.x, abs=1e-4)


@every_rule
@given(L=losses, threshold=thresholds, diversity=diversities, more=st.floats(0, 1))
def test_weights_decrease_with_the_loss_and_increase_with_the_threshold(rule, L, threshold, diversity, more):
    p = weights(rule, L, threshold, diversity)
    assert (np.diff(p[np.argsort(L, kind="stable")]) <= 1e-12).all()
    assert (weights(rule, L, threshold + more, diversity) >= p - 1e-9).all()
    if isinstance(rule, GroupSparsePacing):
        assert (weights(rule, L, threshold, diversity * (1 - more)) >= p - 1e-9).all()


@every_rule
def test_an_infinite_threshold_gives_full_weights_without_penalty(rule):
    L = np.array([0.0, 0.3, 50.0])
    p = weights(rule, L, np.inf)
    np.testing.assert_array_equal(p, 1)
    assert cost(rule, p, 0 * L, np.inf, 0.0) == 0


@every_rule
@pytest.mark.parametrize("convert", [np.asarray, torch.asarray])
def test_columns_are_independent_and_ignore_missing_losses(rule, convert):
    rng = np.random.default_rng(0)
    L = np.where(rng.random((20, 4)) < 0.2, np.nan, rng.random((20, 4)))
    threshold, diversity = np.array([0.3, 0.5, 0.7, 0.9]), np.array([0.1, 0.0, 0.4, 0.2])
    parameters = convert(threshold), convert(diversity)
    P = np.asarray(rule.weights(convert(L), *parameters))
    total = 0.0
    for g in range(4):
        observed = ~np.isnan(L[:, g])
        alone = weights(rule, L[observed, g], threshold[g], diversity[g])
        np.testing.assert_allclose(P[observed, g], alone, atol=1e-12)
        total += cost(rule, alone, 0 * alone, threshold[g], diversity[g])
    assert (P[np.isnan(L)] == 0).all()
    assert float(rule.penalty(convert(np.where(np.isnan(L), np.nan, P)), *parameters)) == pytest.approx(total)


def test_diverse_pacing_keeps_the_easiest_of_a_hard_group_and_group_sparse_pacing_drops_it():
    L = np.array([[0.1, 0.6], [0.2, 0.7], [0.3, 0.8]])
    kept, dropped = (rule.weights(L, 0.5, 0.3) for rule in (DiversePacing(), GroupSparsePacing()))
    np.testing.assert_array_equal(kept, [[1, 1], [1, 0], [1, 0]])
    assert (dropped[:, 1] == 0).all()
    assert dropped[:, 0].max() > 0


def test_logarithmic_weights_equal_those_of_the_original_at_its_threshold():
    zeta, L = 0.3, np.linspace(0, 0.69, 20)
    p = weights(LogarithmicPacing(softness=zeta), L, 1 - zeta)
    np.testing.assert_allclose(p, np.log(L + zeta) / np.log(zeta), atol=1e-12)


def test_diverse_pacing_ranks_ties_by_position():
    np.testing.assert_array_equal(weights(DiversePacing(), np.full(4, 0.6), 0.3, 0.7), [1, 0, 0, 0])


@pytest.mark.parametrize("fraction", [0.2, 0.5, 0.9])
def test_a_common_quantile_is_that_of_all_observed_losses(fraction):
    rng = np.random.default_rng(0)
    L = np.where(rng.random((50, 3)) < 0.3, np.nan, rng.random((50, 3)))
    expected = np.nanquantile(L, fraction, method="inverted_cdf")
    np.testing.assert_allclose(find_quantiles(Columns.of(L), np.full(3, fraction), common=True), expected, atol=1e-9)
    separate = find_quantiles(Columns.of(L), np.array([fraction, 1.0, fraction]))
    for g in (0, 2):
        assert separate[g] == pytest.approx(np.nanquantile(L[:, g], fraction, method="inverted_cdf"), abs=1e-9)
    assert separate[1] == np.inf
