"""TableFile: fields of a CSV file that can be changed while all other bytes stay the same."""

import gzip
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

_BOM = "\ufeff"


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
        """Start and end of each record in the text, without the header and without blank lines."""
        pattern, separator = self._field.pattern, re.escape(self.separator)
        record = re.compile(rf"({pattern}(?:{separator}{pattern})*+)(?:\r\n|\n|\r|\Z)")
        spans, place = [], len(_BOM) if self.text.startswith(_BOM) else 0
        while place < len(self.text) and (match := record.match(self.text, place)) is not None:
            if match.group(1):
                spans.append(match.span(1))
            place = match.end()
        if not spans:
            raise ValueError("the file has no header")
        return spans

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
        content = "".join([*parts, self.text[end:]]).encode(self.encoding)
        return gzip.compress(content, mtime=0) if self.compressed else content

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
