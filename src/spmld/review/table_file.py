"""TableFile: fields of a CSV file that can be changed while all other bytes stay the same."""

import gzip
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

BOM = "\ufeff"
"""Byte order mark at the beginning of a text."""


@dataclass(frozen=True, eq=False)
class TableFile:
    r"""A CSV file as text, with the positions of its records.

    Attributes
    ----------
    text : str
        Content of the file.
    encoding, separator : str
        Encoding of the file, and separator of the fields.
    compressed : bool
        Whether the file is compressed by gzip.

    Examples
    --------
    >>> from spmld.review import TableFile
    >>> table = TableFile('id;"label_sad"\r\n7;ja\r\n8;\r\n', separator=";")
    >>> table.columns, table.row(0)
    (['id', 'label_sad'], ['7', 'ja'])
    >>> table.replace({(1, "label_sad"): "nein"})
    b'id;"label_sad"\r\n7;ja\r\n8;nein\r\n'
    """

    text: str
    encoding: str = "utf-8"
    separator: str = ","
    compressed: bool = False
    _field: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        # A field: quoted text with doubled quotes, then anything up to the next separator or the end of the line.
        pattern = rf'(?:"(?:[^"]|"")*+")?[^{re.escape(self.separator)}\r\n]*+'
        object.__setattr__(self, "_field", re.compile(pattern))

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        """Start and end of each record in the text: the header, and all others that are not blank."""
        pattern, separator = self._field.pattern, re.escape(self.separator)
        record = re.compile(rf"({pattern}(?:{separator}{pattern})*+)(?:\r\n|\n|\r|\Z)")
        spans: list[tuple[int, int]] = []
        place = len(BOM) if self.text.startswith(BOM) else 0
        while place < len(self.text) and (match := record.match(self.text, place)) is not None:
            if match.group(1) and (not spans or self._has_value(match.span(1))):
                spans.append(match.span(1))
            place = match.end()
        if not spans:
            raise ValueError("the file has no header")
        return spans

    def _has_value(self, span: tuple[int, int]) -> bool:
        if self.text[slice(*span)].strip(self.separator + '"'):  # this is fast, but a field may be a quotation mark
            return True
        return any(self._value(*field) for field in self._fields(span))

    @cached_property
    def columns(self) -> list[str]:
        """Names of the columns, as in `spmld.datasets.read_table`."""
        names = [self._value(*span).strip() for span in self._fields(self.spans[0])]
        return [name or f"Unnamed: {i}" for i, name in enumerate(names)]

    def __len__(self) -> int:
        return len(self.spans) - 1

    def row(self, index: int) -> list[str]:
        """Return the fields of a row, counted from 0, without quotes."""
        return [self._value(*span) for span in self._fields(self.spans[index + 1])]

    def column(self, name: str) -> list[str]:
        """Return all fields of a column."""
        place = self.columns.index(name)
        return [row[place] if place < len(row) else "" for row in map(self.row, range(len(self)))]

    def replace(self, changes: Mapping[tuple[int, str], Any]) -> bytes:
        """Return the file with other values in some fields, given by row and column; all other bytes are the same."""
        places = {name: i for i, name in enumerate(self.columns)}
        by_row: dict[int, dict[int, str]] = {}
        for (row, name), value in changes.items():
            by_row.setdefault(row, {})[places[name]] = str(value)
        parts, end = [], 0
        for row in sorted(by_row):
            fields = self._fields(self.spans[row + 1])
            for place in sorted(by_row[row]):
                if place >= len(fields):
                    raise ValueError(f"row {row} has {len(fields)} fields, but the header has {len(self.columns)}")
                start, stop = fields[place]
                parts += [self.text[end:start], self._quote(by_row[row][place], self.text[start:stop])]
                end = stop
        return encode_text("".join([*parts, self.text[end:]]), self.encoding, self.compressed)

    def _fields(self, span: tuple[int, int]) -> list[tuple[int, int]]:
        place, end = span
        fields = []
        while True:
            fields.append(self._field.match(self.text, place, end).span())
            place = fields[-1][1] + 1
            if place > end:
                return fields

    def _value(self, start: int, stop: int) -> str:
        text = self.text[start:stop]
        match = re.match(r'"((?:[^"]|"")*+)"', text)
        return text if match is None else match.group(1).replace('""', '"') + text[match.end() :]

    def _quote(self, value: str, old: str) -> str:
        special = any(sign in value for sign in (self.separator, '"', "\r", "\n"))
        return '"' + value.replace('"', '""') + '"' if special or old.startswith('"') else value


def encode_text(text: str, encoding: str, compressed: bool) -> bytes:
    """Return the content of a text file, or raise ValueError if its encoding lacks a character."""
    try:
        content = text.encode(encoding)
    except UnicodeEncodeError as error:
        character = text[error.start]
        raise ValueError(
            f"{character!r} does not exist in the encoding {encoding} of the file; save a copy as UTF-8"
        ) from error
    return gzip.compress(content, mtime=0) if compressed else content
