"""The interface of tables whose fields can be changed, and those in text files: CSV and JSON lines."""

import gzip
import json
import math
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from spmld.tables.problems import absent_columns

BOM = "\ufeff"
"""Byte order mark at the beginning of a text."""
_BEFORE_OBJECT = re.compile(r"[\s,\[\]]*")
_KEY = re.compile(r'[\s,{]*("(?:[^"\\]|\\.)*+")\s*:\s*')


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
        return [[values[place] for place in places] for values in map(self.values, range(len(self)))]

    def column(self, name: str) -> list[Any]:
        """Return the values of a column."""
        return [value for (value,) in self.select([name])]


def to_text(value: Any) -> str:
    """Return a value as text: empty if it is missing, and the items of a list separated by commas.

    Examples
    --------
    >>> from spmld.app.review.text_tables import to_text
    >>> to_text(None), to_text(["sad", "slow"]), to_text(2.5)
    ('', 'sad, slow', '2.5')
    """
    if isinstance(value, (list, tuple)):
        return ", ".join(map(to_text, value))
    return "" if value is None or (isinstance(value, float) and math.isnan(value)) else str(value)


def column_names(header: Iterable[Any]) -> list[str]:
    """Return the names of columns as pandas does: those that are empty or repeated get numbers.

    Examples
    --------
    >>> from spmld.app.review.text_tables import column_names
    >>> column_names(["x", " sad ", None, "x"])
    ['x', 'sad', 'Unnamed: 2', 'x.1']
    """
    counts: Counter[str] = Counter()
    names = []
    for i, value in enumerate(header):
        name = to_text(value).strip() or f"Unnamed: {i}"
        names.append(f"{name}.{counts[name]}" if counts[name] else name)
        counts[name] += 1
    return names


def read_rows(lines: Iterable[Sequence[Any]]) -> tuple[list[str], list[list[Any]], list[int]]:
    """Return the names of the columns, the rows below them, and the numbers of their lines; empty lines are left out.

    Examples
    --------
    >>> from spmld.app.review.text_tables import read_rows
    >>> read_rows([["id", "sad"], ["", ""], ["7"]])
    (['id', 'sad'], [['7', None]], [2])
    """
    filled = {i: list(line) for i, line in enumerate(lines) if any(value not in (None, "") for value in line)}
    if not filled:
        raise ValueError("the table has no header")
    header, *numbers = filled
    columns = column_names(filled[header])
    return columns, [filled[i] + [None] * (len(columns) - len(filled[i])) for i in numbers], numbers


def _encode(text: str, encoding: str, compressed: bool) -> bytes:
    """Return the bytes of a text, or raise ValueError if its encoding lacks a character."""
    try:
        content = text.encode(encoding)
    except UnicodeEncodeError as error:
        character = text[error.start]
        raise ValueError(
            f"{character!r} does not exist in the encoding {encoding} of the file; save a copy as UTF-8"
        ) from error
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
    >>> from spmld.app.review.text_tables import CsvTable
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
    >>> from spmld.app.review.text_tables import JsonTable
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
        decoder = json.JSONDecoder()
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
                record, place = decoder.raw_decode(text, start)
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
        decoder = json.JSONDecoder()
        spans: dict[str, tuple[int, int]] = {}
        place = 1
        while (match := _KEY.match(text, place)) is not None:
            _, place = decoder.raw_decode(text, match.end())
            spans[json.loads(match[1]).strip()] = match.end(), place
        start, stop = spans.get(column, (place, place))
        name, new = (json.dumps(item, ensure_ascii=self._ascii) for item in (column, value))
        key = "" if column in spans else f"{', ' if spans else ''}{name}: "
        return text[:start] + key + new + text[stop:]
