"""The commands, imported when they are used."""

import importlib
from typing import Any

import click

import spmld as package

_COMMANDS = {
    "fit": "Fit a model and write it to a file.",
    "update": "Update a model with new samples, corrected labels or new labels.",
    "predict": "Predict the labels of new samples.",
    "evaluate": "Compute the metrics of a model.",
    "monitor": "Find shifts of data without labels.",
    "export": "Write a model for other programs, to ONNX.",
    "complete": "List the missing labels that are most likely positive, or fill them in.",
    "compare": "Compare several methods by cross-validation.",
    "tune": "Search for the parameters of a method.",
    "audit": "Find labels that are likely to be wrong.",
    "annotators": "Estimate how often annotators differ, and find the entries to show next.",
    "review": "Review labels in the browser, the most valuable first.",
    "correct": "Write the annotations of a review into a copy of the file.",
    "report": "Write an HTML report on a model.",
    "data": "List, fetch, describe and convert data sets.",
    "info": "Print versions and devices, or the content of a model file.",
}

_MODULES = {
    "evaluate": "predict",
    "audit": "labels",
    "complete": "labels",
    "tune": "compare",
    "export": "info",
    "correct": "review",
}
"""Modules of the commands that are not in the module of the same name."""


class _LazyGroup(click.Group):
    """A group that imports a command when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Return a command; the error for an unknown one suggests the closest."""
        if name not in _COMMANDS:
            if ctx.resilient_parsing or name.startswith("-"):
                return None
            from spmld._validation import did_you_mean

            hint = did_you_mean(name, _COMMANDS)
            ctx.fail(f"unknown command {name!r}{hint or '; the commands are ' + ', '.join(_COMMANDS)}")
        return getattr(importlib.import_module(f"spmld.app.commands.{_MODULES.get(name, name)}"), name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package.__version__, prog_name="spmld")
def spmld(**_: Any) -> None:
    """Multi-label learning when labels are missing or wrong.

    \b
    Example:
      spmld fit songs.csv --text review --tags tags --id song_id -o songs.skops
      spmld evaluate songs.skops test.csv
      spmld predict songs.skops new.csv -o tags.csv
    """
