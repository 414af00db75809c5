"""Linear models by fraction of observed entries, compared with loops of scikit-learn's LogisticRegression.

``python -m benchmarks.observed`` prints for generated sparse data, wide and narrow, the time of MaskedLogistic with one
and two threads and of the fastest loop over the labels, each on the rows where a label is observed. Loops are timed on
every tenth label. A larger problem is compared with the loop of each solver.
"""

import time
import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from benchmarks.ratios import record
from benchmarks.sizes import sized
from spmld import MaskedLogistic
from spmld.labels import LabelWarning

SOLVERS = ("lbfgs", "newton-cg", "liblinear")
PER_ROW = 50
OBSERVED = sized((0.01, 0.05, 0.3, 1.0), (0.3,))


def make_data(n, d, l, observed, seed=0):
    """Return sparse features with Zipf frequencies, 0/1 labels and a mask, both sparse, with planted coefficients."""
    rng = np.random.default_rng(seed)
    frequency = np.cumsum(np.arange(1, d + 1) ** -0.7)
    features = np.searchsorted(frequency, frequency[-1] * rng.random(n * PER_ROW)).astype(np.int32)
    X = sp.csr_array((rng.random(n * PER_ROW) + 0.5, features, np.arange(0, n * PER_ROW + 1, PER_ROW)), shape=(n, d))
    X.sum_duplicates()
    X = sp.csr_array(X.multiply(1 / np.sqrt(X.multiply(X).sum(axis=1))[:, None]))
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # required by liblinear
    T, U = X @ rng.normal(size=(d, 30)), rng.normal(size=(l, 30)) / 30**0.5
    count = max(1, round(observed * l))
    rows = np.repeat(np.arange(n), count)
    first = rng.integers(l, size=n)
    columns = ((first[:, None] + rng.permutation(l)[:count]) % l).ravel()
    scores = np.concatenate([np.einsum("ek,ek->e", T[r], U[c]) for r, c in batches(rows, columns)])
    positive = scores - 1 + 0.3 * rng.logistic(size=len(scores)) > 0
    mask = sp.csr_array((np.ones(len(rows), dtype=bool), (rows, columns)), shape=(n, l))
    return X, sp.csr_array((positive.astype(np.int8), (rows, columns)), shape=(n, l)), mask


def batches(*arrays, size=10**6):
    return (tuple(a[start : start + size] for a in arrays) for start in range(0, len(arrays[0]), size))


def seconds(function, *args, **options):
    start = time.perf_counter()
    function(*args, **options)
    return time.perf_counter() - start


def loop(X, Y, mask, solver, step=10):
    """Return the seconds of a loop over all labels, from those of every tenth label."""
    Y, mask = Y.tocsc(), mask.tocsc()
    labels = range(0, Y.shape[1], step)

    def fit():
        for j in labels:
            rows = mask[:, [j]].nonzero()[0]
            y = Y[:, [j]].toarray()[rows, 0]
            if y.min() < y.max():
                LogisticRegression(solver=solver).fit(X[rows], y)

    return seconds(fit) * Y.shape[1] / len(labels)


def compare(n, d, l):
    print(f"{n:,} x {d:,}, {PER_ROW} values in a row, {l} labels")
    for observed in OBSERVED:
        X, Y, mask = make_data(n, d, l, observed)
        loops = {}
        for threads in (1, 2):
            with threadpool_limits(threads):
                loops |= {f"{solver}, {threads} threads": loop(X, Y, mask, solver) for solver in SOLVERS}
        name = min(loops, key=loops.get)
        ours = {jobs: seconds(MaskedLogistic(n_jobs=jobs).fit, X, Y, mask=mask) for jobs in (1, 2)}
        title = f"MaskedLogistic, {d:,} features, {observed:.0%} observed / fastest loop"
        record(title, min(ours.values()), loops[name])
        print(
            f"  {observed:4.0%} observed: MaskedLogistic {ours[1]:6.2f} s, n_jobs=2 {ours[2]:6.2f} s; "
            f"fastest loop ({name}) {loops[name]:6.2f} s, {loops[name] / min(ours.values()):.1f} times as long; "
            f"lbfgs {loops['lbfgs, 1 threads']:6.2f} s",
            flush=True,
        )


def compare_single_thread(n, d, l, observed):
    """Compare with the loop of each solver, all with one thread."""
    print(f"{n:,} x {d:,}, {PER_ROW} values in a row, {l} labels, {observed:.0%} observed, one thread")
    X, Y, mask = make_data(n, d, l, observed)
    with threadpool_limits(1):
        ours = seconds(MaskedLogistic(n_jobs=1).fit, X, Y, mask=mask)
        for solver in SOLVERS:
            other = loop(X, Y, mask, solver)
            ratio = record(f"MaskedLogistic, {n:,} x {d:,}, {observed:.0%} observed / {solver}", ours, other)
            print(f"  MaskedLogistic {ours:6.2f} s, {solver} {other:6.2f} s, ratio {ratio:.2f}", flush=True)


def main():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", FutureWarning)
        warnings.simplefilter("ignore", LabelWarning)
        compare(*sized((10_000, 50_000, 100), (200, 500, 20)))
        compare(*sized((10_000, 1_000, 100), (200, 100, 20)))
        compare_single_thread(*sized((40_000, 50_000, 200), (200, 500, 20)), 0.3)


if __name__ == "__main__":
    main()
