"""Printing: for people at a terminal, for programs in a pipe, and as JSON."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from typing import Any

import click

__all__ = ["plain", "say", "show_json", "show_table"]


def show_json(content: Any) -> None:
    """JSON as the standard knows it: what is not finite becomes null."""
    click.echo(json.dumps(plain(content), indent=2, ensure_ascii=False, allow_nan=False))


def plain(content: Any) -> Any:
    """What JSON can hold: null for what is not finite."""
    if isinstance(content, dict):
        return {key: plain(value) for key, value in content.items()}
    if isinstance(content, (list, tuple)):
        return [plain(value) for value in content]
    if isinstance(content, float) and not math.isfinite(content):
        return None
    return content


def show_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], title: str | None = None) -> None:
    """A table at a terminal; lines with tabs, names first, in a pipe or a file."""
    texts = [[_text(value) for value in row] for row in rows]
    if not sys.stdout.isatty():
        for line in (columns, *texts):
            click.echo("\t".join(line))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title and Text(title), title_justify="left")
    for i, column in enumerate(columns):
        numbers = bool(rows) and all(isinstance(row[i], (int, float)) for row in rows)
        table.add_column(Text(column), justify="right" if numbers else "left", overflow="fold")
    for line in texts:
        table.add_row(*(Text(text) for text in line))
    Console().print(table)


def say(text: str) -> None:
    """A remark for people, beside what a command prints."""
    click.echo(text, err=True)


def _text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
