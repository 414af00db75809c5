"""Monitoring without labels: expected against true metrics, false alarms, and shifts that are noticed.

``python -m benchmarks.monitoring [number of splits]`` takes about ten minutes for six splits and requires the data
sets, from SPMLD_DATA or by download. Each of ten data sets is split at random into at most 1,500 training samples and
as many new ones. `SelfPacedEnsemble` with linear views is fitted to all labels.

The first table compares the expected micro F1 of the new samples with the true one, shows how often the 90 % interval
contains it, and the mean errors of other expected values. The second one shows how often a test raises an alarm, at a
false alarm rate of 5 %:

- clean: each third of the new samples, in which nothing has changed;
- frequency: the samples with the most frequent label (of those below 50 %) are twice as frequent as before;
- features: the four most common features (of those in less than 50 % of the samples, or all dense ones) are replaced by
  the features of another sample, or are missing, as if four common words had been replaced by synonyms.
"""

import sys
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from benchmarks.sizes import sized
from spmld import SelfPacedEnsemble, save
from spmld._table import TextTable
from spmld.datasets import make_songs
from spmld.monitoring import monitor
from spmld.monitoring.metric_estimates import estimate_metrics
from studies.data import load

NAMES = sized(
    ("emotions", "scene", "medical", "enron", "business", "computers", "education", "health", "science", "social"),
    ("planted",),
)
N_SPLITS, MAX_SAMPLES, N_SONGS = sized((6, 1500, 1000), (1, 1500, 200))


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
    """Return the results of monitoring clean, changed and parts of clean samples, and errors of expected metrics."""
    rng, data = np.random.default_rng(seed), load(name)
    Y = np.asarray(data.Y, dtype=float)
    order = rng.permutation(len(Y))
    n = min(int(0.6 * len(Y)), MAX_SAMPLES)
    train, new = order[:n], order[n : n + MAX_SAMPLES]
    model = SelfPacedEnsemble(views=("linear", "ridge"), random_state=seed).fit(data.X[train], Y[train])
    more = new[more_frequent(Y[new], rng)]
    sets = {
        "clean": (data.X[new], Y[new]),
        "frequency": (data.X[more], Y[more]),
        "features": (replace_features(data.X[new], rng), Y[new]),
    }
    results = {kind: monitor(model, X) for kind, (X, _) in sets.items()}
    truth = {kind: estimate_metrics(Y, model.predict(X) == 1, True)[0] for kind, (X, Y) in sets.items()}
    return results, truth, [monitor(model, data.X[part]) for part in np.array_split(new, 3)]


def added_size(views):
    """Return by how much the reference increases the size of the file of a text model, as a fraction."""
    songs = make_songs(N_SONGS, random_state=0)
    model = make_pipeline(TfidfVectorizer(), SelfPacedEnsemble(views=views, random_state=0)).fit(songs.texts, songs.Y)
    with TemporaryDirectory() as folder:
        whole, without = Path(folder) / "whole.skops", Path(folder) / "without.skops"
        save(model, whole)
        del model[-1].reference_
        save(model, without)
        return whole.stat().st_size / without.stat().st_size - 1


def main(n_splits=N_SPLITS):
    warnings.simplefilter("ignore")
    quality, alarms = [], []
    for name in NAMES:
        results, truth, parts = zip(*[run(name, seed) for seed in range(n_splits)], strict=True)
        error = {
            kind: np.array([[metric.value for metric in result[kind].expected] for result in results])
            - [values[kind] for values in truth]
            for kind in truth[0]
        }
        f1, true = [result["clean"].expected[0] for result in results], [values["clean"][0] for values in truth]
        covered = np.mean([metric.low <= value <= metric.high for metric, value in zip(f1, true, strict=True)])
        row = [name, np.mean(true), np.mean([metric.value for metric in f1]), np.abs(error["clean"][:, 0]).max()]
        others = [*error["clean"].mean(axis=0)[1:], error["frequency"][:, 0].mean(), error["features"][:, 0].mean()]
        quality.append([*row, f"{covered:.0%}", *(f"{value:+.3f}" for value in others)])
        clean = [result for of_split in parts for result in of_split]
        kinds = [[kind.alarm.any() for kind in result.shifts.values()] for result in clean]
        noticed = [
            [result["frequency"].label_frequencies.alarm.any() for result in results],
            [result["frequency"].alarm for result in results],
            [result["features"].features.alarm.any() for result in results],
        ]
        rates = [*np.mean(kinds, axis=0), np.mean([result.alarm for result in clean])]
        alarms.append([name, len(clean), *(f"{rate:.0%}" for rate in (*rates, *map(np.mean, noticed)))])
        print(f"{name} done", file=sys.stderr, flush=True)
    head = ["data", "true F1", "expected F1", "largest error", "covered", "error of precision", "error of recall"]
    print(TextTable([*head, "error, frequency", "error, features"], quality).to_markdown(), end="\n\n")
    head = ["data", "clean sets", "frequencies", "scores", "features", "any alarm"]
    print(TextTable([*head, "frequency noticed", "by any test", "features noticed"], alarms).to_markdown(), end="\n\n")
    linear, all_views = added_size(("linear",)), added_size("auto")
    print(f"The reference adds {linear:.0%} to the file of a linear text model, and {all_views:.0%} with all views.")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
