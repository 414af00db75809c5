"""TableFile: fields of a CSV file that can be changed while all other bytes stay the same."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from spmld._io import StrPath, need, reading
from spmld.datasets.files import table_kind
from spmld.labels.words import to_number

_BOM = "\ufeff"
_SEPARATORS = ",;\t|"


@dataclass(frozen=True, eq=False)
class TableFile:
    r"""A CSV file as text, with the positions of its records.

    Attributes
    ----------
    text : str
        Content of the file.
    encoding, separator : str
        Encoding of the file, and separator of the fields.

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
        """Names of the columns."""
        return [self._value(*span) for span in self._fields(self.spans[0])]

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
        return "".join([*parts, self.text[end:]]).encode(self.encoding)

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


@dataclass(frozen=True, eq=False)
class ParquetTable:
    """A Parquet file with the interface of `TableFile`. It is written again as a whole.

    Examples
    --------
    See `TableFile`.
    """

    frame: Any

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return [str(name) for name in self.frame.columns]

    def __len__(self) -> int:
        return len(self.frame)

    def row(self, index: int) -> list[str]:
        """Return the values of a row as text, empty where missing."""
        return [_text(value) for value in self.frame.iloc[index]]

    def column(self, name: str) -> list[str]:
        """Return the values of a column as text."""
        return [_text(value) for value in self.frame.iloc[:, self.columns.index(name)]]

    def replace(self, changes: Mapping[tuple[int, str], Any]) -> bytes:
        """Return the file with other values in some fields, in the type of their column."""
        frame = self.frame.copy()
        for name in {name for _, name in changes}:
            place = self.columns.index(name)
            values = frame.iloc[:, place].astype(object).tolist()
            kinds = Counter(type(value) for value in values if _text(value))
            kind = kinds.most_common(1)[0][0] if kinds else float
            for (row, changed), value in changes.items():
                if changed == name:
                    values[row] = None if value == "" else value if kind is str else kind(to_number(value))
            frame.isetitem(place, need("pandas").Series(values, index=frame.index, dtype=frame.dtypes.iloc[place]))
        return frame.to_parquet(index=None)


def _text(value: Any) -> str:
    return "" if value is None or need("pandas").isna(value) is True else str(value)


def open_table(path: StrPath, *, encoding: str = "utf-8", format: str | None = None) -> TableFile | ParquetTable | None:
    """Read a table whose fields can be changed; None if the file has another format.

    Parameters
    ----------
    path : str or path-like
        CSV or Parquet file. The separator of a CSV file is the most frequent of comma, semicolon, tab and bar in its
        header.
    encoding : str, default="utf-8"
        Encoding of a CSV file.
    format : {"csv", "parquet"}, optional
        Format. By default, it is chosen by the file extension.

    Returns
    -------
    TableFile, ParquetTable or None

    Examples
    --------
    See `apply_decisions`.
    """
    kind = table_kind(path, format)
    if kind is None or not Path(path).is_file():
        return None
    if kind == "parquet":
        with reading(path, "a Parquet file") as file:
            need("pyarrow")
            return ParquetTable(need("pandas").read_parquet(file))
    with reading(path, "a CSV file") as file:
        text = file.read_bytes().decode(encoding)
        header = re.sub(r'"[^"]*"', "", text[: text.find("\n") if "\n" in text else None])
        separator = "\t" if file.suffix.lower() == ".tsv" else max(_SEPARATORS, key=header.count)
        table = TableFile(text, encoding, separator)
        table.columns  # noqa: B018, errors of the format are raised here
        return table
