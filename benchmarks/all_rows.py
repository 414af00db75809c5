"""Search on a sample and fit on all rows, compared with a search on all rows: quality, processor time and memory.

``python -m benchmarks.all_rows [n_samples ...]`` generates dense data, 50 features with interactions of their own for
each of 20 labels, and sparse data, 20,000 features and 60 labels, with half of the labels missing. It prints the
ranking loss, the log loss and the micro F1 of 20,000 other samples, the processor time of the fit, and its peak memory
relative to the features. "all" searches on all rows, and "LightGBM" is one `LGBMClassifier` for each label of the dense
data. The default sizes are 20,000 and 100,000 samples; with a million, only "sample" and "LightGBM" are fitted. Each
fit has a process and one thread of its own.
"""

import os
import resource
import subprocess
import sys
import time
import warnings
from importlib.util import find_spec

import numpy as np

from benchmarks.observed import make_data
from benchmarks.sizes import sized
from spmld import PerLabelClassifier, SelfPacedEnsemble
from spmld.metrics import log_loss, micro_f1, ranking_loss

SIZES = sized((20_000, 100_000), (300,))
N_TEST = sized(20_000, 200)
DENSE = sized((50, 20), (8, 4))
SPARSE = sized((20_000, 60), (200, 5))
MAX_SEARCHED_ON_ALL = 200_000
"""Maximum number of samples that are fitted with a search on all rows."""
MAX_SEARCH_SAMPLES = sized(20_000, 150)
THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


def interactions(n, d, l, seed=0):
    """Return dense features, and labels that depend on products and thresholds of a few features of their own."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    scores = np.empty((n, l))
    for j in range(l):
        a, b, c, e = rng.choice(d, size=4, replace=False)
        scores[:, j] = X[:, a] + 1.5 * X[:, b] * X[:, c] + 2 * ((X[:, e] > 0.5) & (X[:, a] < 0.5)) - 1.5
    return X, (scores + rng.logistic(size=scores.shape) > 0).astype(float), rng.random((n, l)) < 0.5


def make(kind, n):
    """Return features and labels of a number of training samples, with missing labels, and of test samples."""
    if kind == "dense":
        X, Y, mask = interactions(n + N_TEST, *DENSE)
    else:
        X, Y, _ = make_data(n + N_TEST, *SPARSE, observed=1.0)
        Y = Y.toarray().astype(float)
        mask = np.random.default_rng(0).random(Y.shape) < 0.5
    return X[:n], np.where(mask, Y, np.nan)[:n], X[n:], Y[n:]


def lightgbm():
    """Return LightGBM for each label."""
    from lightgbm import LGBMClassifier

    return PerLabelClassifier(LGBMClassifier(n_jobs=1, verbose=-1))


METHODS = {
    "sample": lambda: SelfPacedEnsemble(random_state=0, max_search_samples=MAX_SEARCH_SAMPLES),
    "all": lambda: SelfPacedEnsemble(random_state=0, max_search_samples=None),
    "LightGBM": lightgbm,
}


def fit(kind, name, n):
    """Fit a method, and print its quality, its processor time and its memory."""
    X, Y, X_test, Y_test = make(kind, n)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    model = METHODS[name]().fit(X, Y)
    seconds = time.process_time() - start
    memory = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    size = X.nbytes if kind == "dense" else X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    p = model.predict_proba(X_test)
    values = ranking_loss(Y_test, p), log_loss(Y_test, p), micro_f1(Y_test, model.predict(X_test))
    quality = " ".join(f"{value:9.4f}" for value in values)
    print(f"{kind:<7} {n:>9,} {name:<9} {quality} {seconds:9.1f} {memory / size:7.1f}")


def main(*arguments):
    warnings.simplefilter("ignore")
    if arguments and arguments[0] in ("dense", "sparse"):
        kind, name, n = arguments
        return fit(kind, name, int(n))
    print("data      samples method      ranking  log loss  micro F1   seconds  memory", flush=True)
    for n in map(int, arguments or SIZES):
        for kind in ("dense", "sparse"):
            for name in METHODS:
                if (name == "LightGBM" and kind == "sparse") or (name == "all" and n > MAX_SEARCHED_ON_ALL):
                    continue
                if name == "LightGBM" and find_spec("lightgbm") is None:
                    print("skipped: LightGBM is not installed")
                    continue
                command = [sys.executable, "-W", "ignore", "-m", "benchmarks.all_rows", kind, name, str(n)]
                run = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, **THREADS})
                print(run.stdout, end="", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
