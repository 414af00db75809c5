"""Growth of run time and memory with each size of a problem.

``python -m benchmarks.growth`` fits MaskedLogistic and five iterations of SPMLD to generated sparse data. One size at a
time is multiplied by up to 4: samples, features, labels, latent labels, and the fraction of observed entries. It prints
the exponents of power laws, and draws the run times to ``studies/docs/growth.svg``. Run times are CPU seconds.
"""

import os
import resource
import time
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from benchmarks.observed import make_data
from benchmarks.sizes import sized
from spmld import SPMLD, MaskedLogistic
from spmld.labels import LabelWarning

FIGURE = sized(Path(__file__).parents[1] / "studies" / "docs" / "growth.svg", Path(os.devnull))
NAMES = ("samples", "features", "labels", "latent labels", "observed")
BASE = dict(zip(NAMES, sized((20_000, 20_000, 200, 10, 0.02), (200, 100, 20, 2, 0.1)), strict=True))
FACTORS = (1, 2, 4)


def seconds(model, X, Y, mask):
    """Return the CPU seconds of the faster of two fits."""
    times = []
    for _ in range(2):
        start = time.process_time()
        model.fit(X, Y, mask=mask)
        times.append(time.process_time() - start)
    return min(times)


def measure(name, sizes):
    """Return the run time of a model for given sizes."""
    data = make_data(sizes["samples"], sizes["features"], sizes["labels"], sizes["observed"])
    latent = SPMLD(n_components=sizes["latent labels"], tol=None, max_iter=5, n_warmup_iter=0, random_state=0)
    return seconds(MaskedLogistic() if name == "MaskedLogistic" else latent, *data)


def main():
    warnings.simplefilter("ignore", LabelWarning)
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
    for panel, name, corner in zip(panels, ("MaskedLogistic", "SPMLD"), ("upper left", "lower right"), strict=True):
        base = measure(name, BASE)
        for index, size in enumerate(BASE):
            if (name, size) == ("MaskedLogistic", "latent labels"):
                continue
            times = [base, *(measure(name, {**BASE, size: factor * BASE[size]}) for factor in FACTORS[1:])]
            exponent = np.polyfit(np.log(FACTORS), np.log(times), 1)[0]
            print(f"{name}, {size}: exponent {exponent:.2f}, " + ", ".join(f"{t:.2f} s" for t in times), flush=True)
            panel.loglog(FACTORS, times, "o-", color=f"C{index}", label=f"{size}: {exponent:.2f}")
        panel.set_title(name)
        panel.set_xticks(FACTORS, [f"{factor} times" for factor in FACTORS])
        panel.set_yticks([0.5, 1, 2, 4, 8], ["0.5", "1", "2", "4", "8"])
        panel.minorticks_off()
        panel.set_xlabel("size, relative to the base problem")
        panel.legend(title="exponents", fontsize="small", loc=corner)
    panels[0].set_ylabel("CPU seconds")
    plt.rcParams["svg.hashsalt"] = "growth"
    figure.savefig(FIGURE, format="svg", metadata={"Date": None})
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB; figure in {FIGURE.name}")


if __name__ == "__main__":
    main()
