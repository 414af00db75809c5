"""Noise rates of SelfPacedEnsemble: planted rates are found, and trusted entries are taken as correct."""

import numpy as np
import pytest

from spmld import SelfPacedEnsemble
from spmld.core.losses import logistic
from spmld.datasets import make_planted
from spmld.estimators.ensemble import estimate_rates
from spmld.metrics import ranking_loss

ALPHA = np.array([0.0, 0.5, 0.0, 0.3, 0.0, 0.4, 0.0, 0.2])


def ensemble(**changes):
    options = {"Cs": (3.0, 30.0), "alphas": (0.3, 3.0), "views": ("ridge", "linear"), "random_state": 0}
    return SelfPacedEnsemble(**{**options, **changes})


def planted(n=1500, seed=1):
    """Planted samples in random order, since those of a group follow each other."""
    data, order = make_planted(n_samples=n, n_labels=8, random_state=seed), np.random.default_rng(seed).permutation(n)
    return data.X[order], np.asarray(data.Y)[order] > 0


@pytest.fixture(scope="module")
def verified():
    """Samples with label-dependent rates of false positives, of which 100 are verified."""
    X, truth = planted(1500, seed=0)
    noisy = truth | (np.random.default_rng(0).random(truth.shape) < ALPHA)
    trusted = np.arange(1000) < 100
    labels = np.where(trusted[:, None], truth[:1000], noisy[:1000]).astype(float)
    return X[:1000], labels, trusted, X[1000:], truth[1000:]


@pytest.fixture(scope="module")
def fits(verified):
    X, labels, trusted, *_ = verified
    return ensemble().fit(X, labels), ensemble().fit(X, labels, trusted=trusted)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_shared_rate_is_estimated_from_scores(seed):
    rng = np.random.default_rng(seed)
    scores = 4 * rng.normal(size=(2000, 10)) - np.linspace(
        5, 20, 10
    )  # almost all positives of the rarest label are false
    truth = rng.random(scores.shape) < logistic(scores)
    flipped, dropped = truth | (rng.random(truth.shape) < 0.05), truth & (rng.random(truth.shape) < 0.6)
    for labels, rate in ((truth, 0.0), (dropped, 0.0), (flipped, 0.05)):
        alpha, beta = estimate_rates(scores, np.where(labels, 1, -1))
        np.testing.assert_allclose(alpha, rate, atol=0.25 * rate)
        np.testing.assert_array_equal(beta, 0)


def test_a_rate_explains_at_most_a_fraction_of_the_positives_of_each_label():
    rng = np.random.default_rng(0)
    scores = 4 * rng.normal(size=(2000, 10)) - 8
    truth = rng.random(scores.shape) < logistic(scores)
    truth[:, 0] = False
    noisy = truth | (rng.random(truth.shape) < 0.1)
    alpha, _ = estimate_rates(scores, np.where(noisy, 1, -1))
    assert (alpha <= 0.8 * noisy.mean(axis=0) + 1e-12).all()
    assert alpha[0] == pytest.approx(0.8 * noisy[:, 0].mean())


def test_no_rate_without_strong_evidence():
    rng = np.random.default_rng(0)
    scores = 4 * rng.normal(size=(2000, 10)) - 5
    truth = rng.random(scores.shape) < logistic(scores)
    # A third of the positives are false, but no label consists of false positives.
    common = truth | (rng.random(truth.shape) < 0.1)
    # All positives of the rarest label are false, but few of the other labels.
    few = np.where(np.arange(10) == 0, False, truth) | (rng.random(truth.shape) < 0.01)
    # One label without low positives contradicts a shared rate.
    easy = common.copy()
    easy[:, 0] = scores[:, 0] > np.quantile(scores[:, 0], 0.99)
    for labels in (common, few, easy):
        np.testing.assert_array_equal(estimate_rates(scores, np.where(labels, 1, -1))[0], 0)


def test_rates_of_each_label_are_estimated_with_trusted_entries():
    rng = np.random.default_rng(0)
    scores = 4 * rng.normal(size=(4000, 4))
    truth = rng.random(scores.shape) < logistic(scores)
    alpha, beta = np.array([0.0, 0.1, 0.3, 0.4]), np.array([0.3, 0.0, 0.1, 0.2])
    noisy = np.where(truth, rng.random(truth.shape) >= beta, rng.random(truth.shape) < alpha)
    trusted = np.arange(4000)[:, None] < np.full(4, 300)
    signs = np.where(np.where(trusted, truth, noisy), 1, -1)
    # The scale of the scores does not matter: they are calibrated on the trusted entries.
    for factor in (1.0, 0.05):
        found = estimate_rates(factor * scores, signs, trusted)
        np.testing.assert_allclose(found, [alpha, beta], atol=0.06)
    order = [2, 0, 3, 1]
    moved = estimate_rates(scores[:, order], signs[:, order], trusted[:, order])
    np.testing.assert_allclose(moved, np.array(estimate_rates(scores, signs, trusted))[:, order], atol=1e-6)


