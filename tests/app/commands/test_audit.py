"""``spmld audit`` in a separate process: output, files and errors."""

import csv
import json
import re

import numpy as np
import pytest

from spmld.datasets import Dataset, make_planted, write_dataset
from spmld.labels import corrupt_labels
from tests.commands import run_command

NAMES = ["sad", "calm", "loud", "quiet"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("audit")
    data = make_planted(120, 10, 4, noise=0.1, random_state=0)
    Y = corrupt_labels(data.Y, "flip", 0.05, random_state=0)
    Y[:20, 0] = np.nan
    write_dataset(Dataset(data.X, Y, label_names=NAMES, name="songs"), path / "songs.csv")
    return path


def run_audit(folder, *args):
    return run_command(folder, "audit", *args, SPMLD_DATA=None)


def test_tab_separated_tables_and_csv_file(folder):
    status, out, err = run_audit(folder, "songs.csv", "--top", "3", "--out", "issues.csv")
    assert status == 0, err
    lines = [line.split("\t") for line in out.splitlines()]
    assert lines[0] == ["sample", "label", "given", "kind", "label_quality"]
    assert all(line[1] in NAMES and line[3] in ("present", "absent") for line in lines[1:4])
    assert lines[4] == [""]
    assert lines[5][:2] == ["label", "observed"]
    assert {line[0]: line[1] for line in lines[6:]} == {"sad": "100", "calm": "120", "loud": "120", "quiet": "120"}
    summary = r"^120 samples and 4 labels: of 460 observed entries, 0 to \d+ are errors that these features could"
    assert re.search(summary, err, re.MULTILINE)
    with (folder / "issues.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 460
    assert [rows[0]["sample"], rows[0]["label"]] == lines[1][:2]
    status, _, err = run_audit(folder, "songs.csv", "--out", "issues.csv")
    assert (status, err) == (2, "spmld: issues.csv already exists; use --force to overwrite it\n")


def test_trusted_labels_are_not_listed_as_errors(folder):
    with (folder / "songs.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    with (folder / "verified.csv").open("w", newline="") as file:
        csv.writer(file).writerows([[*rows[0], "verified"], *([*row, i < 50] for i, row in enumerate(rows[1:]))])
    status, out, err = run_audit(folder, "verified.csv", "--trusted", "verified", "--json", "--top", "460")
    assert status == 0, err
    issues = json.loads(out)["issues"]
    assert {entry["label_quality"] for entry in issues if entry["sample"] < 50} == {1}
    assert issues[0]["sample"] >= 50
    assert issues[0]["label_quality"] < 1


@pytest.mark.parametrize(("kind", "given"), [("present", "1"), ("absent", "0")])
def test_the_list_of_one_kind(folder, kind, given):
    status, out, err = run_audit(folder, "songs.csv", "--kind", kind, "--out", f"{kind}.csv")
    assert status == 0, err
    with (folder / f"{kind}.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {(row["kind"], row["given"]) for row in rows} == {(kind, given)}
    qualities = [float(row["label_quality"]) for row in rows]
    assert qualities == sorted(qualities)
    assert [rows[0]["sample"], rows[0]["label"]] == out.splitlines()[1].split("\t")[:2]


def test_json_and_another_method(folder):
    status, out, err = run_audit(folder, "songs.csv", "--json", "--top", "2", "--method", "glocal", "--folds", "2")
    assert status == 0, err
    output = json.loads(out)
    assert len(output["issues"]) == 2
    assert {row["label"] for row in output["per label"]} == set(NAMES)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["songs.csv", "--prefix", "x"], "spmld: songs.csv has 10 problems"),
        (["songs.csv", "--part", "train"], "spmld: songs has no official split"),
        (["songs.csv", "--method", "absent"], "Invalid value for '--method': must be one of SelfPacedEnsemble"),
        ([], "Missing argument"),
    ],
)
def test_errors_exit_with_2(folder, args, message):
    status, out, err = run_audit(folder, *args)
    assert (status, out) == (2, "")
    assert message in err
    assert "Traceback" not in err
