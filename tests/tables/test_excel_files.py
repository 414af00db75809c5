"""Excel cells whose values are not in the file are missing, with a note."""

import io
import warnings
import zipfile

import numpy as np
import pytest

from spmld.datasets import read_dataset
from spmld.tables import TableWarning, read_table

openpyxl = pytest.importorskip("openpyxl")


def save(path, *rows, merged=(), changes=()):
    """Write an Excel file; texts of its sheet are replaced by others, which openpyxl cannot write."""
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for cells in merged:
        book.active.merge_cells(cells)
    buffer = io.BytesIO()
    book.save(buffer)
    with zipfile.ZipFile(buffer) as archive, zipfile.ZipFile(path, "w") as changed:
        for name in archive.namelist():
            content = archive.read(name).decode()
            for old, new in changes:
                content = content.replace(old, new)
            changed.writestr(name, content)


def read(path, reader=read_table):
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        return reader(path), [str(note.message) for note in notes if isinstance(note.message, TableWarning)]


def test_formulas_without_stored_values_are_noted(tmp_path):
    path = tmp_path / "songs.xlsx"
    save(path, ["pitch", "label_sad"], [1, "=A2>0"], [2, "=A3>0"], [3, 1], [4, 0])
    data, notes = read(path, read_dataset)
    np.testing.assert_array_equal(data.Y, [[np.nan], [np.nan], [1], [0]])
    text = "2 formulas of sheet 'Sheet' are treated as missing, such as B2 (=A2>0), since the file does not store"
    assert any(text in note for note in notes), notes


def test_formulas_with_stored_values_are_read_without_a_note(tmp_path):
    path, empty = tmp_path / "songs.xlsx", ("<f>A2*2</f><v />", "<f>A2*2</f><v>7</v>")
    text = ('<c r="C2"><f>LEFT(A2,0)</f><v />', '<c r="C2" t="str"><f>LEFT(A2,0)</f><v></v>')
    absent = ('<c r="D2"><f>NA()</f><v />', '<c r="D2" t="e"><f>NA()</f><v>#N/A</v>')
    rows = ["a", "b", "c", "d"], [1, "=A2*2", "=LEFT(A2,0)", "=NA()"]
    save(path, *rows, changes=(empty, text, absent))
    frame, notes = read(path)
    assert (frame["b"].tolist(), frame["c"].isna().all(), frame["d"].isna().all(), notes) == ([7], True, True, [])


def test_errors_are_noted(tmp_path):
    save(tmp_path / "songs.xlsx", ["a", "b"], [1, "#REF!"], [2, "#N/A"], [3, 4])
    frame, notes = read(tmp_path / "songs.xlsx")
    np.testing.assert_array_equal(frame["b"], [np.nan, np.nan, 4])
    assert notes == ["1 error of sheet 'Sheet' is treated as missing, such as B2 (#REF!)"]


def test_merged_cells_are_noted(tmp_path):
    path = tmp_path / "songs.xlsx"
    save(path, ["pitch", "label_sad"], *([i, 1] for i in range(5)), merged=["B2:B4"])
    data, notes = read(path, read_dataset)
    np.testing.assert_array_equal(data.Y, [[1], [np.nan], [np.nan], [1], [1]])
    text = "all but the first of the merged cells B2:B4 of sheet 'Sheet' are treated as missing; unmerge"
    assert any(text in note for note in notes), notes


def test_only_the_sheet_that_is_used_is_noted(tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["a"])
    book.active.append([1])
    book.create_sheet("Sums").append(["=1+1"])
    book.save(tmp_path / "songs.xlsx")
    assert read(tmp_path / "songs.xlsx")[1] == ["sheet 'Sheet' is used; the other sheets are 'Sums' (sheet='Sums')"]


def test_cells_of_text_keep_their_zeros_and_digits(tmp_path):
    ids = ["007", "1234567890123456789", None, "1234567890123456788"]
    save(tmp_path / "songs.xlsx", ["sid", "x", "label_sad"], *([name, i, i % 2] for i, name in enumerate(ids)))
    frame, _ = read(tmp_path / "songs.xlsx")
    assert frame["sid"].fillna("").tolist() == ["007", "1234567890123456789", "", "1234567890123456788"]
    assert (frame["x"].dtype, frame["label_sad"].dtype) == (np.int64, np.int64)
    data, _ = read(tmp_path / "songs.xlsx", lambda path: read_dataset(path, number="sid"))
    assert data.columns == {"sid": "number", "x": "number"}
