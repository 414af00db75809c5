"""Boosted trees of all labels: loss, missing entries, noise rates, warm starts and explanations."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.ensemble import RandomForestClassifier

from spmld import MaskedBoosting, MaskedLogistic, PerLabelClassifier, SelfPacedEnsemble
from spmld.core.losses import LOSSES
from spmld.datasets import make_planted
from spmld.estimators.masked_boosting import is_affordable
from spmld.estimators.trees import Trees
from spmld.inspection import explain
from spmld.labels import hide_labels
from spmld.metrics import log_loss, macro_auc
from spmld.noise.likelihood import NoisyLogistic

DATA = make_planted(300, 10, 5, random_state=0)
Y = hide_labels(DATA.Y, observed_fraction=0.6, random_state=0)


def interactions(n=1500, n_labels=4, seed=0):
    """Labels that depend on products of features, which no linear model finds."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 6))
    pairs = [(j, (j + 1) % 6) for j in range(n_labels)]
    signal = np.stack([4 * X[:, a] * X[:, b] for a, b in pairs], axis=1)
    return X, (rng.random(signal.shape) < 1 / (1 + np.exp(-signal))).astype(float)


@pytest.mark.parametrize("weighted", [False, True])
def test_each_tree_decreases_the_loss_of_the_observed_entries(weighted):
    observed = ~np.isnan(Y)
    weights = np.where(observed, np.random.default_rng(0).uniform(0.5, 2, Y.shape) if weighted else 1.0, 0.0)
    signs, losses = np.where(observed, 2 * np.nan_to_num(Y) - 1, 0), []
    model = MaskedBoosting(subsample=1.0, warm_start=True, random_state=0)
    for n in range(1, 30):
        scores = model.set_params(n_estimators=n).fit(DATA.X, Y, entry_weight=weights).decision_function(DATA.X)
        losses.append(np.sum(weights * LOSSES["logistic"].value(signs, scores)))
    assert (np.diff(losses) < 0).all()


def test_a_leaf_is_a_newton_step():
    model = MaskedBoosting(n_estimators=1, subsample=1.0, max_depth=1, learning_rate=1.0, l2_regularization=2.0)
    model.set_params(random_state=0).fit(DATA.X, Y)
    tree, observed = model.trees_, ~np.isnan(Y)
    left = DATA.X[:, tree.feature[0]].astype(np.float32) <= tree.threshold[0]
    p = 1 / (1 + np.exp(-model.intercept_))
    for leaf, rows in ((tree.left[0], left), (tree.right[0], ~left)):
        gradient = np.where(observed, np.nan_to_num(Y) - p, 0)[rows].sum(axis=0)
        curvature = np.where(observed, p * (1 - p), 0)[rows].sum(axis=0)
        np.testing.assert_allclose(tree.value[leaf], gradient / (curvature + 2.0), atol=1e-12)


def test_products_of_features_are_learned():
    X, truth = interactions()
    shown = hide_labels(truth[:1000], observed_fraction=0.5, random_state=0)
    trees = MaskedBoosting(random_state=0).fit(X[:1000], shown).decision_function(X[1000:])
    linear = MaskedLogistic().fit(X[:1000], shown).decision_function(X[1000:])
    forest = PerLabelClassifier(RandomForestClassifier(100, random_state=0)).fit(X[:1000], shown)
    assert macro_auc(truth[1000:], linear) < 0.6
    assert macro_auc(truth[1000:], trees) > macro_auc(truth[1000:], forest.decision_function(X[1000:])) - 0.03 > 0.75


def test_products_of_features_are_no_noise():
    X, truth = interactions(n=2500)
    model = SelfPacedEnsemble(random_state=0).fit(X[:1000], truth[:1000])
    p = model.predict_proba(X[1000:])
    assert not model.noise_.identified
    assert abs(p.mean() - truth[1000:].mean()) < 0.03
    assert log_loss(truth[1000:], p) < 0.9 * np.log(2)


