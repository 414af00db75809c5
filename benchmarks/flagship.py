"""SelfPacedEnsemble beside a tuned MaskedLogistic, on training samples held out from the fit, never on test samples.

``python -m benchmarks.flagship [data set ...]`` fits on two thirds of the training samples and prints the ranking loss
on the other third by its own labels, and processor seconds: labels missing (30 % and 70 % observed), and missing and
wrong (70 %). "1.0", "0.9" and "0.8" are SelfPacedEnsemble with this share of the positives, 1.0 being no pacing; "oracle" has no pacing
and is not shown wrong labels. MaskedLogistic chooses from eight settings in the same number of folds. Seed 0. The
default data sets are those that SelfPacedEnsemble was designed on; it takes some minutes.
"""

import sys
import time

import numpy as np

from spmld import MaskedLogistic, SelfPacedEnsemble
from spmld.datasets import fetch_dataset
from spmld.labels import corrupt_labels, hide_labels
from spmld.metrics import ranking_loss
from spmld.model_selection import MultilabelStratifiedKFold

DATA = ("emotions", "medical", "enron", "business", "computers", "education")
CASES = [("none", 0.0, 0.3), ("none", 0.0, 0.7)]
CASES += [("permute", 0.3, 0.7), ("swap", 0.4, 0.7), ("drop", 0.4, 0.7), ("flip", 0.03, 0.7)]


def tuned(X, Y):
    """MaskedLogistic with the setting that ranks held-out observed labels best."""
    models = [MaskedLogistic(C=C, label_graph_penalty=g) for C in (0.3, 1.0, 3.0, 10.0) for g in (0.0, 1.0)]
    folds = list(MultilabelStratifiedKFold(3, random_state=0).split(X, Y))

    def loss(model):
        return np.mean([ranking_loss(Y[h], model.fit(X[a], Y[a]).decision_function(X[h])) for a, h in folds])

    return min(models, key=loss).fit(X, Y)


def paced(*shares):
    """The fit of SelfPacedEnsemble with shares to choose from."""
    return SelfPacedEnsemble(keep_fractions=shares, random_state=0).fit


def main():
    print("data        labels     observed   tuned  SelfPacedEnsemble   1.0     0.9     0.8    told    seconds")
    for name in sys.argv[1:] or DATA:
        try:
            data = fetch_dataset(name)
        except ConnectionError as error:
            return print(error)
        train, held = next(MultilabelStratifiedKFold(3, random_state=0).split(data.X_train, data.Y_train))
        X, truth, new, known = data.X_train[train], data.Y_train[train], data.X_train[held], data.Y_train[held]
        for how, amount, rate in CASES:
            labels = truth if how == "none" else corrupt_labels(truth, how, amount, random_state=0)
            Y = np.asarray(hide_labels(labels, rate, random_state=0), dtype=float)
            right = np.where(labels == truth, Y, np.nan)
            fits = [(tuned, Y)]
            fits += [(paced(*shares), Y) for shares in (("auto", 1.0), (1.0,), (0.9,), (0.8,))]
            fits += [(paced(1.0), right)]
            losses, seconds = [], []
            for fit, seen in fits:
                started = time.process_time()
                model = fit(X, seen)
                seconds.append(time.process_time() - started)
                losses.append(ranking_loss(known, model.decision_function(new)))
            shown = "  ".join(f"{loss:.4f}" for loss in losses)
            print(f"{name:<11} {how:<10} {rate:.0%}       {shown}  {seconds[0]:.1f} and {seconds[1]:.1f}", flush=True)


if __name__ == "__main__":
    main()
