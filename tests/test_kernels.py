"""The same seed gives the same folds and scores under every BLAS kernel and set of CPU features."""

import subprocess
import sys

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

results = {}
for seed in range(10):
    rng = np.random.RandomState(seed)
    Y = np.where(rng.rand(300, 12) < 0.6, rng.rand(300, 12) < rng.beta(0.5, 3, size=12), np.nan)
    groups = rng.randint(80, size=300) if seed % 3 == 2 else None
    folds = MultilabelStratifiedKFold(3 + seed % 3, random_state=seed).split(Y, Y, groups)
    results[f"folds {seed}"] = np.concatenate([test for _, test in folds])
for n, fraction in (300, 0.5), (400, 0.7):
    data = make_planted(n_samples=n, random_state=n)
    model = SelfPacedEnsemble(random_state=0).fit(data.X, hide_labels(data.Y, fraction, random_state=0))
    results[f"out-of-fold scores {n}"] = model.out_of_fold_scores_
    results[f"scores {n}"] = model.decision_function(data.X)
np.savez(sys.argv[1], **results)
"""


def fit(env, path):
    subprocess.run([sys.executable, "-c", FIT, str(path)], env=env, check=True)
    return dict(np.load(path))


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    return fit(environment(), tmp_path_factory.mktemp("fitted") / "expected.npz")


@pytest.mark.parametrize("name", ["Haswell", "Nehalem", NO_DISPATCH])
def test_folds_and_scores_do_not_depend_on_the_cpu(name, expected, tmp_path):
    env = environment_for(name)
    if isinstance(env, str):
        pytest.skip(env)
    results = fit(env, tmp_path / "results.npz")
    for key, value in expected.items():
        np.testing.assert_allclose(results[key], value, rtol=0, atol=0 if "folds" in key[:5] else 1e-6, err_msg=key)
