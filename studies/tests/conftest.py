"""Fixtures of the tests of trials."""

import pytest

from spmld.datasets import make_planted
from studies import trial as module


@pytest.fixture
def loads(monkeypatch):
    def put(data):
        monkeypatch.setattr(module, "load", lambda name, fold: data)

    return put


@pytest.fixture
def planted():
    data = make_planted(n_samples=200, n_features=6, n_labels=5, random_state=1)
    return {"X_train": data.X[::2], "Y_train": data.Y[::2], "X_test": data.X[1::2], "Y_test": data.Y[1::2]}
