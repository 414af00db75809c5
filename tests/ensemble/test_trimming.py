"""Trimming: the hardest positives and negatives of each label, and the estimated fraction to keep."""

import numpy as np
import pytest

from spmld.core.losses import LOSSES
from spmld.ensemble.trimming import trim
from spmld.pacing import HardPacing, QuantileSchedule


@pytest.mark.parametrize("fraction", [0.8, 0.9, 0.95])
def test_trim_keeps_a_fraction_of_the_positives_and_a_larger_one_of_the_negatives_of_each_label(fraction):
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((400, 3)) + np.array([3.0, 0.0, -3.0])  # labels differ in how easy they are
    Y = rng.choice([1, -1, 0], size=(400, 3)).astype(np.int8)
    P = trim(scores, Y, fraction)
    assert not P[Y == 0].any()
    for j, sign in [(j, sign) for j in range(3) for sign in (1, -1)]:
        chosen = Y[:, j] == sign
        weights, losses = P[chosen, j], -sign * scores[chosen, j]
        assert weights.mean() == pytest.approx(fraction if sign > 0 else 1 - 0.3 * (1 - fraction), abs=0.01)
        assert losses[~weights].min() > losses[weights].max()
    np.testing.assert_array_equal(trim(scores, Y, 1.0), Y != 0)


def test_the_only_positive_of_a_label_is_kept():
    scores, Y = np.random.default_rng(0).standard_normal((30, 2)), np.full((30, 2), -1)
    Y[4] = 1
    assert trim(scores, Y, 0.8)[4].all()


@pytest.mark.parametrize("fraction", [0.55, 0.8, 0.9])
def test_trim_is_the_hard_rule_with_quantiles_of_each_label_and_polarity(fraction):
    rng = np.random.default_rng(1)
    scores = rng.standard_normal((300, 4)).round(1)  # with equal losses
    Y = rng.choice([1, -1, 0], size=scores.shape, p=[0.2, 0.6, 0.2]).astype(np.int8)
    losses = LOSSES["logistic"].value(Y, scores)
    groups = np.concatenate([np.where(sign == Y, losses, np.nan) for sign in (-1, 1)], axis=1)
    fractions = np.repeat([1 - 0.3 * (1 - fraction), fraction], 4)
    rule = HardPacing(schedule=QuantileSchedule(start=fractions, stop=fractions))
    negatives, positives = np.split(rule.update(0, groups).weights > 0, 2, axis=1)
    np.testing.assert_array_equal(trim(scores, Y, fraction), negatives | positives)
