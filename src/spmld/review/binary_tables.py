"""Tables in binary files whose fields can be changed: sheets of Excel files, and Parquet files."""

import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from html import unescape
from typing import Any
from xml.sax.saxutils import escape

from spmld._io import need
from spmld.labels.words import to_number
from spmld.review.text_tables import Changes, EditableTable, column_names, splice

_DATA, _ROW, _CELL = (
    re.compile(rf"<(?P<tag>(?:\w+:)?{name})\b(?P<attributes>[^>]*?)(?:/>|>(?P<body>.*?)</(?P=tag)>)", re.DOTALL)
    for name in ("sheetData", "row", "c")
)
_FORMULA, _CALCULATION = re.compile(r"<(?:\w+:)?f\b"), re.compile(r"<((?:\w+:)?)calcPr\b([^>]*?)(/?)>")
_BEFORE_CALCULATION = re.compile(r"</((?:\w+:)?)(?:sheets|functionGroups|externalReferences|definedNames)>")
_WORKBOOK = "xl/workbook.xml"


@dataclass(frozen=True, eq=False)
class ExcelTable(EditableTable):
    """One sheet of an Excel file. Other cells, formats, formulas, shapes and sheets stay the same.

    Excel computes the formulas again when it opens the file.

    Attributes
    ----------
    content : bytes
        Content of the file.
    sheet : str or None
        Name of the sheet. By default, the first.

    Examples
    --------
    See `spmld.review.CsvTable`.
    """

    content: bytes
    sheet: str | None = None

    @cached_property
    def _read(self) -> tuple[str, dict[int, tuple[Any, ...]]]:
        """Name of the part of the file that contains the sheet, and the rows with values by their number from 1."""
        book = need("openpyxl", "files").load_workbook(io.BytesIO(self.content), read_only=True, data_only=True)
        sheet = book.worksheets[0] if self.sheet is None else book[self.sheet]
        sheet.reset_dimensions()
        rows = enumerate(sheet.iter_rows(values_only=True), start=1)
        filled = {number: row for number, row in rows if any(value not in (None, "") for value in row)}
        book.close()
        if not filled:
            raise ValueError("the sheet has no header")
        return sheet._worksheet_path, filled

    @cached_property
    def _numbers(self) -> list[int]:
        """Numbers of the rows of samples in the sheet; the first row with values is the header."""
        return list(self._read[1])[1:]

    @cached_property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return column_names(next(iter(self._read[1].values())))

    def __len__(self) -> int:
        return len(self._numbers)

    def values(self, index: int) -> tuple[Any, ...]:
        """Return the values of a row, None for empty cells."""
        row = self._read[1][self._numbers[index]]
        return row + (None,) * (len(self.columns) - len(row))

    def replace(self, changes: Changes) -> bytes:
        """Return the content of the file with other values in some cells."""
        cells: dict[int, dict[int, Any]] = {}
        for (row, name), value in changes.items():
            cells.setdefault(self._numbers[row], {})[self.columns.index(name) + 1] = value
        with zipfile.ZipFile(io.BytesIO(self.content)) as book:
            parts = {info: book.read(info) for info in book.infolist()}
        sheets = [content for info, content in parts.items() if info.filename.startswith("xl/worksheets/")]
        has_formulas = any(_FORMULA.search(content.decode(errors="replace")) for content in sheets)
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as book:
            for info, content in parts.items():
                if cells and info.filename == self._read[0]:
                    text = content.decode()
                    content = splice(text, _cell_edits(text, cells)).encode()
                elif cells and has_formulas and info.filename == _WORKBOOK:
                    content = _compute_on_load(content.decode()).encode()
                book.writestr(info, content)
        return buffer.getvalue()


def _cell_edits(text: str, cells: Mapping[int, Mapping[int, Any]]) -> Iterator[tuple[int, int, str]]:
    """Yield the edits of the XML of a sheet for new values of cells, by row and column, counted from 1."""
    data = _DATA.search(text)
    if data is None or data["body"] is None:
        raise ValueError("the sheet has no rows; save a copy in Excel, or as .csv")
    prefix = data["tag"].removesuffix("sheetData")
    letters = need("openpyxl.utils", "files").get_column_letter
    rows = _by_number(_ROW, text, data)
    for number in sorted(cells):
        row = rows[number]
        old = _by_number(_CELL, text, row)
        for column, value in sorted(cells[number].items()):
            after = [cell.start() for place, cell in old.items() if place > column]
            place = min(after, default=row.end("body"))
            start, stop = old[column].span() if column in old else (place, place)
            yield start, stop, _new_cell(f"{letters(column)}{number}", value, old.get(column), prefix)


