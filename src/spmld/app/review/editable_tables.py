"""Tables whose fields can be changed, in the format of their file: CSV, JSON lines, Excel and Parquet."""

import codecs
import gzip
import io
import json
import math
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from spmld._io import StrPath, need, reading
from spmld.labels.words import to_number
from spmld.tables.csv_files import HEAD, csv_separator, open_text
from spmld.tables.errors import absent_columns
from spmld.tables.reading import TABLE_EXTENSIONS, table_format

BOM = "\ufeff"
"""Byte order mark at the beginning of a text."""
_BEFORE_OBJECT = re.compile(r"[\s,\[\]]*")
_DECODER = json.JSONDecoder()
_KEY = re.compile(r'[\s,{]*("(?:[^"\\]|\\.)*+")\s*:\s*')
_SUPPORTED = ", ".join(f".{extension}" for extension in TABLE_EXTENSIONS)


class EditableTable(ABC):
    """Table with a row for each sample. Rows without any value are left out.

    Attributes
    ----------
    columns : list of str
        Names of the columns, as in `spmld.tables.read_table`.
    """

    def __init__(self, columns: list[str], rows: list[list[Any]]):
        self.columns = columns
        self._rows = rows
        self._changes: dict[tuple[int, int], Any] = {}  # by row and column

    def __len__(self) -> int:
        return len(self._rows)

    def values(self, row: int) -> Sequence[Any]:
        """Return the values of a row, None or empty text where missing."""
        return self._rows[row]

    def set(self, row: int, column: str, value: Any) -> None:
        """Replace the value of a field."""
        place = self.columns.index(column)
        self._rows[row][place] = self._changes[row, place] = value

    @abstractmethod
    def content(self) -> bytes:
        """Return the content of the file. Only fields that were set differ from the original."""

    def row(self, row: int) -> list[str]:
        """Return the values of a row as text, empty where missing."""
        return [to_text(value) for value in self.values(row)]

    def select(self, columns: Sequence[str]) -> list[list[Any]]:
        """Return the values of some columns in each row."""
        if absent := [name for name in columns if name not in self.columns]:
            raise ValueError(absent_columns(absent, self.columns, expected=columns, source="the table").text)
        places = [self.columns.index(name) for name in columns]
        return [[values[place] for place in places] for values in self._rows]

    def column(self, name: str) -> list[Any]:
        """Return the values of a column."""
        return [value for (value,) in self.select([name])]


def to_text(value: Any) -> str:
    """Return a value as text: empty if it is missing, and the items of a list separated by commas.

    Examples
    --------
    >>> from spmld.app.review.editable_tables import to_text
    >>> to_text(None), to_text(["sad", "slow"]), to_text(2.5)
    ('', 'sad, slow', '2.5')
    """
    if isinstance(value, (list, tuple)):
        return ", ".join(map(to_text, value))
    return "" if value is None or (isinstance(value, float) and math.isnan(value)) else str(value)


def read_rows(lines: Iterable[Sequence[Any]]) -> tuple[list[str], list[list[Any]], list[int]]:
    """Return the names of the columns, the rows below them, and the numbers of their lines; empty lines are left out.

    Examples
    --------
    >>> from spmld.app.review.editable_tables import read_rows
    >>> read_rows([["id", " sad ", None, "id"], ["", ""], ["7"]])
    (['id', 'sad', 'Unnamed: 2', 'id.1'], [['7', None, None, None]], [2])
    """
    filled = {i: list(line) for i, line in enumerate(lines) if any(value not in (None, "") for value in line)}
    if not filled:
        raise ValueError("the table has no header")
    header, *numbers = filled
    columns: list[str] = []
    counts: Counter[str] = Counter()
    for i, value in enumerate(filled[header]):  # repeated and empty names get numbers, as in pandas
        name = to_text(value).strip() or f"Unnamed: {i}"
        columns.append(f"{name}.{counts[name]}" if counts[name] else name)
        counts[name] += 1
    return columns, [filled[i] + [None] * (len(columns) - len(filled[i])) for i in numbers], numbers


def _encode(text: str, encoding: str, compressed: bool) -> bytes:
    """Return the bytes of a text, or raise ValueError if its encoding lacks a character."""
    try:
        content = text.encode(encoding)
    except UnicodeEncodeError as error:
        character = text[error.start]
        text = f"{character!r} does not exist in the encoding {encoding} of the file"
        raise ValueError(f"{text}; save a copy as UTF-8") from error
    return gzip.compress(content, mtime=0) if compressed else content


