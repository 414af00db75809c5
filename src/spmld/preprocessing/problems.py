"""Problems of a table and notes about what was guessed, each with the options that solve it."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from spmld.preprocessing.columns import (
    IGNORED_KINDS,
    is_ambiguous,
    is_typed,
    to_dates,
    to_numbers,
    without_missing_words,
)
from spmld.preprocessing.numbers import NumberFormat, NumberTexts

if TYPE_CHECKING:
    from spmld.preprocessing.table_encoder import TableEncoder

LIST_OPTIONS = ("labels", "text", "number", "category", "date", "drop", "positive", "negative", "missing")
"""Options with several values."""
_COMMAND_OPTIONS = {
    "labels": "label",
    "empty_is": "empty-is",
    "tag_sep": "tag-sep",
    "tag_case": "tag-case",
    "day_first": "day-first",
}
_FLAGS = ("day_first", "strict")
_DATE_PARTS = {"%d": "day", "%m": "month", "%b": "month", "%B": "month", "%Y": "year", "%y": "year"}


@dataclass(frozen=True)
class TableProblem:
    """A problem of a table, or a note about it, and the options that solve it.

    Attributes
    ----------
    text : str
        Description of the problem.
    options : tuple of (str, str)
        Names of options, and their values. Several values of an option are used together.

    Examples
    --------
    >>> from spmld.preprocessing.problems import TableProblem
    >>> problem = TableProblem("column 'nr' looks like an identifier", (("id", "nr"), ("drop", "nr")))
    >>> problem.describe(), problem.describe(command_line=True)
    ("column 'nr' looks like an identifier (id='nr' or drop='nr')", "column 'nr' looks like an identifier (--id nr or \
--drop nr)")
    """

    text: str
    options: tuple[tuple[str, str], ...] = ()

    def describe(self, *, command_line: bool = False) -> str:
        """Return the text and the options, as keyword arguments or as they are written on the command line."""
        values: dict[str, list[str]] = {}
        for option, value in self.options:
            values.setdefault(option, []).append(value)
        shown = [(_as_options if command_line else _as_argument)(*item) for item in values.items()]
        return f"{self.text} ({' or '.join(shown)})" if shown else self.text


class TableError(ValueError):
    """Error for a table that cannot be used, with all of its problems.

    Parameters
    ----------
    problems : sequence of TableProblem
        The problems.
    source : str, default=""
        File of the table.

    Examples
    --------
    >>> from spmld.preprocessing.problems import TableError, TableProblem
    >>> print(TableError([TableProblem("no samples"), TableProblem("no labels", (("tags", "mood"),))], "songs.csv"))
    songs.csv has 2 problems: no samples; no labels (tags='mood')
    """

    def __init__(self, problems: Sequence[TableProblem], source: str = "") -> None:
        self.problems, self.source = list(problems), source
        super().__init__(problems, source)  # the arguments, so that the error can be pickled

    def __str__(self) -> str:
        return self._title() + "; ".join(problem.describe() for problem in self.problems)

    def _title(self) -> str:
        source = self.source or "the table"
        return f"{source}: " if len(self.problems) == 1 else f"{source} has {len(self.problems)} problems: "

    def describe(self) -> str:
        """Return the message for the command line, one line for each problem."""
        lines = [problem.describe(command_line=True) for problem in self.problems]
        return self._title() + lines[0] if len(lines) == 1 else "\n  - ".join([self._title().strip(), *lines])


@dataclass(frozen=True)
class UnreadableValues:
    """Values of a column of numbers or dates that cannot be read and are treated as missing.

    Attributes
    ----------
    column, kind : str
        Name and kind of the column.
    count, total : int
        Number of these values, and of all values that are not empty, 0 if it is not known.
    example : str
        One of them.

    Examples
    --------
    >>> from spmld.preprocessing.problems import UnreadableValues
    >>> print(UnreadableValues("tempo", "number", 2, 30, "fast").problem().describe())
    2 of 30 values of column 'tempo' cannot be read as numbers, such as 'fast'; they are treated as missing
    """

    column: str
    kind: str
    count: int
    total: int
    example: str

    def __add__(self, other: "UnreadableValues") -> "UnreadableValues":
        """Return the values of two blocks of a column, whose total is not known: other blocks may have none."""
        return replace(self, count=self.count + other.count, total=0)

    def problem(self, *options: tuple[str, str], error: bool = False) -> TableProblem:
        """Return the problem, with options that solve it; unless it is an error, the values are missing."""
        count = f"{self.count} of {self.total}" if self.total else str(self.count)
        text = f"{count} values of column {self.column!r} cannot be read as {self.kind}s, such as {self.example!r}"
        return TableProblem(text if error else f"{text}; they are treated as missing", options)


class TableWarning(UserWarning):
    """Warning about a column of a table, such as an identifier that is not used as a feature.

    Parameters
    ----------
    problem : TableProblem
        The note.
    values : UnreadableValues, optional
        Values that the note is about, which are counted over the blocks of a large file.

    Examples
    --------
    See `from_frame`.
    """

    def __init__(self, problem: TableProblem, values: UnreadableValues | None = None) -> None:
        self.problem, self.values = problem, values
        super().__init__(problem, values)

    def __str__(self) -> str:
        return self.problem.describe()


def _as_argument(option: str, values: list[str]) -> str:
    if option in _FLAGS:
        return f"{option}=True"
    return f"{option}={values if option in LIST_OPTIONS and len(values) > 1 else values[0]!r}"


def _as_options(option: str, values: list[str]) -> str:
    name = _COMMAND_OPTIONS.get(option, option)
    if option in _FLAGS:
        return f"--{name}"
    return " ".join(f"--{name} {shlex.quote(value)}" for value in values)


def find_unreadable(column: Any, result: Any, kind: str) -> list[UnreadableValues]:
    """Return the values that are neither missing nor words for it, although the number or date is missing."""
    failed = without_missing_words(column[column.notna().to_numpy() & result.isna().to_numpy()])
    if len(failed) == 0:
        return []
    return [UnreadableValues(str(column.name), kind, len(failed), int(column.notna().sum()), str(failed.iloc[0]))]


def describe_columns(kinds: dict[str, str], encoder: "TableEncoder | None" = None) -> dict[str, str]:
    """Return the kind of each column, and how its values are read.

    Parameters
    ----------
    kinds : dict
        Kinds of the columns.
    encoder : TableEncoder, optional
        The fitted encoder of the table; None if its numbers are unchanged.

    Examples
    --------
    >>> import pandas as pd
    >>> from spmld.preprocessing import TableEncoder
    >>> from spmld.preprocessing.problems import describe_columns
    >>> songs = pd.DataFrame({"price": ["1,50 €", "2 €"], "released": ["31.1.2024", "1.2.2024"], "song_id": ["a", "b"]})
    >>> encoder = TableEncoder().fit(songs)
    >>> describe_columns(encoder.kinds_, encoder)
    {'price': 'number (decimal comma, unit €)', 'released': 'date (day.month.year)', 'song_id': 'identifier (not used)'}
    """
    result = {}
    for name, kind in kinds.items():
        details: list[str] = []
        if kind in (*IGNORED_KINDS, "dropped"):
            details = ["not used"]
        elif kind == "number" and encoder is not None and name in encoder.number_formats_:
            form = encoder.number_formats_[name]
            details = ["yes/no"] if form.words else ["decimal comma"] * (form.decimal == ",")
            details += [f"unit {form.unit}"] if form.unit else []
        elif kind == "date" and encoder is not None:
            details = [_describe_format(form) for form in encoder.date_formats_[name][0]]
        result[name] = f"{kind} ({', '.join(details)})" if details else kind
    return result


def _describe_format(form: str) -> str:
    for sign, word in _DATE_PARTS.items():
        form = form.replace(sign, word)
    return re.sub("%H:%M(:%S)?", "time", form).replace("ISO8601", "ISO 8601")


def column_notes(column: Any, encoder: "TableEncoder") -> list[TableProblem]:
    """Return notes about guesses and about values of a column that cannot be read.

    Parameters
    ----------
    column : Series
        Column of the table that the encoder was fitted on.
    encoder : TableEncoder
        Fitted encoder.
    """
    name = str(column.name)
    kind = encoder.kinds_[name]
    if kind == "date":
        return _date_notes(column, name, encoder)
    if kind == "number":
        return _number_notes(column, name, encoder)
    return _unit_notes(column, name) if kind in ("category", "identifier") and name not in encoder.category else []


def _number_notes(column: Any, name: str, encoder: "TableEncoder") -> list[TableProblem]:
    form = encoder.number_formats_.get(name, NumberFormat())
    notes: list[TableProblem] = []
    if not is_typed(column):
        texts = NumberTexts(column, encoder.decimal)
        notes += [*_separator_notes(texts, name), *_form_notes(texts, name), *_missing_notes(column, name, "number")]
    unreadable = find_unreadable(column, to_numbers(column, form, decimal=encoder.decimal), "number")
    return notes + [values.problem(("category", name)) for values in unreadable]


def _separator_notes(texts: NumberTexts, name: str) -> list[TableProblem]:
    """Return a note if a separator may be that of decimals or of thousands, or if thousands are separated."""
    unclear = texts.select(lambda number: number.decimal == "?")
    point, other = texts.format.decimal == ".", "," if texts.format.decimal == "." else "."
    if not texts.is_clear:
        number = texts.parsed[unclear[0]]
        read, could = (number.point, number.comma) if point else (number.comma, number.point)
        text = f"values of column {name!r} such as {unclear[0]!r} are read as {read:g}, but could also be {could:g}"
        return [TableProblem(text, (("decimal", other),))]
    grouped = texts.select(lambda number: number.grouped) or [
        value for value in unclear if abs(_value(texts, value)) >= 1000
    ]
    if not grouped:
        return []
    example = f"{grouped[0]!r} is read as {_value(texts, grouped[0]):.10g}"
    return [TableProblem(f"column {name!r} has thousands separators: {example}", (("category", name),))]


def _form_notes(texts: NumberTexts, name: str) -> list[TableProblem]:
    """Return notes about units and bounds."""
    notes, unit = [], texts.format.unit
    with_unit = texts.select(lambda number: unit and number.unit == unit)
    if with_unit:
        example = f"{with_unit[0]!r} is read as {_value(texts, with_unit[0]):.10g}"
        n_without = texts.count(texts.select(lambda number: not number.unit))
        without = f", and {n_without} values have no unit" if n_without else ""
        notes.append(TableProblem(f"column {name!r} has the unit {unit!r}: {example}{without}", (("category", name),)))
    bounds = texts.select(lambda number: number.bound)
    if bounds:
        text = f"{texts.count(bounds)} values of column {name!r} are bounds, such as {bounds[0]!r}, which is read as"
        notes.append(TableProblem(f"{text} {_value(texts, bounds[0]):.10g}", (("category", name),)))
    return notes


def _value(texts: NumberTexts, value: Any) -> float:
    number = texts.parsed[value]
    return number.point if texts.format.decimal == "." else number.comma


def _missing_notes(column: Any, name: str, kind: str) -> list[TableProblem]:
    """Return a note about words for missing values."""
    values = column.dropna()
    words = values[~values.isin(without_missing_words(values).unique())]
    words = words[words.astype(str).str.strip() != ""]
    if len(words) == 0:
        return []
    text = f"{len(words)} values of the {kind} column {name!r}, such as {str(words.iloc[0])!r}, are treated as missing"
    return [TableProblem(text, (("category", name),))]


def _unit_notes(column: Any, name: str) -> list[TableProblem]:
    """Return a note if all values are numbers, with several units."""
    texts = NumberTexts(without_missing_words(column.dropna()))
    numbers = texts.select(lambda number: True)
    examples = {texts.parsed[value].unit: value for value in reversed(numbers)}
    if len(numbers) < len(texts.distinct) or len(examples) < 2:
        return []
    first, second = list(examples.values())[-1], list(examples.values())[-2]
    text = (
        f"values of column {name!r} have several units, such as {first!r} and {second!r}, and are not read as numbers"
    )
    return [TableProblem(text, (("number", name),))]


def _date_notes(column: Any, name: str, encoder: "TableEncoder") -> list[TableProblem]:
    forms, _ = encoder.date_formats_[name]
    values, notes = column.dropna(), []
    if len(forms) > 1:
        text = f"dates of column {name!r} have {len(forms)} formats: {', '.join(map(_describe_format, forms))}"
        notes.append(TableProblem(text, (("category", name),)))
    for form in [] if encoder.day_first else forms:
        if is_ambiguous(values, form):
            example = str(values[to_dates(values, [form]).notna().to_numpy()].iloc[0])
            text = f"dates of column {name!r}, such as {example!r}, are read as {_describe_format(form)}"
            notes.append(TableProblem(text, (("day_first", "True"),)))
    if not is_typed(column) and column.dtype.kind != "M":
        notes += _missing_notes(column, name, "date")
    unreadable = find_unreadable(column, to_dates(column, forms), "date")
    return notes + [values.problem(("category", name)) for values in unreadable]