def _by_number(pattern: re.Pattern[str], text: str, parent: re.Match[str]) -> dict[int, re.Match[str]]:
    """Return the rows of a sheet or the cells of a row; those without a reference follow the one before."""
    elements: dict[int, re.Match[str]] = {}
    number = 0
    for match in pattern.finditer(text, *parent.span("body")):
        reference = _attributes(match["attributes"]).get("r")
        number = number + 1 if reference is None else _number(reference)
        elements[number] = match
    return elements


def _number(reference: str) -> int:
    """Return the number of a row, or of the column of a cell, such as 4 for D7."""
    letters = reference.rstrip("0123456789")
    return int(need("openpyxl.utils", "files").column_index_from_string(letters)) if letters else int(reference)


def _attributes(element: str) -> dict[str, str]:
    """Return the attributes of an element, without the prefixes of their names."""
    pairs = re.findall(r"""(?:\w+:)?(\w+)\s*=\s*("[^"]*"|'[^']*')""", element)
    return {name: unescape(value[1:-1]) for name, value in pairs}


def _new_cell(reference: str, value: Any, old: re.Match[str] | None, prefix: str) -> str:
    """Return a cell with another value and the format of the old one."""
    if old is not None and _FORMULA.search(old.group()):
        raise ValueError(
            f"cell {reference} has a formula, which a new label would replace; save a copy with values only"
        )
    style = None if old is None else _attributes(old["attributes"]).get("s")
    start = f'<{prefix}c r="{reference}"' + (f' s="{style}"' if style is not None else "")
    if value is None or value == "":
        return f"{start}/>"
    if isinstance(value, str):
        text = f'<{prefix}is><{prefix}t xml:space="preserve">{escape(value)}</{prefix}t></{prefix}is>'
        return f'{start} t="inlineStr">{text}</{prefix}c>'
    kind, number = (' t="b"', str(int(value))) if isinstance(value, bool) else ("", repr(value))
    return f"{start}{kind}><{prefix}v>{number}</{prefix}v></{prefix}c>"


def _compute_on_load(workbook: str) -> str:
    """Return the XML of a workbook whose formulas are computed when it is opened."""
    if (match := _CALCULATION.search(workbook)) is not None:
        if _attributes(match[2]).get("fullCalcOnLoad") in ("1", "true"):
            return workbook
        attributes = re.sub(r"""\s*fullCalcOnLoad\s*=\s*("[^"]*"|'[^']*')""", "", match[2]).rstrip()
        return splice(workbook, [(*match.span(), f'<{match[1]}calcPr{attributes} fullCalcOnLoad="1"{match[3]}>')])
    *_, last = _BEFORE_CALCULATION.finditer(workbook)  # the order of the elements is fixed
    return splice(workbook, [(last.end(), last.end(), f'<{last[1]}calcPr fullCalcOnLoad="1"/>')])


@dataclass(frozen=True, eq=False)
class ParquetTable(EditableTable):
    """A Parquet file. Columns without changes keep their types and values.

    Attributes
    ----------
    table : pyarrow.Table
        Content of the file.

    Examples
    --------
    See `spmld.review.CsvTable`.
    """

    table: Any

    @cached_property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return [name.strip() for name in self.table.column_names]

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def values(self, index: int) -> list[Any]:
        """Return the values of a row, None where missing."""
        return [column[index].as_py() for column in self.table.columns]

    def column(self, name: str) -> list[Any]:
        """Return the values of a column, None where missing."""
        values = self.table.column(self.columns.index(name)).to_pylist()
        return [None if value != value else value for value in values]

    def replace(self, changes: Changes) -> bytes:
        """Return the content of the file with other values in some fields, in the type of their column."""
        pyarrow, table = need("pyarrow"), self.table
        for name in {name for _, name in changes}:
            place = self.columns.index(name)
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
