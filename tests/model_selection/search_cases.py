"""Estimator, scorer and data for the tests of the search."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

NAN = np.nan


class Ridge(ClassifierMixin, BaseEstimator):
    """Ridge regression of each label on its observed entries."""

    def __init__(self, alpha=1.0, degree=1):
        self.alpha = alpha
        self.degree = degree

    def fit(self, X, Y):
        if self.alpha < 0:
            raise ValueError("alpha is negative")
        Z = self._powers(X)
        self.W_ = np.zeros((Z.shape[1], Y.shape[1]))
        for j, y in enumerate(np.asarray(Y, dtype=float).T):
            observed = ~np.isnan(y)
            A = Z[observed]
            self.W_[:, j] = np.linalg.solve(A.T @ A + self.alpha * np.eye(A.shape[1]), A.T @ (2 * y[observed] - 1))
        return self

    def _powers(self, X):
        return np.hstack([np.ones((len(X), 1))] + [np.asarray(X) ** p for p in range(1, self.degree + 1)])

    def decision_function(self, X):
        return self._powers(X) @ self.W_


class Stops:
    """Scorer that raises KeyboardInterrupt in one call."""

    def __init__(self, call):
        self.left = call

    def __call__(self, fitted, X_test, Y_test):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        return fitted.alpha

    def __repr__(self):
        return "Stops"


def make_data(n=150, l=4, missing=0.5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    Y = ((X**2) @ rng.normal(size=(4, l)) + 0.5 * rng.normal(size=(n, l)) > 0).astype(float)
    Y[rng.random(Y.shape) < missing] = NAN
    return X, Y


SPACE = {"alpha": [0.01, 1.0, 1e4], "degree": [1, 2]}


X, Y = make_data()
