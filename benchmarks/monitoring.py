"""Monitoring without labels: false alarms on unchanged data, and shifts that are noticed.

``python -m benchmarks.monitoring [number of splits]`` takes about five minutes for six splits and requires the data
sets, from SPMLD_DATA or by download. Both tables show how often a test raises an alarm, at a false alarm rate of 5 %.
`SelfPacedEnsemble` with linear views is fitted.

The first table is of new samples of some of the designs of `benchmarks.designs`, in which nothing has changed. The
second one is of ten data sets, split at random into at most 1,500 training samples and as many new ones:

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

from benchmarks.designs import draw
from benchmarks.sizes import sized
from spmld import SelfPacedEnsemble, save
from spmld._table import TextTable
from spmld.datasets import make_songs
from spmld.monitoring import monitor
from studies.data import load

NAMES = sized(
    ("emotions", "scene", "medical", "enron", "business", "computers", "education", "health", "science", "social"),
    ("planted",),
)
DESIGNS = (
    "strong labels",
    "no signal",
    "interaction of three bits",
    "few integers",
    "one category",
    "interactions of categories",
    "sparse words",
    "heavy tails",
    "rare labels",
    "thirty independent labels",
)
N_SEEDS = sized(40, 1)
N_SPLITS, MAX_SAMPLES, N_SONGS = sized((6, 1500, 1000), (1, 1500, 200))
VIEWS = ("linear", "ridge")


def percent(rate):
    """Return a rate in percent."""
    return f"{rate:.0%}"


def alarms_of(results):
    """Return the rates at which the tests of each kind, and any of them, raise an alarm."""
    kinds = [[kind.alarm.any() for kind in result.shifts.values()] for result in results]
    return [*np.mean(kinds, axis=0), np.mean([result.alarm for result in results])]


def monitor_design(name, seed):
    """Return the result of monitoring new samples of a design."""
    X, Y, X_new, _ = draw(name, seed)
    return monitor(SelfPacedEnsemble(views=VIEWS, random_state=seed).fit(X, Y), X_new[: len(X)])


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
    """Return the results of monitoring parts of clean samples, and samples with two changes."""
    rng, data = np.random.default_rng(seed), load(name)
    Y = np.asarray(data.Y, dtype=float)
    order = rng.permutation(len(Y))
    n = min(int(0.6 * len(Y)), MAX_SAMPLES)
    train, new = order[:n], order[n : n + MAX_SAMPLES]
    model = SelfPacedEnsemble(views=VIEWS, random_state=seed).fit(data.X[train], Y[train])
    more = new[more_frequent(Y[new], rng)]
    frequency = monitor(model, data.X[more])
    features = monitor(model, replace_features(data.X[new], rng))
    return [monitor(model, data.X[part]) for part in np.array_split(new, 3)], frequency, features


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
    unchanged, results = [], []
    for name in DESIGNS:
        unchanged += [(name, monitor_design(name, seed)) for seed in range(N_SEEDS)]
    rows = [(name, alarms_of([result for design, result in unchanged if design == name])) for name in DESIGNS]
    rows.append(("all", alarms_of([result for _, result in unchanged])))
    head = ["design", "frequencies", "scores", "features", "any alarm"]
    print(TextTable(head, [[name, *map(percent, rates)] for name, rates in rows]).to_markdown(), end="\n\n", flush=True)
    for name in NAMES:
        parts, frequency, features = zip(*[run(name, seed) for seed in range(n_splits)], strict=True)
        clean = [result for of_split in parts for result in of_split]
        noticed = [
            np.mean([result.label_frequencies.alarm.any() for result in frequency]),
            np.mean([result.alarm for result in frequency]),
            np.mean([result.features.alarm.any() for result in features]),
        ]
        results.append([name, len(clean), *map(percent, (*alarms_of(clean), *noticed))])
        print(f"{name} done", file=sys.stderr, flush=True)
    head = ["data", "clean sets", *head[1:], "frequency noticed", "by any test", "features noticed"]
    print(TextTable(head, results).to_markdown(), end="\n\n")
    linear, all_views = added_size(("linear",)), added_size("auto")
    print(f"The reference adds {linear:.0%} to the file of a linear text model, and {all_views:.0%} with all views.")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
