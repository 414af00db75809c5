"""
Tune, calibrate and decide
==========================

GLOCAL with 70 % of the training labels missing: a grid search, a search that is resumed, calibration and decisions.

Run it with ``python examples/tune_and_threshold.py``. It takes less than a minute on one core and requires Optuna,
``pip install "spmld[tune]"``.
"""

import tempfile
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
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
    """Return training samples with 30 % of their labels observed, and fully labeled test samples.

    For real data, Y has 0 and 1 for observed labels and NaN for missing ones.
    """
    data = make_planted(n_samples=2000, n_features=40, n_labels=15, noise=0.6, random_state=0)
    splitter = MultilabelStratifiedShuffleSplit(1, test_size=0.5, random_state=0)
    train, test = next(splitter.split(data.X, data.Y))
    Y_train = hide_labels(data.Y[train], observed_fraction=0.3, random_state=0)
    return data.X[train], Y_train, data.X[test], data.Y[test]


def search_a_grid(X, Y):
    """Use scikit-learn's search with a splitter and a scorer that accept NaN in Y."""
    grid = {"coupling": [0.1, 1.0], "feature_ridge": [0.5, 2.0, 8.0]}
    cv = MultilabelStratifiedKFold(3, random_state=0)
    return GridSearchCV(GLOCAL(random_state=0), grid, cv=cv, scoring=scorer("ranking_loss")).fit(X, Y)


def search_with_optuna(X, Y, file):
    """Use Optuna's search, stored in an SQLite file; the second call resumes the first."""
    space = {"coupling": (0.03, 3.0, "log"), "feature_ridge": (0.01, 10.0, "log"), "n_components": (3, 15)}
    options = {"scoring": "ranking_loss", "method": "optuna", "cv": 3, "storage": file, "random_state": 0}
    first = tune(GLOCAL(random_state=0), X, Y, space, n_trials=5, refit=False, **options)
    second = tune(GLOCAL(random_state=0), X, Y, space, n_trials=15, **options)
    print(
        f"Optuna stopped after {len(first.trials)} trials, and was resumed to a total of {len(second.trials)} trials."
    )
    return second


def report(name, loss, params):
    print(
        f"{name:<13} ranking loss {loss:.4f} with " + ", ".join(f"{key} {value:.3g}" for key, value in params.items())
    )


def print_metrics(name, predicted, probabilities, Y):
    """Print a line of the table, and return its values."""
    values = [macro_f1(Y, predicted), micro_f1(Y, predicted), log_loss(Y, probabilities), brier_score(Y, probabilities)]
    print(f"{name:<34}" + "".join(f"{value:>10.3f}" for value in values))
    return values


def draw(grid, result, table):
    """Draw the losses of all trials, and the F1 of the three models."""
    _, (search, f1) = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained")
    losses = [-trial.score for trial in result.trials]
    search.axhline(-grid.best_score_, color="#9A9A9A", ls="--", label="best setting of the grid")
    search.plot(range(1, len(losses) + 1), losses, "o", color="#0072B2", label="trial of Optuna")
    search.step(range(1, len(losses) + 1), np.minimum.accumulate(losses), where="post", color="#0072B2", label="best")
    search.set(title="Search", xlabel="trial", ylabel="held-out ranking loss")
    for i, (name, color) in enumerate((("macro F1", "#0072B2"), ("micro F1", "#E69F00"))):
        bars = f1.barh(np.arange(len(table)) + 0.4 * i - 0.2, [row[i] for row in table.values()], 0.38, color=color)
        f1.bar_label(bars, fmt="%.2f", padding=3)
        bars.set_label(name)
    f1.set_yticks(range(len(table)), [name.replace(", ", ",\n") for name in table])
    f1.set(title="Test samples", xticks=[], xlim=(0, 1))
    f1.invert_yaxis()
    for axis in (search, f1):
        axis.legend(frameon=False)
        axis.spines[["top", "right"]].set_visible(False)
    plt.show()


def main():
    X, Y, X_test, Y_test = make_data()

    # Both searches evaluate parameters on held-out observed labels. The test samples are not used.
    grid = search_a_grid(X, Y)
    report("GridSearchCV:", -grid.best_score_, grid.best_params_)
    with tempfile.TemporaryDirectory() as folder:
        result = search_with_optuna(X, Y, Path(folder) / "study.db")
    report("Optuna:", -result.best_score, result.best_params)

    # Calibration and decisions are fitted on out-of-fold scores of the better of the two models.
    best = result.best_estimator if result.best_score > grid.best_score_ else grid.best_estimator_
    calibrated = CalibratedClassifier(best, random_state=0).fit(X, Y)
    decided = ThresholdClassifier(best, decision="f1", random_state=0).fit(X, Y)

    print(f"\n{'metrics on test samples':<34}{'macro F1':>10}{'micro F1':>10}{'log loss':>10}{'Brier':>10}")
    models = {"GLOCAL, scores above 0": best, "calibrated": calibrated, "calibrated, decisions by F1": decided}
    draw(
        grid,
        result,
        {
            name: print_metrics(name, model.predict(X_test), model.predict_proba(X_test), Y_test)
            for name, model in models.items()
        },
    )


if __name__ == "__main__":
    main()
