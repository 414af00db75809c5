"""Bounds of the number of errors: valid for any class-conditional noise, and close where scores are good."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit
from scipy.stats import beta

from spmld.noise.bounds import bound_errors, least_errors, upper_limit


def draw(strength, seed, n=1000, l=8):
    rng = np.random.default_rng(seed)
    log_odds = strength * rng.normal(size=(n, l)) - 2
    return log_odds, rng.random((n, l)) < expit(log_odds), rng


@pytest.mark.parametrize(("alpha", "rate"), [(0.0, 0.0), (0.1, 0.1), (0.2, 0.0), (0.0, 0.3), (0.02, 0.3)])
@pytest.mark.parametrize("strength", [0.0, 0.5, 2.0, 6.0])
def test_the_bounds_hold_for_scores_of_any_quality(strength, alpha, rate):
    """The confidence level is that of the rates; the number of errors varies around their mean."""
    covered = []
    for seed in range(20):
        log_odds, truth, rng = draw(strength, seed)
        wrong = rng.random(truth.shape) < np.where(truth, rate, alpha)
        bounds = bound_errors(log_odds, np.where(truth != wrong, 1, -1).astype(np.int8))
        covered.append(
            (wrong & ~truth).sum() <= bounds.total_false_positives
            and (wrong & truth).sum() <= bounds.total_false_negatives
        )
    assert np.mean(covered) >= 0.9


def test_good_scores_of_correct_labels_leave_few_errors_and_useless_ones_leave_all():
    rng = np.random.default_rng(0)
    truth = rng.random((1000, 8)) < 0.2
    signs = np.where(truth, 1, -1).astype(np.int8)
    good = bound_errors(np.where(truth, 5.0, -5.0) + rng.normal(size=truth.shape), signs)
    assert good.total_false_positives + good.total_false_negatives < 0.01 * truth.sum() + 20
    useless = bound_errors(rng.normal(size=truth.shape), signs)
    assert useless.total_false_positives > 0.8 * truth.sum()
    assert useless.total_false_negatives > 0.8 * (~truth).sum()


def test_the_bound_of_all_labels_is_at_most_the_sum_of_theirs_and_labels_are_independent():
    log_odds, truth, _ = draw(2.0, 1)
    signs = np.where(truth, 1, -1).astype(np.int8)
    bounds = bound_errors(log_odds, signs)
    assert bounds.total_false_positives <= bounds.false_positives.sum()
    assert bounds.total_false_negatives <= bounds.false_negatives.sum()
    assert_allclose(bound_errors(log_odds[:, [3, 1]], signs[:, [3, 1]]).false_positives, bounds.false_positives[[3, 1]])
    assert (bounds.false_positives <= (signs > 0).sum(axis=0)).all()
    assert (bounds.false_negatives <= (signs < 0).sum(axis=0)).all()


def test_missing_entries_are_never_read_and_the_order_of_equal_scores_does_not_matter():
    log_odds, truth, rng = draw(1.0, 2)
    signs = np.where(rng.random(truth.shape) < 0.4, 0, np.where(truth, 1, -1)).astype(np.int8)
    rounded, rows = log_odds.round(), rng.permutation(len(signs))
    expected = bound_errors(rounded, signs)
    found = bound_errors(np.where(signs == 0, 99.0, rounded)[rows], signs[rows])
    for a, b in zip(expected, found, strict=True):
        assert_allclose(a, b)


def test_labels_without_positives_or_without_entries_have_no_errors_to_bound():
    signs = np.array([[-1, 0, 1]] * 20, dtype=np.int8)
    bounds = bound_errors(np.zeros((20, 3)), signs)
    assert_allclose(bounds.false_negatives, 0)
    assert_allclose(bounds.false_positives, [0, 0, 20])


def test_the_limit_is_that_of_clopper_and_pearson():
    assert_allclose(upper_limit(3, 50, 0.95), beta.ppf(0.95, 4, 47))
    assert upper_limit(5, 5) == 1


def test_the_lower_limit_of_errors_holds_for_verified_random_samples():
    """It is exceeded by correct labels, and by labels with 10 % of errors, in few draws."""
    rng = np.random.default_rng(1)
    exceeded, limits = [], []
    for rate in (0.0, 0.1):
        for _ in range(50):
            scores = rng.normal(-3, 5, size=(600, 8))
            truth = rng.random(scores.shape) < expit(scores)
            verified = np.broadcast_to(rng.random((600, 1)) < 0.25, truth.shape)
            wrong = ~verified & (rng.random(truth.shape) < rate)
            limit = least_errors(scores, np.where(truth ^ wrong, 1, -1), verified)
            exceeded.append(limit > wrong.sum())
            limits.append(limit / max(wrong.sum(), 1))
    assert np.mean(exceeded) <= 0.05
    assert np.mean(limits[50:]) > 0.2


def test_without_verified_entries_the_lower_limit_is_0():
    assert least_errors(np.zeros((20, 3)), np.ones((20, 3), dtype=np.int8), np.zeros((20, 3), dtype=bool)) == 0
