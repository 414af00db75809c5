"""Fits on the paper's data: seconds and ranking loss of the defaults and presets, mean of three masks.

``python -m benchmarks.fits [--released] [data set ...]`` needs the paper's files below SPMLD_DATA. The released
presets take half a minute a fit and are left out unless asked for.
"""

import resource
import sys
import time

import numpy as np

from spmld import GLOCAL, SPMLD
from spmld.datasets import find_file, read_mat
from spmld.labels import hide_labels
from spmld.metrics import ranking_loss
from spmld.studies.released import ReleasedGLOCAL, ReleasedSPMLD

METHODS = {"GLOCAL()": GLOCAL, "SPMLD()": SPMLD, "SPMLD.paper()": SPMLD.paper}
RELEASED = {"ReleasedGLOCAL()": ReleasedGLOCAL, "ReleasedSPMLD()": ReleasedSPMLD}


def main(*arguments):
    names = [a for a in arguments if not a.startswith("-")] or ["Business", "Education"]
    methods = METHODS | (RELEASED if "--released" in arguments else {})
    print(f"{'':<20}" + "".join(f"{f'{name} {rate:.0%}':>20}" for name in names for rate in (0.3, 0.7)))
    for label, make in methods.items():
        cells = []
        for name in names:
            try:
                data = read_mat(find_file(f"{name}.mat"))
            except FileNotFoundError as error:
                return print(error)
            for rate in (0.3, 0.7):
                runs = [fit(make, data, rate, seed) for seed in range(3)]
                loss, seconds = np.mean([run[0] for run in runs]), min(run[1] for run in runs)
                cells.append(f"{loss:.4f} ({seconds:.2f} s)")
        print(f"{label:<20}" + "".join(f"{cell:>20}" for cell in cells), flush=True)
    print(f"ranking loss (seconds of the fastest fit); peak memory {peak():.0f} MiB")


def fit(make, data, rate, seed):
    Y = hide_labels(data.Y_train, rate, random_state=seed)
    started = time.perf_counter()
    model = make(random_state=seed).fit(data.X_train, Y)
    return ranking_loss(data.Y_test, model.decision_function(data.X_test)), time.perf_counter() - started


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main(*sys.argv[1:])
