"""Rejection rates of the t-tests over folds under an exact null hypothesis.

``python -m benchmarks.comparison_level [number of data sets]`` takes about ten minutes for 1,000 data sets. Each has
200 samples, 10 features, and 5 labels that depend in the same way on the first and on the last five features. One
method uses the first five features and the other one the last five, so that the two are exchangeable and every
rejection is an error. The table shows the fraction of the data sets with p < 0.05, for the plain paired t-test, for the
corrected resampled t-test of Nadeau and Bengio, and for the test of `spmld.model_selection.compare`. The two corrected
tests differ for repeated folds only. The standard error is 0.7 % for a rate of 5 %. The second table has 80 features,
40 for each method, so that the fits depend more on the training samples.
"""

import sys

import numpy as np
from scipy import stats
from sklearn.base import BaseEstimator

from benchmarks.sizes import sized
from spmld._table import TextTable
from spmld.model_selection import MultilabelStratifiedKFold, compare

N_SAMPLES, N_LABELS, LEVEL = 200, 5, 0.05
TESTS = ("plain", "Nadeau and Bengio", "compare")
METRICS = ("ranking_loss", "macro_auc", "micro_f1", "macro_f1")
CV = {"5 folds": (5, 1), "10 folds": (10, 1), "5 folds, 5 times": (5, 5)}  # numbers of folds and repetitions


class Ridge(BaseEstimator):
    """Ridge regression on some of the features."""

    def __init__(self, start, stop):
        self.start = start
        self.stop = stop

    def fit(self, X, Y):
        """Fit all labels at once."""
        X, self.mean_ = X[:, self.start : self.stop], Y.mean(axis=0)
        self.coef_ = np.linalg.solve(X.T @ X + np.eye(X.shape[1]), X.T @ (Y - self.mean_))
        return self

    def decision_function(self, X):
        """Return scores, which are positive where a label is predicted."""
        return X[:, self.start : self.stop] @ self.coef_ + self.mean_ - 0.5

    def predict(self, X):
        """Return predicted labels."""
        return (self.decision_function(X) > 0).astype(int)


def draw(rng, n_features):
    """Return features and labels; the labels depend on the sum of both halves of the features."""
    half = n_features // 2
    X = rng.normal(size=(N_SAMPLES, n_features))
    scores = 2 * (X[:, :half] + X[:, half:]) @ rng.normal(size=(half, N_LABELS)) / np.sqrt(n_features)
    return X, (rng.random(scores.shape) < 1 / (1 + np.exp(-scores))).astype(int)


def p_values(X, Y, n_folds, n_repeats, seed):
    """Return the p-values of the three tests for each metric."""
    half, rng = X.shape[1] // 2, np.random.RandomState(seed)
    splitter = MultilabelStratifiedKFold(n_folds, random_state=rng)
    cv = [fold for _ in range(n_repeats) for fold in splitter.split(X, Y)]
    methods = {"first": Ridge(0, half), "last": Ridge(half, 2 * half)}
    comparison = compare(methods, X, Y, metrics=METRICS, cv=cv)
    corrected = {record["metric"]: record["p"] for record in comparison.results() if "p" in record}
    rows = []
    for metric in METRICS:
        differences = np.subtract(*(comparison.values[name, metric] for name in methods))
        simple = [resampled_p(differences, ratio) for ratio in (0.0, comparison.test_train_ratio)]
        rows.append([*simple, corrected[metric]])
    return rows


def resampled_p(differences, ratio):
    """Return p of the corrected resampled t-test of Nadeau and Bengio; ratio=0 is the plain test."""
    n = len(differences)
    t = differences.mean() / (differences.std(ddof=1) * np.sqrt(1 / n + ratio))
    return 2 * stats.t.sf(abs(t), n - 1)


def main(n_data_sets=sized(1000, 2)):
    for n_features in (10, 80):
        rows = []
        for name, (n_folds, n_repeats) in CV.items():
            rng = np.random.default_rng(0)
            p = [p_values(*draw(rng, n_features), n_folds, n_repeats, seed) for seed in range(n_data_sets)]
            rates = np.mean(np.array(p) < LEVEL, axis=0).T
            rows += [[name, test, *(f"{rate:.1%}" for rate in part)] for test, part in zip(TESTS, rates, strict=True)]
        print(f"\n{n_data_sets} data sets with {N_SAMPLES} samples and {n_features} features\n")
        print(TextTable(["folds", "t-test", *METRICS], rows).to_markdown(), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
