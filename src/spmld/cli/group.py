"""The groups of commands, imported only when they are asked for."""

from __future__ import annotations

import importlib
from typing import Any

import click

import spmld as package

__all__ = ["spmld"]

_GROUPS = {
    "fit": "Learn a model from data and write it to a file.",
    "predict": "Predict the labels of new samples.",
    "evaluate": "Print the metrics of a model on data with known labels.",
    "complete": "Say which missing labels to add, the surest first.",
    "compare": "Compare several methods on the same folds of your data.",
    "tune": "Search for the parameters of a method.",
    "audit": "Find labels that are likely to be wrong.",
    "report": "Write a page on a model, a comparison or a study.",
    "data": "List, fetch, describe and convert data sets.",
    "reproduce": "Run studies, make their tables and figures, refit any one result.",
    "demo": "Learn from generated data, print a table and draw a figure.",
    "info": "Print versions and devices, or what a model file holds.",
}


class _Lazy(click.Group):
    """A group that knows the names of its commands, and imports one from the module of that name when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_GROUPS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in _GROUPS:
            return None
        return getattr(importlib.import_module(f"spmld.cli.{name}"), name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_GROUPS.items()))


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package.__version__, prog_name="spmld")
def spmld(**_: Any) -> None:
    """Multi-label learning when labels are missing or wrong.

    \b
    Example:
      spmld fit songs.csv -o songs.skops
      spmld evaluate songs.skops test.csv
      spmld predict songs.skops new.csv -o tags.csv
    """
