"""ExcelTable: cells of one sheet of a workbook that can be changed while all other bytes of its parts stay the same."""

import io
import re
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from html import unescape
from posixpath import join, normpath
from typing import Any
from xml.sax.saxutils import escape

from spmld._io import need
from spmld.review.typed_tables import FrameTable, is_missing

_ROW, _CELL = (
    re.compile(rf"<(?P<tag>(?:\w+:)?{name})\b(?P<attributes>[^>]*?)(?:/>|>(?P<body>.*?)</(?P=tag)>)", re.DOTALL)
    for name in ("row", "c")
)
_DATA = re.compile(r"<(?P<tag>(?:\w+:)?sheetData)\b[^>]*?(?:/>|>(?P<body>.*?)</(?P=tag)>)", re.DOTALL)
_FORMULA, _CALCULATION = re.compile(r"<(?:\w+:)?f\b"), re.compile(r"<((?:\w+:)?)calcPr\b([^>]*?)(/?)>")
_BEFORE_CALCULATION = ("definedNames", "externalReferences", "functionGroups", "sheets")
_WORKBOOK = "xl/workbook.xml"


@dataclass(frozen=True, eq=False)
class ExcelTable(FrameTable):
    """One sheet of an Excel file with the interface of `TableFile`.

    Only the changed cells differ after `replace`: other cells, formats, formulas, shapes and sheets stay the same.
    Excel computes the formulas again when it opens the file.

    Parameters
    ----------
    frame : DataFrame
        Table in the sheet, as read by `spmld.datasets.read_table`.
    content : bytes
        Content of the file.
    sheet : str, optional
        Name of the sheet. By default, the first.

    Examples
    --------
    See `TableFile`.
    """

    content: bytes
    sheet: str | None = None

    def replace(self, changes: Mapping[tuple[int, str], Any]) -> bytes:
        """Return the file with other values in some cells, given by row and column."""
        cells: dict[int, dict[int, Any]] = {}
        for (row, name), value in changes.items():
            place = self.columns.index(name)
            self._check(row, place)
            cells.setdefault(self._rows[row], {})[place + 1] = value
        with zipfile.ZipFile(io.BytesIO(self.content)) as book:
            parts = {info: book.read(info) for info in book.infolist()}
        try:
            new = {info: self._edit(info.filename, parts, cells) for info in parts} if cells else parts
        except (KeyError, StopIteration) as error:
            raise ValueError(f"the workbook has no part for {error}; save a copy in Excel, or as .csv") from error
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as book:
            for info, content in new.items():
                book.writestr(info, content)
        return buffer.getvalue()

    @cached_property
    def _values(self) -> list[tuple[Any, ...]]:
        """Values of all cells of the sheet, from cell A1."""
        openpyxl = need("openpyxl", "files")
        book = openpyxl.load_workbook(io.BytesIO(self.content), read_only=True, data_only=True)
        sheet = book.worksheets[0] if self.sheet is None else book[self.sheet]
        sheet.reset_dimensions()
        values = list(sheet.iter_rows(values_only=True))
        book.close()
        return values

    @cached_property
    def _rows(self) -> list[int]:
        """Number in the sheet of each row of the table, counted from 1; rows without values may have been skipped."""
        filled = [i for i, row in enumerate(self._values, start=1) if any(value is not None for value in row)]
        skipped, all_rows = filled[1:], list(range(2, filled[-1] + 1))
        for rows in (all_rows, skipped, list(range(filled[0] + 1, filled[-1] + 1))):
            if len(rows) == len(self):
                return rows
        raise ValueError(f"the sheet has {len(skipped)} rows with values, but {len(self)} samples were read")

    def _check(self, row: int, place: int) -> None:
        """Raise ValueError if the cell to change does not have the value of the table."""
        cells, old = self._values[self._rows[row] - 1], self.column(self.columns[place])[row]
        cell = cells[place] if place < len(cells) else None
        empty = cell is None or is_missing(cell) or not str(cell).strip()
        # pandas reads some words, such as n/a, as missing values.
        if (old is not None) if empty else (old is not None and old != cell and str(old) != str(cell)):
            where = f"row {self._rows[row]} of column {self.columns[place]!r}"
            raise ValueError(f"{where} contains {cell!r}, but {old!r} was read; save the sheet as .csv")

    def _edit(self, name: str, parts: dict[zipfile.ZipInfo, bytes], cells: dict[int, dict[int, Any]]) -> bytes:
        """Return a part of the file with the changed cells, if it is the sheet."""
        texts = {info.filename: content for info, content in parts.items()}
        if name == self._sheet_part(texts):
            return _edit_sheet(texts[name].decode(), cells).encode()
        if name == _WORKBOOK and any(_FORMULA.search(texts[part].decode()) for part in texts if _is_sheet(part)):
            return _compute_on_load(texts[name].decode()).encode()
        return texts[name]

    def _sheet_part(self, texts: dict[str, bytes]) -> str:
        """Return the name of the part that contains the sheet."""
        targets = {}
        for element in re.findall(r"<(?:\w+:)?Relationship\b[^>]*>", texts["xl/_rels/workbook.xml.rels"].decode()):
            attributes = _attributes(element)
            targets[attributes["Id"]] = attributes["Target"]
        sheets = map(_attributes, re.findall(r"<(?:\w+:)?sheet\b[^>]*>", texts[_WORKBOOK].decode()))
        # Sheets of charts are no tables.
        parts = [(s["name"], normpath(join("/xl", targets[s["id"]])).lstrip("/")) for s in sheets]
        return next(part for name, part in parts if _is_sheet(part) and self.sheet in (None, name))


