"""One table for every output: aligned text, tab-separated values, Markdown, HTML and CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

__all__ = ["TableCell", "TextTable", "format_number"]

EMPTY = "-"


def format_number(value: Any, digits: int = 4) -> str:
    """Return a value as text: floats with `digits` decimals, or digits where that shows nothing; "-" for nothing.

    Examples
    --------
    >>> from spmld._table import format_number
    >>> format_number(0.123456), format_number(float("nan")), format_number(1234), format_number(1e-7)
    ('0.1235', '-', '1234', '1e-07')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return EMPTY
    if isinstance(value, bool) or not isinstance(value, float):
        return str(value)
    usual = value == 0 or 10.0 ** (1 - digits) <= abs(value) < 10.0 ** (digits - 1)
    return f"{value:.{digits}f}" if usual else f"{value:.{digits - 1}g}"


@dataclass(frozen=True)
class TableCell:
    """A cell with its own text.

    Attributes
    ----------
    text : str
        Text to show.
    value : float or None
        Number to sort by.
    mark : {"", "good", "bad", "bold", "italic"}
        Emphasis.
    """

    text: str
    value: float | None = None
    mark: str = ""


@dataclass(frozen=True)
class TextTable:
    r"""A table of values.

    Parameters
    ----------
    columns : sequence of str
        Names of the columns.
    rows : sequence of sequences
        Values, or a `TableCell` where the text is not that of `format_number`.
    title, note : str
        Text above and below the table.

    Examples
    --------
    >>> from spmld._table import TextTable
    >>> table = TextTable(["method", "loss"], [["SPMLD", 0.25]])
    >>> print(table.to_markdown())
    | method | loss |
    | :--- | ---: |
    | SPMLD | 0.2500 |
    >>> table.to_csv()
    'method,loss\nSPMLD,0.25\n'
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]] = field(default_factory=tuple)
    title: str = ""
    note: str = ""

    @classmethod
    def from_records(cls, records: Sequence[Mapping[str, Any]], title: str = "", note: str = "") -> TextTable:
        """Return a table with one row for each mapping; the keys of the first are the columns."""
        return cls(list(records[0]) if records else [], [list(record.values()) for record in records], title, note)

    @property
    def cells(self) -> list[list[TableCell]]:
        """All values as cells."""
        return [[_cell(value) for value in row] for row in self.rows]

    @property
    def numeric(self) -> list[bool]:
        """Which columns hold numbers, or nothing beside them."""
        columns = zip(*self.cells, strict=True) if self.rows else ([] for _ in self.columns)
        return [
            any(cell.value is not None for cell in column)
            and all(cell.value is not None or cell.text in (EMPTY, "") for cell in column)
            for column in map(list, columns)
        ]

    def __str__(self) -> str:
        """Return text with aligned columns, numbers to the right."""
        lines = [list(self.columns), *self._texts()]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        columns = list(zip(widths, self.numeric, strict=True))
        return "\n".join(
            "  ".join(
                text.rjust(width) if numeric else text.ljust(width)
                for text, (width, numeric) in zip(line, columns, strict=True)
            )
            for line in lines
        )

    def to_text(self) -> str:
        """Return tab-separated lines, the names of the columns first."""
        return "\n".join("\t".join(line) for line in [list(self.columns), *self._texts()])

    def to_markdown(self) -> str:
        """Return a Markdown table; all columns but the first are aligned to the right."""
        marks = {"bold": "**", "italic": "*"}
        body = [
            [f"{marks.get(cell.mark, '')}{cell.text}{marks.get(cell.mark, '')}" for cell in row] for row in self.cells
        ]
        rule = [":---", *["---:"] * (len(self.columns) - 1)]
        return "\n".join("| " + " | ".join(line) + " |" for line in [list(self.columns), rule, *body])

    def to_html(self) -> str:
        """Return an HTML table without style, as notebooks show it."""

        def line(tag: str, texts: Sequence[str]) -> str:
            return "<tr>" + "".join(f"<{tag}>{escape(text)}</{tag}>" for text in texts) + "</tr>"

        above = f"<p>{escape(self.title)}</p>" if self.title else ""
        body = "".join(line("td", texts) for texts in self._texts())
        return f"{above}<table><thead>{line('th', list(self.columns))}</thead><tbody>{body}</tbody></table>"

    def to_csv(self, *, delimiter: str = ",", digits: int | None = None) -> str:
        """Return CSV text. Floats have all digits, or `digits` significant ones; cells have their text."""
        buffer = io.StringIO()
        writer = csv.writer(buffer, delimiter=delimiter, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([_plain(value, digits) for value in row] for row in self.rows)
        return buffer.getvalue()

    def _texts(self) -> list[list[str]]:
        return [[cell.text for cell in row] for row in self.cells]


def _cell(value: Any) -> TableCell:
    if isinstance(value, TableCell):
        return value
    number = isinstance(value, (int, float)) and not isinstance(value, bool) and not math.isnan(value)
    return TableCell(format_number(value), float(value) if number else None)


def _plain(value: Any, digits: int | None) -> Any:
    if isinstance(value, TableCell):
        return value.text
    return f"{value:.{digits}g}" if digits is not None and isinstance(value, float) else value
