"""Base estimators and data for the tests of thresholds and calibration."""

import numpy as np
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin

NAN = np.nan


class Ridge(ClassifierMixin, BaseEstimator):
    """Ridge regression of each label on its observed entries, with shifted scores."""

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, Y):
        X, Y = np.asarray(X, dtype=float), np.asarray(Y, dtype=float)
        self.n_features_in_, self.fitted_on_ = X.shape[1], len(X)
        X = np.column_stack([X, np.ones(len(X))])
        self.W_ = np.zeros((X.shape[1], Y.shape[1]))
        for j, y in enumerate(Y.T):
            observed = ~np.isnan(y)
            A, t = X[observed], np.where(y[observed] > 0, 1.0, -1.0)
            self.W_[:, j] = np.linalg.solve(A.T @ A + np.eye(X.shape[1]), A.T @ t)
        return self

    def decision_function(self, X):
        return np.column_stack([np.asarray(X, dtype=float), np.ones(len(X))]) @ self.W_ + self.shift

    def predict(self, X):
        return (self.decision_function(X) > 0).astype(int)


class RidgeWithProbabilities(Ridge):
    def predict_proba(self, X):
        return 1 / (1 + np.exp(-self.decision_function(X)))


class Memory(ClassifierMixin, BaseEstimator):
    """Memorizes the labels of the training samples; the scores of other samples are 0."""

    def fit(self, X, Y):
        self.labels_ = {tuple(x): y for x, y in zip(np.asarray(X), np.asarray(Y, dtype=float), strict=True)}
        self.n_labels_ = np.shape(Y)[1]
        return self

    def decision_function(self, X):
        zeros = np.zeros(self.n_labels_)
        return np.array(
            [2 * np.nan_to_num(self.labels_[tuple(x)]) - 1 if tuple(x) in self.labels_ else zeros for x in X]
        )


def make_data(n=400, l=4, missing=0.3, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    scores = X @ rng.normal(size=(5, l)) + noise * rng.normal(size=(n, l))
    Y = (scores > np.quantile(scores, np.linspace(0.6, 0.9, l), axis=0).diagonal()).astype(float)
    Y[rng.random(Y.shape) < missing] = NAN
    return X, Y


@st.composite
def scores_and_signs(draw, labels=None):
    n, l = draw(st.integers(2, 15)), labels or draw(st.integers(1, 4))
    kinds = [
        st.integers(-3, 3).map(float),  # many equal scores
        st.floats(-1e300, 1e300),
        st.sampled_from([1.0, np.nextafter(1.0, 2), np.nextafter(np.nextafter(1.0, 2), 2)]),  # neighboring floats
    ]
    score = draw(st.sampled_from(kinds))
    scores = np.array(draw(st.lists(score, min_size=n * l, max_size=n * l))).reshape(n, l)
    signs = np.array(draw(st.lists(st.sampled_from([-1, 0, 1]), min_size=n * l, max_size=n * l)), dtype=np.int8)
    signs = signs.reshape(n, l)
    signs[0], signs[1] = 1, -1
    return scores, signs