class CsvTable(EditableTable):
    r"""A CSV file. All bytes of other fields stay the same: quotes, line ends, byte order mark and encoding.

    Parameters
    ----------
    text : str
        Content of the file.
    encoding : str
        Encoding of the file.
    compressed : bool
        Whether the file is compressed by gzip.
    separator : str
        Separator of the fields.

    Examples
    --------
    >>> from spmld.app.review.editable_tables import CsvTable
    >>> table = CsvTable('id;"label_sad"\r\n7;ja\r\n8;\r\n', separator=";")
    >>> table.columns, table.row(0)
    (['id', 'label_sad'], ['7', 'ja'])
    >>> table.set(1, "label_sad", "nein")
    >>> table.content()
    b'id;"label_sad"\r\n7;ja\r\n8;nein\r\n'
    """

    def __init__(self, text: str, encoding: str = "utf-8", compressed: bool = False, separator: str = ","):
        self._encoding = encoding
        self._compressed = compressed
        self._separator = separator
        self._mark = BOM if text.startswith(BOM) else ""
        # A field is quoted text with doubled quotes, then anything up to the next separator or the end of the line.
        sep = re.escape(separator)
        field = rf'(?:"(?:[^"]|"")*+")?+[^{sep}\r\n]*+'
        self._field = re.compile(rf"(?:^|{sep})({field})")
        self._records = re.findall(rf"{field}(?:{sep}{field})*+(?:\r\n|\n|\r|\Z)", text.removeprefix(BOM))
        lines = ([_unquote(field) for field in self._fields(record)] for record in self._records)
        columns, rows, self._lines = read_rows(lines)
        super().__init__(columns, rows)

    def content(self) -> bytes:
        """Return the content of the file. A new value is quoted if the old one was, or if it needs quotes."""
        records = list(self._records)
        for (row, place), value in self._changes.items():
            record = records[self._lines[row]]
            text = str(value)
            fields = self._fields(record)
            fields += [""] * (place + 1 - len(fields))
            quoted = fields[place].startswith('"') or any(sign in text for sign in (self._separator, '"', "\r", "\n"))
            fields[place] = '"' + text.replace('"', '""') + '"' if quoted else text
            end = record[len(record.rstrip("\r\n")) :]
            records[self._lines[row]] = self._separator.join(fields) + end
        return _encode(self._mark + "".join(records), self._encoding, self._compressed)

    def _fields(self, record: str) -> list[str]:
        """Return the fields of a record as they are written."""
        return self._field.findall(record.rstrip("\r\n"))


def _unquote(field: str) -> str:
    quoted = len(field) > 1 and field[0] == field[-1] == '"'
    return field[1:-1].replace('""', '"') if quoted else field


