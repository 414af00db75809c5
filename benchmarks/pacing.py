"""The pacing step: time for a million samples, and compared with a general convex solver."""

import time

import numpy as np
from scipy.optimize import minimize

from benchmarks.ratios import record
from benchmarks.sizes import sized
from spmld.pacing import exact_weights


def main(n=sized(1_000_000, 3000)):
    rng = np.random.default_rng(0)
    L = rng.random((n, 20)) ** 2
    print(f"losses of {n:,} x 20, threshold 0.5")
    for diversity in (0.0, 10.0, 200.0, 400.0):
        start = time.perf_counter()
        P = exact_weights(L, 0.5, diversity)
        print(f"  diversity {diversity:5.0f}: {time.perf_counter() - start:5.2f} s, mean weight {P.mean():.3f}")
    L = L[:2000, 0]
    start = time.perf_counter()
    weights = exact_weights(L, 0.5, 5.0)
    exact = time.perf_counter() - start

    def cost(p):
        norm = np.sqrt(p @ p)
        return p @ (L - 0.5) + 5.0 * norm, L - 0.5 + 5.0 * p / norm

    start = time.perf_counter()
    result = minimize(cost, np.full(2000, 0.5), jac=True, bounds=[(0, 1)] * 2000, method="L-BFGS-B")
    general = time.perf_counter() - start
    record("pacing step of 2,000 losses / L-BFGS-B", exact, general)
    print(f"one group of 2,000 losses: exact {exact:.4f} s, L-BFGS-B {general:.3f} s, ratio {general / exact:.0f}")
    print(f"  cost: exact {cost(weights)[0]:.9f}, L-BFGS-B {result.fun:.9f}")


if __name__ == "__main__":
    main()
