"""Fits to a file that is three times as large as the memory of the process.

``python -m benchmarks.out_of_core [MiB [model ...]]`` writes features and labels of planted data to a temporary folder,
so that the features are three times as large as the limit (default 400 MiB). For each model, it starts a process whose
data memory, including that of the libraries, is limited (RLIMIT_DATA). The process fits the model and predicts from
`RowBlocks`. It prints the time and the peak memory. Before that, fits to a part of the rows in blocks are compared with
fits in memory.
The memory of a fit does not depend on the number of outer iterations or settings, which are therefore few.
"""

import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

from spmld import GLOCAL, LEML, SPMLD, MaskedLogistic, RowBlocks, SelfPacedEnsemble

D, L, K, MIB = 256, 20, 10, 2**20
MODELS = {
    "MaskedLogistic": MaskedLogistic(),
    "SPMLD": SPMLD(n_components=K, random_state=0),
    "GLOCAL": GLOCAL(n_components=K, random_state=0),
    "LEML": LEML(n_components=K, random_state=0),
    "SelfPacedEnsemble": SelfPacedEnsemble(
        views=("linear", "ridge", "kernel"), Cs=(3.0,), alphas=(1.0,), cv=2, random_state=0
    ),
}


def write_data(folder, n, block=20_000):
    """Write X.npy and Y.npy with planted factors, block by block."""
    rng = np.random.default_rng(0)
    W, U = rng.normal(size=(D, K)) / D**0.5, rng.normal(size=(L, K))
    X = np.lib.format.open_memmap(folder / "X.npy", "w+", np.float64, (n, D))
    Y = np.lib.format.open_memmap(folder / "Y.npy", "w+", np.float32, (n, L))
    for start in range(0, n, block):
        stop = min(start + block, n)
        X[start:stop] = rng.normal(size=(stop - start, D))
        scores = X[start:stop] @ W @ U.T + rng.logistic(size=(stop - start, L))
        Y[start:stop] = np.where(rng.random(scores.shape) < 0.5, scores > 1, np.nan)


def compare(folder, n, names):
    """Print the difference between fits in memory and in blocks of several sizes."""
    X, Y = (np.load(folder / f"{name}.npy", mmap_mode="r")[:n] for name in "XY")
    X, Y = np.array(X), np.array(Y)
    for name in names:
        model = MODELS[name]
        expected = model.fit(X, Y).decision_function(X)
        for block_rows in (n // 3, n // 17):
            scores = model.fit(RowBlocks(X, Y, block_rows=block_rows)).decision_function(X)
            difference = abs(scores - expected).max() / abs(expected).max()
            print(
                f"{name}: {n} rows, {block_rows} per block: largest difference of scores {difference:.0e}", flush=True
            )


def limited(folder, limit, names):
    """Fit and predict in a process with limited memory."""
    resource.setrlimit(resource.RLIMIT_DATA, (limit * MIB, limit * MIB))
    for name in names:
        blocks = RowBlocks(folder / "X.npy", folder / "Y.npy", block_rows=8192, memory=limit * MIB // 16)
        model = MODELS[name]
        if hasattr(model, "max_iter") and hasattr(model, "callback"):
            model.set_params(max_iter=2, tol=None)
        start = time.perf_counter()
        model.fit(blocks)
        seconds = time.perf_counter() - start
        for X in blocks:
            model.predict(X)
        status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
        peak = int(status["VmHWM"].split()[0]) // 1024  # the maximum of getrusage includes the process that started it
        print(f"{name}: {seconds:.0f} s, {fitted_parts(model)}, peak memory {peak} MiB", flush=True)


def fitted_parts(model):
    """Return the number of iterations, or the views of an ensemble, as text."""
    return f"{model.n_iter_} iterations" if hasattr(model, "n_iter_") else f"views {', '.join(model.view_weights_)}"


def main(limit=400, *names):
    warnings.simplefilter("ignore")
    limit = int(limit)
    n = 3 * limit * MIB // (8 * D)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_data(folder, n)
        sizes = [(folder / f"{array}.npy").stat().st_size // MIB for array in "XY"]
        print(
            f"{n} samples, {D} features, {L} labels: X {sizes[0]} MiB, Y {sizes[1]} MiB; limit {limit} MiB", flush=True
        )
        compare(folder, n // 30, names or list(MODELS))
        for model in names or ("MaskedLogistic", "SPMLD"):
            command = [sys.executable, "-m", "benchmarks.out_of_core", str(folder), str(limit), model]
            subprocess.run(command, check=True)


if __name__ == "__main__":
    if len(sys.argv) > 1 and Path(sys.argv[1]).is_dir():
        warnings.simplefilter("ignore")
        limited(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
    else:
        main(*sys.argv[1:])
