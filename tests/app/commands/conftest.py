"""Fixtures of the tests of commands."""

import pandas as pd
import pytest

import spmld
from spmld.app.commands import main
from tests.app.commands.songs import FEATURES, LABELS, TEST, songs, write_songs


@pytest.fixture(scope="module")
def model():
    """A model of the songs, as written by `spmld fit`."""
    data = songs(TEST, observed=0.6)
    frame = pd.DataFrame(data.X, columns=FEATURES), pd.DataFrame(data.Y, columns=LABELS)
    return spmld.MaskedLogistic().fit(*frame)


@pytest.fixture
def cli(tmp_path, monkeypatch, capsys, model):
    """Run a command in a folder with the songs and a model of them; return exit status, output and errors."""
    monkeypatch.chdir(tmp_path)
    write_songs(tmp_path)
    spmld.save(model, "songs.skops")

    def call(*args):
        with pytest.raises(SystemExit) as exit:
            main(list(args))
        return exit.value.code, *capsys.readouterr()

    return call
