"""Written files and messages: no formulas, no NUL characters, no temporary files for good, no endless messages."""

import csv
import io
import os
import subprocess
import sys
import time

import pytest

from spmld import LabelPrior
from spmld._io import reading, writing
from spmld._table import TableCell, TextTable
from spmld.labels import read_labels
from spmld.persistence import ModelFileError
from tests.commands import run_command

FORMULAS = ["=1+1", "@SUM(A1)", "+1+cmd|' /C calc'!A0", "-2+3", "\t=1", "\r=1", "=" + "\0"]


def test_csv_has_no_formulas_and_numbers_stay_numbers():
    numbers = [-1.5, "-1.5", "+2e3", -3, float("-inf"), TableCell("-0.5 ± 0.1", -0.5), "-", "a=b", "calm", None]
    table = TextTable([*FORMULAS, "loss"], [[*FORMULAS, 1.0]])
    for delimiter in (",", "\t"):
        text = io.StringIO(table.to_csv(delimiter=delimiter), newline="")
        for row in csv.reader(text, delimiter=delimiter):
            assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in row)
            assert [cell[1:] for cell in row[:-1]] == [
                text.replace("\0", "\ufffd").replace("\r", "\n") for text in FORMULAS
            ]
    row = list(csv.reader(io.StringIO(TextTable(["a"] * len(numbers), [numbers]).to_csv())))[1]
    assert row == ["-1.5", "-1.5", "+2e3", "-3", "-inf", "-0.5 ± 0.1", "-", "a=b", "calm", ""]


def test_predictions_of_samples_with_formulas_as_names(tmp_path):
    lines = ["id,pitch,label_=sad,label_calm", "=1+1,0.5,1,0", "@b,0.1,0,1", "-c,0.3,1,1", "-5,0.3,0,0"]
    (tmp_path / "songs.csv").write_text("\n".join(lines))
    fit = "fit songs.csv --id id --method LabelPrior -o m.skops"
    for command in (fit, "predict m.skops songs.csv --id id -o tags.csv"):
        assert run_command(tmp_path, *command.split())[0] == 0
    rows = list(csv.reader((tmp_path / "tags.csv").open()))
    assert [row[0] for row in rows] == ["id", "'=1+1", "'@b", "'-c", "-5"]
    assert rows[0][1] == "'=sad"


def test_html_has_no_nul_characters():
    pytest.importorskip("jinja2")
    from spmld.reports.page import page

    assert "\0" not in TextTable(["a\0"], [["b\0"]], title="t\0", note="n\0").to_html()
    assert "a\ufffdb" in page("a\0b", "", [])


def test_temporary_files_of_killed_processes_are_removed_after_an_hour(tmp_path):
    code = "import os, sys, spmld._io\nwith spmld._io.writing(sys.argv[1]) as part:\n    part.touch()\n    os._exit(9)"
    file = tmp_path / "tags.csv"
    assert subprocess.run([sys.executable, "-c", code, file]).returncode == 9
    (left,) = tmp_path.iterdir()
    other = tmp_path / f"{left.name}.tsv"  # the temporary file of another file
    mine = tmp_path / ".my-part-tags.csv"
    for kept in (other, mine):
        kept.touch()
        os.utime(kept, (0, 0))
    for age, remaining in ((0, {left.name}), (4000, set())):
        os.utime(left, (time.time() - age, time.time() - age))
        with writing(file) as part:
            part.write_text("new")
        assert {path.name for path in tmp_path.iterdir()} == {file.name, other.name, mine.name} | remaining


@pytest.mark.parametrize("length", [1000, 10**6])
def test_messages_have_at_most_2000_characters(length, tmp_path):
    file, text = tmp_path / "file", "x" * length
    file.write_text("a")
    with pytest.raises(ValueError, match="file cannot be read as text: xxx") as caught, reading(file, "text"):
        raise RuntimeError(text)
    messages = [str(caught.value), str(ModelFileError(text))]
    for call in (
        lambda: LabelPrior().fit([[0], [1]], [[0, 1], [1, 0]], entry_weight=text),
        lambda: read_labels([[text, "b"], ["c", "d"]]),
    ):
        with pytest.raises(ValueError, match="xxx") as caught:
            call()
        messages.append(str(caught.value))
    assert all(len(message) <= 2000 for message in messages)
    assert [" [...] " in message for message in messages] == [length > 1000] * 3 + [False]
