"""Arguments and options of the commands, each declared once; those of the data are passed as one `Source`."""

from collections import Counter
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeAlias

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from spmld._validation import did_you_mean
from spmld.app.commands.fitting import METHODS
from spmld.app.commands.loading import Source
from spmld.app.commands.parameters import parse_value
from spmld.metrics.registry import get_metric
from spmld.model_selection.thresholds import RULE_CONSTRAINTS
from spmld.tables.roles import COLUMN_LISTS

DECISIONS = ("f1", "micro_f1", "macro_f1", "sample_f1")
Decorator: TypeAlias = Callable[[Callable[..., None]], Callable[..., None]]


class MethodType(click.ParamType):  # type: ignore[type-arg]  # generic in recent versions of click only
    """Click type for the name of a method, not case-sensitive; an error suggests the closest name."""

    name = "method"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name as in METHODS."""
        by_name = {name.lower(): name for name in METHODS}
        if str(value).lower() not in by_name:
            hint = did_you_mean(value, METHODS)
            self.fail(f"must be one of {', '.join(METHODS)}, got {value!r}{hint}", param, ctx)
        return by_name[str(value).lower()]

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the names that start with the text."""
        return [CompletionItem(name) for name in METHODS if name.lower().startswith(incomplete.lower())]


METHOD_TYPE = MethodType()


def _decision(value: str) -> str | float | int:
    """Return a decision: "none", the name of an F1, a threshold, or a number of labels."""
    if value.lower() == "none":
        return "none"
    decision: str | float | int = parse_value(value)
    if isinstance(decision, bool) or not any(accepted.is_satisfied_by(decision) for accepted in RULE_CONSTRAINTS):
        raise click.BadParameter(
            f"must be one of {', '.join(DECISIONS)}, none, a threshold between 0 and 1, or a number of labels "
            f"of at least 1, got {value!r}"
        )
    return decision


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
    for name in metrics:
        get_metric(name)
    return metrics


_READER_OPTIONS = (
    click.option("--from", "format", metavar="FORMAT", help="File format.  [default: from the extension]"),
    click.option("--encoding", help="Encoding of a text file.  [default: utf-8]"),
    click.option("--sep", metavar="CHARACTER", help="Separator of a CSV file.  [default: guessed]"),
    click.option("--decimal", type=click.Choice((".", ",")), help="Decimal separator of a table.  [default: guessed]"),
    click.option("--sheet", metavar="NAME", help="Sheet of an Excel file.  [default: the first]"),
    click.option("--xml", metavar="FILE", help="MULAN's XML file with the labels of an ARFF file."),
    several("--label", "labels", "COLUMN", "Label column"),
    click.option("--prefix", help="Prefix of the label columns of a table.  [default: label_]"),
    click.option("--tags", metavar="COLUMN", help="Column with a list of tags, which are the labels."),
    several(
        "--tag-sep", "tag_sep", "TEXT", 'Separator of the tags, or several, such as ";,"; by default, it is guessed'
    ),
    click.option(
        "--untagged",
        type=click.Choice(("negative", "weak", "missing")),
        help="Meaning of a tag that is not in the list of a sample: negative, weak (a negative of lower weight) or "
        "missing.  [default: negative]",
    ),
    click.option(
        "--tag-case",
        type=click.Choice(("merge", "keep")),
        help="Whether tags that differ only in case or width are one label.  [default: merge]",
    ),
    click.option(
        "--hierarchy",
        metavar="FILE|SEPARATOR",
        help="Hierarchy of the labels: a table with the columns parent and child, a JSON file with the children of "
        "each parent, or the separator of labels that are paths, such as / for rock/metal.",
    ),
    click.option(
        "--empty-is",
        type=click.Choice(("missing", "negative")),
        help="Meaning of an empty field of a label or of the tags.  [default: missing]",
    ),
    click.option("--id", "id", metavar="COLUMN", help="Column that identifies the samples in all outputs."),
    several("--text", "text", "COLUMN", "Column of text"),
    several("--number", "number", "COLUMN", "Column of numbers"),
    several("--category", "category", "COLUMN", "Column of categories"),
    several("--date", "date", "COLUMN", "Column of dates"),
    several("--vectors", "vectors", "COLUMN|FILE", "Column of lists of numbers, or .npy file with a row per sample"),
    click.option(
        "--embed",
        metavar="MODEL",
        help="Add embeddings of the columns of text by a model: its folder, or an installed package that contains it.",
    ),
    several("--drop", "drop", "COLUMN", "Column to ignore"),
    several("--keep", "keep", "COLUMN", "Feature to use although it determines a label"),
    click.option("--day-first", is_flag=True, help="Read dates such as 03/04/2024 with the day first."),
    click.option(
        "--strict", is_flag=True, help="Values that cannot be read as numbers or dates are an error, not missing."
    ),
    several("--positive", "positive", "WORD", 'Word, number or threshold, such as ">=2", of positive labels; a tag'),
    several("--negative", "negative", "WORD", 'Word, number or threshold, such as "<=0", of negative labels; no tags'),
    several("--missing", "missing", "WORD", "Word, number or threshold of missing labels; an empty field of tags"),
)
"""Options of the readers of files, and the roles of the columns of a table, see `spmld.tables.TableRoles`."""
PARTS = click.Choice(["all", "train", "test"])


