"""The target of an output is checked before any work is done."""

import os
import shutil
from collections import namedtuple

import pandas as pd
import pytest

from spmld.app.commands.printing import check_output_path
from spmld.tables import read_table

Usage = namedtuple("Usage", "total used free")


def test_a_full_disk_is_an_error_with_the_sizes(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10**9, 10**9 - 5000, 5000))
    with pytest.raises(OSError, match=r"cannot write .*m.skops: only 0.0 MB are free; free some space"):
        check_output_path(str(tmp_path / "m.skops"), force=False)


def test_folders_and_files_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "old.skops").touch()
    monkeypatch.setattr(os, "access", lambda path, mode: "locked" not in str(path))
    assert check_output_path(str(tmp_path / "old.skops"), force=True)
    (tmp_path / "locked").mkdir()
    with pytest.raises(PermissionError, match="permission denied; choose another folder"):
        check_output_path(str(tmp_path / "locked" / "m.skops"), force=False)


@pytest.mark.parametrize(
    ("args", "lost"),
    [
        (["predict", "songs.skops", "test.csv", "-o", "test.csv"], "test.csv"),
        (["predict", "songs.skops", "test.csv", "-o", "link.csv"], "test.csv"),
        (["fit", "train.csv", "-o", "train.csv"], "train.csv"),
        (["complete", "train.csv", "--model", "songs.skops", "-o", "train.csv"], "train.csv"),
        (["complete", "train.csv", "--model", "songs.skops", "--list", "train.csv"], "train.csv"),
        (["correct", "train.csv", "d.jsonl", "-o", "train.csv"], "train.csv"),
        (["audit", "train.csv", "-o", "train.csv"], "train.csv"),
        (["data", "convert", "train.csv", "train.csv"], "train.csv"),
        (["tune", "train.csv", "-o", "train.csv"], "train.csv"),
        (["report", "train.csv", "--model", "songs.skops", "-o", "songs.skops"], "songs.skops"),
    ],
)
def test_an_output_does_not_replace_an_input(cli, args, lost):
    os.symlink("test.csv", "link.csv")
    with open("d.jsonl", "w", encoding="utf-8") as file:
        file.write('{"sample": 0, "label": "sad", "answer": "present"}\n')
    with open(lost, "rb") as file:
        content = file.read()
    status, _, err = cli(*args, "--force")
    assert status == 2, err
    assert "is also an input of the command, which would be lost; pass the name of another file" in err
    with open(lost, "rb") as file:
        assert file.read() == content


def test_a_symbolic_link_is_followed(cli):
    os.mkdir("far")
    os.symlink(os.path.join("far", "tags.csv"), "link.csv")
    assert cli("predict", "songs.skops", "test.csv", "-o", "link.csv")[0] == 0  # the file does not exist yet
    with open("far/tags.csv", encoding="utf-8") as file:
        content = file.read()
    assert content.startswith("sad,calm,")
    assert cli("predict", "songs.skops", "test.csv", "-o", "link.csv")[0] == 2  # now it does
    assert cli("predict", "songs.skops", "test.csv", "--top-k", "1", "-o", "link.csv", "--force")[0] == 0
    assert os.path.islink("link.csv")
    with open("far/tags.csv", encoding="utf-8") as file:
        assert file.read().startswith("sample,rank,")
    assert sorted(os.listdir("far")) == ["tags.csv"]


def test_a_pipe_or_a_device_is_not_replaced(cli):
    os.mkfifo("pipe.csv")
    status, _, err = cli("predict", "songs.skops", "test.csv", "-o", "pipe.csv", "--force")
    assert status == 2
    assert "is not a regular file; pass the name of a file" in err
    assert not os.path.isfile("pipe.csv")


def test_predictions_are_the_same_table_in_all_formats(cli):
    assert cli("predict", "songs.skops", "test.csv", "-o", "p.csv")[0] == 0
    expected = read_table("p.csv")
    for name in ("p.json", "p.jsonl", "p.xlsx", "p.parquet"):
        assert cli("predict", "songs.skops", "test.csv", "-o", name)[0] == 0
        pd.testing.assert_frame_equal(read_table(name), expected, check_dtype=False)


def test_the_message_lists_each_extension_once(cli):
    status, _, err = cli("fit", "train.docx", "-o", "m.skops")
    assert status == 2
    listed = err.partition("supported: ")[2].partition(". Pass")[0].split(", ")
    assert len(listed) == len(set(listed))
    assert {".csv", ".json", ".jsonl", ".xlsx", ".npz"} <= set(listed)
    assert not {".folder", ".excel", ".xc"} & set(listed)
