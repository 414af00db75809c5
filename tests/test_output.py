"""Written files and messages: no formulas, no NUL characters, no temporary files for good, no endless messages."""

import csv
import io
import os
import subprocess
import sys
import time

import numpy as np
import pytest

from spmld import LabelPrior, save
from spmld._io import reading, writing
from spmld._table import ArrayTable, TableCell, TextTable, csv_text, from_csv_text
from spmld.app.commands.loading import Source
from spmld.datasets import Dataset, write_dataset
from spmld.export import ModelFileError
from spmld.labels import read_labels
from tests.commands import run_command

FULL_WIDTH = ["\uff1d1+1", "\uff0b1+a", "\uff0d1", "\uff20SUM(A1)"]
STARTS = ("=", "+", "-", "@", "\t", "\r", *(text[0] for text in FULL_WIDTH))
FORMULAS = [*FULL_WIDTH, "=1+1", "@SUM(A1)", "+1+cmd|' /C calc'!A0", "-2+3", "\t=1", "\r=1", "=" + "\0"]


def test_csv_has_no_formulas_and_numbers_stay_numbers():
    numbers = [-1.5, "-1.5", "+2e3", -3, float("-inf"), TableCell("-0.5 ± 0.1", -0.5), "-", "a=b", "calm", None]
    table = TextTable([*FORMULAS, "loss"], [[*FORMULAS, 1.0]])
    for delimiter in (",", "\t"):
        text = io.StringIO(table.to_csv(delimiter=delimiter), newline="")
        for row in csv.reader(text, delimiter=delimiter):
            assert not any(
                cell.startswith(("=", "+", "-", "@", "\t", "\r", *(text[0] for text in FULL_WIDTH))) for cell in row
            )
            assert [cell[1:] for cell in row[:-1]] == [
                text.replace("\0", "\ufffd").replace("\r", "\n") for text in FORMULAS
            ]
    row = list(csv.reader(io.StringIO(TextTable(["a"] * len(numbers), [numbers]).to_csv())))[1]
    assert row == ["-1.5", "-1.5", "+2e3", "-3", "-inf", "-0.5 ± 0.1", "-", "a=b", "calm", ""]


@pytest.mark.parametrize("names", [None, ["=1+1", 7, "a,b"]])
def test_tables_of_arrays_are_written_as_tables_of_their_values(names):
    counts = np.array([[1, 0], [0, 0], [-3, 12345678]])
    values = np.array([[0.1, 1e-7], [1 / 3, 1e22], [np.nan, -0.5]])
    columns = ["a", "=b", "c", "d"] if names is None else ["id", "a", "=b", "c", "d"]
    table = ArrayTable(columns, [counts, values], names)
    expected = [[*integers, *floats] for integers, floats in zip(counts.tolist(), values.tolist(), strict=True)]
    if names is not None:
        expected = [[name, *row] for name, row in zip(names, expected, strict=True)]
    np.testing.assert_array_equal(list(map(tuple, table.rows)), list(map(tuple, expected)))
    for header in (True, False):
        assert table.to_csv(delimiter="\t", header=header) == TextTable(columns, expected).to_csv(
            delimiter="\t", header=header
        )


def test_predictions_of_samples_with_formulas_as_names(tmp_path):
    lines = ["id,pitch,label_=sad,label_calm", "=1+1,0.5,1,0", "@b,0.1,0,1", "-c,0.3,1,1", "-5,0.3,0,0"]
    (tmp_path / "songs.csv").write_text("\n".join(lines))
    fit = "fit songs.csv --id id --method LabelPrior -o m.skops"
    for command in (fit, "predict m.skops songs.csv --id id -o tags.csv"):
        assert run_command(tmp_path, *command.split())[0] == 0
    rows = list(csv.reader((tmp_path / "tags.csv").open()))
    assert [row[0] for row in rows] == ["id", "'=1+1", "'@b", "'-c", "-5"]
    assert rows[0][1] == "'=sad"