def source_options(
    name: str = "source",
    part: str | None = None,
    *,
    trusted: bool = False,
    annotator: bool | None = None,
    allow_missing: bool = False,
) -> Decorator:
    """Return the argument `name` and the options of the readers, which the command gets as a `Source`.

    The command has the option --part with the default `part`, and --annotator, which is required if `annotator` is
    True, unless they are None; and the options --trusted and --allow-missing if these arguments are True.
    """
    options: list[Decorator] = [click.argument(name), *_READER_OPTIONS]
    if part is not None:
        help = f"Part of the official split to use, if there is one.  [default: {part}]"
        options.append(click.option("--part", type=PARTS, help=help))
    if trusted:
        help = "Verified labels: a column with 1 for each verified sample, or a file with 1 for each verified label."
        options.append(click.option("--trusted", "verified", metavar="COLUMN|FILE", help=help))
    if annotator is not None:
        help = "Column with the annotator of each row; a sample, named by --id, has a row for each annotator."
        options.append(click.option("--annotator", metavar="COLUMN", required=annotator, help=help))
    if allow_missing:
        help = "Features of MODEL that the table lacks, or of which no value can be read, are missing, not an error."
        options.append(click.option("--allow-missing", is_flag=True, help=help))

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def call(**values: Any) -> None:
            given = {option: values.pop(option) for option in names}
            path = given.pop(name)
            chosen = given.pop("part", None)
            verified = given.pop("verified", None)
            allowed = given.pop("allow_missing", False)
            hierarchy = given.pop("hierarchy", None)
            if hierarchy and not any(map(str.isalnum, hierarchy)):
                given["path_sep"] = hierarchy
                hierarchy = None
            for role in COLUMN_LISTS:
                if repeated := [column for column, count in Counter(given.get(role, ())).items() if count > 1]:
                    raise ValueError(f"--{role.removesuffix('s')} must name each column once, got {repeated[0]} twice")
            used = {role: list(value) if isinstance(value, tuple) else value for role, value in given.items() if value}
            source = Source(path, chosen, part or "all", used, verified, hierarchy, allowed)
            command(**{name: source}, **values)

        n_others = len(getattr(command, "__click_params__", ()))
        decorated: Any = call
        for option in reversed(options):
            decorated = option(decorated)
        # Click lists the options of a function from the last to the first.
        names = [added.name for added in reversed(decorated.__click_params__[n_others:])]
        return decorated

    return decorate


decision_option = click.option(
    "--decision",
    type=_decision,
    shell_complete=lambda context, option, incomplete: [name for name in DECISIONS if name.startswith(incomplete)],
    metavar="RULE",
    help=f"Which labels to predict: {', '.join(DECISIONS)}, a threshold, a number of labels, or none for the "
    "predictions of the method itself.  [default: f1]",
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
fitted_method_option = method_option(f"One of {', '.join(METHODS)}.", "SelfPacedEnsemble")
params_option = several("--param", "params", "KEY=VALUE", "Parameter of the method")


def out_option(metavar: str, help: str, *, required: bool = False) -> Decorator:
    """Return --out."""
    return click.option("-o", "--out", required=required, metavar=metavar, help=help)


def check_model_options() -> None:
    """Raise ValueError if --method, --param or --trusted is used together with --model."""
    context = click.get_current_context()
    for name, option in (("method", "--method"), ("params", "--param"), ("verified", "--trusted")):
        if context.get_parameter_source(name) == ParameterSource.COMMANDLINE:
            raise ValueError(f"{option} cannot be combined with --model, whose method is already fitted")