class JsonTable(EditableTable):
    r"""A file of JSON lines, or with a JSON list of objects. All bytes of other values stay the same.

    Parameters
    ----------
    text : str
        Content of the file.
    encoding : str
        Encoding of the file.
    compressed : bool
        Whether the file is compressed by gzip.

    Examples
    --------
    >>> from spmld.app.review.editable_tables import JsonTable
    >>> table = JsonTable('{"id": 7,  "tags": ["sad"]}\n{"id": 8}\n')
    >>> table.columns, table.row(0)
    (['id', 'tags'], ['7', 'sad'])
    >>> table.set(0, "tags", [])
    >>> table.set(1, "tags", ["calm"])
    >>> table.content()
    b'{"id": 7,  "tags": []}\n{"id": 8, "tags": ["calm"]}\n'
    """

    def __init__(self, text: str, encoding: str = "utf-8", compressed: bool = False):
        self._encoding = encoding
        self._compressed = compressed
        self._ascii = text.isascii()
        self._mark = BOM if text.startswith(BOM) else ""
        text = text.removeprefix(BOM)
        self._before: list[str] = []  # text before each object, and after the last one
        self._objects: list[str] = []
        records: list[dict[str, Any]] = []
        place = 0
        while True:
            start = _BEFORE_OBJECT.match(text, place).end()  # type: ignore[union-attr]  # it may be empty
            self._before.append(text[place:start])
            if start == len(text):
                break
            try:
                record, place = _DECODER.raw_decode(text, start)
            except json.JSONDecodeError as error:
                raise ValueError(f"line {error.lineno} is not JSON: {error}") from error
            if not isinstance(record, dict):
                line = text.count("\n", 0, start) + 1
                raise ValueError(f"line {line} must be a JSON object, got {text[start:place][:40]!r}")
            records.append({name.strip(): value for name, value in record.items()})
            self._objects.append(text[start:place])
        columns = list(dict.fromkeys(name for record in records for name in record))
        super().__init__(columns, [[record.get(name) for name in columns] for record in records])

    def content(self) -> bytes:
        """Return the content of the file."""
        objects = list(self._objects)
        for (row, place), value in self._changes.items():
            objects[row] = self._replace(objects[row], self.columns[place], value)
        *before, after = self._before
        text = "".join(part for pair in zip(before, objects, strict=True) for part in pair) + after
        return _encode(self._mark + text, self._encoding, self._compressed)

    def _replace(self, text: str, column: str, value: Any) -> str:
        """Return an object with another value, or with a new key at its end; of equal keys the last one counts."""
        spans: dict[str, tuple[int, int]] = {}
        place = 1
        while (match := _KEY.match(text, place)) is not None:
            _, place = _DECODER.raw_decode(text, match.end())
            spans[json.loads(match[1]).strip()] = match.end(), place
        start, stop = spans.get(column, (place, place))
        name = json.dumps(column, ensure_ascii=self._ascii)
        key = "" if column in spans else f"{', ' if spans else ''}{name}: "
        return text[:start] + key + json.dumps(value, ensure_ascii=self._ascii) + text[stop:]


class ExcelTable(EditableTable):
    """One sheet of an Excel file. Other cells, formats, formulas and sheets stay the same.

    Parameters
    ----------
    content : bytes
        Content of the file.
    sheet : str, optional
        Name of the sheet. By default, the first.

    Examples
    --------
    See `CsvTable`.
    """

    def __init__(self, content: bytes, sheet: str | None = None):
        self._content = content
        book = need("openpyxl", "files").load_workbook(io.BytesIO(content), read_only=True, data_only=True)
        worksheet = book.worksheets[0] if sheet is None else book[sheet]
        worksheet.reset_dimensions()
        columns, rows, self._lines = read_rows(worksheet.iter_rows(values_only=True))
        book.close()
        super().__init__(columns, rows)
        self._sheet = worksheet.title

    def content(self) -> bytes:
        """Return the content of the file, or raise ValueError if a value would replace a formula."""
        macros = b"vbaProject.bin" in self._content
        load = need("openpyxl", "files").load_workbook
        book = load(io.BytesIO(self._content), keep_vba=macros, rich_text=True)
        buffer = io.BytesIO()
        for (row, place), value in self._changes.items():
            cell = book[self._sheet].cell(self._lines[row] + 1, place + 1)
            if cell.data_type == "f":
                text = f"cell {cell.coordinate} has a formula, which a new label would replace"
                raise ValueError(f"{text}; save a copy with values only")
            cell.value = value
            if isinstance(value, str):
                cell.data_type = "s"  # a tag such as =1+1 is no formula
        book.save(buffer)
        return buffer.getvalue()


class ParquetTable(EditableTable):
    """A Parquet file. Columns without changes keep their types and values.

    Parameters
    ----------
    content : bytes
        Content of the file.

    Examples
    --------
    See `spmld.app.review.editable_tables.CsvTable`.
    """

    def __init__(self, content: bytes):
        self._table = need("pyarrow.parquet").read_table(io.BytesIO(content))
        values = zip(*(column.to_pylist() for column in self._table.columns), strict=True)
        rows = [[None if value != value else value for value in row] for row in values]
        super().__init__([name.strip() for name in self._table.column_names], rows)

    def set(self, row: int, column: str, value: Any) -> None:
        """Replace a value by another one, in the type of its column."""
        place = self.columns.index(column)
        kind = self._table.schema.types[place]
        types = need("pyarrow").types
        if types.is_boolean(kind):
            value = bool(to_number(value))
        elif types.is_integer(kind) or types.is_floating(kind):
            value = to_number(value)
        super().set(row, column, value)

    def content(self) -> bytes:
        """Return the content of the file."""
        table = self._table
        buffer = io.BytesIO()
        for place in {place for _, place in self._changes}:
            field = table.schema.field(place)
            values = [row[place] for row in self._rows]
            table = table.set_column(place, field, need("pyarrow").array(values, type=field.type))
        need("pyarrow.parquet").write_table(table.replace_schema_metadata(self._table.schema.metadata), buffer)
        return buffer.getvalue()


