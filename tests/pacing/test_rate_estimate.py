"""Estimated noise rates: planted rates are found, and rates are near 0 without errors."""

import numpy as np
import pytest
from scipy.special import expit

from spmld.pacing.noise import NoiseRates, correct_probability, false_positive_rate, log_likelihood
from spmld.pacing.rate_estimate import _Entries, _own_rates, calibrate, noise_rates

OFFSETS = np.array([-16.0, -13.0, -10.0, -8.0, -6.0, -4.0])


def draw(n=3000, alpha=0.0, beta=0.0, rho=0.0, seed=0, observed=1.0):
    """Scores that are log-odds of the true labels, signs that are wrong at these rates, and the wrong entries.

    The frequencies of the labels range from 0.003 to 0.25. A fraction rho of the samples has the labels of others.
    """
    rng = np.random.default_rng(seed)
    scores = 6 * rng.standard_normal((n, len(OFFSETS))) + OFFSETS
    truth = rng.random(scores.shape) < expit(scores)
    noisy = truth != (rng.random(truth.shape) < np.where(truth, beta, alpha))
    mixed = np.flatnonzero(rng.random(n) < rho)
    noisy[mixed] = noisy[np.roll(mixed, 1)]
    signs = np.where(noisy, 1, -1) * (rng.random(truth.shape) < observed)
    return scores, signs.astype(np.int8), (truth != noisy) & (signs != 0)


def expected_errors(scores, signs, rates):
    wrong = 1 - correct_probability(scores, signs, rates)
    return [wrong[signs == sign].sum() for sign in (1, -1)]


def test_correct_labels_have_rates_of_almost_zero():
    scores, signs, _ = draw()
    rates = noise_rates(scores, signs)
    assert max(rates.alpha.max(), rates.beta.max()) < 1e-3


@pytest.mark.parametrize(
    "noise", [{"alpha": 0.03, "beta": 0.03}, {"alpha": 0.02, "beta": 0.4}, {"beta": 0.4}, {"rho": 0.4}]
)
@pytest.mark.parametrize("observed", [1.0, 0.7])
def test_planted_errors_are_counted(noise, observed):
    scores, signs, wrong = draw(6000, observed=observed, **noise)
    n_wrong = [(wrong & (signs == sign)).sum() for sign in (1, -1)]
    estimate = expected_errors(scores, signs, noise_rates(scores, signs))
    np.testing.assert_allclose(estimate, n_wrong, rtol=0.25, atol=0.03 * (signs > 0).sum())


def test_mixed_up_samples_give_rates_proportional_to_the_frequency():
    scores, signs, _ = draw(8000, rho=0.4)
    rates, frequency = noise_rates(scores, signs), (signs > 0).mean(axis=0)
    np.testing.assert_allclose(rates.alpha, 0.4 * frequency, rtol=0.2, atol=1e-3)
    np.testing.assert_allclose(rates.beta, 0.4 * (1 - frequency), rtol=0.2)


def test_scores_need_not_be_calibrated():
    scores, signs, _ = draw(alpha=0.02, beta=0.4)
    plain, scaled = noise_rates(scores, signs), noise_rates(0.5 * scores, signs)
    np.testing.assert_allclose(scaled.alpha, plain.alpha, rtol=0.1)
    np.testing.assert_allclose(scaled.beta, plain.beta, rtol=0.1)
    assert scaled.slope == pytest.approx(2 * plain.slope, rel=0.05)


def test_calibration_maximizes_the_likelihood():
    scores, signs, _ = draw(alpha=0.02, beta=0.3, observed=0.8)
    rates = calibrate(0.5 * scores + 1, signs, NoiseRates(np.full(6, 0.02), np.full(6, 0.3)))
    assert rates.slope == pytest.approx(2, rel=0.1)
    best = log_likelihood(0.5 * scores + 1, signs, rates).sum()
    for factor in (0.98, 1.02):
        for moved in (rates._replace(slope=rates.slope * factor), rates._replace(shift=rates.shift + factor - 1)):
            assert log_likelihood(0.5 * scores + 1, signs, moved).sum() < best


