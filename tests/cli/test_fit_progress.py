"""Progress of a fit, and Ctrl-C."""

import os
import signal
import time
from contextlib import contextmanager

import numpy as np
import pytest

from spmld.cli.fitting import fit_model
from spmld.cli.methods import build, with_decision
from spmld.datasets import Dataset, write_dataset
from tests.cli.songs import TEST, songs
from tests.commands import spmld, start


@pytest.mark.parametrize("command", ["fit", "tune"])
def test_ctrl_c_exits_with_130_and_writes_no_file(command, tmp_path):
    rng, folder = np.random.default_rng(0), tmp_path / "data"
    folder.mkdir()
    write_dataset(Dataset(rng.normal(size=(5000, 60)), rng.integers(2, size=(5000, 40))), folder / "big.npz")
    slow = ("--method", "SPMLD", "--param", "max_iter=100000", "--param", "tol=0")
    streams = {"out": tmp_path / "out", "err": tmp_path / "err"}
    running = start(spmld, command, "big.npz", "-o", "big.skops", *slow, folder=folder, **streams)
    time.sleep(2)
    assert running.is_alive()
    os.kill(running.pid, signal.SIGINT)
    running.join(120)
    assert (running.exitcode, streams["out"].read_text()) == (130, "")
    assert streams["err"].read_text().strip() == "spmld: interrupted"
    assert os.listdir(folder) == ["big.npz"]


@pytest.mark.parametrize("method", ["SPMLD", "SelfPacedEnsemble", "MaskedLogistic"])
def test_a_fit_advances_the_progress_bar_and_resets_the_callback(method, monkeypatch):
    bars = []

    @contextmanager
    def progress_bar(total, title):
        bars.append([total, title, 0])

        def advance(text):
            bars[-1][2] += 1

        yield advance

    monkeypatch.setattr("spmld.cli.fitting.progress_bar", progress_bar)
    model = build(method, {}, 0)
    fit_model(model, songs(TEST, observed=0.6), method)
    if method == "MaskedLogistic":  # it has no callback
        assert bars == [[None, "fitting MaskedLogistic", 0]]
        return
    ((total, title, done),) = bars
    assert title == f"fitting {method}"
    assert done == len(model.cv_results_ if method == "SelfPacedEnsemble" else model.history_)
    assert 0 < done <= total
    assert model.callback is None


def test_the_bar_covers_the_fits_of_a_calibrated_method(monkeypatch):
    bars = []

    @contextmanager
    def progress_bar(total, title):
        bars.append([total, 0])
        yield lambda text: bars[-1].__setitem__(1, bars[-1][1] + 1)

    monkeypatch.setattr("spmld.cli.fitting.progress_bar", progress_bar)
    data = songs(TEST, observed=0.6)
    model = with_decision(build("SPMLD", {"max_iter": 7}, 0), None, 0, data.Y)
    fit_model(model, data, "SPMLD")
    ((total, done),) = bars
    assert total == 4 * (model.estimator.n_warmup_iter + 7)  # three folds, and all samples
    assert len(model.estimator_.history_) < done <= total
    assert model.estimator.callback is None
    assert model.estimator_.callback is None
