"""Tables with typed values whose fields can be changed: JSON lines, Excel and Parquet files."""

import gzip
import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from spmld._io import need
from spmld.labels.words import to_number

_SPACE = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True, eq=False)
class JsonLines:
    r"""A file of JSON lines as text. Only changed values differ after `replace`.

    Attributes
    ----------
    text : str
        Content of the file.
    compressed : bool
        Whether the file is compressed by gzip.

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

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        """Start and end of each line that is not blank."""
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
                new = f", {json.dumps(name, ensure_ascii=self.text.isascii())}: {new}"
            parts += [self.text[end:start], new]
            end = stop
        content = "".join([*parts, self.text[end:]]).encode()
        return gzip.compress(content, mtime=0) if self.compressed else content

    def _span(self, row: int, name: str) -> tuple[int, int]:
        """Return start and end of a value in the text; the end of the last value twice if there is no such key."""
        decoder, place = json.JSONDecoder(), self._skip(self.spans[row][0]) + 1
        while True:
            key, place = decoder.raw_decode(self.text, self._skip(place))
            start = self._skip(self._skip(place) + 1)
            _, stop = decoder.raw_decode(self.text, start)
            if key.strip() == name:
                return start, stop
            place = self._skip(stop) + 1
            if self.text[place - 1] == "}":
                return stop, stop

    def _skip(self, place: int) -> int:
        match = _SPACE.match(self.text, place)
        return place if match is None else match.end()


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

    def replace(self, changes: Mapping[tuple[int, str], Any]) -> bytes:
        """Return the file with other values in some fields, in the type of their column."""
        frame = self.frame.copy()
        for name in {name for _, name in changes}:
            place = self.columns.index(name)
            series = frame.iloc[:, place]
            values, numeric = series.astype(object).tolist(), getattr(series.dtype, "kind", "O") in "biuf"
            for (row, changed), value in changes.items():
                if changed == name:
                    values[row] = to_number(value) if numeric and isinstance(value, str) else value
            frame.isetitem(place, need("pandas").Series(values, index=frame.index, dtype=series.dtype))
        return frame.to_parquet(index=None)


@dataclass(frozen=True, eq=False)
class ExcelTable(ParquetTable):
    """The first sheet of an Excel file with the interface of `TableFile`.

    Values of cells are changed. Formats and other sheets stay the same, but shapes are lost, because openpyxl does not
    read them.

    Examples
    --------
    See `TableFile`.
    """

    content: bytes

    def replace(self, changes: Mapping[tuple[int, str], Any]) -> bytes:
        """Return the file with other values in some cells."""
        workbook = need("openpyxl", "files").load_workbook(io.BytesIO(self.content))
        sheet = workbook.worksheets[0]
        formula = next((cell.coordinate for row in sheet.iter_rows() for cell in row if cell.data_type == "f"), None)
        if formula is not None:
            raise ValueError(
                f"cell {formula} of sheet {sheet.title!r} has a formula, whose value would be lost; save a copy with "
                "values only, or as .csv"
            )
        for (row, name), value in changes.items():
            sheet.cell(row + 2, self.columns.index(name) + 1).value = None if value == "" else value
        buffer = io.BytesIO()
        workbook.save(buffer)
        return buffer.getvalue()


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
