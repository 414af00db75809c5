"""Problems of a table, each with the options that solve it."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace

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
