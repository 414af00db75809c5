"""Monitoring without labels: expected against true metrics, false alarms, and shifts that are noticed.

``python -m benchmarks.monitoring [number of splits]`` takes about ten minutes for three splits and requires the data
sets, from SPMLD_DATA or by download. Each of ten data sets is split at random into at most 1,500 training samples and
as many new ones. `SelfPacedEnsemble` with linear views is fitted to all labels.

The first table compares the expected micro F1 of the new samples with the true one, and shows how often the 90 %
interval contains it. The second one shows how often a test raises an alarm, at a false alarm rate of 5 %:

- clean: each third of the new samples, in which nothing has changed;
- frequency: the samples with the most frequent label (of those below 50 %) are twice as frequent as before;
- features: the four most common features (of those in less than 50 % of the samples, or all dense ones) are replaced by
  the features of another sample, or are missing, as if four common words had been replaced by synonyms.
"""

import sys
import warnings

import numpy as np
import scipy.sparse as sp

from spmld import SelfPacedEnsemble
from spmld._table import TextTable
from spmld.metrics import macro_f1, micro_f1
from spmld.monitoring import monitor
from studies.data import load

NAMES = (
    "emotions",
    "scene",
    "medical",
    "enron",
    "business",
    "computers",
    "education",
    "health",
    "science",
    "social",
)
N_SPLITS, MAX_SAMPLES = 3, 1500


def more_frequent(Y, rng):
    """Return samples, drawn with replacement, of which twice as many have a label."""
    frequency = Y.mean(axis=0)
    label = int(np.argmax(np.where(frequency < 0.5, frequency, 0)))
    weight = np.where(Y[:, label] == 1, 2 * frequency[label], 1 - 2 * frequency[label])
    weight /= np.where(Y[:, label] == 1, frequency[label], 1 - frequency[label])
    return rng.choice(len(Y), len(Y), p=np.maximum(weight, 0) / np.maximum(weight, 0).sum())


def replace_features(X, rng):
    """Return samples without four common features or, if the features are dense, with those of other samples."""
    X = X.toarray() if sp.issparse(X) else np.array(X)
    present = (X != 0).mean(axis=0)
    if present.mean() > 0.5:
        chosen = rng.choice(X.shape[1], 4, replace=False)
        X[:, chosen] = X[:, chosen] + X[:, chosen].std(axis=0)
    else:
        X[:, np.argsort(-np.where(present < 0.5, present, 0))[:4]] = 0
    return X


def run(name, seed):
    """Return expected and true metrics, and the results of monitoring clean and changed samples."""
    rng, data = np.random.default_rng(seed), load(name)
    Y = np.asarray(data.Y, dtype=float)
    order = rng.permutation(len(Y))
    n = min(int(0.6 * len(Y)), MAX_SAMPLES)
    train, new = order[:n], order[n : n + MAX_SAMPLES]
    model = SelfPacedEnsemble(views=("linear", "ridge"), random_state=seed).fit(data.X[train], Y[train])
    result, predicted = monitor(model, data.X[new]), model.predict(data.X[new])
    truth = {"micro F1": micro_f1(Y[new], predicted), "macro F1": macro_f1(Y[new], predicted)}
    expected = {metric.name: metric for metric in result.expected}
    clean = [monitor(model, data.X[part]) for part in np.array_split(new, 3)]
    frequency = monitor(model, data.X[new[more_frequent(Y[new], rng)]])
    features = monitor(model, replace_features(data.X[new], rng))
    return truth, expected, clean, frequency, features


def main(n_splits=N_SPLITS):
    warnings.simplefilter("ignore")
    quality, alarms = [], []
    for name in NAMES:
        runs = [run(name, seed) for seed in range(n_splits)]
        row = [name]
        for metric in ("micro F1", "macro F1"):
            true = np.array([truth[metric] for truth, *_ in runs])
            expected = [expected[metric] for _, expected, *_ in runs]
            errors = np.array([metric.value for metric in expected]) - true
            covered = np.mean([m.low <= value <= m.high for m, value in zip(expected, true, strict=True)])
            row += [true.mean(), true.mean() + errors.mean(), np.abs(errors).max(), f"{covered:.0%}"]
        quality.append(row)
        clean = [result for run in runs for result in run[2]]
        kinds = [[kind.alarm.any() for kind in result.shifts.values()] for result in clean]
        noticed = [
            [run[3].label_frequencies.alarm.any() for run in runs],
            [run[3].alarm for run in runs],
            [run[4].features.alarm.any() for run in runs],
        ]
        rates = [*np.mean(kinds, axis=0), np.mean([result.alarm for result in clean])]
        alarms.append([name, len(clean), *(f"{rate:.0%}" for rate in (*rates, *map(np.mean, noticed)))])
        print(f"{name} done", file=sys.stderr, flush=True)
    columns = ["true", "expected", "largest error", "covered"]
    head = ["data", *(f"{metric}: {column}" for metric in ("micro F1", "macro F1") for column in columns)]
    print(TextTable(head, quality).to_markdown(), end="\n\n")
    head = ["data", "clean sets", "frequencies", "scores", "features", "any alarm"]
    print(TextTable([*head, "frequency noticed", "by any test", "features noticed"], alarms).to_markdown())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
