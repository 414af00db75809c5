"""Threads, and the time of whole tasks as multiples of one MaskedLogistic.

``python -m benchmarks.threads`` generates 4,400 samples with 1,836 features, 4 % of them nonzero, as a dense array, and
159 labels. It prints the times of MaskedLogistic with one and two threads of linear algebra, of SelfPacedEnsemble with
one and two jobs and one thread of linear algebra, and of the audit. Two cores are required, and a few minutes.
"""

import warnings

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.ratios import fastest_time, record
from benchmarks.sizes import sized
from spmld import MaskedLogistic, SelfPacedEnsemble
from spmld.audit import find_label_issues

N, D, L, DENSITY = sized((4400, 1836, 159, 0.04), (150, 30, 4, 0.2))


def make_data(seed=0):
    """Return features and labels: sums of a few factors and of some words for each label, with a long tail."""
    rng = np.random.default_rng(seed)
    X = (rng.random((N, D)) < DENSITY) * rng.random((N, D))
    W = 0.6 * rng.normal(size=(D, 8)) @ rng.normal(size=(8, L))
    W += 6 * rng.normal(size=(D, L)) * (rng.random((D, L)) < 0.03)
    scores = X @ W
    scores = scores / scores.std(axis=0) + 0.4 * rng.normal(size=scores.shape)
    frequency = np.clip(0.3 * np.arange(1, L + 1) ** -0.7, 0.005, None)
    thresholds = [np.quantile(s, 1 - f) for s, f in zip(scores.T, frequency, strict=True)]
    return X, (scores > thresholds).astype(float)


def main():
    X, Y = make_data()
    times = {}
    for count in (1, 2):
        with threadpool_limits(count, "blas"):
            times[f"MaskedLogistic, {count} threads"] = fastest_time(lambda: MaskedLogistic().fit(X, Y))
    with threadpool_limits(1, "blas"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for count in (1, 2):
            model = SelfPacedEnsemble(n_jobs=count, random_state=0)
            times[f"SelfPacedEnsemble, {count} jobs"] = fastest_time(lambda model=model: model.fit(X, Y), repeats=1)
        times["audit"] = fastest_time(lambda: find_label_issues(None, X, Y, random_state=0), repeats=1)
    for name, seconds in times.items():
        print(f"{name:<30}{seconds:8.2f} s")
    for name, other in (
        ("MaskedLogistic, 2 threads", "MaskedLogistic, 1 threads"),
        ("SelfPacedEnsemble, 2 jobs", "SelfPacedEnsemble, 1 jobs"),
        ("SelfPacedEnsemble, 1 jobs", "MaskedLogistic, 1 threads"),
        ("audit", "SelfPacedEnsemble, 1 jobs"),
    ):
        record(f"{name} / {other}", times[name], times[other])


if __name__ == "__main__":
    main()
