"""SelfPacedEnsemble with default parameters where there is nothing to find: no or weak signal, no errors, copies."""

import numpy as np
import pytest
from scipy.special import expit

from spmld import LabelPrior, SelfPacedEnsemble
from spmld.labels import corrupt_labels
from spmld.metrics import log_loss, macro_auc


def draw(strength, n=400, l=8, frequency=0.3, seed=0):
    """Samples, correct labels that the features predict with the given strength, and as many new ones."""
    rng = np.random.default_rng([seed, int(100 * strength)])
    X, W = rng.standard_normal((2 * n, 15)), rng.standard_normal((15, l))
    log_odds = strength * X @ (W / np.linalg.norm(W, axis=0)) + np.log(frequency / (1 - frequency))
    Y = (rng.random(log_odds.shape) < expit(log_odds)).astype(float)
    return X[:n], Y[:n], X[n:], Y[n:]


@pytest.mark.parametrize("options", [{}, {"keep_fraction": 0.9}])
def test_out_of_fold_scores_of_pure_noise_predict_nothing(options):
    values = []
    for seed in range(5):
        X, Y, _, _ = draw(0.0, n=250, l=12, seed=seed)
        values.append(macro_auc(Y, SelfPacedEnsemble(random_state=seed, **options).fit(X, Y).out_of_fold_scores_))
    assert np.mean(values) == pytest.approx(0.5, abs=0.015)


@pytest.mark.parametrize(("strength", "frequency"), [(0.0, 0.05), (0.0, 0.3), (0.3, 0.3), (1.0, 0.05)])
def test_probabilities_of_weakly_predictable_labels_are_not_worse_than_the_label_frequencies(strength, frequency):
    X, Y, new, truth = draw(strength, n=500, frequency=frequency)
    model = SelfPacedEnsemble(random_state=0).fit(X, Y)
    p = model.predict_proba(new)
    assert not model.noise_.floor.any()
    assert log_loss(truth, p) < log_loss(truth, LabelPrior().fit(X, Y).predict_proba(new)) + 0.005
    assert p.mean() == pytest.approx(Y.mean(), abs=0.02)
    assert 2 / 3 < model.predict(new).sum() / truth.sum() < 3 / 2


def test_out_of_fold_quality_is_at_most_that_of_new_samples():
    """Also with wrong labels: trimming must not choose entries by labels of the test fold.

    Models of the folds have two thirds of the samples, and are slightly worse than the final one.
    """
    differences = []
    for seed in range(3):
        X, Y, new, truth = draw(1.0, seed=seed)
        wrong = corrupt_labels(np.concatenate([Y, truth]), "permute", 0.3, random_state=seed)
        model = SelfPacedEnsemble(random_state=0).fit(X, wrong[:400])
        held_out = macro_auc(wrong[:400], model.out_of_fold_scores_)
        differences.append(held_out - macro_auc(wrong[400:], model.decision_function(new)))
    assert -0.05 < np.mean(differences) < 0.01


def test_copies_of_samples_change_nothing():
    copies, (X, Y, new, truth) = 3, draw(1.0, n=200)
    once = SelfPacedEnsemble(random_state=0).fit(X, Y)
    repeated = SelfPacedEnsemble(random_state=0).fit(np.tile(X, (copies, 1)), np.tile(Y, (copies, 1)))
    assert once.n_repeated_samples_ == 0
    assert repeated.n_repeated_samples_ == 200 * (copies - 1)
    assert log_loss(truth, repeated.predict_proba(new)) < log_loss(truth, once.predict_proba(new)) + 0.01
    held_out = macro_auc(np.tile(Y, (copies, 1)), repeated.out_of_fold_scores_)
    assert held_out == pytest.approx(macro_auc(Y, once.out_of_fold_scores_), abs=0.05)


def test_probabilities_are_the_logistic_function_of_the_scores_and_keep_their_order():
    X, Y, new, _ = draw(1.0, n=100)
    model = SelfPacedEnsemble(random_state=0).fit(X, Y)
    p = model.predict_proba(new)
    np.testing.assert_allclose(p, expit(model.decision_function(new)))
    top = model.top_labels(new, 3)
    assert (np.diff(np.take_along_axis(p, top.labels, axis=1), axis=1) <= 0).all()


def test_stated_noise_gives_probabilities_of_the_true_labels():
    X, Y, new, truth = draw(4.0, n=800, frequency=0.1)
    flipped = corrupt_labels(Y, "flip", 0.1, random_state=0)
    model = SelfPacedEnsemble(false_positive_rate=0.1, false_negative_rate=0.1, random_state=0).fit(X, flipped)
    assert model.keep_fraction_ == 1
    assert model.predict_true_proba(new).mean() == pytest.approx(truth.mean(), rel=0.25)
    assert model.predict_proba(new).mean() == pytest.approx(flipped.mean(), rel=0.1)
    ignored = SelfPacedEnsemble(false_positive_rate=0.0, false_negative_rate=0.0, random_state=0).fit(X, flipped)
    assert log_loss(truth, model.predict_true_proba(new)) < 0.85 * log_loss(truth, ignored.predict_proba(new))