def _is_sheet(part: str) -> bool:
    return part.startswith("xl/worksheets/") and part.endswith(".xml")


def _attributes(element: str) -> dict[str, str]:
    """Return the attributes of an element, without the prefixes of their names."""
    found = re.findall(r"""(?:\w+:)?(\w+)\s*=\s*("[^"]*"|'[^']*')""", element)
    return {name: unescape(value[1:-1]) for name, value in found}


def _edit_sheet(text: str, cells: dict[int, dict[int, Any]]) -> str:
    """Return the XML of a sheet with other values in some cells, given by row and column, counted from 1."""
    data = _DATA.search(text)
    if data is None or data["body"] is None:
        raise ValueError("the sheet has no rows")
    prefix = data["tag"].removesuffix("sheetData")

    def edit_row(number: int, row: re.Match[str] | None) -> str:
        def edit_cell(column: int, cell: re.Match[str] | None) -> str:
            return _new_cell(f"{_column_letters(column)}{number}", cells[number][column], cell, prefix)

        body = "" if row is None else row["body"] or ""
        attributes = f' r="{number}"' if row is None else row["attributes"].rstrip()
        content = _splice(_CELL, body, _column_number, cells[number], edit_cell)
        return f"<{prefix}row{attributes}>{content}</{prefix}row>"

    start, stop = data.span("body")
    return text[:start] + _splice(_ROW, data["body"], int, cells, edit_row) + text[stop:]


def _splice(
    pattern: re.Pattern[str],
    text: str,
    read: Callable[[str], int],
    numbers: Iterable[int],
    make: Callable[[int, re.Match[str] | None], str],
) -> str:
    """Return the XML of rows or cells, in which those with some numbers are made anew, or added in their order.

    Elements without a reference follow the one before.
    """
    parts, end, last, number, left = [], 0, 0, 0, sorted(numbers)
    for match in pattern.finditer(text):
        reference = _attributes(match["attributes"]).get("r")
        number = number + 1 if reference is None else read(reference)
        while left and left[0] < number:
            parts += [text[end : match.start()], make(left.pop(0), None)]
            end = match.start()
        if left and left[0] == number:
            parts += [text[end : match.start()], make(left.pop(0), match)]
            end = match.end()
        last = match.end()
    parts += [text[end : max(end, last)], *(make(number, None) for number in left)]
    return "".join([*parts, text[max(end, last) :]])


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


def _column_number(reference: str) -> int:
    number = 0
    for letter in reference.rstrip("0123456789"):
        number = 26 * number + ord(letter) - ord("A") + 1
    return number


def _column_letters(number: int) -> str:
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def _compute_on_load(workbook: str) -> str:
    """Return the XML of a workbook whose formulas are computed when it is opened."""
    if (match := _CALCULATION.search(workbook)) is not None:
        if _attributes(match[2]).get("fullCalcOnLoad") in ("1", "true"):
            return workbook
        attributes = re.sub(r"""\s*fullCalcOnLoad\s*=\s*("[^"]*"|'[^']*')""", "", match[2]).rstrip()
        new = f'<{match[1]}calcPr{attributes} fullCalcOnLoad="1"{match[3]}>'
        return workbook[: match.start()] + new + workbook[match.end() :]
    for name in _BEFORE_CALCULATION:  # the order of the elements is fixed
        if (end := re.search(rf"</((?:\w+:)?){name}>", workbook)) is not None:
            return workbook[: end.end()] + f'<{end[1]}calcPr fullCalcOnLoad="1"/>' + workbook[end.end() :]
    return workbook
