"""Parts of a page: sections with facts, tiles, tables and figures."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from spmld._table import TableCell, TextTable
from spmld.model_selection.statistics import Verdict


@dataclass(frozen=True)
class Facts:
    """Names and values."""

    rows: Sequence[tuple[str, ...]]
    kind: ClassVar[str] = "facts"


class Tiles(Facts):
    """Headline numbers: name, value and remark."""

    kind = "tiles"


@dataclass(frozen=True)
class Figure:
    """SVG image with alternative text, caption and width in pixels."""

    svg: str
    alt: str
    caption: str = ""
    width: int = 640
    kind: ClassVar[str] = "figure"


@dataclass(frozen=True)
class Section:
    """Section of a page. Tables can be sorted, and searched if they are long."""

    key: str
    title: str
    text: str = ""
    parts: Sequence[Facts | Figure | TextTable] = field(default_factory=tuple)


def verdict_cell(text: str, value: float, verdict: Verdict | None) -> TableCell:
    """Return a cell with the sign and the color of a verdict.

    Examples
    --------
    >>> from spmld.model_selection.statistics import Verdict
    >>> from spmld.reports.parts import verdict_cell
    >>> verdict_cell("0.5", 0.5, Verdict.WORSE)
    TableCell(text='0.5 -', value=0.5, mark='bad')
    """
    if verdict is None:
        return TableCell(text, value)
    marks = {Verdict.BETTER: "good", Verdict.WORSE: "bad", Verdict.NO_DIFFERENCE: ""}
    return TableCell(f"{text} {verdict.sign}", value, marks[verdict])
