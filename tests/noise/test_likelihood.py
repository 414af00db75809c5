"""The likelihood of noisy labels: derivatives, special cases, and Bayes' rule."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

from spmld.core.losses import LOSSES
from spmld.noise import NoiseRates
from spmld.noise.likelihood import NoisyLogistic, error_log_odds

F = np.linspace(-6, 6, 13)


@pytest.mark.parametrize("y", [1.0, -1.0])
def test_the_slope_is_the_difference_quotient_of_the_value(y):
    loss, step = NoisyLogistic(np.array(0.1), np.array(0.3)), 1e-6
    quotient = (loss.value(np.array(y), F + step) - loss.value(np.array(y), F - step)) / (2 * step)
    assert_allclose(loss.slope(np.array(y), F), quotient, atol=1e-8)


def test_the_probabilities_of_both_labels_sum_to_one_between_floor_and_ceiling():
    loss = NoisyLogistic(np.array(0.1), np.array(0.3))
    positive, negative = (np.exp(-loss.value(np.array(y), F)) for y in (1.0, -1.0))
    assert_allclose(positive + negative, 1)
    assert_allclose(positive, 0.1 + 0.6 * expit(F))


def test_without_noise_it_is_the_logistic_loss():
    zero = NoiseRates(np.zeros(3), np.zeros(3))
    assert zero.loss() is LOSSES["logistic"]
    y = np.where(np.arange(13) % 2, 1.0, -1.0)
    assert_allclose(NoisyLogistic(np.array(0.0), np.array(0.0)).value(y, F), LOSSES["logistic"].value(y, F), atol=1e-12)


def test_error_log_odds_are_those_of_bayes_rule():
    rates, pi = NoiseRates(np.array(0.1), np.array(0.3)), expit(F)
    wrong_positive = 0.1 * (1 - pi) / (0.1 * (1 - pi) + 0.7 * pi)
    wrong_negative = 0.3 * pi / (0.3 * pi + 0.9 * (1 - pi))
    assert_allclose(expit(error_log_odds(F, np.ones(13), rates)), wrong_positive)
    assert_allclose(expit(error_log_odds(F, -np.ones(13), rates)), wrong_negative)


def test_verified_entries_have_no_noise():
    trusted = np.array([[True, False], [False, True]])
    rates = NoiseRates(np.array([0.1, 0.2]), np.array([0.3, 0.4])).unless(trusted)
    assert_allclose(rates.alpha, [[0, 0.2], [0.1, 0]])
    assert_allclose(rates.rows(np.array([False, True])).beta, [[0.3, 0]])
