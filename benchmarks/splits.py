"""Stratified folds: time and balance compared with the iterative-stratification package.

The maximum deviation is the largest difference, over labels and folds, between the fraction of a label's positives in a
fold and one over the number of folds. The bound is the smallest deviation that integers allow.
"""

from __future__ import annotations

import time

import numpy as np

from benchmarks.ratios import record
from benchmarks.sizes import sized
from spmld.model_selection import MultilabelStratifiedKFold

N_SAMPLES, N_LABELS, N_SPLITS, REPEATS = sized((20_000, 50, 5, 3), (1000, 10, 5, 1))


def correlated_labels(rates, seed=0):
    """Return labels with these rates of positives, correlated through five latent factors."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(N_SAMPLES, 5)) @ rng.normal(size=(5, N_LABELS)) + rng.normal(size=(N_SAMPLES, N_LABELS))
    thresholds = [np.quantile(column, 1 - rate) for column, rate in zip(scores.T, rates, strict=True)]
    return (scores > thresholds).astype(int)


def measure(splitter_class, Y):
    """Return the minimum time, the maximum deviation and the maximum difference of fold sizes over the seeds."""
    seconds, deviation, spread = [], 0.0, 0
    for seed in range(REPEATS):
        start = time.perf_counter()
        tests = [test for _, test in splitter_class(n_splits=N_SPLITS, shuffle=True, random_state=seed).split(Y, Y)]
        seconds.append(time.perf_counter() - start)
        fractions = np.array([Y[test].sum(axis=0) for test in tests]) / Y.sum(axis=0)
        deviation = max(deviation, np.abs(fractions - 1 / N_SPLITS).max())
        sizes = [len(test) for test in tests]
        spread = max(spread, max(sizes) - min(sizes))
    return min(seconds), deviation, spread


def bound(Y):
    """Return the smallest maximum deviation of any allocation."""
    positives = Y.sum(axis=0)
    exact = positives / N_SPLITS
    return (np.maximum(np.ceil(exact) - exact, exact - np.floor(exact)) / positives).max()


def main():
    splitters = {"spmld": MultilabelStratifiedKFold}
    try:
        from iterstrat.ml_stratifiers import MultilabelStratifiedKFold as IterativeKFold

        splitters["iterative-stratification"] = IterativeKFold
    except ImportError:
        print("iterative-stratification is not installed; install it with: pip install --group bench\n")
    print(f"{N_SAMPLES} samples, {N_LABELS} labels, {N_SPLITS} folds, {REPEATS} seeds")
    for name, rates in {
        "rare to common (0.2 % to 30 %)": np.geomspace(0.002, 0.3, N_LABELS),
        "dense (20 % to 80 %)": np.linspace(0.2, 0.8, N_LABELS),
    }.items():
        Y = correlated_labels(rates)
        print(f"\nlabels {name}; bound of the maximum deviation {bound(Y):.2e}")
        results = {}
        for splitter, splitter_class in splitters.items():
            results[splitter] = measure(splitter_class, Y)
            seconds, deviation, spread = results[splitter]
            print(f"  {splitter:25s}{seconds:8.3f} s   maximum deviation {deviation:.2e}   fold sizes within {spread}")
        if len(results) == 2:
            (seconds, deviation, _), (other_seconds, other_deviation, _) = results.values()
            ratio = record(f"stratified folds, {name} / iterative-stratification", seconds, other_seconds)
            print(f"  ratio of seconds {ratio:.2f}, of deviations {deviation / other_deviation:.2f}")


if __name__ == "__main__":
    main()
