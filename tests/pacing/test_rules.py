"""Every rule is the minimiser of its penalty, and acts as a pacing should."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize_scalar
from spmld.pacing.functions import PacingParameters

from spmld.pacing import functions as core
from spmld.pacing.groups import Columns, Members

RULES = {
    "hard": (core.hard, core.hard_penalty),
    "linear": (core.linear, core.linear_penalty),
    "logarithmic": (
        lambda *args: core.logarithmic(*args, 0.2),
        lambda *args: core.logarithmic_penalty(*args, 0.2),
    ),
    "group_sparse": (core.group_sparse, core.group_sparse_penalty),
    "diverse": (core.diverse, core.diverse_penalty),
}
each_rule = pytest.mark.parametrize(("rule", "penalty"), RULES.values(), ids=RULES)

losses = arrays(float, st.integers(1, 6), elements=st.floats(0, 1).map(lambda x: round(x, 2)))
thresholds, diversities = st.floats(0.01, 1.5), st.floats(0, 1)


def weights(rule, L, threshold, diversity=0.0, groups=None):
    (P,) = rule((np.asarray(L, float)[:, None],), PacingParameters(threshold, diversity), groups or Columns())
    return P[:, 0]


def cost(penalty, p, L, threshold, diversity):
    return float(p @ L + penalty((np.asarray(p, float)[:, None],), PacingParameters(threshold, diversity), Columns()))


@each_rule
@given(L=losses, threshold=thresholds, diversity=diversities)
def test_no_other_weights_cost_less(rule, penalty, L, threshold, diversity):
    p = weights(rule, L, threshold, diversity)
    assert ((p >= 0) & (p <= 1)).all()
    found = cost(penalty, p, L, threshold, diversity)
    for corner in product([0.0, 1.0], repeat=len(L)):
        assert found <= cost(penalty, np.array(corner), L, threshold, diversity) + 1e-9
    rng = np.random.default_rng(0)
    for other in (*rng.random((20, len(L))), *np.clip(p + 0.05 * rng.normal(size=(20, len(L))), 0, 1)):
        assert found <= cost(penalty, other, L, threshold, diversity) + 1e-9


@pytest.mark.parametrize("name", ["linear", "logarithmic"])
@given(L=st.floats(0, 1), threshold=thresholds)
def test_soft_weights_are_the_minimum_of_a_line_search(name, L, threshold):
    rule, penalty = RULES[name]
    (p,) = weights(rule, [L], threshold)
    found = minimize_scalar(
        lambda q: cost(penalty, np.array([q]), np.array([L]), threshold, 0.0),
        bounds=(0, 1),
        method="bounded",
        options={"xatol": 1e-9},
    )
    assert p == pytest.approx(found.x, abs=1e-4)


@each_rule
@given(L=losses, threshold=thresholds, diversity=diversities, more=st.floats(0, 1))
def test_easier_entries_and_later_ages_weigh_no_less(rule, penalty, L, threshold, diversity, more):
    p = weights(rule, L, threshold, diversity)
    assert (np.diff(p[np.argsort(L, kind="stable")]) <= 1e-12).all()
    assert (weights(rule, L, threshold + more, diversity) >= p - 1e-9).all()


@each_rule
def test_an_infinite_threshold_gives_full_weights_and_costs_nothing(rule, penalty):
    L = np.array([0.0, 0.3, 50.0])
    p = weights(rule, L, np.inf)
    np.testing.assert_array_equal(p, 1)
    assert cost(penalty, p, 0 * L, np.inf, 0.0) == 0


@each_rule
def test_groups_are_independent(rule, penalty):
    rng = np.random.default_rng(0)
    L, numbers = rng.random((20, 3)), rng.integers(0, 5, (20, 3))  # the fifth group is none
    threshold, diversity = np.array([0.3, 0.5, 0.7, 0.9]), np.array([0.1, 0.0, 0.4, 0.2])
    groups, parameters = Members((numbers,), 4), PacingParameters(threshold, diversity)
    (P,) = rule((L,), parameters, groups)
    total = 0.0
    for g in range(4):
        alone = weights(rule, L[numbers == g], threshold[g], diversity[g])
        np.testing.assert_allclose(P[numbers == g], alone, atol=1e-12)
        total += cost(penalty, alone, 0 * alone, threshold[g], diversity[g])
    assert (P[numbers == 4] == 0).all()
    assert float(penalty((P,), parameters, groups)) == pytest.approx(total)


def test_diversity_keeps_the_easiest_of_a_hard_group_and_its_opposite_drops_it():
    L = np.array([[0.1, 0.6], [0.2, 0.7], [0.3, 0.8]])
    parameters, columns = PacingParameters(0.5, 0.3), Columns()
    (kept,), (dropped,) = core.diverse((L,), parameters, columns), core.group_sparse((L,), parameters, columns)
    np.testing.assert_array_equal(kept, [[1, 1], [1, 0], [1, 0]])
    assert (dropped[:, 1] == 0).all()
    assert dropped[:, 0].max() > 0


def test_logarithmic_weights_are_those_of_the_original_at_its_threshold():
    zeta, L = 0.3, np.linspace(0, 0.69, 20)
    p = core.logarithmic((L[:, None],), PacingParameters(1 - zeta), Columns(), zeta)[0][:, 0]
    np.testing.assert_allclose(p, np.log(L + zeta) / np.log(zeta), atol=1e-12)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_a_common_quantile_is_that_of_all_entries_in_groups(share):
    rng = np.random.default_rng(0)
    L, numbers = rng.random((50, 4)), rng.integers(0, 4, (50, 4))
    found = core.quantiles((L,), share, Members((numbers,), 3), common=True)
    expected = np.quantile(L[numbers < 3], share, method="inverted_cdf")
    np.testing.assert_allclose(found, expected, atol=1e-9)
    own = core.quantiles((L,), np.array([share, 1.0, share]), Members((numbers,), 3))
    for g in (0, 2):
        assert own[g] == pytest.approx(np.quantile(L[numbers == g], share, method="inverted_cdf"), abs=1e-9)
    assert own[1] == np.inf