def test_noise_rates_are_those_of_the_likelihood():
    rng = np.random.default_rng(0)
    truth = DATA.Y == 1
    noisy = np.where(truth, rng.random(truth.shape) >= 0.2, rng.random(truth.shape) < 0.1)
    rates = {"false_positive_rate": 0.1, "false_negative_rate": 0.2}
    model = MaskedBoosting(subsample=1.0, warm_start=True, random_state=0, **rates)
    loss, values = NoisyLogistic(np.asarray(0.1), np.asarray(0.2)), []
    for n in range(1, 20):
        scores = model.set_params(n_estimators=n).fit(DATA.X, noisy.astype(float)).decision_function(DATA.X)
        values.append(loss.value(np.where(noisy, 1.0, -1.0), scores).sum())
    assert (np.diff(values) < 0).all()
    plain = MaskedBoosting(n_estimators=19, subsample=1.0, random_state=0).fit(DATA.X, noisy.astype(float))
    assert log_loss(DATA.Y, model.predict_proba(DATA.X)) < log_loss(DATA.Y, plain.predict_proba(DATA.X))


def test_a_warm_start_adds_and_removes_trees():
    warm = MaskedBoosting(n_estimators=5, warm_start=True, random_state=0).fit(DATA.X, Y)
    for n in (12, 3):
        cold = MaskedBoosting(n_estimators=n, random_state=0).fit(DATA.X, Y)
        warm.set_params(n_estimators=n).fit(DATA.X, Y)
        np.testing.assert_allclose(warm.decision_function(DATA.X), cold.decision_function(DATA.X), atol=1e-12)
    other = warm.fit(DATA.X[::-1], Y).decision_function(DATA.X)
    cold = MaskedBoosting(n_estimators=3, random_state=0).fit(DATA.X[::-1], Y)
    np.testing.assert_allclose(other, cold.decision_function(DATA.X), atol=1e-12)
    weights = np.where(np.arange(len(Y))[:, None] % 2, 1.0, 0.5) * np.ones(Y.shape)
    again = warm.fit(DATA.X, Y, entry_weight=weights).decision_function(DATA.X)
    cold = MaskedBoosting(n_estimators=3, random_state=0).fit(DATA.X, Y, entry_weight=weights)
    np.testing.assert_allclose(again, cold.decision_function(DATA.X), atol=1e-12)


def test_many_labels_are_projected():
    rng = np.random.default_rng(0)
    copies = np.tile(Y, (1, 6))[:, rng.permutation(30)]
    few = MaskedBoosting(n_estimators=100, random_state=0).fit(DATA.X, Y)
    many = MaskedBoosting(n_estimators=100, random_state=0).fit(DATA.X, copies)
    assert few.trees_.value.shape[1] == 5
    assert many.trees_.value.shape[1] == 30
    assert macro_auc(DATA.Y, few.decision_function(DATA.X)) > 0.9
    assert macro_auc(copies, many.decision_function(DATA.X)) > 0.9
    alone = MaskedBoosting(n_estimators=100, n_projections=30, random_state=0).fit(DATA.X, copies)
    assert (many.decision_function(DATA.X) != alone.decision_function(DATA.X)).any()  # grown on other targets


def test_at_most_max_samples_are_used():
    rows = np.linspace(0, 299, 100).astype(int)
    limited = MaskedBoosting(n_estimators=5, max_samples=100, random_state=0).fit(DATA.X, Y)
    part = MaskedBoosting(n_estimators=5, random_state=0).fit(DATA.X[rows], Y[rows])
    np.testing.assert_array_equal(limited.decision_function(DATA.X), part.decision_function(DATA.X))


@pytest.mark.parametrize("samples", [DATA.X, sp.csr_array(np.maximum(DATA.X, 0))])
def test_contributions_of_trees_add_up_to_the_scores(samples):
    model = MaskedBoosting(n_estimators=20, random_state=0).fit(samples, Y)
    explanation = explain(model, samples, 2)
    np.testing.assert_allclose(explanation.scores, model.decision_function(samples)[:, 2], atol=1e-10)
    assert sp.issparse(explanation.contributions) == sp.issparse(samples)


def test_expected_values_are_means_of_leaves():
    model = MaskedBoosting(n_estimators=3, subsample=1.0, random_state=0).fit(DATA.X, Y)
    roots = model.trees_.expected_values()[model.trees_.roots].sum(axis=0)
    np.testing.assert_allclose(roots, model.trees_.scores(DATA.X).mean(axis=0), atol=1e-12)


def test_no_trees_have_scores_of_zero():
    np.testing.assert_array_equal(Trees.empty(2).scores(DATA.X[:3]), np.zeros((3, 2)))


def test_boosting_is_affordable_by_the_samples_that_are_searched():
    assert is_affordable(3000, 1000, 50)
    assert not is_affordable(20_000, 50_000, 50)
    assert is_affordable(10**6, 1000, 50) == is_affordable(20_000, 1000, 50)
