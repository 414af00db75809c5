"""Times of a round of boosting: MaskedBoosting in NumPy and compiled, and LightGBM for each label.

``python -m benchmarks.trees [n_samples]`` fits trees to Business, if it is in SPMLD_DATA, and to generated dense
features with half of the labels observed, the last ones with 20,000 or `n_samples` samples. A round is one tree of
MaskedBoosting, which all labels share, or one tree for each label. Times are those of the processor, on one thread. The
extra "fast" is required.
"""

import os
import sys
import time
import warnings
from functools import partial
from importlib.util import find_spec

import numpy as np

from benchmarks.ratios import fastest_time, record
from benchmarks.sizes import sized
from spmld import MaskedBoosting
from spmld._io import need
from spmld.datasets import make_planted
from spmld.estimators.tree_growth import VARIABLE
from spmld.labels import hide_labels
from studies.data import load

N_ROUNDS = sized(50, 2)
SHAPES = sized([(2400, 103, 14), (20_000, 50, 20)], [(100, 5, 3)])
processor_time = partial(fastest_time, clock=time.process_time)
COLUMNS = ("NumPy", "compiled", "LightGBM")


def main(n_samples=None):
    warnings.simplefilter("ignore")  # labels without positives
    print(f"{'milliseconds of a round':<28}" + "".join(f"{name:>10}" for name in COLUMNS))
    for name, X, Y in problems(n_samples):
        model = MaskedBoosting(n_estimators=N_ROUNDS, random_state=0)
        seconds = {}
        for column, value in zip(COLUMNS, ("0", "1"), strict=False):
            os.environ[VARIABLE] = value
            model.fit(X[:100], Y[:100])  # compiles, or reads the cache
            seconds[column] = processor_time(lambda m=model, X=X, Y=Y: m.fit(X, Y))
        del os.environ[VARIABLE]
        if find_spec("lightgbm") is not None:
            seconds["LightGBM"] = processor_time(lambda X=X, Y=Y: fit_lightgbm(X, Y), repeats=1)
        print(f"{name:<28}" + "".join(f"{1000 * value / N_ROUNDS:>10.2f}" for value in seconds.values()))
        for other in seconds.keys() - {"compiled"}:
            record(f"round of MaskedBoosting, {name}, compiled / {other}", seconds["compiled"], seconds[other])


def fit_lightgbm(X, Y):
    """Fit trees to the observed samples of each label."""
    model = need("lightgbm", "bench").LGBMClassifier(n_estimators=N_ROUNDS, n_jobs=1, random_state=0, verbose=-1)
    for y in Y.T:
        observed = ~np.isnan(y)
        model.fit(X[observed], y[observed])


def problems(n_samples):
    """Yield names, features and labels."""
    if n_samples is None:
        try:
            data = load("business")
            yield from sized([("Business", data.X[data.train], hidden(data.Y[data.train] > 0))], [])
        except OSError:
            pass
    for n, d, l in SHAPES if n_samples is None else [(n_samples, *SHAPES[-1][1:])]:
        data = make_planted(n, d, l, random_state=0)
        yield f"{n:,} x {d}, {l} labels", data.X.astype(np.float32), hidden(data.Y)


def hidden(Y):
    """Return labels of which half are missing."""
    return hide_labels(np.asarray(Y, dtype=float), observed_fraction=0.5, random_state=0)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
