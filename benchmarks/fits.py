"""Time and ranking loss of the defaults and presets on the paper's data, mean of three masks.

``python -m benchmarks.fits [--released] [data set ...]`` requires the data sets, from SPMLD_DATA or by download. The
released code takes half a minute per fit and is left out by default.
"""

import resource
import sys
import time

import numpy as np

from benchmarks.sizes import sized
from spmld import GLOCAL, SPMLD
from spmld.labels import hide_labels
from spmld.metrics import ranking_loss
from studies.data import load
from studies.released import ReleasedGLOCAL, ReleasedSPMLD

NAMES = sized(("business", "education"), ("planted",))
METHODS = {"GLOCAL()": GLOCAL, "SPMLD()": SPMLD, "SPMLD.paper()": SPMLD.paper}
N_SEEDS = sized(3, 1)
RELEASED = {"ReleasedGLOCAL()": ReleasedGLOCAL, "ReleasedSPMLD()": ReleasedSPMLD}


def main(*arguments):
    names = [a for a in arguments if not a.startswith("-")] or NAMES
    methods = METHODS | (RELEASED if "--released" in arguments else {})
    print(f"{'':<20}" + "".join(f"{f'{name} {observed:.0%}':>20}" for name in names for observed in (0.3, 0.7)))
    for label, make in methods.items():
        columns = []
        for name in names:
            try:
                data = load(name)
            except ConnectionError as error:
                return print(error)
            for observed in (0.3, 0.7):
                losses, seconds = zip(*(fit(make, data, observed, seed) for seed in range(N_SEEDS)), strict=True)
                columns.append(f"{np.mean(losses):.4f} ({min(seconds):.2f} s)")
        print(f"{label:<20}" + "".join(f"{column:>20}" for column in columns), flush=True)
    print(f"ranking loss (seconds of the fastest fit); peak memory {peak_memory():.0f} MiB")


def fit(make, data, observed, seed):
    Y = hide_labels(data.Y_train, observed, random_state=seed)
    start = time.perf_counter()
    model = make(random_state=seed).fit(data.X_train, Y)
    return ranking_loss(data.Y_test, model.decision_function(data.X_test)), time.perf_counter() - start


def peak_memory():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main(*sys.argv[1:])
