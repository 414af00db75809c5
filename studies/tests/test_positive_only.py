"""Logistic regression on labels without observed negatives: special cases, and a planted model."""

import numpy as np
import pytest
import scipy.sparse as sp

from spmld import MaskedLogistic
from spmld.datasets import make_planted
from spmld.labels import hide_labels
from studies.methods import AssumeNegative, LargeLossRejection, PositiveUnlabelledEM, WeakNegatives, expected_label

DATA = make_planted(n_samples=200, n_labels=5, random_state=0)
Y = hide_labels(DATA.Y, kind="single_positive", random_state=0)


def scores(model):
    return model.decision_function(DATA.X)


def test_assumed_negatives_are_negatives():
    expected = MaskedLogistic(C=3.0).fit(DATA.X, np.nan_to_num(Y))
    np.testing.assert_allclose(scores(AssumeNegative(C=3.0).fit(DATA.X, Y)), scores(expected), atol=1e-8)


def test_weak_negatives_weigh_as_much_as_the_positive_of_their_sample():
    weight = np.where(np.isnan(Y), 1 / 4, 1.0)
    expected = MaskedLogistic(C=3.0).fit(DATA.X, np.nan_to_num(Y), entry_weight=weight)
    np.testing.assert_allclose(scores(WeakNegatives(C=3.0).fit(DATA.X, Y)), scores(expected), atol=1e-8)


def test_rejection_of_nothing_is_assumed_negatives_and_rejected_entries_are_missing():
    naive = AssumeNegative(C=3.0).fit(DATA.X, Y)
    none = LargeLossRejection(C=3.0, rejected=0.0, n_iter=1).fit(DATA.X, Y)
    np.testing.assert_allclose(scores(none), scores(naive), atol=1e-8)
    p = np.where(np.isnan(Y), naive.predict_proba(DATA.X), 0.0)
    kept = np.where(p > np.quantile(p[np.isnan(Y)], 0.9), np.nan, np.nan_to_num(Y))
    some = LargeLossRejection(C=3.0, rejected=0.1, n_iter=1).fit(DATA.X, Y)
    np.testing.assert_allclose(scores(some), scores(MaskedLogistic(C=3.0).fit(DATA.X, kept)), atol=1e-6)


@pytest.mark.parametrize(("p", "c"), [(0.2, 0.5), (0.9, 0.3), (0.5, 1.0), (1.0, 0.4)])
def test_the_expected_label_is_the_conditional_probability(p, c):
    positive_and_missing, missing = p * (1 - c), p * (1 - c) + 1 - p
    assert expected_label(p, c) == pytest.approx(positive_and_missing / missing)


@pytest.fixture(scope="module")
def observed_half():
    """Samples, probabilities and labels of a planted logistic model, with half of the positives observed."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 3))
    p = 1 / (1 + np.exp(-4 * X[:, :2] + 2))
    positive = rng.random(p.shape) < p
    return X, p, np.where(positive & (rng.random(p.shape) < 0.5), 1.0, np.nan)


def test_em_is_closer_to_a_planted_model_than_assumed_negatives(observed_half):
    X, p, y = observed_half
    model = PositiveUnlabelledEM(C=100.0, n_iter=30).fit(X, y)
    naive = AssumeNegative(C=100.0).fit(X, y)
    assert model.label_frequency_ == pytest.approx(0.5 * p[y == 1].mean(), abs=0.02)  # what Elkan and Noto estimate
    errors = [np.abs(fitted.predict_proba(X) - p).mean() for fitted in (model, naive)]
    assert errors[0] < 0.5 * errors[1]


def test_em_on_sparse_features(observed_half):
    X, _, y = observed_half
    dense, sparse = (
        PositiveUnlabelledEM(n_iter=2).fit(features, y[:500]).predict_proba(features)
        for features in (X[:500], sp.csr_array(X[:500]))
    )
    np.testing.assert_allclose(dense, sparse, atol=1e-6)
