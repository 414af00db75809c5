"""Masked linear models agree with those of scikit-learn, label by label."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge

from spmld import MaskedLogistic, MaskedRidge
from spmld._arrays import CACHE
from spmld.datasets import make_planted
from spmld.labels import hide_labels
from spmld.metrics import ranking_loss


@pytest.fixture(scope="module")
def data():
    planted = make_planted(n_samples=200, n_features=8, n_labels=6, random_state=0)
    planted.hidden = hide_labels(planted.Y, observed_fraction=0.6, random_state=0)
    planted.observed = ~np.isnan(planted.hidden)
    return planted


@pytest.mark.parametrize("C", [0.1, 30.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_logistic_agrees_with_scikit_learn_for_each_label(C, fit_intercept, container, data):
    model = MaskedLogistic(C=C, fit_intercept=fit_intercept, tol=1e-8).fit(container(data.X), data.hidden)
    for j, observed in enumerate(data.observed.T):
        one = LogisticRegression(C=C, fit_intercept=fit_intercept, solver="newton-cholesky", tol=1e-10)
        one.fit(data.X[observed], data.Y[observed, j])
        np.testing.assert_allclose(model.coef_[j], one.coef_[0], atol=1e-5)
        np.testing.assert_allclose(model.intercept_[j], one.intercept_ if fit_intercept else 0, atol=1e-5)
        np.testing.assert_allclose(model.predict_proba(data.X)[:, j], one.predict_proba(data.X)[:, 1], atol=1e-5)


@pytest.mark.parametrize("alpha", [0.1, 10.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_ridge_agrees_with_scikit_learn_for_each_label(alpha, fit_intercept, data):
    model = MaskedRidge(alpha=alpha, fit_intercept=fit_intercept, tol=1e-10).fit(data.X, data.hidden)
    for j, observed in enumerate(data.observed.T):
        one = Ridge(alpha=alpha, fit_intercept=fit_intercept).fit(data.X[observed], 2.0 * data.Y[observed, j] - 1)
        np.testing.assert_allclose(model.coef_[j], one.coef_, atol=1e-7)
        np.testing.assert_allclose(model.decision_function(data.X)[:, j], one.predict(data.X), atol=1e-7)


@pytest.mark.parametrize("model", [MaskedLogistic(tol=1e-9), MaskedRidge(tol=1e-9)], ids=["logistic", "ridge"])
class TestBoth:
    @pytest.mark.parametrize("graph", [0.0, 5.0])
    def test_weights_equal_repeated_samples(self, model, graph, data):
        model = clone(model).set_params(label_graph_penalty=graph)
        counts = np.random.default_rng(0).integers(0, 4, len(data.X))
        weighted = model.fit(data.X, data.hidden, entry_weight=counts).decision_function(data.X)
        repeated = model.fit(np.repeat(data.X, counts, axis=0), np.repeat(data.hidden, counts, axis=0))
        np.testing.assert_allclose(repeated.decision_function(data.X), weighted, atol=1e-5)

    def test_weights_of_one_label_do_not_affect_another(self, model, data):
        weight = np.ones(data.Y.shape)
        weight[:, 2] = np.random.default_rng(0).random(len(weight))
        plain = model.fit(data.X, data.hidden).coef_
        moved = model.fit(data.X, data.hidden, entry_weight=weight).coef_
        others = [0, 1, 3, 4, 5]
        np.testing.assert_allclose(moved[others], plain[others], atol=1e-9)
        assert np.abs(moved[2] - plain[2]).max() > 1e-3

    def test_torch_single_precision_threads_and_graph(self, model, data):
        for graph in (0.0, 2.0):
            model.set_params(label_graph_penalty=graph)
            expected = model.fit(data.X, data.hidden).decision_function(data.X)
            tensor = torch.from_numpy(data.X)
            scores = model.fit(tensor, data.hidden).decision_function(tensor)
            assert isinstance(scores, torch.Tensor)
            np.testing.assert_allclose(scores.numpy(), expected, atol=1e-5)
            single = model.fit(data.X.astype(np.float32), data.hidden).decision_function(data.X.astype(np.float32))
            assert single.dtype == np.float32
            np.testing.assert_allclose(single, expected, atol=5e-3)
        threads = model.set_params(label_graph_penalty=0.0, n_jobs=2).fit(data.X, data.hidden).coef_
        np.testing.assert_array_equal(model.set_params(n_jobs=None).fit(data.X, data.hidden).coef_, threads)

    def test_a_warm_start_continues_from_the_last_fit(self, model, data):
        model = type(model)(warm_start=True, tol=1e-6)
        first = model.fit(data.X, data.hidden).n_iter_
        coef = model.coef_.copy()
        assert model.fit(data.X, data.hidden).n_iter_ == 0 < first
        np.testing.assert_array_equal(model.coef_, coef)
        unseen = data.hidden.copy()
        unseen[:, 0] = np.nan
        assert (model.fit(data.X, unseen).decision_function(data.X)[:, 0] == 0).all()

    def test_a_warm_start_forgets_labels_that_have_one_class_only(self, model, data):
        warm = type(model)(warm_start=True).fit(data.X, data.hidden)
        one_class = data.hidden.copy()
        one_class[:, 0] = 0
        warm.fit(data.X, one_class)
        cold = type(model)().fit(data.X, one_class)
        np.testing.assert_array_equal(warm.coef_[0], 0)
        np.testing.assert_allclose(warm.intercept_[0], cold.intercept_[0])
        assert warm.n_iter_ <= cold.n_iter_


def test_a_label_of_one_sign_or_none_gets_a_finite_score_of_its_sign(data):
    Y = data.hidden.copy()
    Y[:, 0], Y[:, 1], Y[:, 2] = 1, 0, np.nan
    for cls in (MaskedLogistic, MaskedRidge):
        scores = cls().fit(data.X, Y).decision_function(data.X)
        assert np.isfinite(scores).all()
        assert (scores[:, 0] > 0).all()
        assert (scores[:, 1] < 0).all()
        assert (scores[:, 2] == 0).all()


def test_the_label_graph_helps_if_labels_have_common_causes_and_few_are_observed():
    gains = []
    for seed in range(4):
        data = make_planted(1200, 60, 10, n_components=2, local=0.0, noise=0.2, random_state=seed)
        train, test = slice(0, 200), slice(200, None)
        Y = hide_labels(data.Y[train], 0.3, random_state=seed)
        losses = [
            ranking_loss(
                data.Y[test],
                MaskedLogistic(label_graph_penalty=g).fit(data.X[train], Y).decision_function(data.X[test]),
            )
            for g in (0.0, 1.0)
        ]
        gains.append(losses[0] - losses[1])
    assert np.mean(gains) > 0


def test_too_few_steps_give_a_warning():
    data = make_planted(n_samples=100, random_state=0)
    with pytest.warns(UserWarning, match="max_iter=1 Newton steps were not enough"):
        MaskedLogistic(max_iter=1, tol=1e-8).fit(data.X, data.Y)


@pytest.mark.parametrize("C", [0.5, 4.0])
def test_the_label_graph_penalty_is_relative_to_the_ridge(C, data):
    """The gradient of the objective in the docstring is zero."""
    model = MaskedLogistic(C=C, label_graph_penalty=3.0, tol=1e-10).fit(data.X, data.hidden)
    positive, observed = np.where(data.observed, data.hidden, 0), data.observed.astype(float)
    both, single = positive.T @ positive, positive.T @ observed
    A = both / np.sqrt(single * single.T)
    np.fill_diagonal(A, 0)
    L = np.diag(A.sum(axis=0)) - A
    signs = 2 * data.Y - 1
    slope = -signs / (1 + np.exp(signs * model.decision_function(data.X))) * data.observed
    W = model.coef_.T
    np.testing.assert_allclose(C * data.X.T @ slope + W + 3.0 * W @ L, 0, atol=1e-5)


def test_threads_keep_the_order_of_groups_of_labels(data):
    copies = 2 * CACHE // data.hidden.size  # the scores exceed the cache, and labels are fitted in groups
    Y = np.tile(data.hidden, copies)
    expected = MaskedLogistic().fit(data.X, data.hidden).coef_
    for n_jobs in (None, 2):
        coef = MaskedLogistic(n_jobs=n_jobs).fit(data.X, Y).coef_
        np.testing.assert_allclose(coef, np.tile(expected, (copies, 1)), atol=1e-6)


def test_a_distant_warm_start_converges_to_the_same_solution(data):
    X = data.X.astype(np.float32)
    cold = MaskedLogistic(tol=1e-4).fit(X, data.hidden)
    warm = MaskedLogistic(tol=1e-4, warm_start=True).fit(X, data.hidden)
    warm.coef_ = warm.coef_ * 1e3
    warm.fit(X, data.hidden)
    np.testing.assert_allclose(warm.coef_, cold.coef_, atol=1e-2)


def noisy_data(seed=0, n=3000):
    """Labels of a planted linear model, and the same observed with noise rates that differ between labels."""
    rng = np.random.default_rng(seed)
    X, W = rng.normal(size=(n, 4)), 2 * rng.normal(size=(4, 3))
    truth = rng.random((n, 3)) < 1 / (1 + np.exp(-X @ W + 1))
    alpha, beta = np.array([0.0, 0.1, 0.3]), np.array([0.3, 0.2, 0.0])
    noisy = np.where(truth, rng.random((n, 3)) >= beta, rng.random((n, 3)) < alpha)
    return X, W, truth.astype(float), noisy.astype(float), {"false_positive_rate": alpha, "false_negative_rate": beta}


def test_the_likelihood_with_known_noise_rates_recovers_planted_weights():
    X, W, truth, noisy, rates = noisy_data()
    plain, model, oracle = (
        MaskedLogistic(C=10.0, tol=1e-6, **options).fit(X, Y)
        for options, Y in (({}, noisy), (rates, noisy), ({}, truth))
    )
    plain_error, error, oracle_error = (np.abs(m.coef_.T - W).mean() for m in (plain, model, oracle))
    assert error < 0.4 * plain_error
    assert error < 4 * oracle_error
    # Scores are log-odds of the true labels.
    assert model.predict_proba(X).mean() == pytest.approx(truth.mean(), abs=0.02)


def test_trusted_entries_have_no_noise():
    X, _, truth, noisy, rates = noisy_data(n=400)
    plain = MaskedLogistic(tol=1e-8).fit(X, truth).coef_
    everything = np.ones(truth.shape, dtype=bool)
    np.testing.assert_allclose(
        MaskedLogistic(tol=1e-8, **rates).fit(X, truth, trusted=everything).coef_, plain, atol=1e-5
    )
    # An entry whose rates are 0 because it is trusted equals one of a label with rates of 0.
    trusted = everything & (np.arange(3) == 1)
    mixed = MaskedLogistic(tol=1e-8, **rates).fit(X, noisy, trusted=trusted).coef_
    rates = {name: np.where(np.arange(3) == 1, 0.0, rate) for name, rate in rates.items()}
    np.testing.assert_allclose(mixed, MaskedLogistic(tol=1e-8, **rates).fit(X, noisy).coef_, atol=1e-5)


def test_correct_trusted_entries_improve_a_fit_with_noise_rates():
    X, W, truth, noisy, rates = noisy_data(n=2000)
    trusted = np.arange(2000) < 1000
    labels = np.where(trusted[:, None], truth, noisy)
    errors = [
        np.abs(MaskedLogistic(C=10.0, tol=1e-6, **rates).fit(X, labels, trusted=mask).coef_.T - W).mean()
        for mask in (trusted, None)
    ]
    assert errors[0] < 0.7 * errors[1]


def test_missing_entries_permutations_and_array_types_with_noise_rates():
    X, _, _, noisy, rates = noisy_data(n=300)
    rng = np.random.default_rng(0)
    observed, trusted = rng.random(noisy.shape) < 0.7, rng.random(noisy.shape) < 0.2
    hidden = np.where(observed, noisy, np.nan)
    model = MaskedLogistic(tol=1e-8, label_graph_penalty=0.5, **rates)
    expected = model.fit(X, hidden, trusted=trusted).coef_
    np.testing.assert_array_equal(
        model.fit(X, np.where(observed, noisy, 9.0), mask=observed, trusted=trusted).coef_, expected
    )
    rows, labels = rng.permutation(300), np.array([2, 0, 1])
    moved = clone(model).set_params(**{name: rate[labels] for name, rate in rates.items()})
    moved.fit(X[rows], hidden[rows][:, labels], trusted=trusted[rows][:, labels])
    np.testing.assert_allclose(moved.coef_, expected[labels], atol=1e-5)
    tensor = model.fit(torch.from_numpy(X), hidden, trusted=trusted).coef_
    np.testing.assert_allclose(tensor.numpy(), expected, atol=1e-5)
    single = model.fit(X.astype(np.float32), hidden, trusted=trusted).coef_
    np.testing.assert_allclose(single, expected, atol=5e-3)
    sparse = model.fit(sp.csr_array(X), hidden, trusted=trusted).coef_
    np.testing.assert_allclose(sparse, expected, atol=1e-5)


def test_one_rate_is_that_of_all_labels():
    X, _, _, noisy, _ = noisy_data(n=300)
    one = MaskedLogistic(false_positive_rate=0.1, false_negative_rate=0.2).fit(X, noisy).coef_
    three = MaskedLogistic(false_positive_rate=[0.1] * 3, false_negative_rate=np.full(3, 0.2)).fit(X, noisy).coef_
    np.testing.assert_array_equal(one, three)


@pytest.mark.parametrize("name", ["false_positive_rate", "false_negative_rate"])
@pytest.mark.parametrize("value", [-0.1, 1.0, np.nan, "x", None, [0.1, 0.2], [0.1, 0.2, 1.5]])
def test_invalid_noise_rates_are_named(name, value):
    X, _, _, noisy, _ = noisy_data(n=30)
    message = re.escape(f"{name} must be a number in [0, 1), or an array with one for each label, got {value!r}")
    with pytest.raises(ValueError, match=message):
        MaskedLogistic(**{name: value}).fit(X, noisy)


def test_noise_rates_with_a_sum_of_at_least_1_raise():
    X, _, _, noisy, _ = noisy_data(n=30)
    message = "false_positive_rate and false_negative_rate must have a sum below 1 for each label, got 0.5 and 0.6"
    with pytest.raises(ValueError, match=message):
        MaskedLogistic(false_positive_rate=0.5, false_negative_rate=0.6).fit(X, noisy)
