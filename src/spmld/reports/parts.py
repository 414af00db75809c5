"""What a page is made of: sections, with facts, tables and figures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

__all__ = ["Cell", "Facts", "Figure", "Section", "Table", "Tiles", "shown"]

NOTHING = "-"


@dataclass(frozen=True)
class Cell:
    """A cell of a table: its text, what it is sorted by, and a mark, "good", "bad" or none."""

    text: str
    value: float | None = None
    mark: str = ""


@dataclass(frozen=True)
class Facts:
    """Names with their values."""

    rows: Sequence[tuple[str, str]]
    kind: ClassVar[str] = "facts"


@dataclass(frozen=True)
class Tiles:
    """Few numbers, large: name, value, and a remark."""

    rows: Sequence[tuple[str, str, str]]
    kind: ClassVar[str] = "tiles"


@dataclass(frozen=True)
class Table:
    """A table that can be sorted, and searched if it is long."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    kind: ClassVar[str] = "table"

    @classmethod
    def of(cls, title: str, rows: Sequence[Mapping[str, Any]], note: str = "") -> Table:
        """A table from a dictionary for each row, whose keys are the columns.

        Examples
        --------
        >>> from spmld.reports.parts import Table
        >>> Table.of("Labels", [{"label": "sad", "AUC": 0.75}]).rows[0][1]
        Cell(text='0.7500', value=0.75, mark='')
        """
        return cls(
            title, list(rows[0]) if rows else [], [[shown(value) for value in row.values()] for row in rows], note
        )

    @property
    def searchable(self) -> bool:
        """Whether it is too long to be read at a glance."""
        return len(self.rows) > 10

    @property
    def numeric(self) -> list[bool]:
        """Which columns hold numbers."""
        return [
            any(row[place].value is not None for row in self.rows)
            and all(row[place].value is not None or row[place].text == NOTHING for row in self.rows)
            for place in range(len(self.columns))
        ]


@dataclass(frozen=True)
class Figure:
    """A picture as SVG, with what it shows in words, and its width in pixels where there is room."""

    svg: str
    alt: str
    caption: str = ""
    width: int = 640
    kind: ClassVar[str] = "figure"


@dataclass(frozen=True)
class Section:
    """A part of the page with a heading."""

    key: str
    title: str
    text: str = ""
    parts: Sequence[Facts | Figure | Table | Tiles] = field(default_factory=tuple)


def shown(value: Any) -> Cell:
    """A value as a cell: four decimals of a usual number, a dash for nothing.

    Examples
    --------
    >>> from spmld.reports.parts import shown
    >>> shown(0.123456).text, shown(float("nan")).text, shown(1234).text
    ('0.1235', '-', '1234')
    """
    if isinstance(value, Cell):
        return value
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return Cell(NOTHING)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return Cell(str(value))
    if isinstance(value, int):
        return Cell(str(value), float(value))
    usual = value == 0 or 1e-3 <= abs(value) < 1e3
    return Cell(f"{value:.4f}" if usual else f"{value:.3g}", float(value))
