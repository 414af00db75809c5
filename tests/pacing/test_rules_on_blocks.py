"""Losses in row blocks that are not in memory have the weights of the whole array."""

import numpy as np
import pytest
import torch

from spmld.core.bisection import Columns, find_quantiles
from spmld.core.problem import Engine
from spmld.pacing import (
    DiversePacing,
    GeometricSchedule,
    GroupSparsePacing,
    HardPacing,
    LinearPacing,
    LogarithmicPacing,
    QuantileSchedule,
)

L = np.random.default_rng(0).random((100, 3)) ** 2
SOFT = QuantileSchedule(start=0.6, stop=0.8, diversity=0.7)


class Elsewhere(Engine):
    """An engine of blocks that are not in memory, whose passes over the blocks are expensive."""

    steps_per_pass = 4
    in_memory = False
    n_passes = 0

    def sum(self, function, *rows, **options):
        self.n_passes += 1
        return super().sum(function, *rows, **options)


@pytest.mark.parametrize(
    "rule",
    [
        *(cls(schedule=SOFT) for cls in (HardPacing, LinearPacing, LogarithmicPacing, GroupSparsePacing)),
        DiversePacing(),
        GroupSparsePacing(schedule=GeometricSchedule(threshold=0.4)),
    ],
    ids=repr,
)
@pytest.mark.parametrize("convert", [np.asarray, torch.asarray])
def test_row_blocks_do_not_change_an_iteration(rule, convert):
    blocks = [convert(part) for part in (L[:7], L[7:30], L[30:])]
    for t in range(2):
        whole = rule.update(t, L)
        parts = rule._update_blocks(t, Columns(blocks, convert(np.zeros(3)), Elsewhere()))
        np.testing.assert_allclose(np.concatenate(parts.weights), whole.weights, atol=1e-12)
        assert parts.penalty == pytest.approx(whole.penalty)
        assert parts.record == pytest.approx(whole.record)
        assert parts.ended == whole.ended


def test_few_passes_over_distant_blocks_give_the_same_quantiles():
    fraction, engine = np.array([0.2, 0.5, 0.9]), Elsewhere()
    for common in (False, True):
        expected = find_quantiles(Columns.of(L), fraction, common)
        quantiles = find_quantiles(Columns([L[:40], L[40:]], np.zeros(3), engine), fraction, common)
        np.testing.assert_allclose(quantiles, expected, rtol=1e-12)
    assert engine.n_passes == 2 * (10 + 2)  # four steps of the bisection each, the largest loss and the sizes


class Ranked(HardPacing):
    """A rule of a user, with weights that depend on all losses."""

    def weights(self, losses, threshold, diversity=0.0):
        return (losses <= np.median(losses, axis=0)).astype(float)


class Fixed(GeometricSchedule):
    def parameters(self, iteration, losses=None):
        return np.median(losses, axis=0), 0.0


@pytest.mark.parametrize("rule", [Ranked(), HardPacing(schedule=Fixed())], ids=["rule", "schedule"])
def test_rules_and_schedules_of_users_get_the_losses_as_one_array(rule):
    whole = rule.update(0, L)
    parts = rule._update_blocks(0, Columns([L[:40], L[40:]], np.zeros(3), Elsewhere()))
    assert [len(part) for part in parts.weights] == [40, 60]
    np.testing.assert_array_equal(np.concatenate(parts.weights), whole.weights)
    assert parts.penalty == whole.penalty
