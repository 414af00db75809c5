"""Parts of a page: sections with facts, tiles, tables and figures."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from spmld._table import TextTable


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
