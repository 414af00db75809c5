"""Small studies and estimators for the tests."""

import json
import lzma

import numpy as np
from sklearn.base import BaseEstimator

from studies.config import parse_study
from studies.trial import Trial

LINEAR = "studies.tests.cases.Linear"
VARYING = {"seconds", "cpu_seconds"}


class Linear(BaseEstimator):
    """Least squares on observed labels, with an intercept: a fast classifier for tests."""

    def __init__(self, ridge=1.0, fail_on=None, noise=0.0, random_state=None):
        self.ridge = ridge
        self.fail_on = fail_on
        self.noise = noise
        self.random_state = random_state

    def fit(self, X, Y):
        if self.fail_on is not None and self.random_state in (self.fail_on, None):
            raise RuntimeError(f"no fit with seed {self.random_state}")
        signs = np.where(np.isnan(Y), 0, 2 * Y - 1)
        ones = np.column_stack([X, np.ones(len(X))])
        gram = ones.T @ ones + self.ridge * np.eye(ones.shape[1])
        self.coef_ = np.linalg.solve(gram, ones.T @ signs)
        self.coef_ += self.noise * np.random.RandomState(self.random_state).normal(size=self.coef_.shape)
        return self

    def decision_function(self, X):
        return np.column_stack([X, np.ones(len(X))]) @ self.coef_

    def predict(self, X):
        return (self.decision_function(X) > 0).astype(int)


class Memory(BaseEstimator):
    """Memorizes its training samples."""

    def fit(self, X, Y):
        self.memory_ = {row.tobytes(): labels for row, labels in zip(X, np.nan_to_num(Y), strict=True)}
        return self

    def decision_function(self, X):
        return np.array([self.memory_.get(row.tobytes(), np.zeros(5)) for row in X])


def tiny(kind="test", **changes):
    parts = {"data": "planted", "observed": 0.5, "seed": 3, "method": "linear", "estimator": LINEAR, "params": {}}
    folds = 3 if kind == "held-out" else 0
    return Trial(kind, **{**parts, "folds": folds, **changes})


def linear(name="linear", **parts):
    return {"name": name, "estimator": "studies.tests.cases.Linear", **parts}


def make(**changes):
    content = {
        "title": "tiny",
        "report": "tables",
        "data": ["planted"],
        "observed": [0.5],
        "seeds": [0, 1],
        "metrics": ["ranking_loss"],
        "budget": 2,
        "methods": [linear(search={"ridge": [1.0, 1e6]}), linear("noisy", fixed={"noise": 0.1})],
        **changes,
    }
    return parse_study(content, "tiny")


def comparable(path):
    """Return the records of a file without fields that differ between runs."""
    content = lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
    lines = [json.loads(line) for line in content.splitlines()]
    return [{key: value for key, value in line.items() if key not in VARYING} for line in lines]