def test_trusted_entries_are_calibrated_without_noise():
    """If all entries are verified, the rates do not matter."""
    scores, signs, _ = draw()
    everything = np.ones(signs.shape, bool)
    noisy = calibrate(scores, signs, NoiseRates(np.full(6, 0.1), np.full(6, 0.3)), everything)
    clean = calibrate(scores, signs, NoiseRates(np.zeros(6), np.zeros(6)))
    assert noisy.slope == pytest.approx(clean.slope, rel=1e-3)
    np.testing.assert_allclose(noisy.shift, clean.shift, atol=1e-3)


def test_bounded_rates_have_a_lower_likelihood():
    scores, signs, _ = draw(2000, alpha=0.02, beta=0.4)
    frequency = np.broadcast_to((signs > 0).mean(axis=0), signs.shape).ravel()
    entries, a = _Entries(scores.ravel(), signs.ravel() > 0, frequency, 10.0), false_positive_rate(scores, signs)
    best = entries.fit(a=(a, a), b=(0.0, 0.9))
    assert (best.rho, best.a) == (0, a)
    assert best.b == pytest.approx(0.4, rel=0.15)
    for bound in (0.9 * best.b, 0.8 * best.b):
        bounded = entries.fit(a=(a, a), b=(0.0, bound))
        assert bounded.b == pytest.approx(bound)
        assert bounded.loss > best.loss


def test_labels_get_rates_of_their_own_if_the_evidence_is_strong():
    alpha = np.array([0.0, 0.05, 0.15, 0.0, 0.1, 0.02])
    scores, signs, _ = draw(8000, alpha=alpha)
    np.testing.assert_allclose(noise_rates(scores, signs).alpha, alpha, atol=0.01)


def test_missing_entries_are_never_read_and_order_does_not_matter():
    scores, signs, _ = draw(observed=0.6, alpha=0.02, beta=0.4)
    rates = noise_rates(scores, signs)
    for a, b in zip(rates, noise_rates(np.where(signs == 0, 99.0, scores), signs), strict=True):
        np.testing.assert_array_equal(a, b)
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(len(signs)), rng.permutation(signs.shape[1])
    moved = noise_rates(scores[rows][:, columns], signs[rows][:, columns])
    np.testing.assert_allclose(moved.alpha, rates.alpha[columns], rtol=1e-3)
    np.testing.assert_allclose(moved.beta, rates.beta[columns], rtol=1e-3)


def test_extreme_scores_and_labels_of_one_class_give_finite_results():
    scores = np.array([[800.0, -800.0], [-800.0, 800.0], [0.0, 0.0]])
    for signs in (np.ones((3, 2)), -np.ones((3, 2)), np.array([[1, 0], [0, 0], [-1, 0]]), np.zeros((3, 2))):
        rates = noise_rates(scores, signs.astype(np.int8))
        assert all(np.isfinite(value).all() for value in rates)
        assert np.isfinite(correct_probability(scores, signs, rates)).all()


def test_slope_and_shift_of_the_calibration_are_bounded():
    scores, signs, _ = draw(500)
    nothing = NoiseRates(np.zeros(6), np.zeros(6))
    for factor, slope in ((1e3, np.exp(-2)), (1e-3, np.exp(2))):
        assert calibrate(factor * scores, signs, nothing).slope == pytest.approx(slope)
    for sign in (1, -1):
        rates = calibrate(np.zeros((50, 6)), np.full((50, 6), sign, dtype=np.int8), nothing)
        # The common shift is 4 and the shift of each label has gradient 0: its penalty is 10 times what exceeds 4.
        np.testing.assert_allclose(50 * expit(-sign * rates.shift), 10 * (sign * rates.shift - 4), rtol=0.05)


def test_labels_with_few_positives_or_without_negatives_have_no_rate_of_their_own():
    scores, signs, _ = draw(4000, alpha=0.3)
    signs[60:, 1] = 0  # about 18 false positives
    signs[signs[:, 2] < 0, 2] = 0
    shared = np.full(6, 0.01)
    own = _own_rates(scores, signs, shared, np.full(6, 0.01))
    assert own[[0, 3]] == pytest.approx(0.3, abs=0.05)
    assert own[[1, 2]] == pytest.approx(0.01, abs=0)
