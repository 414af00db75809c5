"""The estimate of noise rates: planted rates are found, and nothing is found where the data do not say."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

from spmld import MaskedLogistic
from spmld.model_selection import cross_fit, make_folds
from spmld.noise import NoiseRates, estimate_noise
from spmld.noise.estimate import label_rates
from spmld.noise.floor import Points, label_frequency, summarize


def draw(n=4000, l=6, spread=4.0, center=-4.0, seed=0):
    """Log-odds and labels drawn from them."""
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(center, spread, size=(n, l))
    return log_odds, rng.random((n, l)) < expit(log_odds), rng


def signs_of(truth, wrong):
    return np.where(truth != wrong, 1, -1).astype(np.int8)


def corrupt(truth, rng, alpha, beta):
    return rng.random(truth.shape) < np.where(truth, beta, alpha)


@pytest.mark.parametrize("rate", [0.02, 0.1, 0.2])
def test_a_planted_floor_is_found_and_is_no_claim_about_errors(rate):
    log_odds, truth, rng = draw()
    estimate = estimate_noise(2 * log_odds + 1, signs_of(truth, corrupt(truth, rng, rate, rate)))
    assert_allclose(estimate.floor.alpha, rate, rtol=0.15)
    assert_allclose(estimate.floor.beta, estimate.floor.alpha)
    assert not estimate.identified
    assert not estimate.rates.any()
    added = estimate_noise(log_odds, signs_of(truth, corrupt(truth, rng, rate, 0.0)), certain_negatives=True)
    assert_allclose(added.floor.alpha, rate, rtol=0.15)
    assert_allclose(added.floor.beta, 0)


def test_false_negatives_alone_are_no_evidence_of_a_floor():
    log_odds, truth, rng = draw()
    estimate = estimate_noise(log_odds, signs_of(truth, corrupt(truth, rng, 0.0, 0.3)), certain_negatives=True)
    assert not estimate.floor.any()


def test_strong_labels_beside_rare_ones_without_signal_have_no_floor():
    """One slope for all labels would explain the rare labels as errors (a floor of 3 %)."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        log_odds = np.hstack([rng.normal(scale=8, size=(800, 4)), np.full((800, 20), -3.5)])
        scores = np.where(np.arange(24) < 4, log_odds, rng.normal(-3.5, 0.5, size=log_odds.shape))
        truth = rng.random(log_odds.shape) < expit(log_odds)
        assert not estimate_noise(scores, np.where(truth, 1, -1).astype(np.int8)).floor.any()


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
    assert not estimate.floor.any()


def test_a_floor_that_disappears_with_less_regularization_is_not_noise():
    log_odds, truth, rng = draw()
    signs = signs_of(truth, corrupt(truth, rng, 0.1, 0.0))
    assert estimate_noise(log_odds, signs).floor.any()
    correct = np.where(signs > 0, 5.0, -5.0) + rng.normal(size=signs.shape)
    assert not estimate_noise(log_odds, signs, alternatives=lambda: [correct]).floor.any()
    assert estimate_noise(log_odds, signs, alternatives=lambda: [3 * log_odds]).floor.any()


def test_missing_entries_are_never_read():
    log_odds, truth, rng = draw(n=800)
    signs = signs_of(truth, corrupt(truth, rng, 0.1, 0.1))
    signs[rng.random(signs.shape) < 0.5] = 0
    expected = estimate_noise(log_odds, signs)
    found = estimate_noise(np.where(signs == 0, 1e3, log_odds), signs)
    assert_allclose(found.floor.alpha, expected.floor.alpha)
    assert found.evidence == pytest.approx(expected.evidence)


def test_the_order_of_samples_and_labels_does_not_matter():
    log_odds, truth, rng = draw(n=800)
    signs = signs_of(truth, corrupt(truth, rng, 0.1, 0.1))
    rows, columns = rng.permutation(800), rng.permutation(6)
    a, b = estimate_noise(log_odds, signs), estimate_noise(log_odds[rows][:, columns], signs[rows][:, columns])
    assert a.evidence == pytest.approx(b.evidence, rel=1e-4)
    assert_allclose(a.floor.alpha[columns], b.floor.alpha, rtol=1e-3)


@pytest.mark.parametrize("signs", [np.ones((5, 2)), -np.ones((5, 2)), np.zeros((5, 2))])
def test_labels_of_one_class_have_no_noise(signs):
    estimate = estimate_noise(np.zeros((5, 2)), signs.astype(np.int8))
    assert not estimate.identified
    assert not estimate.floor.any()


def test_bins_of_scores_have_the_likelihood_of_the_entries():
    log_odds, truth, rng = draw(n=2000, l=3)
    signs = signs_of(truth, corrupt(truth, rng, 0.1, 0.1))
    points = summarize(log_odds, signs)
    assert len(points.scores) < len(signs) / 4
    assert points.counts.sum() == signs.size
    entries = Points(log_odds, signs, np.ones(signs.shape))
    for rate in (0.02, 0.1, 0.2):
        increase = points.log_likelihood(rate, rate) - points.log_likelihood(0.0, 0.0)
        exact = entries.log_likelihood(rate, rate) - entries.log_likelihood(0.0, 0.0)
        assert increase == pytest.approx(exact, rel=0.05)


def test_correct_verified_entries_with_the_floor_of_the_others_refute_noise():
    """Unobserved causes: 8 % of all labels are positive whatever the features are."""
    log_odds, truth, rng = draw(n=1500)
    signs = signs_of(truth, ~truth & (rng.random(truth.shape) < 0.08))
    trusted = np.arange(1500)[:, None] + np.zeros(6) < 100
    estimate = estimate_noise(log_odds, signs, trusted)
    assert_allclose(estimate.floor.alpha, 0.08, atol=0.03)
    assert estimate.verified
    assert not estimate.identified
    assert_allclose(estimate.likelihood_rates.alpha, estimate.floor.alpha)


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
