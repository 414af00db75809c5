"""Tables that a command writes: CSV, Parquet or JSON, to a file that is complete or absent, or to the output."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from spmld.cli.printing import plain

__all__ = ["FORMATS", "check_target", "output_options", "table_format", "write_table"]

FORMATS = ("csv", "parquet", "json")
_ENDINGS = {"csv": "csv", "tsv": "csv", "parquet": "parquet", "pq": "parquet", "json": "json"}


def output_options(command: Callable[..., None]) -> Callable[..., None]:
    """-o, --format, --json and --force, the same for every command that writes a table."""
    for option in (
        click.option("--force", is_flag=True, help="Replace the file of -o if it is there."),
        click.option("--json", "as_json", is_flag=True, help="The same as --format json."),
        click.option("--format", "to", type=click.Choice(FORMATS), help="Form of what is written.  [default: csv]"),
        click.option(
            "-o", "--out", metavar="FILE", help="Write here (csv, tsv, parquet, json), and not to the output."
        ),
    ):
        command = option(command)
    return command


def check_target(path: str | None, force: bool) -> None:
    """Refuse a file that cannot be written, before the work that would be lost."""
    if path is None:
        return
    file = Path(path)
    if file.is_dir():
        raise ValueError(f"{file} is a folder, expected the name of a file")
    if not file.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {file.parent} to write {file.name} into")
    if file.exists() and not force:
        raise ValueError(f"{file} is there already; give --force to replace it")


def table_format(path: str | None, to: str | None, as_json: bool) -> str:
    """The form that was asked for, or that the ending of the file tells."""
    if as_json and to not in (None, "json"):
        raise ValueError(f"--json and --format {to} contradict each other")
    kind = "json" if as_json else to
    if kind is None:
        ending = "csv" if path is None else Path(path).suffix.lower().removeprefix(".")
        if ending not in _ENDINGS:
            raise ValueError(f"the ending of {path} is none that is known: {', '.join(_ENDINGS)}. Give --format")
        kind = _ENDINGS[ending]
    if kind == "parquet" and path is None:
        raise ValueError("parquet goes into a file: give -o")
    return kind


def write_table(columns: Mapping[str, Any], path: str | None, kind: str) -> None:
    """Write columns of equal length by name."""
    from spmld._io import need, writing

    lists = {name: values.tolist() if hasattr(values, "tolist") else list(values) for name, values in columns.items()}
    if kind == "parquet":
        need("pyarrow")
        frame = need("pandas").DataFrame(lists)
        with writing(str(path)) as part:
            frame.to_parquet(part, index=False)
        return
    rows = list(zip(*lists.values(), strict=True))
    if kind == "json":
        text = json.dumps(plain([dict(zip(lists, row, strict=True)) for row in rows]), indent=2, ensure_ascii=False)
        text += "\n"
    else:
        buffer = io.StringIO()
        tabs = path is not None and path.lower().endswith(".tsv")
        writer = csv.writer(buffer, delimiter="\t" if tabs else ",", lineterminator="\n")
        writer.writerows([list(lists), *rows])
        text = buffer.getvalue()
    if path is None:
        click.echo(text, nl=False)
        return
    with writing(path) as part:
        part.write_text(text, encoding="utf-8", newline="")
