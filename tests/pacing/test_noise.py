"""Label noise: the posterior, its rates, and the EM algorithm."""

import numpy as np
import pytest

from spmld.core.losses import Logistic
from spmld.pacing import noise
from spmld.pacing.noise import (
    NoiseRates,
    correct_probability,
    error_log_odds,
    label_rates,
    log_likelihood,
    noise_rates,
    shared_rates,
)


def draw(n=3000, l=4, alpha=0.05, beta=0.3, spread=3.0, shift=-1.0, seed=0, observed=1.0):
    """Scores that are true log-odds, and signs that are wrong at given rates."""
    rng = np.random.default_rng(seed)
    scores = spread * rng.standard_normal((n, l)) + shift
    truth = rng.random((n, l)) < 1 / (1 + np.exp(-scores))
    wrong = rng.random((n, l)) < np.where(truth, beta, alpha)
    signs = np.where(truth != wrong, 1, -1)
    signs[rng.random((n, l)) >= observed] = 0
    return scores, signs, wrong


def rates(alpha, beta, **rest):
    return NoiseRates(np.atleast_1d(np.asarray(alpha, float)), np.atleast_1d(np.asarray(beta, float)), **rest)


def test_right_is_bayes_rule():
    scores, signs, _ = draw(n=50)
    alpha, beta = np.array([0.1, 0.2, 0.3, 0.01]), np.array([0.2, 0.05, 0.4, 0.3])
    pi = 1 / (1 + np.exp(-scores))
    positive = (1 - beta) * pi / ((1 - beta) * pi + alpha * (1 - pi))
    negative = (1 - alpha) * (1 - pi) / ((1 - alpha) * (1 - pi) + beta * pi)
    np.testing.assert_allclose(
        correct_probability(scores, signs, NoiseRates(alpha, beta)), np.where(signs > 0, positive, negative)
    )


def test_right_is_a_weight_of_the_loss():
    scores, signs, _ = draw(n=50, l=1)
    loss = Logistic().value(signs, 1.5 * scores - 0.5)
    r = np.where(signs > 0, 0.1 / (1 - 0.2), 0.2 / (1 - 0.1))
    expected = 1 / (1 + r * np.expm1(loss))
    np.testing.assert_allclose(correct_probability(scores, signs, rates(0.1, 0.2, slope=1.5, shift=-0.5)), expected)


def test_without_errors_all_weights_are_one():
    scores, signs, _ = draw(n=50)
    assert (correct_probability(scores, signs, rates(1e-300, 1e-300)) == 1).all()


def test_right_grows_with_the_score_of_a_positive_and_falls_with_that_of_a_negative():
    scores = np.linspace(-30, 30, 61)[:, None]
    for sign in (1, -1):
        doubt = sign * error_log_odds(scores, np.full(scores.shape, sign), rates(0.1, 0.2))
        assert (np.diff(doubt, axis=0) < 0).all()


