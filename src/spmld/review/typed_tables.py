"""Tables with typed values whose fields can be changed: JSON lines and Parquet files."""

import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from spmld._io import need
from spmld.labels.words import to_number
from spmld.review.table_file import BOM, encode_text

_SPACE = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True, eq=False)
class JsonLines:
    r"""A file of JSON lines, or with a JSON list of objects, as text. Only changed values differ after `replace`.

    Attributes
    ----------
    text : str
        Content of the file.
    compressed : bool
        Whether the file is compressed by gzip.
    encoding : str
        Encoding of the file.

    Examples
    --------
    >>> from spmld.review import JsonLines
    >>> table = JsonLines('{"id": 7,  "tags": ["sad"]}\n{"id": 8}\n')
    >>> table.columns, table.row(0)
    (['id', 'tags'], ['7', 'sad'])
    >>> table.replace({(0, "tags"): [], (1, "tags"): ["calm"]})
    b'{"id": 7,  "tags": []}\n{"id": 8, "tags": ["calm"]}\n'
    """

    text: str
    compressed: bool = False
    encoding: str = "utf-8"

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        """Start and end of each object."""
        place = self._skip(len(BOM) if self.text.startswith(BOM) else 0)
        if self.text[place : place + 1] == "[":
            return self._items(place + 1)
        return [match.span() for match in re.finditer(r"[^\r\n\ufeff][^\r\n]*", self.text) if match.group().strip()]

    @cached_property
    def records(self) -> list[dict[str, Any]]:
        """Objects of the lines."""
        lines = [json.loads(self.text[start:stop]) for start, stop in self.spans]
        return [{name.strip(): value for name, value in line.items()} for line in lines]

    @cached_property
    def columns(self) -> list[str]:
        """Names of all keys, in the order of their first occurrence."""
        return list(dict.fromkeys(name for record in self.records for name in record))

    def __len__(self) -> int:
        return len(self.spans)

    def row(self, index: int) -> list[str]:
        """Return the values of a row as text, empty where missing."""
        return [to_text(self.records[index].get(name)) for name in self.columns]

    def column(self, name: str) -> list[Any]:
        """Return the values of a column, None where missing."""
        return [record.get(name) for record in self.records]

    def replace(self, changes: Mapping[tuple[int, str], Any]) -> bytes:
        """Return the file with other values in some fields, given by row and column; all other bytes are the same."""
        edits = sorted((*self._span(row, name), name, value) for (row, name), value in changes.items())
        parts, end = [], 0
        for start, stop, name, value in edits:
            new = json.dumps(value, ensure_ascii=self.text.isascii())
            if start == stop:  # the key does not exist
                comma = "" if self.text[start - 1] == "{" and end < start else ", "
                new = f"{comma}{json.dumps(name, ensure_ascii=self.text.isascii())}: {new}"
            parts += [self.text[end:start], new]
            end = stop
        return encode_text("".join([*parts, self.text[end:]]), self.encoding, self.compressed)

    def _items(self, place: int) -> list[tuple[int, int]]:
        """Return start and end of each item of a list whose first item is at a place."""
        decoder, spans = json.JSONDecoder(), []
        while self.text[start := self._skip(place)] != "]":
            _, stop = decoder.raw_decode(self.text, start)
            spans.append((start, stop))
            place = self._skip(stop)
            place += self.text[place] == ","
        return spans

    def _span(self, row: int, name: str) -> tuple[int, int]:
        """Return start and end of a value in the text; the end of the last value twice if there is no such key.

        Of equal keys the last one counts, as in Python's parser.
        """
        decoder, stop = json.JSONDecoder(), self._skip(self.spans[row][0]) + 1
        found, place = None, self._skip(stop)
        while self.text[place] != "}":
            key, place = decoder.raw_decode(self.text, place)
            start = self._skip(self._skip(place) + 1)
            _, stop = decoder.raw_decode(self.text, start)
            found = (start, stop) if key.strip() == name else found
            place = self._skip(stop)
            place = self._skip(place + 1) if self.text[place] == "," else place
        return (stop, stop) if found is None else found

    def _skip(self, place: int) -> int:
        match = _SPACE.match(self.text, place)
        return place if match is None else match.end()


@dataclass(frozen=True, eq=False)
class FrameTable:
    """Columns and rows of a DataFrame; the base of `ParquetTable` and `ExcelTable`."""

    frame: Any

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return [str(name).strip() for name in self.frame.columns]

    def __len__(self) -> int:
        return len(self.frame)

    def row(self, index: int) -> list[str]:
        """Return the values of a row as text, empty where missing."""
        return [to_text(value) for value in self.frame.iloc[index]]

    def column(self, name: str) -> list[Any]:
        """Return the values of a column, None where missing."""
        values = self.frame.iloc[:, self.columns.index(name)].astype(object).tolist()
        return [None if is_missing(value) else value for value in values]


@dataclass(frozen=True, eq=False)
class ParquetTable(FrameTable):
    """A Parquet file with the interface of `TableFile`. Columns without changes keep their types and values.

    Parameters
    ----------
    frame : DataFrame
        Table, as read by `spmld.datasets.read_table`.
    table : pyarrow.Table
        The same table in the types of the file.

    Examples
    --------
    See `TableFile`.
    """

    table: Any

    def replace(self, changes: Mapping[tuple[int, str], Any]) -> bytes:
        """Return the file with other values in some fields, in the type of their column."""
        pyarrow, table = need("pyarrow"), self.table
        names = [str(name).strip() for name in table.column_names]
        for name in {name for _, name in changes}:
            place = names.index(name)
            kind, values = table.schema.types[place], table.column(place).to_pylist()
            for (row, changed), value in changes.items():
                if changed == name:
                    values[row] = _of_type(value, kind)
            table = table.set_column(place, table.schema.field(place), pyarrow.array(values, type=kind))
        buffer = io.BytesIO()
        need("pyarrow.parquet").write_table(table.replace_schema_metadata(self.table.schema.metadata), buffer)
        return buffer.getvalue()


def _of_type(value: Any, kind: Any) -> Any:
    """Return a label in the type of a column of a Parquet file."""
    types = need("pyarrow").types
    if types.is_boolean(kind):
        return bool(to_number(value))
    if types.is_integer(kind):
        return int(to_number(value))
    return to_number(value) if types.is_floating(kind) else value


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN or another missing value of pandas."""
    return value is None or need("pandas").isna(value) is True


def to_text(value: Any) -> str:
    """Return a value as text: empty if it is missing, and the items of a list separated by commas.

    Examples
    --------
    >>> from spmld.review.typed_tables import to_text
    >>> to_text(None), to_text(["sad", "slow"]), to_text(2.5)
    ('', 'sad, slow', '2.5')
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return ", ".join(map(to_text, value))
    return "" if is_missing(value) else str(value)
