"""The correlation step compared with Riemannian methods, with as many labels as Corel5k.

The methods of pymanopt run until convergence or for 5,000 iterations. The mixing method runs until it reaches their
objective, up to 1e-12 of the initial objective. One problem is well conditioned. The other has a decaying spectrum, as
fitted label factors have.
"""

import time

import autograd.numpy as anp
import numpy as np
import pymanopt
from pymanopt.manifolds import Oblique
from pymanopt.optimizers import ConjugateGradient, SteepestDescent

from benchmarks.ratios import record
from benchmarks.sizes import sized
from spmld.core.steps import mix, normalize_rows


def main(l=sized(374, 12), k=sized(20, 4), r=sized(20, 4)):
    rng = np.random.default_rng(0)
    for title, scales in (("flat spectrum", np.ones(k)), ("decaying spectrum", np.geomspace(1, 0.04, k))):
        T = rng.normal(size=(4 * k, k)) * scales
        compare(title, (T.T @ T)[None], rng.normal(size=(l, k)), normalize_rows(rng.normal(size=(1, l, r))))


def compare(title, H, U, Z):
    A = U @ H[0] @ U.T
    manifold = Oblique(Z.shape[2], len(U))

    @pymanopt.function.autograd(manifold)
    def cost(z):
        return anp.trace(z @ A @ z.T)

    initial = np.trace(Z[0].T @ A @ Z[0])
    print(f"{title}: {len(U)} labels, rank {U.shape[1]}, initial objective {initial:.4g}")
    for solver in (SteepestDescent, ConjugateGradient):
        optimizer = solver(verbosity=0, max_iterations=5000, min_gradient_norm=1e-6, max_time=120)
        start = time.perf_counter()
        result = optimizer.run(pymanopt.Problem(manifold, cost), initial_point=Z[0].T)
        riemannian = time.perf_counter() - start
        start = time.perf_counter()
        z, value, sweeps = Z, np.inf, 0
        while value > result.cost + 1e-12 * initial:
            z, sweeps = mix(H, U, z, sweeps=5, tol=-1), sweeps + 5
            value = np.trace(z[0].T @ A @ z[0])
        mixing = time.perf_counter() - start
        record(f"correlation step, {title} / {solver.__name__} of pymanopt", mixing, riemannian)
        print(
            f"  {solver.__name__:<18} {riemannian:7.3f} s  objective {result.cost:.2e}, {result.iterations} iterations"
        )
        print(
            f"  {'mixing method':<18} {mixing:7.3f} s  objective {value:.2e}, {sweeps} sweeps, "
            f"ratio {riemannian / mixing:.1f}"
        )


if __name__ == "__main__":
    main()
