"""What commands that read a data set share: the argument SOURCE and what a reader may need to know of it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import click

__all__ = ["load", "source_options"]


def source_options(command: Callable[..., None]) -> Callable[..., None]:
    """A file or a name, and what a reader may need to know of it."""
    for option in (
        click.option("--encoding", help="Encoding of a text file, if it is not UTF-8."),
        click.option("--drop", multiple=True, metavar="COLUMN", help="A column to leave out; repeat for more."),
        click.option("--xml", metavar="FILE", help="MULAN's list of labels, for an ARFF file."),
        click.option("--prefix", help="Start of the names of label columns in a table.  [default: label_]"),
        click.option("--label", "labels", multiple=True, metavar="NAME", help="A label column; repeat for more."),
        click.option("--from", "format", metavar="FORMAT", help="Format of the file, if its ending does not say it."),
        click.argument("source"),
    ):
        command = option(command)
    return command


def load(source: str, **options: Any) -> Any:
    """The data set that a command was given."""
    from spmld.datasets import load_dataset

    given = {name: list(value) if isinstance(value, tuple) else value for name, value in options.items() if value}
    return load_dataset(source, progress=sys.stderr.isatty(), **given)
