"""The data of a command: a file or a name, and what a reader may need to know of it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import click
import numpy as np

__all__ = [
    "check_features",
    "check_folds",
    "given",
    "load",
    "load_rows",
    "part_option",
    "seed_option",
    "source_options",
    "take_part",
]


def source_options(name: str = "source") -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The argument `name` and the options of the readers, the same for every command."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        for option in (
            click.option("--encoding", help="Encoding of a text file, if it is not UTF-8."),
            click.option("--drop", multiple=True, metavar="COLUMN", help="A column to leave out; repeat for more."),
            click.option("--xml", metavar="FILE", help="MULAN's list of labels, for an ARFF file."),
            click.option("--prefix", help="Start of the names of label columns in a table.  [default: label_]"),
            click.option("--label", "labels", multiple=True, metavar="NAME", help="A label column; repeat for more."),
            click.option("--from", "format", metavar="FORMAT", help="Format of the file, if its ending does not tell."),
            click.argument(name),
        ):
            command = option(command)
        return command

    return decorate


def part_option(default: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Which rows of a data set with an official split; all rows of one without."""
    help = f"Rows of the official split, where there is one.  [default: {default}]"
    return click.option("--part", type=click.Choice(["all", "train", "test"]), help=help)


def seed_option(help: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """--seed, in the range that NumPy takes."""
    return click.option("--seed", default=0, show_default=True, type=click.IntRange(0, 2**32 - 1), help=help)


def check_folds(folds: int, data: Any, source: str) -> None:
    """Refuse more folds than there are samples."""
    if folds > data.X.shape[0]:
        raise ValueError(f"--folds must be no more than the samples of {source}, {data.X.shape[0]}, got {folds}")


def given(options: dict[str, Any]) -> dict[str, Any]:
    """The options that were used."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in options.items() if value}


def load(source: str, **options: Any) -> Any:
    """The data set."""
    from spmld.datasets import load_dataset

    return load_dataset(source, progress=sys.stderr.isatty(), **given(options))


def load_rows(source: str, options: dict[str, Any], part: str | None, default: str) -> Any:
    """The rows to fit on."""
    return check_features(take_part(load(source, **options), part, default), source)


def check_features(data: Any, source: str) -> Any:
    """Refuse features that are no finite numbers: the methods of the commands fill no gaps in them."""
    values = data.X.data if hasattr(data.X, "nnz") else data.X
    if not np.isfinite(values).all():
        rows, columns = np.nonzero(~np.isfinite(data.X.toarray() if hasattr(data.X, "nnz") else data.X))
        raise ValueError(
            f"{source}: features must be finite numbers, but {len(rows)} are empty or infinite, the first in sample "
            f"{rows[0]}, feature {list(data.feature_names)[columns[0]]}: fill them, or leave the column out with --drop"
        )
    return data


def take_part(data: Any, part: str | None, default: str) -> Any:
    """The rows that were asked for, or the default ones where there is an official split."""
    return data.part(part or (default if data.train is not None else "all"))
