"""Arguments and options shared by several commands.

Some options are bundled: a command gets one object that is made from the values of several options.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeAlias

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from spmld._validation import did_you_mean
from spmld.cli.loading import Source
from spmld.cli.methods import METHODS, parse_value
from spmld.cli.printing import FORMATS, Output, check_output_path

DECISIONS = ("f1", "micro_f1", "macro_f1", "sample_f1")
Decorator: TypeAlias = Callable[[Callable[..., None]], Callable[..., None]]


class MethodType(click.ParamType):  # type: ignore[type-arg]  # generic in recent versions of click only
    """Click type for the name of a method, not case-sensitive."""

    name = "method"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name as in METHODS."""
        for method in METHODS:
            if method.lower() == str(value).lower():
                return method
        hint = did_you_mean(value, METHODS)
        self.fail(f"must be one of {', '.join(METHODS)}, got {value!r}{hint}", param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the names that start with the text."""
        return [CompletionItem(name) for name in METHODS if name.lower().startswith(incomplete.lower())]


class DecisionType(click.ParamType):  # type: ignore[type-arg]
    """Click type for a decision: the name of an F1, a threshold or a number of labels."""

    name = "decision"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str | float | int:
        """Return the decision as text, float or int."""
        from spmld.model_selection.thresholds import RULE_CONSTRAINTS

        if str(value).lower() == "none":
            return "none"
        decision: str | float | int = parse_value(value) if isinstance(value, str) else value
        if isinstance(decision, bool) or not any(accepted.is_satisfied_by(decision) for accepted in RULE_CONSTRAINTS):
            self.fail(
                f"must be one of {', '.join(DECISIONS)}, none, a threshold between 0 and 1, or a number of labels "
                f"of at least 1, got {value!r}",
                param,
                ctx,
            )
        return decision

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the names that start with the text."""
        return [CompletionItem(name) for name in DECISIONS if name.startswith(incomplete)]


PARTS = click.Choice(["all", "train", "test"])


def _combine(*options: Decorator) -> Decorator:
    """Return one decorator for several options; `--help` lists them in this order."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def _bundle(name: str, parameters: Sequence[str], make: Callable[..., Any], *options: Decorator) -> Decorator:
    """Return options whose values, the `parameters`, are passed to `make`. The command gets the result as `name`."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def call(**values: Any) -> None:
            made = make(*[values.pop(parameter) for parameter in parameters])
            command(**{name: made}, **values)

        return _combine(*options)(call)

    return decorate


def several(option: str, name: str, metavar: str, help: str) -> Decorator:
    """Return an option that can be repeated."""
    return click.option(option, name, multiple=True, metavar=metavar, help=f"{help}; can be repeated.")


def integer(option: str, default: int, help: str, *, minimum: int = 1, maximum: int | None = None) -> Decorator:
    """Return an option with an integer."""
    kind = click.IntRange(minimum, maximum)
    return click.option(option, default=default, show_default=True, type=kind, metavar="N", help=help)


def seed_option(help: str) -> Decorator:
    """Return --seed, in the range that NumPy accepts."""
    return integer("--seed", 0, help, minimum=0, maximum=2**32 - 1)


def folds_option(default: int) -> Decorator:
    """Return --folds."""
    return integer("--folds", default, "Number of folds.", minimum=2)


def method_option(help: str, default: str | None = None) -> Decorator:
    """Return --method."""
    shown = default is not None
    return click.option("--method", default=default, show_default=shown, metavar="NAME", type=METHOD_TYPE, help=help)


def metric_option(default: str) -> Decorator:
    """Return --metric, which can be repeated."""
    help = f"Metric to compute; can be repeated.  [default: {default}]"
    return click.option("--metric", "metrics", multiple=True, metavar="NAME", callback=_check_metrics, help=help)


def _check_metrics(context: click.Context, option: click.Parameter, metrics: tuple[str, ...]) -> tuple[str, ...]:
    from spmld.metrics import get_metric

    for name in metrics:
        get_metric(name)
    return metrics


def source_options(name: str = "source", part: str | None = None, *, trusted: bool = False) -> Decorator:
    """Return the argument `name` and the options of the readers, as a `Source`.

    Parameters
    ----------
    name : str
        Name of the argument.
    part : str, optional
        Default of --part, for data sets with an official split. None: the command has no such option.
    trusted : bool
        Whether the command has the option --trusted, for verified entries.
    """
    readers = {**_file_options(), **_role_options()}
    parts: dict[str, Decorator] = {}
    if part is not None:
        help = f"Part of the official split to use, if there is one.  [default: {part}]"
        parts["part"] = click.option("--part", type=PARTS, help=help)
    if trusted:
        help = "Verified labels: a column with 1 for each verified sample, or a file with 1 for each verified label."
        parts["verified"] = click.option("--trusted", "verified", metavar="COLUMN|FILE", help=help)

    def make(path: str, *values: Any) -> Source:
        options = dict(zip([*readers, *parts], values, strict=True))
        chosen, verified = options.pop("part", None), options.pop("verified", None)
        return Source(path, chosen, part or "all", used_options(options), verified)

    return _bundle(name, [name, *readers, *parts], make, click.argument(name), *readers.values(), *parts.values())


def _file_options() -> dict[str, Decorator]:
    return {
        "format": click.option(
            "--from", "format", metavar="FORMAT", help="File format.  [default: from the extension]"
        ),
        "encoding": click.option("--encoding", help="Encoding of a text file.  [default: utf-8]"),
        "sep": click.option("--sep", metavar="CHARACTER", help="Separator of a CSV file.  [default: guessed]"),
        "decimal": click.option(
            "--decimal", type=click.Choice([".", ","]), help="Decimal separator of a table.  [default: guessed]"
        ),
        "sheet": click.option("--sheet", metavar="NAME", help="Sheet of an Excel file.  [default: the first]"),
        "xml": click.option("--xml", metavar="FILE", help="MULAN's XML file with the labels of an ARFF file."),
    }


def _role_options() -> dict[str, Decorator]:
    """Return the options for the roles of the columns of a table, see `spmld.datasets.TableRoles`."""
    return {
        "labels": several("--label", "labels", "COLUMN", "Label column"),
        "prefix": click.option("--prefix", help="Prefix of the label columns of a table.  [default: label_]"),
        "tags": click.option("--tags", metavar="COLUMN", help="Column with a list of tags, which are the labels."),
        "tag_sep": click.option(
            "--tag-sep", metavar="TEXT", help='Separator of the tags, or several, such as ";,".  [default: guessed]'
        ),
        "untagged": click.option(
            "--untagged",
            type=click.Choice(["negative", "weak", "missing"]),
            help="Meaning of a tag that is not in the list of a sample: negative, weak (a negative of lower weight) or "
            "missing.  [default: negative]",
        ),
        "tag_case": click.option(
            "--tag-case",
            type=click.Choice(["merge", "keep"]),
            help="Whether tags that differ only in case or width are one label.  [default: merge]",
        ),
        "empty_is": click.option(
            "--empty-is",
            type=click.Choice(["missing", "negative"]),
            help="Meaning of an empty field of a label or of the tags.  [default: missing]",
        ),
        "id": click.option("--id", "id", metavar="COLUMN", help="Column that identifies the samples in all outputs."),
        "text": several("--text", "text", "COLUMN", "Column of text"),
        "number": several("--number", "number", "COLUMN", "Column of numbers"),
        "category": several("--category", "category", "COLUMN", "Column of categories"),
        "date": several("--date", "date", "COLUMN", "Column of dates"),
        "drop": several("--drop", "drop", "COLUMN", "Column to ignore"),
        "day_first": click.option(
            "--day-first", is_flag=True, help="Read dates such as 03/04/2024 with the day first."
        ),
        "strict": click.option(
            "--strict", is_flag=True, help="Values that cannot be read as numbers or dates are an error, not missing."
        ),
        "positive": several("--positive", "positive", "WORD", "Word for a positive label"),
        "negative": several("--negative", "negative", "WORD", "Word for a negative label"),
        "missing": several("--missing", "missing", "WORD", "Word for a missing label"),
    }


def used_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of the readers that were set.

    Examples
    --------
    >>> from spmld.cli.options import used_options
    >>> used_options({"labels": ("sad", "calm"), "prefix": None, "drop": ()})
    {'labels': ['sad', 'calm']}
    """
    return {name: list(value) if isinstance(value, tuple) else value for name, value in options.items() if value}


def out_option(metavar: str, help: str, *, required: bool = False) -> Decorator:
    """Return --out and --force. The command gets `out`, to which a file can be written."""
    out = click.option("-o", "--out", required=required, metavar=metavar, help=help)
    return _bundle("out", ["out", "force"], check_output_path, out, force_option)


METHOD_TYPE = MethodType()
decision_option = click.option(
    "--decision",
    type=DecisionType(),
    metavar="RULE",
    help=f"Which labels to predict: {', '.join(DECISIONS)}, a threshold, a number of labels, or none for the "
    "predictions of the method itself.  [default: f1]",
)
label_decision_options = _combine(
    several("--precision", "precisions", "LABEL=NUMBER", "Predict a label with at least this held-out precision"),
    several("--threshold", "thresholds", "LABEL=NUMBER", "Predict a label if its probability is above a threshold"),
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
force_option = click.option("--force", is_flag=True, help="Overwrite an existing file.")
checkpoint_option = click.option(
    "--checkpoint",
    metavar="FOLDER",
    help="Store finished parts in this folder, so that the same command resumes after an interruption. It is deleted "
    "at the end.",
)
trust_type_option = several("--trust-type", "trusted_types", "NAME", "Type in MODEL to trust")
model_option = click.option("--model", metavar="MODEL", help="Model file to use instead of fitting a method.")
method_options = _combine(
    method_option(f"One of {', '.join(METHODS)}.", "SelfPacedEnsemble"),
    several("--param", "params", "KEY=VALUE", "Parameter of the method"),
    seed_option("Seed for the method."),
)


def _output(name: str, *options: str, help: str) -> Decorator:
    """Return an option for the file of a table, with its format. The command gets an `Output`."""
    return _bundle(
        "output",
        [name, "to", "as_json", "force"],
        Output.from_options,
        click.option(*options, name, metavar="FILE", help=help),
        click.option(
            "--format", "to", type=click.Choice(FORMATS), help="Format.  [default: from the extension, or csv]"
        ),
        click.option("--json", "as_json", is_flag=True, help="Same as --format json."),
        force_option,
    )


output_options = _output("out", "-o", "--out", help="Write to this file instead of standard output.")
list_options = _output("list_path", "--list", help="Write the list to this file instead of standard output.")


def check_model_options() -> None:
    """Raise ValueError if --method, --param or --trusted is used together with --model."""
    context = click.get_current_context()
    for name, option in (("method", "--method"), ("params", "--param"), ("verified", "--trusted")):
        if context.get_parameter_source(name) == ParameterSource.COMMANDLINE:
            raise ValueError(f"{option} cannot be combined with --model, whose method is already fitted")
