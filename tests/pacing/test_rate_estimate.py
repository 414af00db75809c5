"""Estimated noise rates: planted rates are found, and rates are near 0 without errors."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from scipy.special import expit

from spmld.pacing import rate_estimate
from spmld.pacing.noise import NoiseRates, correct_probability, false_positive_rate, log_likelihood
from spmld.pacing.rate_estimate import (
    _count_until,
    _discount,
    _Entries,
    _label_rates,
    _negative_log_likelihood,
    _own_rates,
    _RateFit,
    calibrate,
    noise_rates,
)

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


def test_discounted_fractions_and_counts():
    assert [_discount(x, 0.2) for x in (0.0, 0.1, 0.2)] == [0, 0, 0]
    assert _discount(0.4, 0.2) == pytest.approx(0.4 * (1 - 2**-8))
    assert [_count_until(np.ones(n)) for n in (5, 10, 11, 20)] == [1, 1, 2, 2]
    assert _count_until(np.array([0, 0, 1, 1], dtype=bool)) == 3


def test_extremes_by_hand():
    """Of 20 entries with 10 positives, the top ends with the first positive, and the low entries have f = 1 in sum."""
    positive = np.array([0, 1, 0, 0, 1, 1, 1, 0, 1, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0], dtype=bool)
    scores, half = np.arange(20.0), np.full(20, 0.5)
    fraction = 2 / 3 - np.sqrt(2 / 3 * (1 / 3) / 3)  # the scores 19, 18 and 17
    expected = fraction, fraction / 0.5, (1 - 0.1 * 2) / 1.0  # the scores 0 and 1, of which 1 is positive
    assert _Entries(scores, positive, half, 10.0).extremes(0.1) == pytest.approx(expected)
    assert _Entries(scores, positive, half, 10.0).extremes(0.9)[2] == 0
    # Scores are compared with the log-odds of the frequency: entry 10, a negative of a frequent label, is the lowest.
    frequency = half.copy()
    frequency[10] = expit(20.0)
    fraction = max(fraction, 0)
    assert _Entries(scores, positive, frequency, 10.0).extremes(0.0) == pytest.approx((fraction, 2 * fraction, 0))


def test_derivatives_of_the_likelihood():
    point, positive = np.array([[-1.0, 0.3, 2.0], [0.1, 0.05, 0.2], [0.3, 0.02, 0.1]]), np.array([True, False, True])

    def value(flat):
        log_odds, alpha, beta = flat.reshape(3, 3)
        return _negative_log_likelihood(log_odds, positive, alpha, beta)[0]

    rates = NoiseRates(point[1], point[2])
    assert value(point.ravel()) == pytest.approx(-log_likelihood(point[:1], 2 * positive - 1, rates).sum())
    _, *derivatives = _negative_log_likelihood(point[0], positive, point[1], point[2])
    numerical = approx_fprime(point.ravel(), value, 1e-7).reshape(3, 3)
    np.testing.assert_allclose(derivatives, numerical, rtol=1e-4)
    impossible = _negative_log_likelihood(np.array([-800.0]), np.array([True]), 0.0, 0.0)
    assert impossible[0] == pytest.approx(14 * np.log(10))


def test_rates_are_fitted_by_the_penalized_likelihood():
    """With fixed rates, the loss is that of the best calibration. Penalties are 10 for rho and b, and 0 for a."""
    scores, signs, _ = draw(300, alpha=0.02, beta=0.2)
    scores, signs = 0.5 * scores, signs[:, 2:]
    scores, frequency = scores[:, 2:], np.array([0.05, 0.1, 0.15, 0.2])
    entries = _Entries(scores.ravel(), signs.ravel() > 0, np.tile(frequency, 300), 10.0)
    alpha, beta = _label_rates(frequency, 0.02, 0.1, 0.2)
    np.testing.assert_allclose(alpha, 0.1 * frequency + 0.9 * 0.02)
    np.testing.assert_allclose(beta, 0.1 * (1 - frequency) + 0.9 * 0.2)

    def loss(point):
        return -log_likelihood(scores, signs, NoiseRates(alpha, beta, np.exp(point[0]), point[1])).sum()

    best = minimize(loss, [0.7, 0.0], method="Nelder-Mead").fun
    fitted = entries.fit(rho=(0.1, 0.1), a=(0.02, 0.02), b=(0.2, 0.2))
    assert (fitted.rho, fitted.a, fitted.b) == (0.1, 0.02, 0.2)
    assert fitted.loss == pytest.approx((best + 10 * (0.1 + 0.2)) / (signs > 0).sum(), rel=1e-5)
    free = entries.fit(rho=(0.0, 0.5), a=(0.0, 0.5), b=(0.0, 0.5))
    for name in ("rho", "a", "b"):  # the gradient is that of the value: no fixed rate is better
        for change in (-0.02, 0.02):
            rates = {key: (getattr(free, key),) * 2 for key in ("rho", "a", "b")}
            rates[name] = (max(0.0, getattr(free, name) + change),) * 2
            assert entries.fit(**rates).loss >= free.loss - 1e-6


@dataclass(frozen=True)
class Given(_Entries):
    """Entries with given extremes and fits, which records the bounds of the fits."""

    given: tuple = ()
    bounds: list = field(default_factory=list)

    def extremes(self, a):
        return self.given[0]

    def fit(self, **bounds):
        self.bounds.append(bounds)
        return self.given[len(self.bounds)]


def shared(extremes, with_b, with_rho, rate=0.05):
    entries = Given(np.zeros(10), np.arange(10) < 2, np.zeros(10), 10.0, (extremes, with_b, with_rho))
    return entries.shared_parameters(rate), entries.bounds


def test_shared_parameters_by_hand():
    """Four negatives per positive: a rate of 0.05 is a fraction of false positives of 0.2."""
    a = 0.2 * (1 - 0.4**8) / 4
    parameters, bounds = shared((0.5, 0.6, 0.7), _RateFit(1.0, 0.0, a, 0.25), _RateFit(2.0, 0.3, a, 0.0))
    assert bounds[0] == {"a": pytest.approx((a, a)), "b": pytest.approx((0, _discount(0.5, 0.2)))}
    assert bounds[1] == {"a": pytest.approx((a, a)), "rho": pytest.approx((0, _discount(0.6, 0.2)))}
    # Half of the negatives at the top is explained by b; the rest, 0.3, is below the excess at the bottom.
    rho = _discount(0.3, 0.2)
    assert parameters == pytest.approx((0.0 if 0.2 - rho < 0.08 else a, rho, 0.25))

    parameters, bounds = shared((0.5, 0.6, 0.25), _RateFit(2.0, 0.0, a, 0.25), _RateFit(1.0, 0.05, a, 0.0))
    assert bounds[1]["rho"] == pytest.approx((0, _discount(0.25, 0.15)))
    assert parameters == pytest.approx((a, 0.05, a))  # 0.25 at the bottom is not unusual for weak features
    for rho, kept in ((0.11, a), (0.13, 0.0)):  # a fraction of false positives of 0.08 is not unusual
        fits = _RateFit(2.0, 0.0, a, 0.25), _RateFit(1.0, rho, a, 0.0)
        assert shared((0.0, 0.0, 0.9), *fits)[0] == pytest.approx((kept, rho, kept))


def test_own_rates_need_5_units_of_likelihood_per_label_and_a_fiftieth_per_positive(monkeypatch):
    scores, signs, _ = draw(1500, alpha=np.array([0.0, 0.0, 0.1, 0.0, 0.0, 0.0]))
    alpha, beta = np.full(6, 0.01), np.full(6, 0.02)
    n_positives = (signs > 0).sum(axis=0)
    gain = 0.0
    for j in np.flatnonzero(n_positives >= 30):
        entries = _Entries(scores[:, j], signs[:, j] > 0, np.zeros(1500), 0.0)
        shared, free = (entries.fit(a=(0.01, high), b=(0.02, 0.02)) for high in (0.01, 0.5))
        gain += (shared.loss - free.loss) * n_positives[j]
    for excess, has_own in ((-0.1, True), (0.1, False)):
        for per_label, per_positive in (((gain + excess) / 6, 0.0), (0.0, (gain + excess) / n_positives.sum())):
            monkeypatch.setattr(rate_estimate, "EVIDENCE_PER_LABEL", per_label)
            monkeypatch.setattr(rate_estimate, "EVIDENCE_PER_POSITIVE", per_positive)
            own = _own_rates(scores, signs, alpha, beta)
            assert own[2] == pytest.approx(0.1 if has_own else 0.01, abs=0.03)
    monkeypatch.undo()
    assert (rate_estimate.EVIDENCE_PER_LABEL, rate_estimate.EVIDENCE_PER_POSITIVE) == (5.0, 0.02)


@pytest.mark.parametrize(("n_positives", "rate"), [(29, 0.01), (30, 0.5)])
def test_own_rates_are_at_most_a_half_and_need_30_positives(n_positives, rate, monkeypatch):
    """All scores are very low, so that all positives are false."""
    signs = np.where(np.arange(40) < n_positives, 1, -1).astype(np.int8)[:, None]
    monkeypatch.setattr(rate_estimate, "EVIDENCE_PER_LABEL", 0.0)
    monkeypatch.setattr(rate_estimate, "EVIDENCE_PER_POSITIVE", 0.0)
    monkeypatch.setattr(rate_estimate, "CALIBRATION_BOUNDS", [(0.0, 0.0), (0.0, 0.0)])
    own = _own_rates(np.linspace(-40, -30, 40)[:, None], signs, np.array([0.01]), np.array([0.01]))
    assert own == pytest.approx(rate)
