"""Stratified folds: time and evenness beside the iterative-stratification package.

Run ``python -m benchmarks.splits``. The worst deviation is the largest difference, over labels and folds, between the
share of a label's positives in a fold and one over the number of folds; the bound is what whole numbers allow at best.
"""

from __future__ import annotations

import time

import numpy as np

from spmld.model_selection import MultilabelStratifiedKFold

N_SAMPLES, N_LABELS, N_SPLITS, REPEATS = 20_000, 50, 5, 3


def correlated_labels(rates, seed=0):
    """Labels with the given shares of positives, correlated through five hidden directions."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(N_SAMPLES, 5)) @ rng.normal(size=(5, N_LABELS)) + rng.normal(size=(N_SAMPLES, N_LABELS))
    cuts = [np.quantile(column, 1 - rate) for column, rate in zip(scores.T, rates, strict=True)]
    return (scores > cuts).astype(int)


def metric(splitter_class, Y):
    """Least seconds, and over the seeds the largest deviation of a share and the largest difference of fold sizes."""
    seconds, deviation, spread = [], 0.0, 0
    for seed in range(REPEATS):
        start = time.perf_counter()
        tests = [test for _, test in splitter_class(n_splits=N_SPLITS, shuffle=True, random_state=seed).split(Y, Y)]
        seconds.append(time.perf_counter() - start)
        shares = np.array([Y[test].sum(axis=0) for test in tests]) / Y.sum(axis=0)
        deviation = max(deviation, np.abs(shares - 1 / N_SPLITS).max())
        sizes = [len(test) for test in tests]
        spread = max(spread, max(sizes) - min(sizes))
    return min(seconds), deviation, spread


def bound(Y):
    """The worst deviation no allocation can fall below."""
    positives = Y.sum(axis=0)
    up = np.where(positives % N_SPLITS, np.ceil(positives / N_SPLITS) - positives / N_SPLITS, 0)
    down = np.where(positives % N_SPLITS, positives / N_SPLITS - np.floor(positives / N_SPLITS), 0)
    return (np.maximum(up, down) / positives).max()


def main():
    splitters = {"spmld": MultilabelStratifiedKFold}
    try:
        from iterstrat.ml_stratifiers import MultilabelStratifiedKFold as Theirs

        splitters["iterative-stratification"] = Theirs
    except ImportError:
        print("iterative-stratification is not installed (pip install iterative-stratification): no comparison\n")
    print(f"{N_SAMPLES} rows, {N_LABELS} labels, {N_SPLITS} folds, {REPEATS} seeds")
    for name, rates in {
        "rare to common (0.2 % to 30 %)": np.geomspace(0.002, 0.3, N_LABELS),
        "dense (20 % to 80 %)": np.linspace(0.2, 0.8, N_LABELS),
    }.items():
        Y = correlated_labels(rates)
        print(f"\nlabels {name}; worst deviation at best {bound(Y):.2e}")
        results = {}
        for splitter, splitter_class in splitters.items():
            results[splitter] = metric(splitter_class, Y)
            seconds, deviation, spread = results[splitter]
            print(f"  {splitter:25s}{seconds:8.3f} s   worst deviation {deviation:.2e}   fold sizes within {spread}")
        if len(results) == 2:
            (ours, our_deviation, _), (theirs, their_deviation, _) = results.values()
            print(f"  ratio ours / theirs      {ours / theirs:8.2f}     {our_deviation / their_deviation:.2f}")


if __name__ == "__main__":
    main()
