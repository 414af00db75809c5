"""Fits on a Dask cluster: lost workers, interrupted clients, and the memory of a fit."""

import os
import signal

import numpy as np
import pytest
from sklearn.base import clone

from spmld import SPMLD, MaskedLogistic, SelfPacedEnsemble
from spmld.datasets import make_planted
from spmld.export import Checkpoint

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

from tests.cluster.conftest import WORKERS  # noqa: E402

PLANTED = {"n_samples": 240, "n_features": 12, "n_labels": 5, "observed_fraction": 0.6, "random_state": 0}
DATA = make_planted(**PLANTED)
X, Y = DATA.X, DATA.Y
OPTIONS = {"random_state": 0, "max_iter": 2, "tol": None, "n_warmup_iter": 1}
ENSEMBLE = {"random_state": 0, "views": ("ridge",), "alphas": (0.1, 1.0), "cv": 2, "keep_fraction": 1.0}


def collections():
    return da.from_array(X, chunks=(50, -1)), da.from_array(Y, chunks=(50, -1))


def assert_same_scores(local, remote):
    scores = local.fit(X, Y).decision_function(X)
    np.testing.assert_allclose(remote.decision_function(X), scores, rtol=0, atol=1e-6 * abs(scores).max())


def test_a_killed_worker_does_not_change_the_result():
    # Workers keep 4 kB of chunks in memory, and store the others on disk.
    with (
        dask.config.set({"distributed.worker.memory.target": 1e-6, "distributed.worker.memory.spill": False}),
        distributed.LocalCluster(memory_limit="4GB", **WORKERS) as cluster,
        distributed.Client(cluster) as client,
    ):
        pids = list(client.run(os.getpid).values())
        on_disk = []

        def kill(record):
            if record["iteration"] == 1:
                on_disk.extend(client.run(lambda dask_worker: len(dask_worker.data.slow)).values())
                os.kill(pids[0], signal.SIGKILL)

        options = {**OPTIONS, "n_warmup_iter": 0}
        model = SPMLD(callback=kill, **options).fit(*collections())
    assert_same_scores(SPMLD(**options), model)
    assert min(on_disk) > 0


def fit_stored(folder, model, X=X, Y=Y):
    """Fit with a checkpoint; return the numbers of fits that were stored and loaded."""
    arrays = [da.from_array(A, chunks=(50, -1)) for A in (X, Y)]
    with Checkpoint(folder, min_seconds=0) as checkpoint:
        model.fit(*arrays)
    return checkpoint.n_stored, checkpoint.n_loaded


def test_a_finished_fit_is_loaded_and_fits_to_other_data_are_not(client, tmp_path):
    model = MaskedLogistic()
    assert fit_stored(tmp_path, model) == (1, 0)
    # The rows and columns are the same, so that only their values can tell.
    for other, changed in ((model, {"Y": 1 - Y}), (model, {"X": X[:, ::-1]}), (MaskedLogistic(C=2), {})):
        assert fit_stored(tmp_path, clone(other), **changed) == (1, 0)
    again = MaskedLogistic()
    assert fit_stored(tmp_path, again) == (0, 1)
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert_same_scores(MaskedLogistic(), model)


def test_an_ensemble_that_was_interrupted_repeats_no_stored_fit(client, tmp_path):
    def interrupt(record):
        if record["choice"] == {"alpha": 0.1}:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit_stored(tmp_path, SelfPacedEnsemble(callback=interrupt, **ENSEMBLE))
    n_stored = len(list(tmp_path.glob("fit-*.skops")))
    assert n_stored == 4  # two settings in two folds
    model = SelfPacedEnsemble(**ENSEMBLE)
    assert fit_stored(tmp_path, model) == (3, 4)  # the linear part, the view, and the ensemble
    assert_same_scores(SelfPacedEnsemble(**ENSEMBLE), model)
    assert len(list(tmp_path.iterdir())) == 1


def test_a_fit_holds_little_more_than_the_features(client):
    rng, held = np.random.default_rng(0), []
    features = rng.normal(size=(400, 200))
    labels = (features[:, :3] > rng.normal(size=(400, 3))).astype(float)

    def measure(record):
        def size(dask_worker):
            return sum(dask.sizeof.sizeof(value) for value in dask_worker.data.values())

        held.append(sum(client.run(size).values()) / features.nbytes)

    arrays = [da.from_array(A, chunks=(100, -1)) for A in (features, labels)]
    SPMLD(callback=measure, **{**OPTIONS, "max_iter": 1}).fit(*arrays)
    assert 1 < max(held) < 1.3
