"""
Tune, set thresholds and calibrate
==================================

GLOCAL with 70 % of the training labels missing: a grid, a search that is resumed, thresholds and calibration.

Run it with ``python examples/tune_and_threshold.py``. It takes less than a minute on one core and needs optuna,
``pip install "spmld[tune]"``.
"""

import tempfile
from pathlib import Path

from sklearn.model_selection import GridSearchCV

from spmld import GLOCAL
from spmld.datasets import make_planted
from spmld.labels import hide_labels
from spmld.metrics import brier_score, log_loss, macro_f1, micro_f1, scorer
from spmld.model_selection import (
    CalibratedClassifier,
    MultilabelStratifiedKFold,
    MultilabelStratifiedShuffleSplit,
    ThresholdClassifier,
    tune,
)


def make_data():
    """Training rows with 30 % of their labels, and test rows with all of theirs.

    Real data do as well: any X, and a Y of 0 and 1 with NaN for what is not known.
    """
    data = make_planted(n_samples=2000, n_features=40, n_labels=15, noise=0.6, random_state=0)
    splitter = MultilabelStratifiedShuffleSplit(1, test_size=0.5, random_state=0)
    train, test = next(splitter.split(data.X, data.Y))
    Y_train = hide_labels(data.Y[train], observed_fraction=0.3, random_state=0)
    return data.X[train], Y_train, data.X[test], data.Y[test]


def search_a_grid(X, Y):
    """scikit-learn's search. The splitter and the scorer take the NaN in Y; the rest is scikit-learn's own."""
    grid = {"coupling": [0.1, 1.0], "feature_ridge": [0.5, 2.0, 8.0]}
    cv = MultilabelStratifiedKFold(3, random_state=0)
    return GridSearchCV(GLOCAL(random_state=0), grid, cv=cv, scoring=scorer("ranking_loss")).fit(X, Y)


def search_with_optuna(X, Y, file):
    """Optuna's search, kept in an SQLite file: the second call goes on where the first one ended."""
    space = {"coupling": (0.03, 3.0, "log"), "feature_ridge": (0.01, 10.0, "log"), "n_components": (3, 15)}
    call = {"metric": "ranking_loss", "method": "optuna", "cv": 3, "storage": file, "random_state": 0}
    first = tune(GLOCAL(random_state=0), X, Y, space, n_trials=5, refit=False, **call)
    second = tune(GLOCAL(random_state=0), X, Y, space, n_trials=15, **call)
    print(f"Optuna tried {len(first.trials)} sets of parameters, was resumed, and ended with {len(second.trials)}.")
    return second


def report(name, loss, params):
    print(
        f"{name:<13} ranking loss {loss:.4f} with " + ", ".join(f"{key} {value:.3g}" for key, value in params.items())
    )


def judge(name, positives, probabilities, Y):
    """A line of the table."""
    values = [macro_f1(Y, positives), micro_f1(Y, positives), log_loss(Y, probabilities), brier_score(Y, probabilities)]
    print(f"{name:<34}" + "".join(f"{value:>10.3f}" for value in values))


def main():
    X, Y, X_test, Y_test = make_data()

    # Both searches judge by labels that were observed and held out; the test rows choose nothing.
    grid = search_a_grid(X, Y)
    report("GridSearchCV:", -grid.best_score_, grid.best_params_)
    with tempfile.TemporaryDirectory() as folder:
        found = search_with_optuna(X, Y, Path(folder) / "study.db")
    report("Optuna:", -found.best_score, found.best_params)

    # The better of the two, as it is, and with what cross-fitting on the observed labels adds to it.
    best = found.best_estimator if found.best_score > grid.best_score_ else grid.best_estimator_
    thresholds = ThresholdClassifier(best, method="f1", random_state=0).fit(X, Y)
    calibrated = CalibratedClassifier(best, random_state=0).fit(X, Y)
    both = ThresholdClassifier(calibrated, method="f1", random_state=0).fit(X, Y)

    print(f"\n{'on test labels that chose nothing':<34}{'macro F1':>10}{'micro F1':>10}{'log loss':>10}{'Brier':>10}")
    judge("GLOCAL, scores above 0", best.predict(X_test), best.predict_proba(X_test), Y_test)
    # A threshold changes decisions alone, so the probabilities are those of the estimator inside.
    judge("threshold of each label", thresholds.predict(X_test), thresholds.estimator_.predict_proba(X_test), Y_test)
    judge("calibrated", calibrated.predict(X_test), calibrated.predict_proba(X_test), Y_test)
    judge("calibrated, then thresholds", both.predict(X_test), both.estimator_.predict_proba(X_test), Y_test)


if __name__ == "__main__":
    main()
