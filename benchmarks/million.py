"""Fits to a million sparse samples with few observed labels: time, peak memory and growth with the number of samples.

``python -m benchmarks.million [n_samples]`` generates data with 50,000 features, 50 of them nonzero in each sample, and
500 labels, 10 of them observed in each sample. Each model is fitted in a process of its own, to a quarter of the
samples and to all of them, and SelfPacedEnsemble to a tenth. A million samples take about an hour on two cores.
"""

import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks.observed import make_data
from benchmarks.sizes import sized
from spmld import SPMLD, MaskedLogistic, SelfPacedEnsemble

D, L, OBSERVED = sized((50_000, 500, 0.02), (500, 20, 0.3))
MODELS = {
    "MaskedLogistic": MaskedLogistic(n_jobs=2),
    "SPMLD": SPMLD(random_state=0),
    "SelfPacedEnsemble": SelfPacedEnsemble(random_state=0),
}
PARTS = ("X", "Y", "mask")


def write(folder, n):
    """Write the data, in single precision."""
    X, *labels = make_data(n, D, L, OBSERVED)
    for name, part in zip(PARTS, (X.astype(np.float32), *labels), strict=True):
        sp.save_npz(Path(folder) / f"{name}.npz", part, compressed=False)


def fit(folder, name, n):
    """Fit a model to the first samples; print seconds and the peak memory in bytes."""
    X, Y, mask = (sp.load_npz(Path(folder) / f"{part}.npz")[:n] for part in PARTS)
    start = time.perf_counter()
    MODELS[name].fit(X, Y, mask=mask)
    print(time.perf_counter() - start, 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


PARTS_OF_RUN = {"write": write, "fit": fit}


def run(*arguments):
    """Run a part of this benchmark in another process, and return the numbers that it prints."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.million", *map(str, arguments)]
    return [float(word) for word in subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()]


def main(*arguments):
    warnings.simplefilter("ignore")
    if arguments and arguments[0] in PARTS_OF_RUN:
        step, *rest, n = arguments
        return PARTS_OF_RUN[step](*rest, int(n))
    n = int(arguments[0]) if arguments else sized(1_000_000, 400)
    with tempfile.TemporaryDirectory() as folder:
        run("write", folder, n)
        for name in sized(tuple(MODELS), ("SPMLD",)):
            sizes = (n // 10,) if name == "SelfPacedEnsemble" else (n // 4, n)
            times = {}
            for size in sizes:
                times[size], memory = run("fit", folder, name, size)
                print(f"{name}, {size:,} samples: {times[size]:.0f} s, {memory / 2**30:.1f} GiB", flush=True)
            if len(sizes) == 2:
                print(f"  exponent {np.log(times[n] / times[n // 4]) / np.log(4):.2f} in the number of samples")


if __name__ == "__main__":
    main(*sys.argv[1:])