def test_text_is_read_as_it_was_before_it_was_written():
    texts = [*FULL_WIDTH, "=1+1", "-", "-1.5", "calm", "'calm'", "", "\t=1", "- a"]
    assert [from_csv_text(csv_text(text)) for text in texts] == texts


@pytest.mark.parametrize("extension", ["csv", "xlsx"])
def test_copies_of_tables_keep_formulas_and_lists_have_none(tmp_path, extension):
    pd, openpyxl = pytest.importorskip("pandas"), pytest.importorskip("openpyxl")
    rows = [("=1+1", "\uff1dx; calm"), ("@b", "=HYPERLINK(1)"), ("-c", ""), ("d", "calm"), ("e", "=HYPERLINK(1); calm")]
    frame = pd.DataFrame(rows, columns=["id", "tags"]).assign(pitch=[0.5, 0.1, 0.3, 0.7, 0.9])
    file, copy = tmp_path / f"songs.{extension}", tmp_path / f"new.{extension}"
    if extension == "csv":
        frame.to_csv(file, index=False)
    else:
        book = openpyxl.Workbook()
        for i, row in enumerate([list(frame.columns), *frame.values.tolist()], start=1):
            for j, value in enumerate(row, start=1):
                cell = book.active.cell(i, j, value)
                cell.data_type = "s" if isinstance(value, str) else cell.data_type
        book.save(file)
    answers = [f"{id},{tag},present" for id in ("-c", "=1+1", "@b") for tag in ("=HYPERLINK(1)",)]
    (tmp_path / "answers.csv").write_text("\n".join(["id,label,answer", *answers]))
    options = ["--id", "id", "--tags", "tags", "--tag-sep", ";"]
    status, _, err = run_command(tmp_path, "correct", file.name, "answers.csv", *options, "-o", copy.name)
    assert status == 0, err
    expected = ["\uff1dx; calm; =HYPERLINK(1)", "=HYPERLINK(1)", "=HYPERLINK(1)", "calm", "=HYPERLINK(1); calm"]
    if extension == "csv":
        assert pd.read_csv(copy)["tags"].tolist() == expected
    else:
        cells = [row[1] for row in openpyxl.load_workbook(copy).active.iter_rows(min_row=2)]
        assert [cell.value for cell in cells] == expected
        assert {cell.data_type for cell in cells} == {"s"}
    trusted = list(csv.reader((tmp_path / "new.trusted.csv").open(encoding="utf-8")))
    assert trusted[0] == ["id", "'=HYPERLINK(1)", "calm", "'\uff1dx"]
    assert [row[0] for row in trusted[1:]] == ["'=1+1", "'@b", "'-c", "d", "e"]
    roles = {"id": "id", "tags": "tags", "tag_sep": [";"]}
    data = Source(str(copy), None, "all", roles, str(tmp_path / "new.trusted.csv")).load()
    assert data.label_names == ["=HYPERLINK(1)", "calm", "\uff1dx"]
    assert data.trusted.tolist() == [[True, False, False]] * 3 + [[False] * 3] * 2


def test_html_has_no_nul_characters():
    pytest.importorskip("jinja2")
    from spmld.app.reports.page import page

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


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipes_are_not_replaced(tmp_path):
    model = LabelPrior().fit([[0], [1]], [[0, 1], [1, 0]])
    data = Dataset(np.eye(2), np.eye(2))
    for name, write in (
        ("model.skops", lambda path: save(model, path)),
        ("data.csv", lambda path: write_dataset(data, path)),
        ("data.npz", lambda path: write_dataset(data, path)),
    ):
        os.mkfifo(tmp_path / name)
        with pytest.raises(ValueError, match=f"{name} is not a regular file; pass the name of a file"):
            write(tmp_path / name)
        assert (tmp_path / name).is_fifo()
    assert len(list(tmp_path.iterdir())) == 3


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