def test_missing_entries_are_never_read():
    rng = np.random.default_rng(0)
    scores = 4 * rng.normal(size=(1000, 4)) - 4
    signs = np.where(rng.random(scores.shape) < logistic(scores) + 0.1, 1, -1) * (rng.random(scores.shape) < 0.7)
    trusted = (rng.random(scores.shape) < 0.2) & (signs != 0)
    poisoned = np.where(signs == 0, 1e3, scores)
    for mask in (None, trusted):
        np.testing.assert_array_equal(estimate_rates(scores, signs, mask), estimate_rates(poisoned, signs, mask))


def test_the_ensemble_finds_a_planted_rate_of_false_positives():
    X, truth = planted()
    rng = np.random.default_rng(1)
    flipped, dropped = truth | (rng.random(truth.shape) < 0.12), truth & (rng.random(truth.shape) < 0.6)
    for labels, rate in ((truth, 0.0), (dropped, 0.0), (flipped, 0.12)):
        fitted = ensemble().fit(X[:1000], labels[:1000])
        np.testing.assert_allclose(fitted.false_positive_rate_, rate, atol=0.25 * rate)
        np.testing.assert_array_equal(fitted.false_negative_rate_, 0)
    without = ensemble(false_positive_rate=0.0).fit(X[:1000], flipped[:1000])
    losses = [ranking_loss(truth[1000:], model.decision_function(X[1000:])) for model in (fitted, without)]
    assert losses[0] < 0.97 * losses[1]
    excess = [abs(model.predict_proba(X[1000:]).sum() / truth[1000:].sum() - 1) for model in (fitted, without)]
    assert excess[0] < 0.5 * excess[1]


def test_a_given_rate_is_used_by_all_views_after_the_first():
    X, truth = planted(300)
    fitted = ensemble(false_positive_rate=0.07).fit(X, truth)
    np.testing.assert_array_equal(fitted.false_positive_rate_, np.full(8, 0.07))
    np.testing.assert_array_equal(fitted.estimators_["linear"].false_positive_rate, np.full(8, 0.07))


def test_planted_rates_of_labels_are_found_with_trusted_samples(fits):
    _, model = fits
    np.testing.assert_allclose(model.false_positive_rate_, ALPHA, atol=0.08)
    assert model.false_negative_rate_.mean() < 0.05


def test_noise_rates_from_trusted_samples_improve_ranking_and_probabilities(verified, fits):
    *_, X_new, truth = verified
    losses, excess = [], []
    for model in fits:
        scores = model.estimators_["linear"].decision_function(model.transformers_["linear"].transform(X_new))
        losses.append(ranking_loss(truth, scores))
        excess.append(abs(model.predict_proba(X_new).sum() / truth.sum() - 1))
    assert losses[1] < 0.75 * losses[0]
    assert excess[1] < 0.5 * excess[0]


def test_trusted_entries_are_never_trimmed(verified):
    X, labels, trusted, *_ = verified
    plain = ensemble(keep_fraction=0.8).fit(X, labels)
    model = ensemble(keep_fraction=0.8).fit(X, labels, trusted=trusted)
    assert (plain.self_paced_weights_[trusted] == 0).any()
    assert (model.self_paced_weights_[trusted] == 1).all()
    assert (model.self_paced_weights_[~trusted] == 0).any()


def test_the_fraction_to_keep_depends_on_what_is_known_about_the_noise(fits):
    X, truth = planted(600)
    assert fits[1].keep_fraction_ == 1.0  # trusted entries
    assert ensemble(false_positive_rate=0.1).fit(X, truth).keep_fraction_ == 0.95
    assert ensemble(keep_fraction=0.7).fit(X, truth, trusted=np.arange(600) < 50).keep_fraction_ == 0.7


def test_trusted_samples_or_entries(verified, fits):
    X, labels, trusted, X_new, _ = verified
    entries = ensemble().fit(X, labels, trusted=np.repeat(trusted[:, None], 8, axis=1).astype(int))
    np.testing.assert_array_equal(entries.decision_function(X_new), fits[1].decision_function(X_new))
    nothing = ensemble().fit(X, labels, trusted=np.zeros(1000, dtype=bool))
    np.testing.assert_array_equal(nothing.decision_function(X_new), fits[0].decision_function(X_new))


@pytest.mark.parametrize(
    ("trusted", "message"),
    [
        (np.full(1000, 0.5), "trusted must be an array of bool, got values of type float64"),
        (np.ones(999, dtype=bool), r"trusted must have shape \(1000, 8\) or \(1000,\), got \(999,\)"),
        (np.ones((1000, 3), dtype=bool), r"trusted must have shape .*, got \(1000, 3\)"),
    ],
)
def test_invalid_trusted_entries_raise(trusted, message, verified):
    X, labels, *_ = verified
    with pytest.raises(ValueError, match=message):
        ensemble().fit(X, labels, trusted=trusted)
