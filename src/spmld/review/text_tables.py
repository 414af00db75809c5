"""The interface of tables whose fields can be changed, and those in text files: CSV and JSON lines."""

import gzip
import json
import math
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

BOM = "\ufeff"
"""Byte order mark at the beginning of a text."""
_BEFORE_OBJECT = re.compile(r"[\s,\[\]]*")
_KEY = re.compile(r'[\s,{]*("(?:[^"\\]|\\.)*+")\s*:\s*')


class EditableTable(ABC):
    """Table with a row for each sample. Rows without any value are left out.

    Attributes
    ----------
    columns : list of str
        Names of the columns, as in `spmld.datasets.read_table`.
    """

    columns: list[str]

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of rows."""

    @abstractmethod
    def values(self, row: int) -> Sequence[Any]:
        """Return the values of a row, None or empty text where missing."""

    @abstractmethod
    def set(self, row: int, column: str, value: Any) -> None:
        """Replace the value of a field."""

    @abstractmethod
    def content(self) -> bytes:
        """Return the content of the file. Only fields that were set differ from the original."""

    def row(self, row: int) -> list[str]:
        """Return the values of a row as text, empty where missing."""
        return [to_text(value) for value in self.values(row)]

    def select(self, columns: Sequence[str]) -> list[list[Any]]:
        """Return the values of some columns in each row."""
        places = [self.columns.index(name) for name in columns]
        return [[values[place] for place in places] for values in map(self.values, range(len(self)))]

    def column(self, name: str) -> list[Any]:
        """Return the values of a column."""
        return [value for (value,) in self.select([name])]


def to_text(value: Any) -> str:
    """Return a value as text: empty if it is missing, and the items of a list separated by commas.

    Examples
    --------
    >>> from spmld.review.text_tables import to_text
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
    >>> from spmld.review.text_tables import column_names
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
    >>> from spmld.review.text_tables import CsvTable
    >>> table = CsvTable('id;"label_sad"\r\n7;ja\r\n8;\r\n', separator=";")
    >>> table.columns, table.row(0)
    (['id', 'label_sad'], ['7', 'ja'])
    >>> table.set(1, "label_sad", "nein")
    >>> table.content()
    b'id;"label_sad"\r\n7;ja\r\n8;nein\r\n'
    """

    def __init__(self, text: str, encoding: str = "utf-8", compressed: bool = False, separator: str = ","):
        self._encoding, self._compressed, self._separator = encoding, compressed, separator
        self._mark = BOM if text.startswith(BOM) else ""
        # A field is quoted text with doubled quotes, then anything up to the next separator or the end of the line.
        sep = re.escape(separator)
        field = rf'(?:"(?:[^"]|"")*+")?+[^{sep}\r\n]*+'
        self._field = re.compile(rf"(?:^|{sep})({field})")
        self._records = re.findall(rf"{field}(?:{sep}{field})*+(?:\r\n|\n|\r|\Z)", text.removeprefix(BOM))
        filled = [i for i, record in enumerate(self._records) if any(map(_unquote, self._fields(record)))]
        if not filled:
            raise ValueError("the file has no header")
        self._places = filled[1:]
        self.columns = column_names(map(_unquote, self._fields(self._records[filled[0]])))

    def __len__(self) -> int:
        return len(self._places)

    def values(self, row: int) -> list[str]:
        """Return the fields of a row without quotes; those that a short row lacks are empty."""
        values = list(map(_unquote, self._fields(self._records[self._places[row]])))
        return values + [""] * (len(self.columns) - len(values))

    def set(self, row: int, column: str, value: Any) -> None:
        """Replace the value of a field. It is quoted if the old one was, or if it needs quotes."""
        record, place, text = self._records[self._places[row]], self.columns.index(column), str(value)
        fields = self._fields(record)
        fields += [""] * (place + 1 - len(fields))
        quoted = fields[place].startswith('"') or any(sign in text for sign in (self._separator, '"', "\r", "\n"))
        fields[place] = '"' + text.replace('"', '""') + '"' if quoted else text
        end = record[len(record.rstrip("\r\n")) :]
        self._records[self._places[row]] = self._separator.join(fields) + end

    def content(self) -> bytes:
        """Return the content of the file."""
        return _encode(self._mark + "".join(self._records), self._encoding, self._compressed)

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
    >>> from spmld.review.text_tables import JsonTable
    >>> table = JsonTable('{"id": 7,  "tags": ["sad"]}\n{"id": 8}\n')
    >>> table.columns, table.row(0)
    (['id', 'tags'], ['7', 'sad'])
    >>> table.set(0, "tags", [])
    >>> table.set(1, "tags", ["calm"])
    >>> table.content()
    b'{"id": 7,  "tags": []}\n{"id": 8, "tags": ["calm"]}\n'
    """

    def __init__(self, text: str, encoding: str = "utf-8", compressed: bool = False):
        self._encoding, self._compressed, self._ascii = encoding, compressed, text.isascii()
        self._mark = BOM if text.startswith(BOM) else ""
        text, decoder = text.removeprefix(BOM), json.JSONDecoder()
        self._before: list[str] = []  # text before each object, and after the last one
        self._objects: list[str] = []
        columns: dict[str, None] = {}
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
            columns |= dict.fromkeys(map(str.strip, record))
            self._objects.append(text[start:place])
        self.columns = list(columns)

    def __len__(self) -> int:
        return len(self._objects)

    def values(self, row: int) -> list[Any]:
        """Return the values of an object, None where it has no such key."""
        record = {name.strip(): value for name, value in json.loads(self._objects[row]).items()}
        return [record.get(name) for name in self.columns]

    def set(self, row: int, column: str, value: Any) -> None:
        """Replace a value, or add the key at the end of the object; of equal keys the last one counts."""
        text, decoder = self._objects[row], json.JSONDecoder()
        spans: dict[str, tuple[int, int]] = {}
        place = 1
        while (match := _KEY.match(text, place)) is not None:
            _, place = decoder.raw_decode(text, match.end())
            spans[json.loads(match[1]).strip()] = match.end(), place
        start, stop = spans.get(column, (place, place))
        name, new = (json.dumps(item, ensure_ascii=self._ascii) for item in (column, value))
        key = "" if column in spans else f"{', ' if spans else ''}{name}: "
        self._objects[row] = text[:start] + key + new + text[stop:]

    def content(self) -> bytes:
        """Return the content of the file."""
        *before, after = self._before
        pairs = zip(before, self._objects, strict=True)
        text = "".join(part for pair in pairs for part in pair) + after
        return _encode(self._mark + text, self._encoding, self._compressed)