def open_table(
    path: StrPath,
    *,
    encoding: str = "utf-8",
    sep: str | None = None,
    sheet: str | None = None,
    format: str | None = None,
) -> EditableTable:
    """Read a table whose fields can be changed.

    Parameters
    ----------
    path : str or path-like
        CSV file or JSON lines, which may be compressed, JSON list of objects, Excel or Parquet file.
    encoding : str, default="utf-8"
        Encoding of a CSV file.
    sep : str, optional
        Separator of a CSV file. By default, it is guessed.
    sheet : str, optional
        Sheet of an Excel file. By default, the first.
    format : {"csv", "jsonl", "excel", "parquet"}, optional
        Format. By default, it is chosen by the file extension.

    Returns
    -------
    EditableTable
        With the columns ``columns`` and the methods ``row``, ``column``, ``set`` and ``content``.

    Examples
    --------
    See `apply_annotations`.
    """
    kind = table_format(path, format)
    with reading(path, "a table") as file:
        if kind == "parquet":
            return ParquetTable(file.read_bytes())
        if kind == "excel":
            return ExcelTable(file.read_bytes(), sheet)
        if kind not in ("csv", "jsonl"):
            raise ValueError(f'unknown file extension "{file.suffix}"; supported: {_SUPPORTED}')
        text, encoding = _decode(file, encoding if kind == "csv" else "utf-8")
        compressed = file.suffix.lower() == ".gz"
        if kind == "jsonl":
            return JsonTable(text, encoding, compressed)
        if sep is None:
            lines = islice(io.StringIO(text.removeprefix(BOM), newline=""), HEAD)
            sep = csv_separator(list(lines), "\t" if ".tsv" in file.suffixes else ",")
        return CsvTable(text, encoding, compressed, sep.replace("\\t", "\t"))


def _decode(file: Path, encoding: str) -> tuple[str, str]:
    """Return the text of a file, and the encoding that gives its bytes again."""
    content = file.read_bytes()
    content = gzip.decompress(content) if file.suffix.lower() == ".gz" else content
    with open_text(file, encoding) as lines:
        encoding = lines.encoding
    wide = "utf-16-be" if content.startswith(codecs.BOM_UTF16_BE) else "utf-16-le"
    encoding = {"utf-8-sig": "utf-8", "utf-16": wide}.get(encoding.lower(), encoding)
    text = content.decode(encoding)
    if text.encode(encoding) != content:
        raise ValueError(f"its text in the encoding {encoding} has several forms; save a copy as UTF-8")
    return text, encoding


def check_table(path: StrPath, format: str | None = None) -> None:
    """Raise ValueError if a file is not a table."""
    if table_format(path, format) is None:
        text = f"labels can be written into a table ({_SUPPORTED}), got {path}"
        raise ValueError(f"{text}; convert it with spmld data convert, and use the converted file")


def check_extension(out: StrPath, path: StrPath, format: str | None = None) -> None:
    """Raise ValueError if a copy of a table cannot be written to the file `out`.

    Examples
    --------
    >>> from spmld.app.review.editable_tables import check_extension
    >>> check_extension("reviewed.xlsx", "songs.csv")
    Traceback (most recent call last):
    ...
    ValueError: labels are written in the format of songs.csv, to a file .csv, got reviewed.xlsx
    """
    check_table(path, format)
    extension = str(path).lower().removeprefix(str(without_gz(path).with_suffix("")).lower())
    if not str(out).lower().endswith(extension):
        raise ValueError(f"labels are written in the format of {path}, to a file {extension}, got {out}")


def without_gz(path: StrPath) -> Path:
    """Return a path without the extension .gz.

    Examples
    --------
    >>> from spmld.app.review.editable_tables import without_gz
    >>> without_gz("songs.csv.gz").name
    'songs.csv'
    """
    file = Path(path)
    return file.with_suffix("") if file.suffix.lower() == ".gz" else file
