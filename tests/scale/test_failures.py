"""Fits on a Dask cluster: lost workers, stopped clients, and less memory than data."""

import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from sklearn.base import clone

from spmld import SPMLD, MaskedLogistic, MaskedRidge, SelfPacedEnsemble
from spmld.datasets import make_planted
from spmld.metrics import macro_auc
from spmld.persistence import Checkpoint

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

from tests.scale.conftest import WORKERS  # noqa: E402

PLANTED = {"n_samples": 240, "n_features": 12, "n_labels": 5, "observed_fraction": 0.6, "random_state": 0}
DATA = make_planted(**PLANTED)
X, Y = DATA.X, DATA.Y
OPTIONS = {"random_state": 0, "max_iter": 2, "tol": None, "n_warmup_iter": 1}
ENSEMBLE = {"random_state": 0, "views": ("ridge",), "alphas": (0.1, 1.0), "cv": 2, "keep_fraction": 0.9}


def collections():
    return da.from_array(X, chunks=(50, -1)), da.from_array(Y, chunks=(50, -1))


def assert_same_scores(local, remote):
    scores = local.fit(X, Y).decision_function(X)
    np.testing.assert_allclose(remote.decision_function(X), scores, rtol=0, atol=1e-6 * abs(scores).max())


def test_a_killed_worker_does_not_change_the_result():
    # Workers keep 4 kB of blocks in memory, and store the others on disk.
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


CLIENT = """
    import os, signal
    import dask.array as da
    from distributed import Client
    from spmld import {name}
    from spmld.datasets import make_planted
    from spmld.persistence import Checkpoint

    def kill(record):
        if {condition}:
            os.kill(os.getpid(), signal.SIGKILL)

    if __name__ == "__main__":
        client, data = Client({address!r}), make_planted(**{planted})
        X, Y = (da.from_array(A, chunks=(50, -1)) for A in (data.X, data.Y))
        with Checkpoint({folder!r}, min_seconds=0):
            {name}(callback=kill, **{options}).fit(X, Y)
"""


def run_until_killed(client, folder, name, condition, options):
    """Fit in another process, whose callback kills it."""
    address = client.scheduler.address
    fields = {"name": name, "condition": condition, "options": options, "planted": PLANTED, "address": address}
    script = folder / "client.py"
    script.write_text(textwrap.dedent(CLIENT).format(folder=str(folder / "checkpoint"), **fields))
    code = subprocess.run([sys.executable, str(script)], capture_output=True, timeout=300).returncode
    assert code == -signal.SIGKILL


def fit_stored(folder, model, X=X, Y=Y):
    """Fit with a checkpoint; return the numbers of fits that were stored and loaded."""
    arrays = [da.from_array(A, chunks=(50, -1)) for A in (X, Y)]
    with Checkpoint(folder, min_seconds=0) as checkpoint:
        model.fit(*arrays)
    return checkpoint.n_stored, checkpoint.n_loaded


def test_a_fit_whose_client_was_killed_continues_from_its_checkpoint(client, tmp_path):
    run_until_killed(client, tmp_path, "SPMLD", "record['stage'] == 'main'", OPTIONS)
    checkpoint = tmp_path / "checkpoint"
    (folder,) = checkpoint.iterdir()
    # Fits to other data or with other parameters do not use it. The rows and columns are the same, so that only their
    # values can tell.
    for options, changed in (
        (OPTIONS, {"Y": 1 - Y}),
        (OPTIONS, {"X": X[:, ::-1]}),
        ({**OPTIONS, "coupling": 1.0}, {}),
    ):
        model, data = SPMLD(**options), {"X": X, "Y": Y, **changed}
        assert fit_stored(checkpoint, model, **data) == (1, 0)
        expected = SPMLD(**options).fit(data["X"], data["Y"]).decision_function(data["X"])
        scores = model.decision_function(data["X"])
        np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-6 * abs(expected).max())
    assert folder.exists()
    seen = []
    model = SPMLD(callback=lambda record: seen.append((record["stage"], record["iteration"])), **OPTIONS)
    assert fit_stored(checkpoint, model) == (1, 0)
    assert_same_scores(SPMLD(**OPTIONS), model)
    assert seen == [("main", 2)]
    assert len(model.history_) == model.n_iter_ == 3
    assert {path.suffix for path in checkpoint.iterdir()} == {".skops"}  # the iterations of a finished fit are deleted
    again = SPMLD(**OPTIONS)
    assert fit_stored(checkpoint, again) == (0, 1)
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    Checkpoint(checkpoint).clear()
    assert not checkpoint.exists()


def test_a_finished_fit_to_reversed_labels_is_not_loaded(client, tmp_path):
    model = MaskedLogistic()
    first, second, again = clone(model), clone(model), clone(model)
    assert fit_stored(tmp_path, first) == (1, 0)
    assert fit_stored(tmp_path, second, Y=1 - Y) == (1, 0)
    assert fit_stored(tmp_path, again) == (0, 1)
    auc = [macro_auc(DATA.Y, fitted.decision_function(X)) for fitted in (first, second, again)]
    assert auc[0] > 0.8
    assert auc[1] < 0.2
    assert auc[2] == auc[0]


def test_an_ensemble_whose_client_was_killed_repeats_no_stored_fit(client, tmp_path):
    run_until_killed(client, tmp_path, "SelfPacedEnsemble", "record['choice'] == {'alpha': 0.1}", ENSEMBLE)
    checkpoint = tmp_path / "checkpoint"
    n_stored = len(list(checkpoint.glob("fit-*.skops")))
    assert n_stored >= 4  # two settings in two folds, and those of the noise estimate
    model = SelfPacedEnsemble(**ENSEMBLE)
    assert fit_stored(checkpoint, model) == (2, n_stored)  # the fit on all samples, and the ensemble
    assert_same_scores(SelfPacedEnsemble(**ENSEMBLE), model)
    assert len(list(checkpoint.iterdir())) == 1


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


def test_a_fit_with_less_memory_per_worker_than_data():
    limit, rows, d = 400 * 2**20, 6_000, 512  # the libraries need about 230 MiB

    def make_block(seed, n_features):
        """Return features of which the first three are the signs of the labels, or these signs."""
        rng = np.random.default_rng(int(seed[0, 0]))
        signs = rng.choice([-1.0, 1.0], (rows, 3))
        return np.hstack([signs, rng.random((rows, d - 3)) - 0.5]) if n_features == d else signs

    seeds = da.arange(18, chunks=1)[:, None]
    features, labels = (
        seeds.map_blocks(make_block, width, chunks=((rows,) * 18, (width,)), dtype=float) for width in (d, 3)
    )
    assert features.nbytes > limit
    # Memory of the libraries cannot be written to disk. A worker that has little more would be paused for good.
    unlimited = {f"distributed.worker.memory.{action}": False for action in ("pause", "terminate")}
    with (
        dask.config.set(unlimited),
        distributed.LocalCluster(memory_limit=limit, **WORKERS) as cluster,
        distributed.Client(cluster),
    ):
        model = MaskedRidge(fit_intercept=False, tol=0.9).fit(features, labels)
    assert np.abs(model.coef_).argmax(axis=1).tolist() == [0, 1, 2]
