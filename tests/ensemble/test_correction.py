"""Answers of SelfPacedEnsemble: mixtures of views, calibrated probabilities, and decisions."""

import numpy as np
import pytest
from sklearn.base import clone

import spmld
from spmld import SelfPacedEnsemble
from spmld.core.losses import logistic
from spmld.datasets import make_planted
from spmld.ensemble.correction import ScoreCorrection, learned_entries
from spmld.labels import Labels, read_labels
from spmld.labels.encoding import SIGNS
from spmld.metrics import macro_f1
from spmld.model_selection import make_folds
from spmld.model_selection.cross_fitting import CrossFit
from spmld.noise import NoiseRates, PooledCalibration
from spmld.noise.calibration import trusted_weight


@pytest.fixture(scope="module")
def data():
    """Planted samples in random order, since those of a group follow each other."""
    planted = make_planted(n_samples=1600, n_labels=8, random_state=0)
    order = np.random.default_rng(0).permutation(1600)
    return planted.X[order], np.asarray(planted.Y, dtype=float)[order]


def ensemble(**changes):
    options = {"Cs": (3.0, 30.0), "alphas": (0.3, 3.0), "views": ("ridge", "linear"), "random_state": 0}
    return SelfPacedEnsemble(**{**options, **changes})


@pytest.fixture(scope="module")
def fitted(data):
    X, Y = data
    return ensemble().fit(X[:800], Y[:800])


def scores_and_signs(n=400, l=5, seed=0):
    """Log-odds, and labels drawn from them."""
    rng = np.random.default_rng(seed)
    scores = 2 * rng.normal(size=(n, l)) - np.arange(l) / 2
    return scores, np.where(rng.random(scores.shape) < logistic(scores), 1, -1).astype(np.int8)


def test_probabilities_sum_to_the_number_of_positives(data, fitted):
    X, Y = data
    p = fitted.predict_proba(X[800:])
    assert p.sum() == pytest.approx(Y[800:].sum(), rel=0.05)
    np.testing.assert_allclose(p.sum(axis=0), Y[800:].sum(axis=0), atol=4 * np.sqrt(Y[800:].sum(axis=0).max()))
    out_of_fold = logistic(fitted.out_of_fold_scores_)
    assert out_of_fold.sum() == pytest.approx(Y[:800].sum(), rel=5e-3)
    # Of the entries with a probability near p, a fraction of about p is positive.
    for low, high in ((0.0, 0.1), (0.1, 0.3), (0.3, 0.6), (0.6, 0.9), (0.9, 1.0)):
        chosen = (p >= low) & (p < high)
        assert Y[800:][chosen].mean() == pytest.approx(p[chosen].mean(), abs=0.08)


def test_a_number_as_decision_is_a_threshold_of_the_probabilities(data, fitted):
    X, Y = data
    for threshold in (0.5, 0.2):
        model = ensemble(decision=threshold).fit(X[:800], Y[:800])
        np.testing.assert_allclose(model.predict_proba(X), fitted.predict_proba(X))
        np.testing.assert_array_equal(model.predict(X), model.predict_proba(X) > threshold)


def test_an_integer_as_decision_is_a_number_of_labels(data):
    X, Y = data
    model = ensemble(decision=2).fit(X[:800], Y[:800])
    predicted, p = model.predict(X).astype(bool), model.predict_proba(X)
    assert (predicted.sum(axis=1) == 2).all()
    assert (np.where(predicted, p, 1).min(axis=1) >= np.where(predicted, 0, p).max(axis=1)).all()


def test_micro_f1_has_one_threshold_with_the_largest_expected_f1_of_out_of_fold_probabilities(data):
    X, Y = data
    model = ensemble(decision="micro_f1").fit(X[:800], Y[:800])
    (threshold,) = set(model.decision_rule_.thresholds_)
    np.testing.assert_array_equal(model.predict(X), model.predict_proba(X) > threshold)
    p = logistic(model.out_of_fold_scores_).ravel()

    def expected_f1(cut):
        return 2 * p[p > cut].sum() / ((p > cut).sum() + p.sum())

    assert expected_f1(threshold) >= max(expected_f1(cut) for cut in np.linspace(0.01, 0.99, 99)) - 1e-12


def test_the_default_decision_has_a_higher_macro_f1_than_one_half(data, fitted):
    X, Y = data
    half = ensemble(decision=0.5).fit(X[:800], Y[:800])
    assert macro_f1(Y[800:], fitted.predict(X[800:])) > macro_f1(Y[800:], half.predict(X[800:])) + 0.01


