"""SelfPacedEnsemble compared with a tuned MaskedLogistic on held-out training samples.

``python -m benchmarks.flagship [data set ...]`` takes a few minutes. Models are fitted on two thirds of the training
samples, with missing labels (30 % and 70 % observed) or with missing and wrong labels (70 % observed); seed 0. The
output is the ranking loss on the correct labels of the other third, and the processor time. "1.0", "0.9" and "0.8" are
SelfPacedEnsemble with this `keep_fraction`, so 1.0 is without trimming. "oracle" is fitted without
trimming and without the wrong labels. MaskedLogistic selects one of eight settings with the same number of folds. The
default data sets are the development data sets of SelfPacedEnsemble.
"""

import sys
import time

import numpy as np

from benchmarks.sizes import sized
from spmld import MaskedLogistic, SelfPacedEnsemble
from spmld.labels import corrupt_labels, hide_labels
from spmld.metrics import ranking_loss
from spmld.model_selection import MultilabelStratifiedKFold
from studies.data import load

DATA = sized(("emotions", "medical", "enron", "business", "computers", "education"), ("planted",))
CASES = [("none", 0.0, 0.3), ("none", 0.0, 0.7)]
OTHER_CASES = [("permute", 0.3, 0.7), ("swap", 0.4, 0.7), ("drop", 0.4, 0.7), ("flip", 0.03, 0.7)]
CASES = sized(CASES + OTHER_CASES, OTHER_CASES[-1:])


VIEWS = sized("auto", ("linear",))


def tuned(X, Y):
    """Fit MaskedLogistic with the setting that has the lowest ranking loss on held-out observed labels."""
    models = [MaskedLogistic(C=C, label_graph_penalty=g) for C in (0.3, 1.0, 3.0, 10.0) for g in (0.0, 1.0)]
    folds = list(MultilabelStratifiedKFold(3, random_state=0).split(X, Y))

    def loss(model):
        losses = [
            ranking_loss(Y[test], model.fit(X[train], Y[train]).decision_function(X[test])) for train, test in folds
        ]
        return np.mean(losses)

    return min(models, key=loss).fit(X, Y)


def ensemble(keep_fraction):
    """Return the fit of SelfPacedEnsemble with this fraction."""
    return SelfPacedEnsemble(views=VIEWS, keep_fraction=keep_fraction, random_state=0).fit


def main(*names):
    print("data        corruption observed  tuned   ensemble 1.0     0.9     0.8     oracle  seconds")
    for name in names or DATA:
        try:
            data = load(name)
        except ConnectionError as error:
            return print(error)
        train, test = next(MultilabelStratifiedKFold(3, random_state=0).split(data.X_train, data.Y_train))
        X, truth, X_test, Y_test = data.X_train[train], data.Y_train[train], data.X_train[test], data.Y_train[test]
        for kind, rate, observed in CASES:
            labels = truth if kind == "none" else corrupt_labels(truth, kind, rate, random_state=0)
            Y = np.asarray(hide_labels(labels, observed, random_state=0), dtype=float)
            correct = np.where(labels == truth, Y, np.nan)
            fits = [(tuned, Y)]
            fits += [(ensemble(fraction), Y) for fraction in ("auto", 1.0, 0.9, 0.8)]
            fits += [(ensemble(1.0), correct)]
            losses, seconds = [], []
            for fit, Y_train in fits:
                start = time.process_time()
                model = fit(X, Y_train)
                seconds.append(time.process_time() - start)
                losses.append(ranking_loss(Y_test, model.decision_function(X_test)))
            values = "  ".join(f"{loss:.4f}" for loss in losses)
            print(
                f"{name:<11} {kind:<10} {observed:.0%}       {values}  {seconds[0]:.1f}, {seconds[1]:.1f}", flush=True
            )


if __name__ == "__main__":
    main(*sys.argv[1:])
