"""The estimate of noise rates: planted rates are found, and nothing is found where the data do not say."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit
from spmld.noise.curve import Curve

from spmld import MaskedLogistic
from spmld.model_selection import cross_fit, make_folds
from spmld.noise import NoiseRates, estimate_noise
from spmld.noise.estimate import label_frequency, label_rates


def draw(n=4000, l=6, spread=4.0, center=-4.0, seed=0):
    """Log-odds and labels drawn from them."""
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(center, spread, size=(n, l))
    return log_odds, rng.random((n, l)) < expit(log_odds), rng


def signs_of(truth, wrong):
    return np.where(truth != wrong, 1, -1).astype(np.int8)


def corrupt(truth, rng, alpha, beta):
    return rng.random(truth.shape) < np.where(truth, beta, alpha)


@pytest.mark.parametrize(
    ("alpha", "beta", "pattern"),
    [(0.1, 0.1, "flipped"), (0.15, 0.0, "added"), (0.05, 0.0, "added"), (0.05, 0.2, "moved")],
)
def test_planted_rates_are_found(alpha, beta, pattern):
    log_odds, truth, rng = draw()
    estimate = estimate_noise(2 * log_odds + 1, signs_of(truth, corrupt(truth, rng, alpha, beta)))
    assert estimate.identified
    assert estimate.pattern == pattern
    assert_allclose(estimate.rates.alpha, alpha, atol=0.02)
    assert_allclose(estimate.rates.beta, beta, atol=0.06)
    assert 0 < estimate.lowest_rate <= alpha


def test_false_negatives_alone_are_a_pattern_but_not_identified():
    log_odds, truth, rng = draw()
    estimate = estimate_noise(log_odds, signs_of(truth, corrupt(truth, rng, 0.0, 0.3)))
    assert estimate.pattern == "dropped"
    assert not estimate.identified
    assert_allclose(np.concatenate(estimate.rates), 0)
    assert_allclose(estimate.curve.beta, 0.3, atol=0.05)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("strength", "frequency"), [(0.0, 0.3), (0.3, 0.3), (0.6, 0.1), (1.0, 0.05), (2.0, 0.3), (5.0, 0.1)]
)
def test_no_noise_is_found_in_correct_labels_however_weak_the_features(strength, frequency, seed):
    rng = np.random.default_rng([seed, int(10 * strength)])
    X, W = rng.standard_normal((600, 15)), rng.standard_normal((15, 8))
    log_odds = strength * X @ (W / np.linalg.norm(W, axis=0)) + np.log(frequency / (1 - frequency))
    Y = (rng.random(log_odds.shape) < expit(log_odds)).astype(int)
    scores = cross_fit(MaskedLogistic(C=0.1), X, Y, make_folds(5, X, Y, random_state=0)).scores
    estimate = estimate_noise(scores, (2 * Y - 1).astype(np.int8))
    assert not estimate.identified
    assert estimate.lowest_rate == 0


def test_a_floor_that_disappears_with_less_regularization_is_not_noise():
    log_odds, truth, rng = draw()
    signs = signs_of(truth, corrupt(truth, rng, 0.1, 0.0))
    assert estimate_noise(log_odds, signs).identified
    correct = np.where(signs > 0, 5.0, -5.0) + rng.normal(size=signs.shape)
    assert not estimate_noise(log_odds, signs, alternatives=lambda: [correct]).identified
    assert estimate_noise(log_odds, signs, alternatives=lambda: [3 * log_odds]).identified


def test_missing_entries_are_never_read():
    log_odds, truth, rng = draw(n=800)
    signs = signs_of(truth, corrupt(truth, rng, 0.1, 0.1))
    signs[rng.random(signs.shape) < 0.5] = 0
    expected = estimate_noise(log_odds, signs)
    found = estimate_noise(np.where(signs == 0, 1e3, log_odds), signs)
    assert_allclose(found.rates.alpha, expected.rates.alpha)
    assert found.evidence == pytest.approx(expected.evidence)


def test_the_order_of_samples_and_labels_does_not_matter():
    log_odds, truth, rng = draw(n=800)
    signs = signs_of(truth, corrupt(truth, rng, 0.1, 0.1))
    rows, columns = rng.permutation(800), rng.permutation(6)
    a, b = estimate_noise(log_odds, signs), estimate_noise(log_odds[rows][:, columns], signs[rows][:, columns])
    assert a.evidence == pytest.approx(b.evidence, rel=1e-4)
    assert_allclose(a.rates.alpha[columns], b.rates.alpha, rtol=1e-3)


@pytest.mark.parametrize("signs", [np.ones((5, 2)), -np.ones((5, 2)), np.zeros((5, 2))])
def test_labels_of_one_class_have_no_noise(signs):
    estimate = estimate_noise(np.zeros((5, 2)), signs.astype(np.int8))
    assert not estimate.identified
    assert estimate.pattern == "flipped"


def test_the_gradient_of_the_curve_vanishes_at_the_maximum_and_verified_entries_have_no_noise():
    log_odds, truth, rng = draw(n=2000)
    signs = signs_of(truth, corrupt(truth, rng, 0.1, 0.2))
    trusted = np.zeros(signs.shape, dtype=bool)
    trusted[:100] = True
    signs[:100] = np.where(truth[:100], 1, -1)
    curve = Curve.from_entries(log_odds, signs, trusted)
    assert curve.counts.sum() + curve.verified.sum() == signs.size
    best = curve.fit((1.0, 2.0))
    assert best.alpha == pytest.approx(0.1, abs=0.02)
    for rate in (0.8 * best.alpha, 1.2 * best.alpha):
        assert curve.fit((1.0, 2.0), rate=rate).log_likelihood < best.log_likelihood


def test_verified_entries_identify_the_rates_of_each_label():
    log_odds, truth, rng = draw(n=4000, l=3, center=-1.0)
    alpha = np.array([0.05, 0.15, 0.3])
    signs = signs_of(truth, corrupt(truth, rng, alpha, 0.0))
    trusted = np.arange(4000)[:, None] + np.zeros(3) < 200
    signs[:200] = np.where(truth[:200], 1, -1)
    assert_allclose(estimate_noise(log_odds, signs, trusted).rates.alpha, alpha, atol=0.03)


@pytest.mark.parametrize("strength", [0.3, 1.0])
def test_verified_entries_of_weak_correct_labels_are_no_evidence_of_noise(strength):
    log_odds, truth, _ = draw(n=800, l=12, spread=strength, center=-1.0)
    trusted = np.arange(800)[:, None] + np.zeros(12) < 50
    estimate = estimate_noise(log_odds, np.where(truth, 1, -1).astype(np.int8), trusted)
    assert_allclose(np.concatenate(estimate.rates), 0)


def test_rates_of_labels_are_shrunk_to_shared_ones_and_keep_zeros():
    log_odds, truth, rng = draw(n=3000, l=2)
    signs = signs_of(truth, corrupt(truth, rng, np.array([0.02, 0.1]), 0.0))
    rates = label_rates(log_odds, signs, NoiseRates(np.full(2, 0.05), np.zeros(2)))
    assert_allclose(rates.alpha, [0.02, 0.1], atol=0.01)
    assert_allclose(rates.beta, 0)
    nothing = label_rates(log_odds, np.zeros(signs.shape, dtype=np.int8), NoiseRates(np.full(2, 0.05), np.full(2, 0.1)))
    assert_allclose(nothing.alpha, 0.05)
    assert_allclose(nothing.beta, 0.1)


def test_the_label_frequency_is_one_without_evidence_and_found_with_it():
    log_odds, truth, rng = draw(center=0.0)
    assert label_frequency(log_odds, truth) == pytest.approx(1, abs=0.02)
    assert label_frequency(log_odds, truth & (rng.random(truth.shape) < 0.5)) == pytest.approx(0.5, abs=0.05)
    weak, labels, _ = draw(n=800, spread=0.3, center=-1.0)
    assert label_frequency(weak, labels & (rng.random(labels.shape) < 0.5)) == 1
    assert label_frequency(weak, np.zeros(labels.shape, dtype=bool)) == 1
