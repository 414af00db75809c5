"""A cluster of two processes for the tests of fits."""

import pytest

WORKERS = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50}


@pytest.fixture(scope="package")
def client():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(processes=True, **WORKERS) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(autouse=True)
def all_data_are_large(monkeypatch):
    """Data of any size stay on the workers."""
    monkeypatch.setattr("spmld.cluster.cluster_samples.MAX_LOADED", -1)
