"""Scorers in scikit-learn's model selection, with missing labels."""

import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_validate

from spmld import metrics
from spmld.metrics import scorer


class Ridge(BaseEstimator):
    """Ridge regression of each label on the samples for which it is observed."""

    def __init__(self, alpha=1.0):
        self.alpha = alpha

    def fit(self, X, Y):
        self.coef_ = np.column_stack([self._fit_label(X, y) for y in Y.T])
        return self

    def _fit_label(self, X, y):
        observed = ~np.isnan(y)
        X, y = X[observed], 2 * y[observed] - 1
        return np.linalg.solve(X.T @ X + self.alpha * np.eye(X.shape[1]), X.T @ y)

    def decision_function(self, X):
        return X @ self.coef_

    def predict(self, X):
        return (self.decision_function(X) > 0).astype(int)

    def predict_proba(self, X):
        return 1 / (1 + np.exp(-self.decision_function(X)))


class OnlyProbabilities(BaseEstimator):
    def predict_proba(self, X):
        return 1 / (1 + np.exp(-X))


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 5))
    X[:, 4] *= 1e-3  # no label depends on the last feature
    Y = (X[:, :4] @ rng.normal(size=(4, 6)) + 0.3 * rng.normal(size=(90, 6)) > 0).astype(float)
    Y[rng.random(Y.shape) < 0.5] = np.nan
    return X, Y


CV = KFold(3)
METHODS = {"scores": "decision_function", "predictions": "predict", "probabilities": "predict_proba"}


@pytest.mark.parametrize("name", metrics.registry.METRICS)
def test_cross_validate_with_every_metric(name, data):
    """The score of a fold is the metric of its test samples, negated if lower is better."""
    X, Y = data
    metric = metrics.registry.METRICS[name]
    scores = cross_validate(Ridge(), X, Y, cv=CV, scoring=scorer(name), error_score="raise")["test_score"]
    expected = []
    for train, test in CV.split(X):
        fitted = Ridge().fit(X[train], Y[train])
        value = metric.function(Y[test], getattr(fitted, METHODS[metric.needs])(X[test]))
        expected.append(value if metric.greater_is_better else -value)
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["brier_score", "log_loss"])
def test_grid_search_minimizes_losses(name, data):
    X, Y = data
    grid = {"alpha": [1e6, 1.0, 1e9]}
    search = GridSearchCV(Ridge(), grid, cv=CV, scoring=scorer(name), error_score="raise").fit(X, Y)
    assert search.best_params_ == {"alpha": 1.0}
    assert search.score(X, Y) == scorer(name)(search.best_estimator_, X, Y)


def test_a_number_in_the_name_is_k(data):
    X, Y = data
    model = Ridge().fit(X, Y)
    assert scorer("recall_at_2")(model, X, Y) == metrics.recall_at_k(Y, model.decision_function(X), k=2)
    assert scorer("recall_at_2")(model, X, Y) != scorer("recall_at_4")(model, X, Y)


def test_probabilities_are_used_without_a_decision_function():
    Y, X = np.array([[1, 0, np.nan], [0, 1, 0]]), np.array([[-1.0, 2.0, 0.0], [3.0, 4.0, 5.0]])
    assert scorer("ranking_loss")(OnlyProbabilities(), X, Y) == -(1 + 1 / 2) / 2


def test_an_estimator_without_the_needed_method_raises():
    with pytest.raises(ValueError, match="needs an estimator with predict_proba, got object"):
        scorer("log_loss")(object(), None, None)


def test_scorers_can_be_pickled_and_cloned(data):
    X, Y = data
    model = Ridge().fit(X, Y)
    original = scorer("recall_at_2")
    for copy in (pickle.loads(pickle.dumps(original)), clone(original, safe=False)):
        assert copy == original
        assert copy(model, X, Y) == original(model, X, Y)


@pytest.mark.parametrize("classes", [("no", "yes"), (1, 2)])
def test_a_fold_with_one_class_is_read_with_the_classes_of_the_estimator(classes):
    X = np.arange(20.0)[:, None]
    y = np.repeat(classes, 10)
    model = LogisticRegression().fit(X, y)
    for rows in (slice(0, 5), slice(15, 20)):
        assert scorer("hamming_loss")(model, X[rows], y[rows]) == 0
        assert scorer("hamming_loss")(model, X[rows], y[::-1][rows]) == -1
