"""Updates of a fitted ensemble against fits from scratch: new samples, corrected labels and a new label.

``python -m benchmarks.updates [number of seeds]`` takes about 20 minutes for each seed and needs the data sets, from
SPMLD_DATA or by download. `SelfPacedEnsemble` with default parameters is fitted to the training samples of six data
sets, updated, and compared on the test samples with a fit to the same data as the model after the update:

- samples: fitted to 80 % of the samples, updated with 20 %;
- labels: fitted with 10 % of the labels flipped, updated with the correct labels of all samples;
- label: fitted to 80 % of the samples without the most frequent label, updated with 20 % that have it. The metrics are
  those of this label only, and AUC replaces the ranking loss.

Each cell has the values before the update, after it, and of the fit. "difference" is the mean absolute difference of
the probabilities of the updated and of the fitted model, "seconds" those of the processor.
"""

import sys
import time
import warnings

import numpy as np
import pandas as pd

from benchmarks.sizes import sized
from spmld import SelfPacedEnsemble
from spmld._table import TextTable
from spmld.labels import corrupt_labels
from spmld.metrics import log_loss, macro_auc, micro_f1, ranking_loss
from studies.data import load

NAMES = sized(("emotions", "scene", "medical", "enron", "business", "health"), ("planted",))
N_SEEDS, NEW, FLIPPED = 1, 0.2, 0.1
VIEWS = sized("auto", ("linear",))


def new_samples(X, Y, rng):
    """Return training data, data of an update, and data of a fit."""
    old, new = split(Y, rng)
    return (X[old], Y.iloc[old]), (X[new], Y.iloc[new], None), (X, Y)


def corrected_labels(X, Y, rng):
    """Return training data with wrong labels, their corrections, and correct data."""
    wrong = pd.DataFrame(corrupt_labels(Y.to_numpy(), "flip", FLIPPED, random_state=rng), columns=Y.columns)
    return (X, wrong), (X, Y, np.arange(len(Y))), (X, Y)


def new_label(X, Y, rng):
    """Return training data without the most frequent label, and samples that have it."""
    (old, new), label = split(Y, rng), Y.sum().idxmax()
    both = Y.astype(float)
    both.loc[old, label] = np.nan
    return (X[old], Y.iloc[old].drop(columns=label)), (X[new], Y.iloc[new], None), (X, both)


def split(Y, rng):
    order, n = rng.permutation(len(Y)), int(NEW * len(Y))
    return order[n:], order[:n]


def timed(function, *arguments, **options):
    start = time.process_time()
    function(*arguments, **options)
    return time.process_time() - start


def metrics(model, X, Y, label=None):
    """Return metrics of the test samples, of one label if it is given, and the probabilities."""
    if label is not None and label not in model.label_names_:
        return [np.nan] * 3, None
    names = list(model.label_names_)
    chosen = [names.index(name) for name in (Y.columns if label is None else [label])]
    truth, P = Y.to_numpy()[:, chosen] if label is None else Y[[label]].to_numpy(), model.predict_proba(X)[:, chosen]
    rank = ranking_loss(truth, P) if label is None else macro_auc(truth, P)
    return [rank, micro_f1(truth, model.predict(X)[:, chosen]), log_loss(truth, P)], P


def run(data, scenario, seed):
    """Return three metrics of three models, the difference of probabilities, and two times."""
    rng = np.random.RandomState(seed)
    names = [str(name) for name in data.label_names]
    Y, Y_test = (pd.DataFrame(A, columns=names) for A in (data.Y_train, data.Y_test))
    start, (X_new, Y_new, samples), everything = scenario(data.X_train, Y, rng)
    label = Y.sum().idxmax() if scenario is new_label else None
    model = SelfPacedEnsemble(views=VIEWS, keep_data=True, random_state=seed).fit(*start)
    before, _ = metrics(model, data.X_test, Y_test, label)
    update_seconds = timed(model.update, X_new, Y_new, samples=samples)
    after, P = metrics(model, data.X_test, Y_test, label)
    fitted = SelfPacedEnsemble(views=VIEWS, random_state=seed)
    fit_seconds = timed(fitted.fit, *everything)
    scratch, Q = metrics(fitted, data.X_test, Y_test, label)
    return [*np.transpose([before, after, scratch]).ravel(), np.abs(P - Q).mean(), update_seconds, fit_seconds]


def main(n_seeds=N_SEEDS):
    warnings.simplefilter("ignore")
    for scenario in (new_samples, corrected_labels, new_label):
        rows = []
        for name in NAMES:
            values = np.mean([run(load(name), scenario, seed) for seed in range(n_seeds)], axis=0)
            cells = [" / ".join(f"{value:.3f}" for value in values[start : start + 3]) for start in (0, 3, 6)]
            difference, update, fit = values[9:]
            rows.append([name, *cells, f"{difference:.3f}", f"{update:.1f} / {fit:.1f}", f"{update / fit:.2f}"])
            print(scenario.__name__, *rows[-1], file=sys.stderr, flush=True)
        rank = "AUC" if scenario is new_label else "ranking loss"
        columns = ["data", rank, "micro F1", "log loss", "difference", "seconds", "ratio"]
        print(f"\n{scenario.__name__.replace('_', ' ')}\n")
        print(TextTable(columns, rows).to_markdown(), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
