"""From a file to annotations and to a new file: nothing changes but the decided fields, in every format."""

import datetime
import gzip
import io
import json
import re
import zipfile

import numpy as np
import pytest

from spmld.app.commands import main
from spmld.app.review import Annotation, apply_annotations, open_table
from spmld.app.review.editable_tables import JsonTable

N = 40
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=N).round(3), RNG.random((N, 2)) < 0.5
DECIDED = {3: "present", 7: "absent", 20: "present"}
OPTIONS = ["--label", "sad", "--label", "calm"]


def word(i, j):
    return "" if (i + j) % 9 == 0 else "ja" if Y[i, j] else "nein"


def rows():
    return [[f"Lied {i}", X[i], f'so "schön", {i}\nzwei', word(i, 0), word(i, 1)] for i in range(N)]


def csv_text(sep, end):
    """Return a file with quotes in some lines only, spaces, empty lines and line breaks in fields."""
    lines = [sep.join(["titel", "x", '"text, lang"', "sad", "calm"])]
    for i, (title, x, text, sad, calm) in enumerate(rows()):
        quoted = '"' + text.replace('"', '""') + '"'
        lines.append(
            sep.join([f'"{title}"' if i % 3 else title, str(x), quoted, f'"{sad}"' if i % 5 == 0 else sad, calm])
        )
    lines[11] += end  # an empty line
    return end.join([*lines, ""])


def review(folder, monkeypatch, capsys, name, *options):
    """Store annotations about the label sad in a review, apply them, and return the content before and after."""
    monkeypatch.chdir(folder)
    lines = [json.dumps({"sample": i, "label": "sad", "answer": a, "reviewer": "ann"}) for i, a in DECIDED.items()]
    (folder / "annotations.jsonl").write_text("\n".join(lines))
    out = f"new-{name}"
    for command in (
        ["review", name, "--db", "r.sqlite", "--import", "annotations.jsonl", "--export", "entries.jsonl", *options],
        ["correct", name, "r.sqlite", "-o", out, *options],
    ):
        with pytest.raises(SystemExit) as ended:
            main(command)
        assert ended.value.code == 0, capsys.readouterr().err
    return (folder / name).read_bytes(), (folder / out).read_bytes()


def check_rows(before, after, label="sad"):
    """Check that rows, as dictionaries of their values, differ in the decided labels only."""
    assert len(before) == len(after)
    for i, (old, new) in enumerate(zip(before, after, strict=True)):
        if i in DECIDED:
            assert new.pop(label) == ("ja" if DECIDED[i] == "present" else "nein")
            old.pop(label)
        assert old == new


@pytest.mark.parametrize(
    ("encoding", "sep", "end"),
    [
        ("utf-8", ",", "\n"),
        ("utf-8-sig", ";", "\r\n"),
        ("utf-16", "\t", "\n"),
        ("utf-16-be", ",", "\r\n"),
        ("cp1252", ";", "\n"),
    ],
)
def test_csv_files_keep_all_bytes_of_other_rows(tmp_path, monkeypatch, capsys, encoding, sep, end):
    text = csv_text(sep, end)
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    (tmp_path / "t.csv").write_bytes((mark + text).encode(encoding))
    options = ["--encoding", "cp1252"] if encoding == "cp1252" else []
    old, new = review(tmp_path, monkeypatch, capsys, "t.csv", *OPTIONS, *options)
    codec = {"utf-16": "utf-16-le", "utf-8-sig": "utf-8"}.get(encoding, encoding)
    # A row ends where the next title begins.
    old, new = (re.split(r'(?<!")(?="?Lied )', content.decode(codec)) for content in (old, new))
    assert len(old) == len(new) == N + 1
    changed = {i - 1 for i, (a, b) in enumerate(zip(old, new, strict=True)) if a != b}
    assert changed == {i for i, answer in DECIDED.items() if word(i, 0) != ("ja" if answer == "present" else "nein")}
    for i in changed:
        start, _, rest = old[i + 1].rpartition(sep)[0].rpartition(sep)
        assert new[i + 1].startswith(start + sep)
        assert new[i + 1].endswith(old[i + 1][len(start) + 1 + len(rest) :])


@pytest.mark.parametrize("kind", ["jsonl", "json", "jsonl.gz"])
def test_json_keeps_all_bytes_of_other_rows(tmp_path, monkeypatch, capsys, kind):
    names = ["titel", "x", "text", "sad", "calm"]
    lines = [
        json.dumps(
            dict(zip(names, row, strict=True)), ensure_ascii=i % 2 == 0, separators=((",", ":"), (" ,", ": "))[i % 2]
        )
        for i, row in enumerate(rows())
    ]
    text = "[\n  " + ",\n  ".join(lines) + "\n]\n" if kind == "json" else "\r\n".join(lines)
    content = text.encode()
    (tmp_path / f"t.{kind}").write_bytes(gzip.compress(content) if kind.endswith("gz") else content)
    old, new = review(tmp_path, monkeypatch, capsys, f"t.{kind}", *OPTIONS)
    old, new = (
        c.decode() for c in ((gzip.decompress(old), gzip.decompress(new)) if kind.endswith("gz") else (old, new))
    )
    pattern = r'("sad" ?: ?)"(?:ja|nein|)"'
    for i, (a, b) in enumerate(zip(old.split("\n"), new.split("\n"), strict=True)):
        row = i - (kind == "json")
        answer = {"present": "ja", "absent": "nein"}.get(DECIDED.get(row))
        assert b == (a if answer is None else re.sub(pattern, rf'\g<1>"{answer}"', a))


