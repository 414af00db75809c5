"""The correlation step beside Riemannian methods run to convergence, at the size of Corel5k's labels.

The methods of pymanopt run until their gradient, step or 5,000 iterations end them; the mixing method runs until its
objective is no higher, to 1e-12 of its first value. One problem is well conditioned, the other has a spectrum that
falls as that of fitted labels does.
"""

import time

import autograd.numpy as anp
import numpy as np
import pymanopt
from pymanopt.manifolds import Oblique
from pymanopt.optimizers import ConjugateGradient, SteepestDescent

from spmld.core.correlation import mix, normalize_rows


def main(l=374, k=20, r=20):
    rng = np.random.default_rng(0)
    for title, scales in (("flat spectrum", np.ones(k)), ("falling spectrum", np.geomspace(1, 0.04, k))):
        T = rng.normal(size=(4 * k, k)) * scales
        compare(title, (T.T @ T)[None], rng.normal(size=(l, k)), normalize_rows(rng.normal(size=(1, l, r))))


def compare(title, H, U, Z):
    A = U @ H[0] @ U.T
    manifold = Oblique(Z.shape[2], len(U))

    @pymanopt.function.autograd(manifold)
    def cost(z):
        return anp.trace(z @ A @ z.T)

    first = np.trace(Z[0].T @ A @ Z[0])
    print(f"{title}: {len(U)} labels, rank {U.shape[1]}, objective at the start {first:.4g}")
    for solver in (SteepestDescent, ConjugateGradient):
        run = solver(verbosity=0, max_iterations=5000, min_gradient_norm=1e-6, max_time=120)
        started = time.perf_counter()
        result = run.run(pymanopt.Problem(manifold, cost), initial_point=Z[0].T)
        theirs = time.perf_counter() - started
        started = time.perf_counter()
        z, value, sweeps = Z, np.inf, 0
        while value > result.cost + 1e-12 * first:
            z, sweeps = mix(H, U, z, sweeps=5, tol=-1), sweeps + 5
            value = np.trace(z[0].T @ A @ z[0])
        ours = time.perf_counter() - started
        print(f"  {solver.__name__:<18} {theirs:7.3f} s  objective {result.cost:.2e}, {result.iterations} iterations")
        print(
            f"  {'mixing method':<18} {ours:7.3f} s  objective {value:.2e}, {sweeps} sweeps, ratio {theirs / ours:.1f}"
        )


if __name__ == "__main__":
    main()
