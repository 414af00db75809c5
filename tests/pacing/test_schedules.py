"""Schedules: fractions, thresholds and diversities of the iterations."""

import numpy as np
import pytest
from sklearn.base import clone

from spmld.core.bisection import Columns
from spmld.pacing import (
    DiversePacing,
    GeometricSchedule,
    GroupSparsePacing,
    HardPacing,
    LinearPacing,
    LogarithmicPacing,
    QuantileSchedule,
)
from spmld.pacing.schedules import slack_norms

L = np.random.default_rng(0).random((100, 3)) ** 2


@pytest.mark.parametrize("fraction", [0.1, 0.35, 0.8])
def test_quantile_schedule_selects_its_fraction_of_every_column(fraction):
    pacing = GroupSparsePacing(schedule=QuantileSchedule(start=fraction, stop=fraction))
    P = pacing.update(0, L).weights
    np.testing.assert_allclose(P.mean(axis=0), fraction, atol=0.01)
    for column, weight in zip(L.T, P.T, strict=True):
        assert column[weight == 1].max() < column[weight == 0].min()


def test_a_fraction_of_one_selects_all_entries_even_with_ties_and_zeros():
    for losses in (L, np.zeros((5, 2)), np.ones((5, 2)), L.astype(np.float32), 1e-20 * L):
        pacing = GroupSparsePacing(schedule=QuantileSchedule(start=1.0, diversity=0.9))
        P = pacing.update(0, losses).weights
        assert (P == 1).all()


def test_diversity_of_the_quantile_schedule_softens_weights_without_dropping_columns():
    hard, soft = (GroupSparsePacing(schedule=QuantileSchedule(start=0.6, stop=0.6, diversity=d)) for d in (0.0, 0.9))
    H, S = (pacing.update(0, L).weights for pacing in (hard, soft))
    assert set(np.unique(H)) == {0, 1}
    assert ((S > 0) & (S < 1)).sum(axis=0).min() > 10
    np.testing.assert_array_equal(S > 0, H > 0)


def test_fractions_grow_linearly_and_then_stay_constant():
    schedule = QuantileSchedule(start=0.2, stop=0.8, n_iter=4)
    assert [schedule.fractions(t)[0] for t in range(6)] == pytest.approx([0.2, 0.4, 0.6, 0.8, 0.8, 0.8])
    assert [schedule.has_ended(t) for t in range(5)] == [False, False, False, True, True]
    assert QuantileSchedule(start=0.2, stop=0.8, n_iter=1).fractions(0) == (0.8,)


def test_geometric_schedule_multiplies_by_its_factors():
    sequence = [GeometricSchedule(threshold=0.1, growth=2.0, diversity=3.0, decay=0.5).parameters(t) for t in range(3)]
    assert [threshold for threshold, _ in sequence] == pytest.approx([0.1, 0.2, 0.4])
    assert [diversity for _, diversity in sequence] == pytest.approx([3.0, 1.5, 0.75])
    assert not GeometricSchedule().has_ended(1000)
    assert GeometricSchedule(growth=1.0, decay=1.0).has_ended(0)


@pytest.mark.parametrize("schedule", [None, GeometricSchedule()])
def test_rules_clone_like_estimators(schedule):
    pacing = GroupSparsePacing(schedule=schedule)
    copy = clone(pacing)
    assert copy is not pacing
    assert copy.active_schedule is not pacing.active_schedule
    assert repr(copy) == repr(pacing)
    assert pacing.get_params(deep=False) == {"schedule": schedule}


@pytest.mark.parametrize("cls", [HardPacing, LinearPacing, LogarithmicPacing, GroupSparsePacing, DiversePacing])
def test_a_schedule_of_none_is_the_default_one(cls):
    changed = cls(schedule=GeometricSchedule()).set_params(schedule=None)
    changed._validate_params()
    copy, L = clone(changed), np.arange(12.0).reshape(6, 2)
    assert copy.schedule is None
    for t in range(5):
        expected = cls().update(t, L)
        for rule in (changed, copy):
            paced = rule.update(t, L)
            assert (paced.record, paced.ended) == (expected.record, t >= 3)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_fraction_of_entries_is_not_affected_by_rounding(dtype):
    losses = np.random.default_rng(0).permutation(100).astype(dtype)[:, None]
    for percent in (7, 14, 28, 55, 56, 57, 58):
        pacing = HardPacing(schedule=QuantileSchedule(start=percent / 100, stop=percent / 100))
        P = pacing.update(0, losses).weights
        assert P.sum() == percent


