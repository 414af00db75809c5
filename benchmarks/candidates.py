"""Track H, candidate labels: every true label is among the candidates, some of which are false.

``python -m benchmarks.candidates [folds [data ...]]`` adds irrelevant labels at random to the samples of Emotions,
Medical and Corel5k until they have k candidates on average, fits `SelfPacedEnsemble` with ``false_negative_rate=0``,
because negatives are certain, and tuned logistic regression, and prints the ranking loss on the true labels of ten test
folds. Published ranking losses are those of CAPML (2025). Fewer folds than ten are the first ones. With ten folds,
Emotions takes two minutes, Medical ten, and Corel5k two hours.
"""

import sys
import warnings

import numpy as np
from scipy.special import expit
from sklearn.model_selection import KFold

from benchmarks.sizes import sized
from spmld import MaskedLogistic, SelfPacedEnsemble
from spmld._table import TextTable
from spmld.estimators import FeatureScaler
from spmld.metrics import log_loss, ranking_loss
from spmld.model_selection import cross_fit, make_folds
from studies.data import load

PAPER = {
    "emotions": {3: 0.162, 4: 0.170, 5: 0.205},
    "medical": {5: 0.029, 7: 0.032, 9: 0.038},
    "corel5k": {7: 0.176, 9: 0.184, 11: 0.189},
}
PUBLISHED = sized(PAPER, {"planted": {5: np.nan}})
N_FOLDS, CS = 10, (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)


def add_candidates(Y, k, rng):
    """Return labels with irrelevant ones added at random, k on average for each sample."""
    rate = (k - Y.sum(axis=1).mean()) / (Y == 0).sum(axis=1).mean()
    return np.where(Y == 0, (rng.random(Y.shape) < rate).astype(float), Y)


def tuned_logistic(X, Y):
    """Return logistic regression with the C of the lowest out-of-fold log loss."""
    folds = make_folds(3, X, Y, random_state=0)
    losses = [log_loss(Y, expit(cross_fit(MaskedLogistic(C=C), X, Y, folds).scores)) for C in CS]
    return MaskedLogistic(C=CS[int(np.argmin(losses))]).fit(X, Y)


def run(name, k, n_folds):
    """Return the ranking losses of the folds: of the ensemble and of logistic regression."""
    data = load(name)
    losses = []
    for i, (train, test) in enumerate(KFold(N_FOLDS, shuffle=True, random_state=0).split(data.Y)):
        if i == n_folds:
            break
        Y = add_candidates(data.Y[train], k, np.random.default_rng([k, i]))
        scaler = FeatureScaler().fit(data.X[train])
        X, X_test = scaler.transform(data.X[train]), scaler.transform(data.X[test])
        models = SelfPacedEnsemble(false_negative_rate=0, random_state=0).fit(X, Y), tuned_logistic(X, Y)
        losses.append([ranking_loss(data.Y[test], model.decision_function(X_test)) for model in models])
    return np.array(losses)


def main(n_folds=sized(N_FOLDS, 1), *names):
    warnings.simplefilter("ignore")
    rows = []
    for name in names or PUBLISHED:
        for k, value in PUBLISHED[name].items():
            mean = run(name, k, int(n_folds)).mean(axis=0)
            rows.append([name, k, f"{mean[0]:.3f}", f"{mean[1]:.3f}", f"{value:.3f}"])
            print(*rows[-1], file=sys.stderr)
    print(TextTable(("data", "k", "SelfPacedEnsemble", "tuned logistic", "CAPML (published)"), rows).to_markdown())


if __name__ == "__main__":
    main(*sys.argv[1:])