def test_score_correction_survive_model_files_and_clones(data, fitted, tmp_path):
    X, Y = data
    spmld.save(fitted, tmp_path / "model.skops")
    loaded = spmld.load(tmp_path / "model.skops")
    again = clone(fitted).fit(X[:800], Y[:800])
    shown = np.where(np.random.default_rng(0).random(Y.shape) < 0.5, Y, np.nan)
    for model in (loaded, again):
        for method in ("decision_function", "predict_proba", "predict"):
            np.testing.assert_array_equal(getattr(model, method)(X), getattr(fitted, method)(X))
        np.testing.assert_array_equal(model.complete(X, shown).confidences, fitted.complete(X, shown).confidences)
    np.testing.assert_array_equal(loaded.out_of_fold_scores_, fitted.out_of_fold_scores_)
    assert loaded.decision_rule_.decision == "f1"


def test_calibration_with_noise_rates_gives_the_probabilities_of_the_true_labels():
    scores, truth = scores_and_signs(n=4000)
    rng, (alpha, beta) = np.random.default_rng(1), (np.full(5, 0.2), np.full(5, 0.1))
    wrong = rng.random(truth.shape) < np.where(truth > 0, beta, alpha)
    observed, weight = np.where(wrong, -truth, truth).astype(np.int8), np.ones(truth.shape)
    positives = (truth > 0).sum()

    def excess(rates, signs=observed, trusted=None):
        calibration = PooledCalibration().fit(scores, signs, weight, NoiseRates(*rates).unless(trusted))
        return abs(calibration.probabilities(scores).sum() / positives - 1)

    assert excess((alpha, beta)) < 0.35 * excess((0 * alpha, 0 * beta))
    # Rates do not apply to trusted entries.
    everything = np.ones(truth.shape, dtype=bool)
    plain = PooledCalibration().fit(scores, truth)
    noisy = PooledCalibration().fit(scores, truth, weight, NoiseRates(alpha, beta).unless(everything))
    np.testing.assert_allclose(noisy.transform(scores), plain.transform(scores), atol=1e-6)


def test_few_trusted_entries_correct_the_calibration_of_a_wrong_noise_model():
    scores, truth = scores_and_signs(n=4000)
    # Every negative with a high score is wrong: the rate depends on the sample, and the estimate of 0 is wrong.
    observed = np.where(scores > np.quantile(scores, 0.6), 1, truth).astype(np.int8)
    trusted = (np.arange(4000) < 100)[:, None] & np.ones(truth.shape, dtype=bool)
    signs = np.where(trusted, truth, observed).astype(np.int8)

    def excess(trusted):
        calibration = PooledCalibration().fit(scores, signs, trusted_weight(signs, trusted))
        return calibration.probabilities(scores).sum() / (truth > 0).sum() - 1

    assert abs(excess(trusted)) < 0.75 * excess(None)


def test_labels_that_a_fold_could_not_learn_are_not_used_for_calibration():
    scores, signs = scores_and_signs(n=300)
    folds = make_folds(3, scores, signs, random_state=0)
    # In the training samples of the first fold the last label has one class only.
    (train, test), *_ = folds
    signs[train, -1] = -1
    signs[test, -1] = np.where(np.arange(len(test)) % 2, 1, -1)
    spoiled = scores.copy()
    spoiled[test, -1] = -1e3
    labels = read_labels(signs)
    cross = CrossFit(folds, len(signs))
    learned = learned_entries(labels.signs, cross)
    first, second = (
        ScoreCorrection(dependency_weight=0.0, completion_weight=0.0).fit(s, labels, np.ones(s.shape), cross, learned)
        for s in (scores, spoiled)
    )
    np.testing.assert_allclose(first.calibration_.slopes_, second.calibration_.slopes_, rtol=1e-10)
    np.testing.assert_allclose(first.calibration_.intercepts_, second.calibration_.intercepts_, rtol=1e-10)


def test_scores_that_do_not_predict_the_labels_keep_their_order_with_known_labels_too():
    scores, signs = scores_and_signs()
    opposite = read_labels(-signs)
    correction = ScoreCorrection(dependency_weight=0.0, completion_weight=0.0)
    correction.fit(scores, opposite, np.ones(signs.shape), CrossFit.of(np.arange(len(scores)) % 3))
    ascending = np.sort(scores, axis=0)
    known = Labels(np.zeros_like(signs), SIGNS)
    for result in (correction.formula_.apply(ascending), correction.completed_probabilities(ascending, known)):
        assert (np.diff(result, axis=0) > 0).all()
    p = correction.completed_probabilities(scores, known)
    np.testing.assert_allclose(p, logistic(correction.formula_.apply(scores)), atol=1e-12)
    np.testing.assert_allclose(p.mean(axis=0), (signs < 0).mean(axis=0), atol=0.02)
