"""Peak memory of fits as multiples of the data.

``python -m benchmarks.memory [estimator ...]`` fits each estimator in a process of its own with one thread to generated
dense and sparse features with 100 labels, 30 % of them observed, and prints the increase of the peak memory during the
fit divided by the memory of features and labels in double precision (of sparse features: of their arrays). MaskedForest
has 5 trees for each label, since its memory is that of its trees. Linux is required.
"""

import os
import subprocess
import sys

from benchmarks.sizes import sized

MODELS = (
    *("MaskedLogistic", "MaskedRidge", "MaskedBoosting", "MaskedForest", "SPMLD", "GLOCAL", "LEML", "MLLRC"),
    "SelfPacedEnsemble",
)
NAMES = sized(MODELS, ("MaskedLogistic",))
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
SIZES = sized({"dense": (20_000, 500), "sparse": (20_000, 50_000)}, {"sparse": (600, 500)})
FIT = """
import sys, warnings
from pathlib import Path
import numpy as np
import spmld
from benchmarks.observed import make_data
warnings.simplefilter("ignore")
kind, name, n, d = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
X, Y, mask = make_data(n, d, 100, 0.3)
X = X.toarray() if kind == "dense" else X
Y = np.where(mask.toarray() > 0, Y.toarray(), np.nan)
size = Y.nbytes + (X.nbytes if kind == "dense" else X.data.nbytes + X.indices.nbytes)
model = getattr(spmld, name)(**({"n_estimators": 5} if name == "MaskedForest" else {}))
getattr(spmld, name)().fit(X[:500, :500], Y[:500, :5])  # imports

def status(field):
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) * 1024

Path("/proc/self/clear_refs").write_text("5")  # resets the peak
before = status("VmRSS")
model.fit(X, Y)
print(size / 2**20, (status("VmHWM") - before) / size)
"""


def main(*names):
    environment = os.environ | dict.fromkeys(THREADS, "1")
    print(f"{'':<20}" + "".join(f"{f'{kind} {n:,} x {d:,}':>26}" for kind, (n, d) in SIZES.items()))
    for name in names or NAMES:
        cells = []
        for kind, (n, d) in SIZES.items():
            arguments = [sys.executable, "-c", FIT, kind, name, str(n), str(d)]
            done = subprocess.run(arguments, capture_output=True, text=True, env=environment)
            if done.returncode:
                cells.append(done.stderr.strip().splitlines()[-1][:24])
            else:
                size, ratio = map(float, done.stdout.split())
                cells.append(f"{ratio:.1f} x {size:.0f} MiB")
        print(f"{name:<20}" + "".join(f"{cell:>26}" for cell in cells), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
