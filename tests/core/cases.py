"""Small random problems for the tests of the core."""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from spmld.core.losses import LOSSES
from spmld.core.problem import Rows, State, make_problem, set_W
from spmld.core.steps import normalize_rows
from spmld.core.terms import Correlation, Coupling, Fit, Objective, Ridge

SIZES = {"n": 23, "d": 5, "l": 6, "k": 3, "r": 4, "g": 2}


def make_case(
    seed=0,
    loss="squared",
    block_rows=10,
    sparse=False,
    weighted=False,
    fit_intercept=True,
    observed_only=False,
    n=SIZES["n"],
    **changes,
):
    """A problem in several row blocks, an objective with every term, and a random state."""
    rng = np.random.default_rng(seed)
    d, l, k, r, g = (SIZES[name] for name in "dlkrg")
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6)
    Y = rng.choice([-1.0, 1.0], size=(n, l))
    J = (rng.random((n, l)) < 0.6).astype(float)
    if weighted:
        J = J * rng.random((n, l))
    Y[J == 0] = np.nan
    group = rng.integers(g, size=n)
    X = sp.csr_array(X) if sparse else X
    problem = make_problem(
        X, Y, J, group, g, fit_intercept=fit_intercept, block_rows=block_rows, observed_only=observed_only
    )
    rows = tuple(Rows(V=rng.normal(size=(m, k)), T=np.zeros((m, k)), P=rng.random((m, k))) for m in problem.counts)
    state = State(
        U=rng.normal(size=(l, k)),
        b=rng.normal(size=l) if fit_intercept else np.zeros(l),
        W=np.zeros((d, k)),
        Z=normalize_rows(rng.normal(size=(g, l, r))),
        rows=rows,
    )
    state = set_W(problem, state, rng.normal(size=(d, k)))
    objective = Objective(Fit(LOSSES[loss]), Coupling(0.7), Correlation(0.3, 0.2), Ridge(tU=0.4, tV=0.3, tW=0.5))
    return problem, replace(objective, **changes), state


def difference(value, x, step=1e-6):
    """The gradient of `value` at x by central differences."""
    g = np.zeros_like(x)
    for i in np.ndindex(*x.shape):
        e = np.zeros_like(x)
        e[i] = step
        g[i] = (value(x + e) - value(x - e)) / (2 * step)
    return g