def test_unobserved_entries_weigh_nothing_and_are_not_read():
    scores, signs, _ = draw(observed=0.6)
    assert (correct_probability(scores, signs, rates(0.1, 0.2))[signs == 0] == 0).all()
    other = np.where(signs == 0, 99.0, scores)
    for a, b in zip(noise_rates(scores, signs), noise_rates(other, signs), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("strength", [0.0, 5.0])
def test_em_never_lowers_the_penalised_likelihood(strength):
    scores, signs, _ = draw(n=400, observed=0.8, spread=2.0)
    common = rates([0.02, 0.3, 0.1, 0.1], [0.4, 0.02, 0.1, 0.1], slope=1.2, shift=0.3)

    def objective(r):
        prior = sum(
            strength * (np.log(own) + (1 / common_ - 1) * np.log1p(-own))
            for own, common_ in ((r.alpha, common.alpha), (r.beta, common.beta))
        )
        return log_likelihood(scores, signs, r) + prior

    values = [objective(common)]
    for steps in range(1, 30):
        found = label_rates(scores, signs, common, strength=strength, max_iter=steps, tol=-1.0)
        values.append(objective(found))
    gains = np.diff(values, axis=0)
    assert gains.min() > -1e-6
    assert (values[-1] - values[0]).sum() > 10


def test_slope_of_the_common_objective():
    """The point found is stationary: moving any of the five numbers, within bounds, does not raise the likelihood."""
    scores, signs, _ = draw(n=2000, l=3, observed=0.7)
    trust = 0.2
    found = shared_rates(scores, signs, trust=trust)

    def objective(r):
        penalty = 0.5 * trust * (signs > 0).sum() * (np.log(r.slope) ** 2 + r.shift**2)
        return log_likelihood(scores, signs, r).sum() - penalty

    best = objective(found)
    for factor in (0.97, 1.03):
        moved = (
            found._replace(alpha=found.alpha * factor),
            found._replace(beta=found.beta * factor),
            found._replace(slope=found.slope * factor),
            found._replace(shift=found.shift + factor - 1),
        )
        assert all(objective(r) <= best + 0.05 for r in moved)


@pytest.mark.parametrize(("alpha", "beta"), [(0.05, 0.3), (0.02, 0.02), (0.2, 0.05)])
def test_rates_are_found(alpha, beta):
    scores, signs, _ = draw(8000, alpha=alpha, beta=beta)
    found = noise_rates(scores, signs)
    np.testing.assert_allclose(found.alpha, alpha, atol=0.025)
    np.testing.assert_allclose(found.beta, beta, atol=0.06)


def test_scores_of_another_scale_are_read_as_such():
    scores, signs, _ = draw(8000)
    assert shared_rates(scores / 2, signs, trust=0.0).slope == pytest.approx(2, rel=0.15)
    assert shared_rates(scores / 2, signs, trust=np.inf).slope == 1


def test_labels_of_another_row_are_told_by_their_frequency():
    """Where rows are mixed up, the rate of wrong positives of a label goes with its frequency."""
    scores, signs, _ = draw(8000, alpha=0, beta=0, shift=np.array([-5.0, -3.0, -1.0, 1.0]))
    mixed = signs.copy()
    mixed[:2000] = signs[np.roll(np.arange(2000), 1)]
    found = noise_rates(scores, mixed, strength=np.inf)
    frequency = (mixed > 0).mean(axis=0)
    np.testing.assert_allclose(found.alpha, 0.25 * frequency, atol=0.02)
    np.testing.assert_allclose(found.beta, 0.25 * (1 - frequency), atol=0.06)


def test_strength_keeps_labels_together():
    rng = np.random.default_rng(0)
    scores, signs, _ = draw(4000, alpha=np.array([0.0, 0.0, 0.0, 0.15]), beta=0.1, seed=rng.integers(99))
    spread = [np.ptp(noise_rates(scores, signs, strength=m).alpha) for m in (1.0, 100.0, np.inf)]
    assert spread[0] > 2 * spread[2]
    assert spread[0] > spread[1] > spread[2]


def test_extremes_stay_finite():
    scores = np.array([[800.0, -800.0], [-800.0, 800.0], [0.0, 0.0]])
    for signs in (np.ones((3, 2)), -np.ones((3, 2)), np.array([[1, 0], [0, 0], [-1, 0]])):
        found = noise_rates(scores, signs)
        assert np.isfinite(found.alpha).all()
        assert np.isfinite(found.beta).all()
        assert np.isfinite(correct_probability(scores, signs, found)).all()


def test_torch_gives_the_same():
    torch = pytest.importorskip("torch")
    scores, signs, _ = draw(500, observed=0.8)
    ours = noise_rates(scores, signs)
    theirs = noise_rates(torch.asarray(scores), torch.asarray(signs))
    np.testing.assert_allclose(ours.alpha, theirs.alpha.numpy(), rtol=1e-4)
    weights = correct_probability(torch.asarray(scores), torch.asarray(signs), theirs)
    np.testing.assert_allclose(correct_probability(scores, signs, ours), weights.numpy(), rtol=1e-3, atol=1e-6)


def test_all_names_are_there():
    assert all(hasattr(noise, name) for name in noise.__all__)
