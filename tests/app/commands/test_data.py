"""``spmld data``: output on a terminal, in a pipe and as JSON, and errors."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from spmld.app.commands import main
from spmld.datasets import Dataset, read_dataset, registry, write_dataset

DATA = Dataset([[0.5], [0.0], [1.0]], [[1, 0], [1, None], [0, 0]], ["pitch"], ["sad", "calm"], "songs", [0, 1], [2])


@pytest.fixture
def spmld(capsys, tmp_path, monkeypatch):
    """Run a command in a folder that contains songs.npz; return exit status, output and errors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SPMLD_DATA", raising=False)
    monkeypatch.setenv("SPMLD_CACHE", str(tmp_path / "cache"))
    write_dataset(DATA, "songs.npz")

    def run(*args):
        with pytest.raises(SystemExit) as exit:
            main(["data", *args])
        return exit.value.code, *capsys.readouterr()

    return run


def test_list_prints_lines_or_json(spmld):
    status, out, err = spmld("list")
    lines = [line.split("\t") for line in out.splitlines()]
    assert (status, err) == (0, "")
    assert lines[0] == ["name", "train", "test", "features", "labels", "task"]
    assert ["emotions", "391", "202", "72", "6", "songs with the emotions they evoke"] in lines
    status, out, err = spmld("list", "--json")
    entries = {entry["name"]: entry for entry in json.loads(out)}
    assert next(iter(entries["yeast"]["files"].values())).startswith("e759dc99")
    assert "Elisseeff" in entries["yeast"]["citation"]


def test_describe_prints_the_numbers(spmld):
    status, out, err = spmld("describe", "songs.npz")
    assert (status, err) == (0, "")
    assert "cardinality               0.6667" in out
    assert out.splitlines()[-2:] == ["sad\t2\t0.6667\t1.0000\t0.0000", "calm\t0\t0.0000\tinf\t0.3333"]
    status, out, err = spmld("describe", "songs.npz", "--json")
    output = json.loads(out)
    assert output["missing"] == pytest.approx(1 / 6)
    assert output["per label"][1]["imbalance"] is None  # JSON has no infinity


def test_converted_files_can_be_read_back(spmld):
    status, out, _ = spmld("convert", "songs.npz", "train.parquet", "--part", "train")
    assert (status, out) == (0, "")
    data = read_dataset("train.parquet")
    np.testing.assert_array_equal(data.Y, DATA.Y_train)
    np.testing.assert_array_equal(data.X, DATA.X_train)
    assert spmld("convert", "train.parquet", "table", "--to", "csv")[0] == 0
    _, out, _ = spmld("describe", "table", "--from", "csv", "--label", "label_calm", "--drop", "label_sad")
    assert "labels                    1" in out


def test_convert_overwrites_only_with_force(spmld):
    assert spmld("convert", "songs.npz", "copy.npz")[0] == 0
    status, _, err = spmld("convert", "songs.npz", "copy.npz", "--part", "test")
    assert (status, err) == (2, "spmld: copy.npz already exists; use --force to overwrite it\n")
    assert spmld("convert", "songs.npz", "copy.npz", "--force", "--part", "test")[0] == 0
    np.testing.assert_array_equal(read_dataset("copy.npz").X, DATA.X_test)


@pytest.mark.parametrize(
    ("args", "status", "message"),
    [
        (["describe", "absent.csv"], 2, "spmld: file absent.csv does not exist"),
        (["describe", "absent"], 2, "spmld: absent is neither an existing file nor a data set"),
        (["describe", "empty.arff"], 2, "spmld: empty.arff is empty, expected an ARFF file"),
        (["describe", "bytes.csv"], 2, "spmld: bytes.csv is not utf-8 text"),
        (["describe", "songs.npz", "--prefix", "y"], 2, "spmld: songs.npz is read as npz, which accepts no options"),
        (["describe", "."], 2, "spmld: . is a folder, expected a file"),
        (["convert", "songs.npz", "songs.xyz"], 2, 'spmld: unknown file extension ".xyz" of songs.xyz'),
        (
            ["convert", "songs.npz", "absent/songs.csv"],
            2,
            "spmld: cannot write songs.csv: folder absent does not exist",
        ),
        (["fetch", "absent"], 2, "spmld: unknown data set 'absent'"),
        (["fetch"], 2, "Missing argument"),
        (["absent"], 2, "No such command"),
    ],
)
def test_errors_are_one_line_without_a_traceback(args, status, message, spmld):
    for name, content in {"empty.arff": b"", "bytes.csv": b"caf\xe9,1\n"}.items():
        Path(name).write_bytes(content)
    exit_status, out, err = spmld(*args)
    assert (exit_status, out) == (status, "")
    assert message in err
    if err.startswith("spmld:"):
        assert err.count("\n") == 1
    assert "Traceback" not in err


def test_fetch_without_network_exits_with_1(spmld, monkeypatch):
    info = registry.DatasetInfo("songs", "", 2, 1, 1, 2, {"http://127.0.0.1:9/songs.xml": "0"}, "", "")
    monkeypatch.setitem(registry._REGISTRY, "songs", info)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    status, out, err = spmld("fetch", "songs")
    assert (status, out) == (1, "")
    assert "Save http://127.0.0.1:9/songs.xml in a folder, and set the environment variable SPMLD_DATA" in err


def test_fetch_prints_paths_and_warns_of_other_checksums(spmld, tmp_path, monkeypatch):
    for name in ("emotions-train.arff", "emotions-test.arff", "emotions.xml"):
        (tmp_path / name).write_bytes(b"something else")
    monkeypatch.setenv("SPMLD_DATA", str(tmp_path))
    status, out, err = spmld("fetch", "emotions", "--json")
    assert status == 0
    assert json.loads(out)[0]["file"] == str(tmp_path / "emotions-train.arff")
    assert json.loads(out)[0]["checksum"] == "differs"
    assert f"spmld: warning: {tmp_path / 'emotions-train.arff'} differs from the file in the registry" in err
    assert "please cite Trohidis" in err


def test_help_imports_no_numerical_library():
    code = "import sys\nfrom spmld.app.commands import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
    code += "print([name for name in ('numpy', 'sklearn', 'pandas') if name in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "Commands:" in out
    assert out.endswith("[]\n")


def test_ctrl_c_exits_with_130_and_leaves_no_partial_file(tmp_path):
    rng = np.random.default_rng(0)
    write_dataset(Dataset(rng.normal(size=(2000, 200)), rng.integers(2, size=(2000, 3))), tmp_path / "big.npz")
    command = [sys.executable, "-m", "spmld.app.commands", "data", "convert", "big.npz", "big.csv"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not any("part" in name for name in os.listdir(tmp_path)):  # writing has begun
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.002)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.strip().endswith("spmld: interrupted")
    assert "Traceback" not in err
    assert os.listdir(tmp_path) == ["big.npz"]


def test_a_terminal_shows_a_formatted_table(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "dumb")
    with pytest.raises(SystemExit):
        main(["data", "list"])
    out = capsys.readouterr().out
    header, line, *rows = out.splitlines()
    assert header.split() == ["name", "train", "test", "features", "labels", "task"]
    assert set(line) == {"─"}
    assert any(row.startswith("emotions ") for row in rows)
