"""Label hierarchies: functions of genes and parts of images, with the published split.

``python -m benchmarks.hierarchy`` reads the folder ``hierarchy`` of ``SPMLD_DATA``, fits on training and validation
samples, and prints the micro average precision of all labels of the test samples: first with all training labels,
beside `SelfPacedEnsemble()` and the value that was published for C-HMCNN (Giunchiglia and Lukasiewicz 2020), then with
30 % of the entries observed, with and without the hierarchy. Missing features are imputed by their means. The estimator
is the default one of `HierarchicalClassifier`. Seconds are those of the CPU.
"""

import os
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.impute import SimpleImputer

from benchmarks.sizes import sized
from spmld import HierarchicalClassifier, SelfPacedEnsemble
from spmld._table import TextTable
from spmld.datasets import read_dataset
from spmld.ensemble import hierarchical_ensemble
from spmld.labels import hide_labels
from spmld.metrics import micro_average_precision
from studies.data import load

PAPER = {"cellcycle_FUN": 0.255, "derisi_FUN": 0.195, "eisen_FUN": 0.306, "ImCLEF07D": 0.927}
PUBLISHED = sized(PAPER, {"planted": np.nan})
PARAMS = sized({}, {"n_trees": (20,)})


def read(name):
    """Return training and validation samples, the test samples, and the hierarchy."""
    if name == "planted":
        data = load(name)
        return data.X_train, data.Y_train, data.X_test, data.Y_test, [(0, 1)]
    folder = Path(os.environ["SPMLD_DATA"]) / "hierarchy"
    parts = {part: sorted(folder.glob(f"{name}?{part}.arff")) for part in ("[tT]rain", "valid", "[tT]est")}
    train, valid, test = ([read_dataset(file) for file in files] for files in parts.values())
    fitted = [*train, *valid]
    impute = SimpleImputer(keep_empty_features=True).fit(np.vstack([data.X for data in fitted]))
    X = impute.transform(np.vstack([data.X for data in fitted]))
    Y = np.vstack([data.Y for data in fitted])
    names = train[0].label_names
    places = {label: j for j, label in enumerate(names)}
    edges = [(places[parent], places[child]) for parent, child in train[0].hierarchy.edges]
    return X, Y, impute.transform(test[0].X), test[0].Y, edges


def fit(model, X, Y, X_test, Y_test):
    """Return the test micro average precision of a model, its probabilities and the CPU seconds of the fit."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, Y)
    seconds = time.process_time() - start
    p = model.predict_proba(X_test)
    return micro_average_precision(Y_test, p), p, seconds


def n_incoherent(p, edges):
    """Return the number of samples in which a label is more probable than a parent."""
    parents, children = np.array(edges).T
    return int((p[:, children] > p[:, parents]).any(axis=1).sum())


def main():
    """Print both tables."""
    head = ["data set", "labels", "published", "ensemble", "its seconds", "default", "incoherent samples", "seconds"]
    full = TextTable(head, [])
    partial = TextTable(["data set", "without hierarchy", "incoherent", "with hierarchy", "incoherent ", "seconds"], [])
    for name, published in PUBLISHED.items():
        X, Y, X_test, Y_test, edges = read(name)
        flat = hierarchical_ensemble(**PARAMS, random_state=0)
        coherent = HierarchicalClassifier(flat, edges)
        plain = HierarchicalClassifier(SelfPacedEnsemble(random_state=0), edges)
        value_plain, _, seconds_plain = fit(plain, X, Y, X_test, Y_test)
        value, p, seconds = fit(coherent, X, Y, X_test, Y_test)
        compared = value_plain, seconds_plain, value, n_incoherent(p, edges), seconds
        full.rows.append((name, Y.shape[1], published, *compared))
        print(*full.rows[-1], flush=True)
        hidden = hide_labels(Y, 0.3, "uniform", random_state=0)
        value_flat, p_flat, _ = fit(flat, X, hidden, X_test, Y_test)
        value, p, seconds = fit(coherent, X, hidden, X_test, Y_test)
        partial.rows.append((name, value_flat, n_incoherent(p_flat, edges), value, n_incoherent(p, edges), seconds))
        print(*partial.rows[-1], flush=True)
    print(f"\nAll training labels observed (seed 0)\n\n{full}\n\n30 % of the entries observed (seed 0)\n\n{partial}")


if __name__ == "__main__":
    main()
