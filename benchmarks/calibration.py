"""Probabilities, decisions and the audit on correct labels of every difficulty, which nothing was tuned to.

``python -m benchmarks.calibration [number of cells]`` takes about ten minutes for 120 cells. Each cell is a generated
data set with correct labels: strength of the features .3 to 4, frequency of positives .02 to .5, 200 to 2,000 training
samples, 5 to 60 labels, 20 to 100 % of them observed, dense or sparse features, drawn at random with the number of the
cell as the seed. `SelfPacedEnsemble` with default parameters is compared, on 2,000 new samples, with the label
frequencies of the training set and with logistic regression whose C has the lowest out-of-fold log loss. The first
table shows the criteria and in how many cells they hold, the second one the same fits by strength of the features.
"""

import sys
import warnings

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from benchmarks.sizes import sized
from spmld import LabelPrior, MaskedLogistic, SelfPacedEnsemble
from spmld._table import TextTable
from spmld.audit import find_label_issues
from spmld.estimators import FeatureScaler
from spmld.labels import hide_labels
from spmld.metrics import log_loss, micro_f1
from spmld.model_selection import cross_fit, make_folds
from spmld.model_selection.linear import NOISE_CS

N_CELLS, N_TEST, N_FEATURES = sized(120, 1), 2000, 20
STRENGTHS, FREQUENCIES = (0.3, 0.6, 1.0, 1.5, 2.0, 4.0), (0.02, 0.05, 0.1, 0.3, 0.5)
SIZES, LABELS, OBSERVED = sized((200, 800, 2000), (200,)), sized((5, 12, 60), (5,)), (0.2, 0.5, 1.0)


def draw_cell(seed):
    """Return the settings, and the training and test samples of a cell."""
    rng = np.random.default_rng(seed)
    strength, frequency, n, l, observed = (rng.choice(v) for v in (STRENGTHS, FREQUENCIES, SIZES, LABELS, OBSERVED))
    X = rng.standard_normal((n + N_TEST, N_FEATURES))
    if seed % 2:
        X *= rng.random(X.shape) < 0.2
        X /= X.std()
    W = rng.standard_normal((N_FEATURES, l))
    signal = strength * X @ (W / np.linalg.norm(W, axis=0))
    shift = brentq(lambda b: expit(signal + b).mean() - frequency, -50, 50)
    Y = (rng.random(signal.shape) < expit(signal + shift)).astype(float)
    shown = hide_labels(Y[:n], float(observed), kind="uniform", random_state=seed) if observed < 1 else Y[:n]
    return strength, n, X[:n], shown, X[n:], Y[n:]


def tuned_logistic(X, Y, X_test):
    """Return the probabilities of logistic regression with the C of the lowest out-of-fold log loss."""
    scaler, folds = FeatureScaler().fit(X), make_folds(3, X, Y, random_state=0)
    scaled = scaler.transform(X)
    losses = [
        log_loss(Y, expit(cross_fit(MaskedLogistic(C=C), scaled, Y, folds).scores)) for C in (0.01, 0.03, *NOISE_CS)
    ]
    model = MaskedLogistic(C=(0.01, 0.03, *NOISE_CS)[int(np.argmin(losses))]).fit(scaled, Y)
    return model.predict_proba(scaler.transform(X_test))


def run_cell(seed):
    """Return the settings and the results of a cell."""
    strength, n, X, Y, X_test, Y_test = draw_cell(seed)
    model = SelfPacedEnsemble(random_state=0).fit(X, Y)
    p, predicted = model.predict_proba(X_test), model.predict(X_test)
    loss = log_loss(Y_test, p)
    expected = 2 * p[predicted == 1].sum() / (predicted.sum() + p.sum())
    return {
        "strength": strength,
        "n": n,
        "against frequencies": loss - log_loss(Y_test, LabelPrior().fit(X, Y).predict_proba(X_test)),
        "against logistic": loss - log_loss(Y_test, tuned_logistic(X, Y, X_test)),
        "mean": abs(p.mean() - Y_test.mean()),
        "alarm": float(model.noise_.identified),
        "lower end": find_label_issues(None, X, Y, random_state=0).total_range[0],
        "predicted": predicted.sum() / Y_test.sum(),
        "f1": abs(expected - micro_f1(Y_test, predicted)),
    }


CRITERIA = (
    ("log loss at most .005 above that of the label frequencies", "against frequencies", lambda v, n: v <= 0.005),
    ("log loss at most .01 above that of tuned logistic regression", "against logistic", lambda v, n: v <= 0.01),
    (
        "mean probability within .02 of the frequency (.03 for 200 samples)",
        "mean",
        lambda v, n: v <= (0.03 if n == 200 else 0.02),
    ),
    ("no noise is identified", "alarm", lambda v, n: v == 0),
    ("lower end of the audit is 0", "lower end", lambda v, n: v == 0),
    ("predicted / true labels between 2/3 and 3/2", "predicted", lambda v, n: 2 / 3 <= v <= 3 / 2),
    ("expected micro F1 within .05 of the achieved one", "f1", lambda v, n: v <= 0.05),
)


def main(n_cells=N_CELLS):
    warnings.simplefilter("ignore")
    cells = [run_cell(seed) for seed in range(n_cells)]
    rows = []
    for text, name, holds in CRITERIA:
        values = np.array([cell[name] for cell in cells])
        met = np.mean([holds(cell[name], cell["n"]) for cell in cells])
        rows.append([text, f"{met:.1%}", f"{np.median(values):.4f}", f"{values.max():.4f}"])
    print(TextTable(("criterion", "cells", "median", "largest"), rows).to_markdown(), end="\n\n")
    rows = []
    for strength in STRENGTHS:
        chosen = [cell for cell in cells if cell["strength"] == strength]
        means = [np.mean([cell[name] for cell in chosen]) for _, name, _ in CRITERIA]
        rows.append([strength, len(chosen), *(f"{value:.4f}" for value in means)])
    print(TextTable(("strength", "cells", *(name for _, name, _ in CRITERIA)), rows).to_markdown())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
