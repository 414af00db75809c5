"""LEML and MLLRC: reductions to known methods, invariances, array libraries, unusual data."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LinearRegression, Ridge

from spmld import LEML, MLLRC
from spmld.datasets import make_planted
from spmld.labels import LabelWarning, hide_labels
from spmld.metrics import ranking_loss

MODELS = [
    LEML(alpha=1.0, n_components=3, random_state=0),
    LEML(alpha=1.0, n_components=3, loss="logistic", fit_intercept=True, random_state=0),
    MLLRC(nuclear_penalty=20.0, tol=1e-8),
    MLLRC(nuclear_penalty=20.0, fit_intercept=True, tol=1e-8),
]
every_model = pytest.mark.parametrize("model", MODELS, ids=str)


@pytest.fixture(scope="module")
def data():
    planted = make_planted(n_samples=200, n_features=8, n_labels=6, random_state=0)
    planted.hidden = hide_labels(planted.Y, observed_fraction=0.6, random_state=0)
    return planted


def test_leml_of_full_rank_with_next_to_no_ridge_is_least_squares(data):
    model = LEML(n_components=1.0, alpha=1e-8, max_iter=50, tol=1e-12, random_state=0).fit(data.X, data.Y)
    regression = LinearRegression(fit_intercept=False).fit(data.X, 2 * data.Y - 1)
    np.testing.assert_allclose(model.coef_, regression.coef_, atol=1e-6)
    model = LEML(n_components=1.0, alpha=1e-8, fit_intercept=True, max_iter=100, tol=1e-6, random_state=0)
    model.fit(data.X, data.Y)
    regression = LinearRegression().fit(data.X, 2 * data.Y - 1)
    np.testing.assert_allclose(model.decision_function(data.X), regression.predict(data.X), atol=0.02)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_mllrc_that_keeps_full_labels_is_a_ridge_regression(fit_intercept, data):
    model = MLLRC(completion_penalty=1e6, nuclear_penalty=0, alpha=2.0, fit_intercept=fit_intercept, tol=1e-10)
    model.fit(data.X, data.Y)
    ridge = Ridge(alpha=2.0, fit_intercept=fit_intercept).fit(data.X, 2 * data.Y - 1)
    np.testing.assert_allclose(model.label_map_, np.eye(6), atol=1e-5)
    np.testing.assert_allclose(model.coef_, ridge.coef_, atol=1e-5)
    np.testing.assert_allclose(model.decision_function(data.X), ridge.predict(data.X), atol=1e-5)


def test_scores_of_mllrc_are_the_ridge_regression_of_completed_labels(data):
    """W = (X^T X + b I)^-1 X^T Y S, also with missing labels, which count as zeros."""
    model = MLLRC(completion_penalty=3.0, nuclear_penalty=150.0, alpha=2.0, tol=1e-10).fit(data.X, data.hidden)
    Y = np.nan_to_num(2 * data.hidden - 1)
    W = np.linalg.solve(data.X.T @ data.X + 2.0 * np.eye(8), data.X.T @ Y @ model.label_map_)
    np.testing.assert_allclose(model.coef_, W.T, atol=1e-7)
    np.testing.assert_allclose(model.decision_function(data.X), data.X @ W, atol=1e-6)
    assert np.linalg.matrix_rank(model.label_map_, tol=1e-9) == model.history_[-1]["rank"] < 6


@every_model
def test_planted_model_is_recovered(model):
    planted = make_planted(
        2000, 20, 10, n_components=3, local=0.0, noise=0.1, frequencies=np.full(10, 0.5), random_state=1
    )
    train, test = slice(0, None, 2), slice(1, None, 2)
    hidden = hide_labels(planted.Y[train], 0.3, random_state=0)
    scores = model.fit(planted.X[train], hidden).decision_function(planted.X[test])
    correlations = [np.corrcoef(a, b)[0, 1] for a, b in zip(scores.T, planted.scores[test].T, strict=True)]
    assert min(correlations) > 0.85
    assert ranking_loss(planted.Y[test], scores) < 0.12  # 0.5 by chance


@every_model
def test_sparse_features_stay_sparse(model, data, monkeypatch):
    X = sp.csr_array(data.X)

    def fail(*args, **kwargs):
        raise AssertionError("sparse features were made dense")

    for name in ("toarray", "todense", "__array__"):
        monkeypatch.setattr(sp.csr_array, name, fail, raising=False)
        monkeypatch.setattr(sp.csc_array, name, fail, raising=False)
    model.fit(X, data.hidden).predict(X)


@every_model
def test_objective_never_increases(model, data):
    values = np.array([record["objective"] for record in model.fit(data.X, data.hidden).history_])
    assert (np.diff(values) <= 1e-12 * values[0]).all()
    assert model.n_iter_ == len(values)


@every_model
def test_unusual_labels_and_features_are_accepted(model, data):
    labels = data.hidden.copy()
    labels[:, 0] = np.nan  # never observed
    labels[:, 2] = np.nan
    labels[0, 2] = 0  # observed once
    labels[3] = np.nan
    labels[:, 1] = 1  # of one class
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", LabelWarning)
        scores = model.fit(data.X, labels).decision_function(data.X)
        assert np.isfinite(scores).all()
        np.testing.assert_allclose(scores[:, 0], 0, atol=1e-6)
        if model.fit_intercept:
            assert (scores[:, 1] > 0).mean() > 0.99
        assert np.isfinite(model.fit(0 * data.X, labels).decision_function(data.X)).all()
        assert np.isfinite(model.fit(1e8 * data.X, labels).decision_function(1e8 * data.X)).all()
        single = model.fit(data.X[:1], data.Y[:1])
        assert (single.predict(data.X[:1]) == data.Y[:1]).all() or not model.fit_intercept
    with pytest.raises(ValueError, match="X contains values too large for float"):
        model.fit(1e160 * data.X, labels)


def test_rank_is_a_number_or_a_fraction_of_the_labels(data):
    for n_components, k in ((1, 1), (4, 4), (40, 6), (0.3, 2), (0.5, 3), (1.0, 6)):
        assert LEML(n_components=n_components, max_iter=1).fit(data.X, data.hidden).label_factors_.shape == (6, k)
