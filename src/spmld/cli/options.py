"""Arguments and options shared by several commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from spmld.cli.methods import METHODS
from spmld.cli.printing import FORMATS

__all__ = [
    "METHOD_TYPE",
    "PARTS",
    "check_model_options",
    "folds_option",
    "force_option",
    "json_option",
    "method_options",
    "metric_option",
    "model_option",
    "output_options",
    "part_option",
    "seed_option",
    "source_options",
    "trust_option",
    "used_options",
]

Decorator: TypeAlias = Callable[[Callable[..., None]], Callable[..., None]]


class MethodType(click.ParamType):  # type: ignore[type-arg]  # generic in recent versions of click only
    """Click type for the name of a method, not case-sensitive."""

    name = "method"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name as in METHODS."""
        for method in METHODS:
            if method.lower() == str(value).lower():
                return method
        self.fail(f"must be one of {', '.join(METHODS)}, got {value!r}", param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the names that start with the text."""
        return [CompletionItem(name) for name in METHODS if name.lower().startswith(incomplete.lower())]


METHOD_TYPE = MethodType()
PARTS = click.Choice(["all", "train", "test"])


def _combine(*options: Decorator) -> Decorator:
    """Return one decorator for several options; `--help` lists them in this order."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def source_options(name: str = "source") -> Decorator:
    """Return the argument `name` and the options of the readers."""
    return _combine(
        click.argument(name),
        click.option("--from", "format", metavar="FORMAT", help="File format.  [default: by the file extension]"),
        click.option("--label", "labels", multiple=True, metavar="NAME", help="Label column; can be repeated."),
        click.option("--prefix", help="Prefix of the label columns of a table.  [default: label_]"),
        click.option("--xml", metavar="FILE", help="MULAN's XML file with the labels of an ARFF file."),
        click.option("--drop", multiple=True, metavar="COLUMN", help="Column to ignore; can be repeated."),
        click.option("--encoding", help="Encoding of a text file.  [default: utf-8]"),
    )


def used_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of the readers that were set.

    Examples
    --------
    >>> from spmld.cli.options import used_options
    >>> used_options({"labels": ("sad", "calm"), "prefix": None, "drop": ()})
    {'labels': ['sad', 'calm']}
    """
    return {name: list(value) if isinstance(value, tuple) else value for name, value in options.items() if value}


def part_option(default: str) -> Decorator:
    """Return --part, for data sets with an official split."""
    help = f"Part of the official split to use, if there is one.  [default: {default}]"
    return click.option("--part", type=PARTS, help=help)


def seed_option(help: str) -> Decorator:
    """Return --seed, in the range that NumPy accepts."""
    return click.option("--seed", default=0, show_default=True, type=click.IntRange(0, 2**32 - 1), help=help)


def folds_option(default: int) -> Decorator:
    """Return --folds."""
    return click.option(
        "--folds", default=default, show_default=True, type=click.IntRange(min=2), help="Number of folds."
    )


def metric_option(default: str) -> Decorator:
    """Return --metric, which can be repeated."""
    help = f"Metric to compute; can be repeated.  [default: {default}]"
    return click.option("--metric", "metrics", multiple=True, metavar="NAME", help=help)


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
force_option = click.option("--force", is_flag=True, help="Overwrite an existing file.")
trust_option = click.option(
    "--trust", "trusted", multiple=True, metavar="TYPE", help="Type in MODEL to trust; can be repeated."
)
model_option = click.option("--model", metavar="MODEL", help="Model file to use instead of fitting a method.")

method_options = _combine(
    click.option(
        "--method",
        default="SelfPacedEnsemble",
        show_default=True,
        metavar="NAME",
        type=METHOD_TYPE,
        help=f"One of {', '.join(METHODS)}.",
    ),
    click.option(
        "--param", "params", multiple=True, metavar="KEY=VALUE", help="Parameter of the method; can be repeated."
    ),
    seed_option("Seed of the method."),
)

output_options = _combine(
    click.option("-o", "--out", metavar="FILE", help="Write to this file instead of standard output."),
    click.option(
        "--format", "to", type=click.Choice(FORMATS), help="Output format.  [default: by the file extension, or csv]"
    ),
    click.option("--json", "as_json", is_flag=True, help="Same as --format json."),
    force_option,
)


def check_model_options() -> None:
    """Raise ValueError if --method or --param is used together with --model."""
    context = click.get_current_context()
    for name, option in (("method", "--method"), ("params", "--param")):
        if context.get_parameter_source(name) == ParameterSource.COMMANDLINE:
            raise ValueError(f"{option} cannot be combined with --model, whose method is already fitted")
