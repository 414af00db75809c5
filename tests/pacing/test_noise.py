"""Label noise: posterior probabilities, and rates of labels by the EM algorithm."""

import numpy as np
import pytest

from spmld.core.losses import Logistic
from spmld.pacing.noise import (
    NoiseRates,
    _count_low,
    correct_probability,
    error_log_odds,
    false_positive_rate,
    label_rates,
    log_likelihood,
)


def draw(n=3000, l=4, alpha=0.05, beta=0.3, spread=3.0, shift=-1.0, seed=0, observed=1.0):
    """Scores that are true log-odds, and signs that are wrong at the rates alpha and beta."""
    rng = np.random.default_rng(seed)
    scores = spread * rng.standard_normal((n, l)) + shift
    truth = rng.random((n, l)) < 1 / (1 + np.exp(-scores))
    wrong = rng.random((n, l)) < np.where(truth, beta, alpha)
    signs = np.where(truth != wrong, 1, -1)
    signs[rng.random((n, l)) >= observed] = 0
    return scores, signs, wrong


def rates(alpha, beta, **rest):
    return NoiseRates(np.atleast_1d(np.asarray(alpha, float)), np.atleast_1d(np.asarray(beta, float)), **rest)


def test_the_probability_of_a_correct_label_follows_bayes_rule():
    scores, signs, _ = draw(n=50)
    alpha, beta = np.array([0.1, 0.2, 0.3, 0.01]), np.array([0.2, 0.05, 0.4, 0.3])
    pi = 1 / (1 + np.exp(-scores))
    positive = (1 - beta) * pi / ((1 - beta) * pi + alpha * (1 - pi))
    negative = (1 - alpha) * (1 - pi) / ((1 - alpha) * (1 - pi) + beta * pi)
    np.testing.assert_allclose(
        correct_probability(scores, signs, NoiseRates(alpha, beta)), np.where(signs > 0, positive, negative)
    )


def test_the_probability_of_a_correct_label_is_a_function_of_the_loss():
    scores, signs, _ = draw(n=50, l=1)
    loss = Logistic().value(signs, 1.5 * scores - 0.5)
    r = np.where(signs > 0, 0.1 / (1 - 0.2), 0.2 / (1 - 0.1))
    expected = 1 / (1 + r * np.expm1(loss))
    np.testing.assert_allclose(correct_probability(scores, signs, rates(0.1, 0.2, slope=1.5, shift=-0.5)), expected)


def test_without_noise_all_weights_are_one():
    scores, signs, _ = draw(n=50)
    assert (correct_probability(scores, signs, rates(1e-300, 1e-300)) == 1).all()


def test_error_odds_decrease_with_the_score_of_a_positive_and_increase_with_that_of_a_negative():
    scores = np.linspace(-30, 30, 61)[:, None]
    for sign in (1, -1):
        odds = sign * error_log_odds(scores, np.full(scores.shape, sign), rates(0.1, 0.2))
        assert (np.diff(odds, axis=0) < 0).all()


def test_missing_entries_have_weight_0_and_are_never_read():
    scores, signs, _ = draw(observed=0.6)
    assert (correct_probability(scores, signs, rates(0.1, 0.2))[signs == 0] == 0).all()
    other = np.where(signs == 0, 99.0, scores)
    limits = {"shrinkage": 5.0, "max_iter": 10, "tol": 0.0}
    ours, theirs = (label_rates(s, signs, rates([0.1] * 4, [0.1] * 4), **limits) for s in (scores, other))
    np.testing.assert_array_equal(ours.alpha, theirs.alpha)


@pytest.mark.parametrize("shrinkage", [0.0, 5.0])
def test_em_never_decreases_the_penalized_likelihood(shrinkage):
    scores, signs, _ = draw(n=400, observed=0.8, spread=2.0)
    shared = rates([0.02, 0.3, 0.1, 0.1], [0.4, 0.02, 0.1, 0.1], slope=1.2, shift=0.3)

    def objective(r):
        prior = sum(
            shrinkage * (np.log(rate) + (1 / shared_rate - 1) * np.log1p(-rate))
            for rate, shared_rate in ((r.alpha, shared.alpha), (r.beta, shared.beta))
        )
        return log_likelihood(scores, signs, r) + prior

    limits = {"shrinkage": shrinkage, "tol": -1.0}
    rates_by_iteration = [label_rates(scores, signs, shared, max_iter=n, **limits) for n in range(1, 30)]
    values = [objective(r) for r in (shared, *rates_by_iteration)]
    gains = np.diff(values, axis=0)
    assert gains.min() > -1e-6
    assert (values[-1] - values[0]).sum() > 10


def test_rates_of_each_label_are_recovered_from_calibrated_scores():
    alpha, beta = np.array([0.05, 0.02, 0.2, 0.1]), np.array([0.3, 0.02, 0.05, 0.1])
    scores, signs, _ = draw(8000, alpha=alpha, beta=beta)
    estimate = label_rates(scores, signs, rates([0.1] * 4, [0.1] * 4), shrinkage=0.0, max_iter=200, tol=1e-6)
    np.testing.assert_allclose(estimate.alpha, alpha, atol=0.025)
    np.testing.assert_allclose(estimate.beta, beta, atol=0.06)


