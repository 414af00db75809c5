"""Progress of a fit, and Ctrl-C."""

import os
import signal
import time
from contextlib import contextmanager

import numpy as np
import pytest

from spmld import MaskedLogistic
from spmld.app.commands.fitting import build, fit_model, with_decision
from spmld.datasets import Dataset, write_dataset
from spmld.export import Checkpoint
from tests.app.commands.songs import TEST, songs
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
    assert streams["err"].read_text().strip() == (
        "spmld: interrupted; no model was written. With --checkpoint FOLDER, the same command resumes after an "
        "interruption"
    )
    assert os.listdir(folder) == ["big.npz"]


def test_ctrl_c_with_a_checkpoint_says_what_is_stored_and_then_what_is_resumed(cli, monkeypatch):
    monkeypatch.setitem(Checkpoint.__init__.__kwdefaults__, "min_seconds", 0.0)
    fit, calls = MaskedLogistic._fit, []

    def interrupt(self, *inputs):
        calls.append(1)
        if len(calls) == 8:
            raise KeyboardInterrupt
        fit(self, *inputs)

    arguments = ["fit", "train.csv", "-o", "m.skops", "--checkpoint", "finished", "--param", "n_trees=[20]"]
    monkeypatch.setattr(MaskedLogistic, "_fit", interrupt)
    status, _, err = cli(*arguments)
    n_stored = len(os.listdir("finished"))
    assert n_stored > 0
    assert (status, os.path.exists("m.skops")) == (130, False)
    text = f"interrupted; no model was written. finished has {n_stored} finished fits, and the same command resumes"
    assert err.strip().endswith(f"spmld: {text}")
    status, _, err = cli(*arguments)
    assert status == 0
    assert f"spmld: note: finished has {n_stored} finished fits of an interrupted command" in err
    assert f"resumed: loaded {n_stored} fits from finished, and computed the others" in err
    assert not os.path.exists("finished")
    calls[:] = []
    cli(*arguments, "--force")
    status, _, err = cli("fit", "test.csv", *arguments[2:], "--force")  # other data
    assert status == 0
    assert "nothing was resumed: the fits in finished are of other data or parameters, and are deleted" in err


@pytest.mark.parametrize("method", ["SPMLD", "SelfPacedEnsemble", "MaskedLogistic"])
def test_a_fit_advances_the_progress_bar_and_resets_the_callback(method, monkeypatch):
    bars = []

    @contextmanager
    def progress_bar(total, title):
        bars.append([total, title, 0])

        def advance(text):
            bars[-1][2] += 1

        yield advance

    monkeypatch.setattr("spmld.app.commands.fitting.progress_bar", progress_bar)
    model = build(method, {"n_trees": [20]} if method == "SelfPacedEnsemble" else {}, 0)
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

    monkeypatch.setattr("spmld.app.commands.fitting.progress_bar", progress_bar)
    data = songs(TEST, observed=0.6)
    model = with_decision(build("SPMLD", {"max_iter": 7}, 0), None, 0, data.Y)
    fit_model(model, data, "SPMLD")
    ((total, done),) = bars
    assert total == 4 * (model.estimator.n_warmup_iter + 7)  # three folds, and all samples
    assert len(model.estimator_.history_) < done <= total
    assert model.estimator.callback is None
    assert model.estimator_.callback is None
