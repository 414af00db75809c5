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
import optuna
from matplotlib import pyplot as plt
from sklearn.model_selection import GridSearchCV, cross_val_score

from spmld import GLOCAL
from spmld.datasets import make_planted
from spmld.estimators import ThresholdClassifier
from spmld.labels import hide_labels
from spmld.metrics import brier_score, log_loss, macro_f1, micro_f1, scorer
from spmld.model_selection import MultilabelStratifiedKFold, stratified_split

CV = MultilabelStratifiedKFold(3, random_state=0)
optuna.logging.set_verbosity(optuna.logging.WARNING)


def make_data():
    """Return training samples with 30 % of their labels observed, and fully labeled test samples.

    For real data, Y has 0 and 1 for observed labels and NaN for missing ones.
    """
    data = make_planted(n_samples=2000, n_features=40, n_labels=15, noise=0.6, random_state=0)
    X_train, X_test, Y_train, Y_test = stratified_split(data.X, data.Y, sizes=(0.5, 0.5), random_state=0)
    return X_train, hide_labels(Y_train, observed_fraction=0.3, random_state=0), X_test, Y_test


def search_a_grid(X, Y):
    """Use scikit-learn's search with a splitter and a scorer that accept NaN in Y."""
    grid = {"coupling": [0.1, 1.0], "feature_ridge": [0.5, 2.0, 8.0]}
    return GridSearchCV(GLOCAL(random_state=0), grid, cv=CV, scoring=scorer("ranking_loss")).fit(X, Y)


def search_with_optuna(X, Y, file):
    """Use Optuna's search, stored in an SQLite file; the second study resumes the first."""

    def objective(trial):
        params = {
            "coupling": trial.suggest_float("coupling", 0.03, 3.0, log=True),
            "feature_ridge": trial.suggest_float("feature_ridge", 0.01, 10.0, log=True),
            "n_components": trial.suggest_int("n_components", 3, 15),
        }
        return cross_val_score(GLOCAL(**params, random_state=0), X, Y, cv=CV, scoring=scorer("ranking_loss")).mean()

    for seed, n_trials in enumerate((5, 10)):
        sampler, storage = optuna.samplers.TPESampler(seed=seed), f"sqlite:///{file}"
        study = optuna.create_study(
            storage=storage, sampler=sampler, study_name="GLOCAL", direction="maximize", load_if_exists=True
        )
        study.optimize(objective, n_trials=n_trials)
        print(f"The study has {len(study.trials)} trials.")
    return study


def report(name, loss, params):
    print(
        f"{name:<13} ranking loss {loss:.4f} with " + ", ".join(f"{key} {value:.3g}" for key, value in params.items())
    )


def print_metrics(name, predicted, probabilities, Y):
    """Print a line of the table, and return its values."""
    values = [macro_f1(Y, predicted), micro_f1(Y, predicted), log_loss(Y, probabilities), brier_score(Y, probabilities)]
    print(f"{name:<34}" + "".join(f"{value:>10.3f}" for value in values))
    return values


def draw(grid, losses, table):
    """Draw the losses of all trials, and the F1 of the three models."""
    _, (search, f1) = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained")
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
        study = search_with_optuna(X, Y, Path(folder) / "study.db")
        losses, loss, params = [-trial.value for trial in study.trials], -study.best_value, study.best_params
    report("Optuna:", loss, params)

    # Calibration and decisions are fitted on out-of-fold scores of the better of the two models.
    best = GLOCAL(**(params if loss < -grid.best_score_ else grid.best_params_), random_state=0).fit(X, Y)
    calibrated = ThresholdClassifier(best, decision=0.5, random_state=0).fit(X, Y)
    decided = ThresholdClassifier(best, decision="f1", random_state=0).fit(X, Y)

    print(f"\n{'metrics on test samples':<34}{'macro F1':>10}{'micro F1':>10}{'log loss':>10}{'Brier':>10}")
    models = {"GLOCAL, scores above 0": best, "calibrated": calibrated, "calibrated, decisions by F1": decided}
    draw(
        grid,
        losses,
        {
            name: print_metrics(name, model.predict(X_test), model.predict_proba(X_test), Y_test)
            for name, model in models.items()
        },
    )


if __name__ == "__main__":
    main()