def test_a_common_threshold_has_a_common_diversity():
    losses = np.column_stack([np.linspace(0.1, 0.5, 50), np.linspace(0.45, 1.0, 50)])
    for diversity, kept in ((0.0, False), (0.9, True)):
        pacing = DiversePacing(schedule=QuantileSchedule(start=0.4, stop=0.4, common=True, diversity=diversity))
        parameters = pacing.schedule.parameters(0, losses)
        assert (pacing.weights(losses, *parameters)[:, 1].sum() > 0) == kept
    _, gamma = parameters
    assert gamma[0] == gamma[1] > 0


def test_a_geometric_threshold_overflows_to_infinity():
    assert GeometricSchedule(threshold=0.1, growth=10.0).parameters(5000)[0] == np.inf


def test_diverse_pacing_has_a_common_threshold_by_default():
    threshold, diversity = DiversePacing().active_schedule.parameters(0, L)
    assert (threshold == threshold[0]).all()
    assert (diversity == diversity[0]).all()
    assert diversity[0] > 0


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_losses_at_the_quantile_are_selected_even_if_zero(dtype):
    losses = np.array([[0.0], [0.0], [0.5], [1.0]], dtype=dtype)
    for fraction, expected in ((0.25, 2), (0.5, 2), (0.75, 3)):
        pacing = HardPacing(schedule=QuantileSchedule(start=fraction, stop=fraction))
        P = pacing.update(0, losses).weights
        assert P.sum() == expected


def test_slack_is_zero_at_an_infinite_threshold():
    np.testing.assert_allclose(slack_norms(Columns.of(L), np.array([np.inf, 0.0, 1.0]))[:2], 0)
    np.testing.assert_allclose(slack_norms(Columns.of(L), np.array([np.inf, 0.0, 1.0]))[2], np.linalg.norm(1 - L[:, 2]))


def test_several_values_are_repeated():
    schedule = QuantileSchedule(start=0.2, stop=(0.4, 0.8), n_iter=3)
    assert schedule.fractions(1) == pytest.approx((0.3, 0.5))
    losses = np.tile(np.arange(1.0, 101)[:, None], 4)
    threshold, _ = schedule.parameters(2, losses)
    np.testing.assert_allclose(threshold, [40, 80, 40, 80], rtol=2e-6)
    assert (threshold > [40, 80, 40, 80]).all()


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (QuantileSchedule(start=[]), "'start' parameter of QuantileSchedule must be one or several numbers"),
        (QuantileSchedule(stop=[0.5, 1.5]), "'stop' parameter of QuantileSchedule must be one or several numbers"),
        (LogarithmicPacing(softness=0.0), "softness"),
        (LogarithmicPacing(softness=1.0), "softness"),
    ],
)
def test_invalid_parameters_raise(rule, message):
    with pytest.raises(ValueError, match=message):
        rule._validate_params()


def test_limits_of_parameters_are_valid():
    for rule in (
        QuantileSchedule(start=[0.5, 0.6], stop=[0.7, 1.0], n_iter=1, diversity=0.0),
        QuantileSchedule(start=0.5, stop=[0.7, 0.8, 0.9]),
        GeometricSchedule(growth=1.0, decay=1.0, diversity=0.0),
        LogarithmicPacing(softness=0.99),
    ):
        rule._validate_params()


def test_an_update_records_means_and_keeps_the_easiest_entry():
    losses = np.array([[0.1, 0.9], [0.2, 0.8]])
    schedule = GeometricSchedule(threshold=0.3, growth=1.0, diversity=0.0)
    for keep, expected in ((False, [[1, 0], [1, 0]]), (True, [[1, 0], [1, 1]])):
        paced = HardPacing(schedule=schedule).update(0, losses, at_least_one=keep)
        np.testing.assert_array_equal(paced.weights, expected)
        assert paced.penalty == pytest.approx(-0.3 * np.sum(expected))
        assert (paced.record, paced.ended) == ({"threshold": 0.3, "diversity": 0.0}, False)
    rule = GroupSparsePacing(schedule=QuantileSchedule(start=0.5, stop=0.5, diversity=0.5, n_iter=1))
    paced = rule.update(0, losses)
    _, diversity = rule.schedule.parameters(0, losses)
    assert paced.record["threshold"] == pytest.approx((0.1 + 0.8) / 2, rel=1e-5)
    assert paced.record["diversity"] == pytest.approx(diversity.mean())
    assert paced.ended
