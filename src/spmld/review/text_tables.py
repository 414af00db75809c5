"""The interface of tables whose fields can be changed, and those in text files: CSV and JSON lines."""

import gzip
import json
import math
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

Changes: TypeAlias = Mapping[tuple[int, str], Any]
"""New values of fields by row, counted from 0, and column."""
BOM = "\ufeff"
"""Byte order mark at the beginning of a text."""
_SPACE = re.compile(r"[ \t\r\n]*")
_QUOTED = re.compile(r'\A"((?:[^"]|"")*+)"')


class EditableTable(ABC):
    """Table with a row for each sample. Rows without any value are left out."""

    @property
    @abstractmethod
    def columns(self) -> list[str]:
        """Names of the columns, as in `spmld.datasets.read_table`."""

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of rows."""

    @abstractmethod
    def values(self, index: int) -> Sequence[Any]:
        """Return the values of a row, None or empty text where missing."""

    @abstractmethod
    def replace(self, changes: Changes) -> bytes:
        """Return the content of the file with other values in some fields; everything else stays the same."""

    def row(self, index: int) -> list[str]:
        """Return the values of a row as text, empty where missing."""
        return [to_text(value) for value in self.values(index)]

    def column(self, name: str) -> list[Any]:
        """Return the values of a column, None or empty text where missing."""
        place = self.columns.index(name)
        return [self.values(i)[place] for i in range(len(self))]


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


def splice(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """Return a text with other content between some positions, given by start, end and new text in order.

    Examples
    --------
    >>> from spmld.review.text_tables import splice
    >>> splice("0123", [(1, 2, "one"), (4, 4, "!")])
    '0one23!'
    """
    parts, end = [], 0
    for start, stop, new in edits:
        parts += [text[end:start], new]
        end = stop
    return "".join([*parts, text[end:]])


@dataclass(frozen=True, eq=False)
class _TextTable(EditableTable):
    """Content of a text file, its encoding, and whether it is compressed by gzip."""

    text: str
    encoding: str = "utf-8"
    compressed: bool = False

    def _with_edits(self, edits: Iterable[tuple[int, int, str]]) -> bytes:
        """Return the content of the file after edits, or raise ValueError if its encoding lacks a character."""
        text = splice(self.text, edits)
        try:
            content = text.encode(self.encoding)
        except UnicodeEncodeError as error:
            character = text[error.start]
            raise ValueError(
                f"{character!r} does not exist in the encoding {self.encoding} of the file; save a copy as UTF-8"
            ) from error
        return gzip.compress(content, mtime=0) if self.compressed else content


@dataclass(frozen=True, eq=False)
class CsvTable(_TextTable):
    r"""A CSV file. All bytes of other fields stay the same: quotes, line ends, byte order mark and encoding.

    Attributes
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
    >>> table.replace({(1, "label_sad"): "nein"})
    b'id;"label_sad"\r\n7;ja\r\n8;nein\r\n'
    """

    separator: str = ","

    @cached_property
    def _field(self) -> re.Pattern[str]:
        """A field: quoted text with doubled quotes, then anything up to the next separator or the end of the line."""
        return re.compile(rf'(?:"(?:[^"]|"")*+")?[^{re.escape(self.separator)}\r\n]*+')

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        """Start and end of each record in the text: the header, and all others that are not blank."""
        pattern, separator = self._field.pattern, re.escape(self.separator)
        record = re.compile(rf"({pattern}(?:{separator}{pattern})*+)(?:\r\n|\n|\r|\Z)")
        spans: list[tuple[int, int]] = []
        place = len(BOM) if self.text.startswith(BOM) else 0
        while place < len(self.text) and (match := record.match(self.text, place)) is not None:
            if match[1] and (not spans or self._has_value(match.span(1))):
                spans.append(match.span(1))
            place = match.end()
        if not spans:
            raise ValueError("the file has no header")
        return spans

    @cached_property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return column_names(self._values(self.spans[0]))

    def __len__(self) -> int:
        return len(self.spans) - 1

    def values(self, index: int) -> list[str]:
        """Return the fields of a row without quotes; those that a short row lacks are empty."""
        values = self._values(self.spans[index + 1])
        return values + [""] * (len(self.columns) - len(values))

    def replace(self, changes: Changes) -> bytes:
        """Return the content of the file with other values in some fields; all other bytes are the same."""
        places = {name: i for i, name in enumerate(self.columns)}
        by_row: dict[int, dict[int, str]] = {}
        for (row, name), value in changes.items():
            by_row.setdefault(row, {})[places[name]] = str(value)
        edits = []
        for row in sorted(by_row):
            fields = self.fields(row)
            for place, value in sorted(by_row[row].items()):
                if place >= len(fields):
                    raise ValueError(f"row {row} has {len(fields)} fields, but the header has {len(self.columns)}")
                start, stop = fields[place]
                edits.append((start, stop, self._quote(value, self.text[start:stop])))
        return self._with_edits(edits)

    def fields(self, row: int) -> list[tuple[int, int]]:
        """Return start and end of the fields of a row in the text."""
        return self._fields(self.spans[row + 1])

    def _fields(self, span: tuple[int, int]) -> list[tuple[int, int]]:
        place, end = span
        fields: list[tuple[int, int]] = []
        while place <= end and (match := self._field.match(self.text, place, end)) is not None:
            fields.append(match.span())
            place = match.end() + 1
        return fields

    def _values(self, span: tuple[int, int]) -> list[str]:
        texts = [self.text[start:stop] for start, stop in self._fields(span)]
        return [_QUOTED.sub(_unquote, text) for text in texts]

    def _has_value(self, span: tuple[int, int]) -> bool:
        # The first test is fast, but a field may be a quotation mark.
        return bool(self.text[slice(*span)].strip(self.separator + '"')) or any(self._values(span))

    def _quote(self, value: str, old: str) -> str:
        special = any(sign in value for sign in (self.separator, '"', "\r", "\n"))
        return '"' + value.replace('"', '""') + '"' if special or old.startswith('"') else value


def _unquote(match: re.Match[str]) -> str:
    return match[1].replace('""', '"')


@dataclass(frozen=True, eq=False)
class JsonTable(_TextTable):
    r"""A file of JSON lines, or with a JSON list of objects. All bytes of other values stay the same.

    Attributes
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
    >>> table.replace({(0, "tags"): [], (1, "tags"): ["calm"]})
    b'{"id": 7,  "tags": []}\n{"id": 8, "tags": ["calm"]}\n'
    """

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        """Start and end of each object."""
        place = self._skip(len(BOM) if self.text.startswith(BOM) else 0)
        if self.text[place : place + 1] != "[":
            return [match.span() for match in re.finditer(r"[^\r\n\ufeff][^\r\n]*", self.text) if match[0].strip()]
        decoder, spans, place = json.JSONDecoder(), [], place + 1
        while self.text[start := self._skip(place)] != "]":
            _, stop = decoder.raw_decode(self.text, start)
            spans.append((start, stop))
            place = self._skip(stop)
            place += self.text[place] == ","
        return spans

    @cached_property
    def records(self) -> list[dict[str, Any]]:
        """All objects."""
        return [{name.strip(): value for name, value in self._object(*span).items()} for span in self.spans]

    @cached_property
    def columns(self) -> list[str]:
        """Names of all keys, in the order of their first occurrence."""
        return list(dict.fromkeys(name for record in self.records for name in record))

    def __len__(self) -> int:
        return len(self.spans)

    def values(self, index: int) -> list[Any]:
        """Return the values of an object, None where it has no such key."""
        return [self.records[index].get(name) for name in self.columns]

    def replace(self, changes: Changes) -> bytes:
        """Return the content of the file with other values in some fields; all other bytes are the same."""
        edits: list[tuple[int, int, str]] = []
        spans = {field: self._span(*field) for field in changes}
        for row, name in sorted(changes, key=lambda field: (spans[field], field)):
            (start, stop), new = spans[row, name], self._dump(changes[row, name])
            if start == stop:  # the key does not exist
                first = self.text[start - 1] == "{" and (not edits or edits[-1][1] < start)
                new = f"{'' if first else ', '}{self._dump(name)}: {new}"
            edits.append((start, stop, new))
        return self._with_edits(edits)

    def _object(self, start: int, stop: int) -> dict[str, Any]:
        line = self.text.count("\n", 0, start) + 1
        try:
            content = json.loads(self.text[start:stop])
        except ValueError as error:
            raise ValueError(f"line {line} is not JSON: {error}") from error
        if not isinstance(content, dict):
            raise ValueError(f"line {line} must be a JSON object, got {self.text[start:stop][:40]!r}")
        return content

    def _dump(self, value: Any) -> str:
        return json.dumps(value, ensure_ascii=self.text.isascii())

    def _span(self, row: int, name: str) -> tuple[int, int]:
        """Return start and end of a value in the text; the end of the last value twice if there is no such key.

        Of equal keys the last one counts, as in Python's parser.
        """
        decoder, stop = json.JSONDecoder(), self._skip(self.spans[row][0]) + 1
        span, place = None, self._skip(stop)
        while self.text[place] != "}":
            key, place = decoder.raw_decode(self.text, place)
            start = self._skip(self._skip(place) + 1)
            _, stop = decoder.raw_decode(self.text, start)
            span = (start, stop) if key.strip() == name else span
            place = self._skip(stop)
            place = self._skip(place + 1) if self.text[place] == "," else place
        return (stop, stop) if span is None else span

    def _skip(self, place: int) -> int:
        match = _SPACE.match(self.text, place)
        return place if match is None else match.end()
