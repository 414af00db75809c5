"""Printing and writing of tables and JSON."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import click

from spmld._table import TextTable

__all__ = [
    "FORMATS",
    "check_output_path",
    "output_format",
    "print_json",
    "print_message",
    "print_table",
    "write_table",
]

FORMATS = ("csv", "parquet", "json")
_EXTENSIONS = {".csv": "csv", ".tsv": "csv", ".parquet": "parquet", ".pq": "parquet", ".json": "json"}
_STYLES = {"good": "green", "bad": "red", "bold": "bold", "italic": "italic"}


def print_message(text: str) -> None:
    """Print a message to standard error."""
    click.echo(text, err=True)


def print_json(content: Any) -> None:
    """Print JSON to standard output."""
    click.echo(_to_json(content))


def print_table(table: TextTable) -> None:
    """Print a table: formatted on a terminal, tab-separated lines otherwise."""
    if not sys.stdout.isatty():
        click.echo(table.to_tsv())
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    output = Table(title=Text(table.title) if table.title else None, title_justify="left")
    output.caption, output.caption_justify = (Text(table.note) if table.note else None), "left"
    for column, numeric in zip(table.columns, table.numeric, strict=True):
        output.add_column(Text(column), justify="right" if numeric else "left", overflow="fold")
    for row in table.cells:
        output.add_row(*(Text(cell.text, style=_STYLES.get(cell.mark, "")) for cell in row))
    Console().print(output)


def check_output_path(path: str | None, force: bool) -> None:
    """Raise an error, before any work is done, if a file cannot be written."""
    if path is None:
        return
    file = Path(path)
    if file.is_dir():
        raise ValueError(f"{file} is a folder; pass the name of a file")
    if not file.parent.is_dir():
        raise FileNotFoundError(f"cannot write {file.name}: folder {file.parent} does not exist")
    if file.exists() and not force:
        raise ValueError(f"{file} already exists; use --force to overwrite it")


def output_format(path: str | None, to: str | None, as_json: bool) -> str:
    """Return the format given by --format or --json, or else by the file extension.

    Examples
    --------
    >>> from spmld.cli.printing import output_format
    >>> output_format("tags.tsv", None, False), output_format(None, None, True)
    ('csv', 'json')
    """
    if as_json and to not in (None, "json"):
        raise ValueError(f"--json cannot be combined with --format {to}")
    if as_json or to:
        kind = "json" if as_json else str(to)
    elif path is None:
        kind = "csv"
    else:
        extension = Path(path).suffix.lower()
        if extension not in _EXTENSIONS:
            raise ValueError(
                f'unknown file extension "{extension}" of {path}; supported: {", ".join(_EXTENSIONS)}. '
                "Use one of these or pass --format"
            )
        kind = _EXTENSIONS[extension]
    if kind == "parquet" and path is None:
        raise ValueError("--format parquet cannot be printed; pass a file with -o")
    return kind


def write_table(table: TextTable, path: str | None, kind: str) -> None:
    """Write a table to a file, or print it if `path` is None."""
    from spmld._io import need, writing

    if kind == "parquet":
        need("pyarrow")
        frame = need("pandas").DataFrame(_records(table), columns=list(table.columns))
        with writing(str(path)) as part:
            frame.to_parquet(part, index=False)
        return
    if kind == "json":
        text = _to_json(_records(table)) + "\n"
    else:
        tabs = path is not None and path.lower().endswith(".tsv")
        text = table.to_csv(delimiter="\t" if tabs else ",")
    if path is None:
        click.echo(text, nl=False)
        return
    with writing(path) as part:
        part.write_text(text, encoding="utf-8", newline="")


def _records(table: TextTable) -> list[dict[str, Any]]:
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def _to_json(content: Any) -> str:
    return json.dumps(_finite(content), indent=2, ensure_ascii=False, allow_nan=False)


def _finite(content: Any) -> Any:
    """Replace NaN and infinity, which JSON does not support, by None."""
    if isinstance(content, dict):
        return {key: _finite(value) for key, value in content.items()}
    if isinstance(content, (list, tuple)):
        return [_finite(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content
