"""The correlation step beside Riemannian methods run to convergence, at the size of Corel5k's labels."""

import time

import autograd.numpy as anp
import numpy as np
import pymanopt
from pymanopt.manifolds import Oblique
from pymanopt.optimizers import ConjugateGradient, SteepestDescent

from spmld.core.correlation import mix, normalise


def main(l=374, k=20, r=20):
    rng = np.random.default_rng(0)
    T = rng.normal(size=(4 * k, k))
    H, U, Z = (T.T @ T)[None], rng.normal(size=(l, k)), normalise(rng.normal(size=(1, l, r)))
    A = U @ H[0] @ U.T

    def trace(z):
        return float(np.trace(z.T @ A @ z))

    first = trace(Z[0])
    mix(H, U, Z, sweeps=1)
    started = time.perf_counter()
    found = mix(H, U, Z, sweeps=1000, tol=1e-2)[0]
    ours, value = time.perf_counter() - started, trace(found)
    print(f"{l} labels, rank {k}, {r} columns; objective at the start {first:.4g}")
    print(f"mixing method       {ours:8.3f} s  objective {value:.6g}")
    manifold = Oblique(r, l)

    @pymanopt.function.autograd(manifold)
    def cost(z):
        return anp.trace(z @ A @ z.T)

    for solver in (ConjugateGradient, SteepestDescent):
        run = solver(verbosity=0, max_iterations=2000, min_gradient_norm=1e-6, max_time=60)
        started = time.perf_counter()
        result = run.run(pymanopt.Problem(manifold, cost), initial_point=Z[0].T)
        theirs = time.perf_counter() - started
        print(f"{solver.__name__:<19} {theirs:8.3f} s  objective {result.cost:.6g}  ratio {theirs / ours:.1f}")


if __name__ == "__main__":
    main()