def test_shrinkage_reduces_the_differences_between_labels():
    scores, signs, _ = draw(4000, alpha=np.array([0.0, 0.0, 0.0, 0.15]), beta=0.1)
    shared = rates([0.04] * 4, [0.1] * 4)
    estimates = [label_rates(scores, signs, shared, shrinkage=m, max_iter=100, tol=1e-6) for m in (1.0, 100.0, np.inf)]
    spread = [np.ptp(estimate.alpha) for estimate in estimates]
    assert spread[0] > 2 * spread[1] > spread[2] == 0


def test_torch_gives_the_same_results():
    torch = pytest.importorskip("torch")
    scores, signs, _ = draw(500, observed=0.8)
    estimate = rates([0.1, 0.2, 0.3, 0.01], [0.2, 0.05, 0.4, 0.3])
    theirs = NoiseRates(torch.asarray(estimate.alpha), torch.asarray(estimate.beta))
    weights = correct_probability(torch.asarray(scores), torch.asarray(signs), theirs)
    np.testing.assert_allclose(correct_probability(scores, signs, estimate), weights.numpy(), rtol=1e-6)


def draw_easy(rate, seed=0, kept=1.0):
    """Scores and signs of rare labels that are easy to predict, with false positives, and some positives dropped."""
    rng = np.random.default_rng(seed)
    truth = rng.random((2000, 20)) < np.geomspace(0.01, 0.3, 20)
    scores = rng.standard_normal(truth.shape) + 3 * truth
    positive = (truth & (rng.random(truth.shape) < kept)) | (rng.random(truth.shape) < rate)
    return scores, np.where(positive, 1, -1)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("rate", [0.01, 0.02, 0.05, 0.2, 0.3])
def test_a_planted_rate_of_false_positives_is_found(rate, seed):
    assert false_positive_rate(*draw_easy(rate, seed)) == pytest.approx(rate, rel=0.25 if rate < 0.1 else 0.08)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_rate_of_false_positives_is_about_0_for_correct_labels_and_for_dropped_positives(seed):
    assert false_positive_rate(*draw_easy(0.0, seed)) < 5e-4
    assert false_positive_rate(*draw_easy(0.0, seed, kept=0.5)) < 5e-4


def test_labels_that_are_hard_to_predict_do_not_raise_the_rate_of_false_positives():
    scores, signs = draw_easy(0.02)
    rng = np.random.default_rng(0)
    hard = np.where(rng.random((2000, 5)) < 0.3, 1, -1)  # independent of the scores
    both = np.column_stack([scores, rng.standard_normal(hard.shape)]), np.column_stack([signs, hard])
    assert false_positive_rate(*both) == pytest.approx(false_positive_rate(scores, signs), rel=0.05)
    # One label without low positives lowers it.
    signs[:, -1] = np.where(scores[:, -1] > 2, 1, -1)
    assert false_positive_rate(scores, signs) < 0.01


def test_the_rate_of_false_positives_depends_on_the_order_of_the_scores_of_each_label_only():
    scores, signs = draw_easy(0.03)
    expected = false_positive_rate(scores, signs)
    assert false_positive_rate(np.exp(scores) * np.arange(1, 21) - 7, signs) == pytest.approx(expected)
    rows, labels = np.random.default_rng(0).permutation(2000), np.random.default_rng(1).permutation(20)
    assert false_positive_rate(scores[rows][:, labels], signs[rows][:, labels]) == pytest.approx(expected)
    hidden = np.where(np.random.default_rng(0).random(signs.shape) < 0.3, 0, signs)
    poisoned = np.where(hidden == 0, -1e3, scores)
    assert false_positive_rate(poisoned, hidden) == false_positive_rate(scores, hidden)
    assert false_positive_rate(scores, np.maximum(signs, 0)) == 0  # no observed negatives


@pytest.mark.parametrize(("low", "ratio"), [((2, 5), 7 / 500), ((1, 5), 1 / 250), ((0, 9), 0.0)])
def test_labels_whose_low_positives_are_improbable_at_the_common_ratio_are_left_out(low, ratio):
    """Of 250 low negatives, 5 low positives have probability 0.27 at a ratio of 7 / 500, but 0.18 at 6 / 500."""
    negatives = np.arange(500.0)
    scores = np.concatenate([np.full((max(low), 2), -1.0), np.column_stack([negatives, negatives])])
    signs = np.concatenate([np.arange(max(low))[:, None] < low, np.full((500, 2), -1)])
    assert false_positive_rate(scores, signs) == pytest.approx(ratio / (1 + ratio))


def test_the_common_ratio_is_at_most_the_upper_limit_of_each_label():
    """Without a low positive of 250 negatives, the limit is -log(0.025) / 250, although 41 of 2750 are more."""
    scores, signs = np.full((5041, 2), np.nan), np.zeros((5041, 2), dtype=np.int8)
    for j, (negatives, low) in enumerate([(500, 0), (5000, 41)]):
        scores[: negatives + low, j] = np.concatenate([np.arange(negatives), np.full(low, -1)])
        signs[: negatives + low, j] = np.concatenate([np.full(negatives, -1), np.ones(low)])
    limit = -np.log(0.025) / 250
    rate = false_positive_rate(np.nan_to_num(scores), signs)
    assert rate == pytest.approx(limit / (1 + limit))


def test_low_entries_are_counted_by_hand():
    """The median of the negatives is 2; an entry at the median counts as half."""
    scores, signs = np.array([0.0, 1.0, 2.0, 2.0, 3.0, 4.0, 2.0, 1.0]), np.array([1, -1, -1, 1, -1, 0, 0, 0])
    assert _count_low(scores, signs) == (1.5, 1.5)
