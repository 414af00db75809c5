"""Trimming: the hardest positives and negatives of each label, and the estimated fraction to keep."""

import numpy as np
import pytest
import torch

from spmld.core.problem import Engine
from spmld.ensemble.trimming import trim, trim_blocks


@pytest.mark.parametrize("fraction", [0.8, 0.9, 0.95])
def test_trim_keeps_a_fraction_of_the_positives_and_a_larger_one_of_the_negatives_of_each_label(fraction):
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((400, 3)) + np.array([3.0, 0.0, -3.0])  # labels differ in how easy they are
    Y = rng.choice([1.0, -1.0, np.nan], size=(400, 3))
    P = trim(scores, Y, fraction)
    np.testing.assert_array_equal(P[np.isnan(Y)], 0)
    np.testing.assert_array_equal(trim(scores, np.where(Y == -1, 0, Y), fraction), P)
    for j, sign in [(j, sign) for j in range(3) for sign in (1, -1)]:
        chosen = Y[:, j] == sign
        weights, losses = P[chosen, j], -sign * scores[chosen, j]
        assert weights.mean() == pytest.approx(fraction if sign > 0 else 1 - 0.3 * (1 - fraction), abs=0.01)
        assert losses[weights == 0].min() > losses[weights == 1].max()
    np.testing.assert_array_equal(trim(scores, Y, 1.0), ~np.isnan(Y))
    tensors = (torch.asarray(scores),), (torch.asarray(np.nan_to_num(Y).astype(np.int8)),)
    (kept,) = trim_blocks(Engine(), *tensors, torch.zeros(6, dtype=torch.float64), fraction)
    np.testing.assert_array_equal(kept.numpy(), P)


def test_the_only_positive_of_a_label_is_kept():
    scores, Y = np.random.default_rng(0).standard_normal((30, 2)), np.full((30, 2), -1.0)
    Y[4] = 1
    assert (trim(scores, Y, 0.8)[4] == 1).all()
