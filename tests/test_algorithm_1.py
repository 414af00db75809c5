"""The example `algorithm_1.py` runs the iterations of the library."""

import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans

from spmld import SPMLD
from spmld.core.steps import UpdateU, UpdateV, UpdateW, _sweep
from spmld.datasets import make_planted
from spmld.labels import hide_labels
from spmld.pacing import GeometricSchedule, GroupSparsePacing

EXAMPLE = Path(__file__).parents[1] / "examples" / "algorithm_1.py"
DATA = make_planted(n_samples=120, n_features=8, n_labels=10, n_components=3, noise=0.2, random_state=0)
Y = hide_labels(DATA.Y, observed_fraction=0.5, random_state=0)
# With a smaller lambda all weights are 0 at first, W becomes 0, and Z in the library follows from rounding errors of W.
LAMBDA = 0.08
GAMMA = 0.5
MU1 = 1.3
MU2 = 0.8


class UpdateZOnce:
    """One sweep over the rows of Z, without extrapolation."""

    models_fit = False

    def __call__(self, problem, objective, state, safe=True):
        G = state.U @ objective.correlation.moments(problem, state)
        return replace(state, Z=_sweep(G, np.sum(G * state.U, axis=-1), state.U, state.Z, state.U.T @ state.Z, 1e-10))


class BlockSPMLD(SPMLD):
    """SPMLD whose blocks are solved to rounding errors; fits with `solver="descent"` do not extrapolate."""

    def _steps(self):
        exact = {"tol": 1e-13, "max_iter": 1000}
        return UpdateZOnce(), UpdateV(**exact), UpdateU(**exact), UpdateW(**exact)


def fit_library(n_iter):
    # The objective of the library is half of that of the paper.
    schedule = GeometricSchedule(threshold=LAMBDA / 2, growth=MU1, diversity=GAMMA / 2, decay=MU2)
    return BlockSPMLD.paper(
        n_components=4,
        n_groups=2,
        correlation_rank=5,
        coupling=0.5,
        global_correlation=0.02,
        local_correlation=0.05,
        ridge=0.3,
        feature_ridge=0.3,
        rescale=False,
        n_warmup_iter=0,
        pacing=GroupSparsePacing(schedule=schedule),
        solver="descent",
        max_iter=n_iter,
        tol=None,
        random_state=0,
    ).fit(DATA.X, Y)


def fit_example(n_iter):
    """Return the scores, objectives and mean weights of the example, with the groups and the seed of the library."""
    rng = np.random.RandomState(0)
    groups = KMeans(2, n_init=1, random_state=rng.randint(2**31 - 1)).fit_predict(DATA.X)
    weights = {"alpha": 0.5, "beta1": 0.02, "beta2": 0.05, "tau": 0.3}
    pacing = {"lam": LAMBDA, "gamma": GAMMA, "mu1": MU1, "mu2": MU2}
    options = {**weights, **pacing, "tol": 0, "max_iter": n_iter, "rng": rng}
    algorithm_1 = runpy.run_path(str(EXAMPLE))["algorithm_1"]
    U, W, *history = algorithm_1(DATA.X.T, np.where(Y == 1, 1, -1).T, ~np.isnan(Y).T, groups, 4, 5, **options)
    return (U @ W.T @ DATA.X.T).T, *history


def test_iterations_are_those_of_the_library():
    model = fit_library(12)
    scores, objectives, mean_weights = fit_example(12)
    means = [record["mean_weight_per_component"] for record in model.history_]
    assert np.min(means[0]) == 0 < np.max(means[0])  # whole latent labels have weight 0
    assert np.max(means[2]) < 1 == np.min(means[-1])
    np.testing.assert_allclose(objectives, [record["objective"] for record in model.history_], rtol=1e-6)
    np.testing.assert_allclose(mean_weights, means, atol=1e-6)
    expected = model.decision_function(DATA.X)
    np.testing.assert_allclose(scores, expected, atol=1e-6 * np.abs(expected).max())
