"""Times of MaskedForest and of scikit-learn's forests with the same number of trees.

``python -m benchmarks.forest`` fits 20 trees for each label to generated dense features, with all and with 30 % of the
labels observed, and to emotions and scene if they are in SPMLD_DATA. The competitors are a loop of
RandomForestClassifier over the labels, each fitted to the observed samples, and one multi-output forest, in which all
labels share the trees. Two cores are required.
"""

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from benchmarks.ratios import fastest_time, record
from benchmarks.sizes import sized
from spmld import MaskedForest
from spmld.datasets import load_dataset, make_planted
from spmld.labels import hide_labels

N_TREES, N_SAMPLES, N_LABELS = sized((20, 2000, 20), (2, 100, 3))


def main():
    print(f"{'seconds of a fit':<26}{'jobs':>6}{'MaskedForest':>14}{'loop':>8}{'multi-output':>14}")
    for name, X, Y in problems():
        for n_jobs in (1, 2):
            settings = {"n_estimators": N_TREES, "n_jobs": n_jobs, "random_state": 0}
            forest, shared = MaskedForest(**settings), RandomForestClassifier(**settings)
            times = [fastest_time(lambda f=forest, X=X, Y=Y: f.fit(X, Y), repeats=2)]
            times.append(fastest_time(lambda f=shared, X=X, Y=Y: fit_loop(f, X, Y), repeats=2))
            if not np.isnan(Y).any():
                times.append(fastest_time(lambda f=shared, X=X, Y=Y: f.fit(X, Y), repeats=2))
            print(f"{name:<26}{n_jobs:>6}" + "".join(f"{t:>{w}.2f}" for t, w in zip(times, (14, 8, 14), strict=False)))
            record(f"MaskedForest, {name}, {n_jobs} jobs / a loop of forests", *times[:2])


def fit_loop(forest, X, Y):
    for y in Y.T:
        observed = ~np.isnan(y)
        forest.fit(X[observed], y[observed])


def problems():
    """Yield names, features and labels."""
    data = make_planted(N_SAMPLES, 100, N_LABELS, random_state=0)
    for fraction in (1.0, 0.3):
        Y = hide_labels(data.Y, observed_fraction=fraction, random_state=0)
        yield f"generated, {fraction:.0%} observed", data.X, Y
    for name in sized(("emotions", "scene"), ()):
        try:
            real = load_dataset(name)
        except OSError:
            continue
        yield name, real.X, np.asarray(real.Y, dtype=float)


if __name__ == "__main__":
    main()