def test_json_objects_with_repeated_keys_and_without_keys():
    text = '{"x": 1, "sad": "ja", "sad": "nein"}\n{}\n{ }\n{"sad": "ja"}'
    table = JsonTable(text)
    answers = [Annotation("", "sad", "present", sample=i) for i in range(3)]
    applied = apply_annotations(table, answers, {"sad": "sad"})
    assert (
        applied.content.decode() == '{"x": 1, "sad": "ja", "sad": "ja"}\n{"sad": "ja"}\n{"sad": "ja" }\n{"sad": "ja"}'
    )
    table = JsonTable(text)
    table.set(1, "x", 1)
    table.set(1, "sad", 2)
    assert table.content().splitlines()[1] == b'{"x": 1, "sad": 2}'
    assert [json.loads(line)["sad"] for line in applied.content.decode().splitlines()] == ["ja"] * 4


def workbook(path):
    """Write a workbook whose second sheet is the table, with formats, a formula and a row without cells."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "Notizen & mehr"
    for i in range(3):
        book.active.append([f"titel {i}", i, "sad"])
    sheet = book.create_sheet("Lieder <2024>")
    sheet.append(["titel", "x", "text", "sad", "calm", "summe"])
    for i, row in enumerate(rows()):
        sheet.append([*(None if value == "" else value for value in row), f"=B{i + 2}*2"])
        sheet.cell(i + 2, 4).fill = openpyxl.styles.PatternFill("solid", fgColor="FFFF00")
    book.create_sheet("Ende")["A1"] = datetime.date(2024, 5, 1)
    book.save(path)


def parts(content):
    with zipfile.ZipFile(io.BytesIO(content)) as book:
        return {name: book.read(name).decode(errors="replace") for name in book.namelist()}


@pytest.mark.parametrize("kind", ["xlsx", "xlsm"])
def test_the_named_sheet_of_a_workbook_changes_and_no_other(tmp_path, monkeypatch, capsys, kind):
    workbook(tmp_path / f"t.{kind}")
    options = ["--sheet", "Lieder <2024>", *OPTIONS, "--drop", "summe"]
    old, new = review(tmp_path, monkeypatch, capsys, f"t.{kind}", *options)
    entry = json.loads((tmp_path / "entries.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert entry["fields"]["titel"].startswith("Lied ")  # the review shows the sheet, too
    before, after = parts(old), parts(new)
    assert all(before[f"xl/worksheets/sheet{i}.xml"] == after[f"xl/worksheets/sheet{i}.xml"] for i in (1, 3))
    openpyxl = pytest.importorskip("openpyxl")
    tables = []
    for name in (f"t.{kind}", f"new-t.{kind}"):
        sheet = openpyxl.load_workbook(tmp_path / name)["Lieder <2024>"]
        names, *values = sheet.iter_rows(values_only=True)
        tables.append([dict(zip(names, row, strict=True)) for row in values])
        assert all(sheet.cell(i + 2, 4).fill.fgColor.rgb == "00FFFF00" for i in range(N))
    check_rows(*tables)


def test_rows_without_values_do_not_move_the_decisions(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["x", "sad"], [1, "ja"], [None, None], [2, "nein"], [3, "ja"]):
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    table = open_table(tmp_path / "t.xlsx")
    assert table.column("sad") == ["ja", "nein", "ja"]
    table.set(1, "sad", "ja")
    sheet = openpyxl.load_workbook(io.BytesIO(table.content())).active
    assert [cell.value for cell in sheet["B"]] == ["sad", "ja", None, "ja", "ja"]


def test_parquet_files_keep_types_and_values(tmp_path, monkeypatch, capsys):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    integers = [None if i % 7 == 0 else 2**60 + i for i in range(N)]
    columns = {
        "titel": pa.array([row[0] for row in rows()]).dictionary_encode(),
        "x": pa.array(X, pa.float32()),
        "number": pa.array(integers, pa.int64()),
        "day": pa.array([datetime.date(2024, 1, 1 + i % 28) for i in range(N)]),
        "list": pa.array([[i, None] for i in range(N)], pa.list_(pa.int16())),
        "sad": pa.array([word(i, 0) or None for i in range(N)]),
        "calm": pa.array([None if word(i, 1) == "" else int(Y[i, 1]) for i in range(N)], pa.int8()),
    }
    parquet.write_table(pa.table(columns).replace_schema_metadata({"note": "ours"}), tmp_path / "t.parquet")
    options = [*OPTIONS, "--drop", "list", "--drop", "titel", "--drop", "number"]
    old, new = review(tmp_path, monkeypatch, capsys, "t.parquet", *options)
    old, new = (parquet.read_table(io.BytesIO(content)) for content in (old, new))
    assert old.schema.equals(new.schema, check_metadata=True)
    check_rows(old.to_pylist(), new.to_pylist())


def test_integers_of_a_parquet_file_stay_integers(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pa.table({"x": [1.5, 2.5, 3.5], "sad": pa.array([1, None, 0], pa.int8()), "on": [True, None, False]})
    parquet.write_table(table, tmp_path / "t.parquet")
    answers = [Annotation("", name, "present", sample=1) for name in ("sad", "on")]
    content = apply_annotations(open_table(tmp_path / "t.parquet"), answers, {"sad": "sad", "on": "on"}).content
    new = parquet.read_table(io.BytesIO(content))
    assert new.schema == table.schema
    assert new.to_pylist()[1] == {"x": 2.5, "sad": 1, "on": True}


def test_characters_that_the_encoding_lacks_are_named(tmp_path):
    (tmp_path / "t.csv").write_bytes("x,tags\n1,schön\n2,leise\n".encode("cp1252"))
    table = open_table(tmp_path / "t.csv", encoding="cp1252")
    table.set(0, "tags", "łza")
    with pytest.raises(ValueError, match="'ł' does not exist in the encoding cp1252 of the file; save a copy as UTF-8"):
        table.content()
