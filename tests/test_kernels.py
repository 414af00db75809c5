"""The same seed gives the same folds and scores under every BLAS kernel, set of CPU features and number of threads."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.kernels import NO_DISPATCH, environment, environment_for

FIT = """
import sys
import numpy as np
from spmld import SelfPacedEnsemble
from spmld.datasets import make_planted
from spmld.labels import hide_labels
from spmld.model_selection import MultilabelStratifiedKFold
from tests.estimators.cases import ESTIMATORS, make

results = {}
for seed in range(10):
    rng = np.random.RandomState(seed)
    Y = np.where(rng.rand(300, 12) < 0.6, rng.rand(300, 12) < rng.beta(0.5, 3, size=12), np.nan)
    groups = rng.randint(80, size=300) if seed % 3 == 2 else None
    folds = MultilabelStratifiedKFold(3 + seed % 3, random_state=seed).split(Y, Y, groups)
    results[f"folds {seed}"] = np.concatenate([test for _, test in folds])
data = make_planted(n_samples=300, random_state=300)
Y = hide_labels(data.Y, 0.5, random_state=0)
for cls in ESTIMATORS:
    results[f"scores of {cls.__name__}"] = make(cls).fit(data.X, Y).decision_function(data.X)
results["out-of-fold scores"] = make(SelfPacedEnsemble).fit(data.X, Y).out_of_fold_scores_
np.savez(sys.argv[1], **results)
"""


TWO_THREADS = "two threads"
ROOT = Path(__file__).parents[1]
REAL = """
import sys
import numpy as np
from spmld import SPMLD
from studies.data import load
from spmld.labels import hide_labels

data = load(sys.argv[2])
Y = hide_labels(data.Y, 0.5, random_state=0)
np.savez(sys.argv[1], scores=SPMLD(random_state=0).fit(data.X, Y).decision_function(data.X))
"""


def fit(env, path, code=FIT, *arguments):
    subprocess.run([sys.executable, "-W", "ignore", "-c", code, str(path), *arguments], env=env, check=True, cwd=ROOT)
    return dict(np.load(path))


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    return fit(environment(), tmp_path_factory.mktemp("fitted") / "expected.npz")


@pytest.mark.parametrize("name", ["Haswell", "Nehalem", NO_DISPATCH, TWO_THREADS])
def test_folds_and_scores_do_not_depend_on_the_cpu(name, expected, tmp_path):
    threads = {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
    env = environment(**threads) if name == TWO_THREADS else environment_for(name)
    if isinstance(env, str):
        pytest.skip(env)
    results = fit(env, tmp_path / "results.npz")
    for key, value in expected.items():
        # The views of the ensemble are fitted in single precision.
        single = key in ("scores of SelfPacedEnsemble", "out-of-fold scores")
        tol = 0 if "folds" in key else 1e-5 if single else 1e-6
        np.testing.assert_allclose(results[key], value, rtol=0, atol=tol, err_msg=key)


def test_scores_on_real_data(load, tmp_path):
    """The features of Enron are so correlated that the systems of W are far from convergence."""
    load("enron")
    env = environment_for("Nehalem")
    if isinstance(env, str):
        pytest.skip(env)
    scores = [fit(env, tmp_path / "scores.npz", REAL, "enron")["scores"] for env in (environment(), env)]
    np.testing.assert_allclose(*scores, rtol=0, atol=1e-4)
