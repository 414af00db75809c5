"""Tables of results in notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

__all__ = ["html_table"]


def html_table(head: Sequence[str], rows: Iterable[Sequence[Any]], caption: str = "") -> str:
    """A table as HTML; floats have four digits.

    Examples
    --------
    >>> from spmld._html import html_table
    >>> html_table(["a"], [[0.5]])
    '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>0.5000</td></tr></tbody></table>'
    """

    def line(tag: str, cells: Sequence[Any]) -> str:
        texts = (f"{cell:.4f}" if isinstance(cell, float) else str(cell) for cell in cells)
        return "<tr>" + "".join(f"<{tag}>{escape(text)}</{tag}>" for text in texts) + "</tr>"

    body = "".join(line("td", row) for row in rows)
    above = f"<p>{escape(caption)}</p>" if caption else ""
    return f"{above}<table><thead>{line('th', head)}</thead><tbody>{body}</tbody></table>"
