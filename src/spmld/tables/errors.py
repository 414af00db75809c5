"""Problems of a table and notes about what was guessed, each with the options that solve it."""

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from spmld._io import shorten
from spmld._validation import closest, list_names, plural

LIST_OPTIONS = (
    *("labels", "tag_sep", "text", "number", "category", "date", "vectors", "drop", "keep"),
    *("positive", "negative", "missing"),
)
"""Options with several values."""
MAX_PROBLEMS = 20
"""Maximum number of problems that are listed."""
MAX_SIMILAR = 5
"""Maximum number of absent columns for which similar names are listed."""
MAX_VALUE = 200
"""Maximum number of characters of the value of an option."""
ALLOW_MISSING = (("allow_missing", "True"),)
"""Option that makes columns of new data missing."""
_FLAGS = ("day_first", "strict", "allow_missing")


@dataclass(frozen=True)
class TableProblem:
    """A problem of a table, or a note about it, and the options that solve it.

    Attributes
    ----------
    text : str
        Description of the problem.
    options : tuple of (str, str)
        Names of options, and their values. Several values of an option are used together.
    column : str
        Column whose values are counted.
    count, total : int
        Number of values that the text is about, and of all values of the column, 0 if they are not counted.

    Examples
    --------
    >>> from spmld.tables.errors import TableProblem
    >>> problem = TableProblem("column 'nr' looks like an identifier", (("id", "nr"), ("drop", "nr")))
    >>> problem.describe(), problem.describe(command_line=True)
    ("column 'nr' looks like an identifier (id='nr' or drop='nr')", "column 'nr' looks like an identifier (--id nr or \
--drop nr)")
    """

    text: str
    options: tuple[tuple[str, str], ...] = ()
    column: str = ""
    count: int = 0
    total: int = 0

    def __add__(self, other: "TableProblem") -> "TableProblem":
        """Return the problem of two blocks of a column, whose total is not known: other blocks may have no problem."""
        return replace(self, count=self.count + other.count, total=0)

    def describe(self, *, command_line: bool = False) -> str:
        """Return the text and the options, as keyword arguments or as they are written on the command line.

        Long texts and values are shortened, but all options are listed, so that they can be pasted.
        """
        values: dict[str, list[str]] = {}
        for option, value in self.options:
            values.setdefault(option, []).append(value)
        shown = " or ".join(_show_option(*item, command_line=command_line) for item in values.items())
        count = f"{self.count} of {self.total} " if self.total else f"{self.count} " if self.count else ""
        text = shorten(self.text)
        return f"{count}{text} ({shown})" if shown else f"{count}{text}"


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
    >>> from spmld.tables.errors import TableError, TableProblem
    >>> print(TableError([TableProblem("no samples"), TableProblem("no labels", (("tags", "mood"),))], "songs.csv"))
    songs.csv has 2 problems: no samples; no labels (tags='mood')
    """

    def __init__(self, problems: Sequence[TableProblem], source: str = "") -> None:
        self.problems = list(problems)
        self.source = source
        super().__init__(problems, source)  # the arguments, so that the error can be pickled

    def __str__(self) -> str:
        return self._title() + "; ".join(problem.describe() for problem in self.problems)

    def _title(self) -> str:
        source = self.source or "the table"
        return f"{source}: " if len(self.problems) == 1 else f"{source} has {len(self.problems)} problems: "

    def describe(self) -> str:
        """Return the message for the command line, one line for each of the first problems."""
        lines = [problem.describe(command_line=True) for problem in self.problems[:MAX_PROBLEMS]]
        lines += [f"{len(self.problems) - MAX_PROBLEMS} more problems"] * (len(self.problems) > MAX_PROBLEMS)
        return self._title() + lines[0] if len(lines) == 1 else "\n  - ".join([self._title().strip(), *lines])


class TableWarning(UserWarning):
    """Warning about a column of a table, such as an identifier that is not used as a feature.

    Parameters
    ----------
    problem : TableProblem
        The note.

    Examples
    --------
    See `read_table`.
    """

    def __init__(self, problem: TableProblem) -> None:
        self.problem = problem
        super().__init__(problem)

    def __str__(self) -> str:
        return self.problem.describe()


def _show_option(option: str, values: list[str], *, command_line: bool) -> str:
    """Return an option as it is written on the command line, or else as a keyword argument."""
    shown = [shorten(value, MAX_VALUE) for value in values]
    name = "label" if option == "labels" else option.replace("_", "-")
    if command_line:
        return f"--{name}" if option in _FLAGS else " ".join(f"--{name} {shlex.quote(value)}" for value in shown)
    if option in _FLAGS:
        return f"{option}=True"
    return f"{option}={shown if option in LIST_OPTIONS and len(shown) > 1 else shown[0]!r}"


def absent_columns(
    absent: Sequence[str],
    columns: Iterable[Any],
    *,
    option: str = "",
    expected: Sequence[str] = (),
    kind: str = "column",
    source: str = "the file",
    allow_missing: bool | None = None,
) -> TableProblem:
    """Return the problem that columns do not exist, which an option names or which are expected, with similar names.

    With `allow_missing`, it is a note that their values are treated as missing; False adds this option to the problem.

    Examples
    --------
    >>> from spmld.tables.errors import absent_columns
    >>> print(absent_columns(["tmpo"], ["title", "tempo"], option="number").text)
    column 'tmpo' of number does not exist; did you mean 'tempo'?
    >>> print(absent_columns(["tempo"], ["key", "title"], expected=["tempo", "key"], kind="feature").text)
    the file lacks 1 of the 2 features, tempo; the columns are key, title
    """
    if option:
        text = f"column {absent[0]!r} of {option} does not exist"
    else:
        text = f"{source} lacks {len(absent)} of the {plural(len(expected), kind)}, {list_names(absent)}"
    if allow_missing:
        return TableProblem(f"{text}; all values are treated as missing")
    others = [name for name in columns if name not in set(expected)]
    similar = filter(None, (closest(name, others) for name in absent[:MAX_SIMILAR]))
    names = ", ".join(map(repr, dict.fromkeys(similar)))
    hint = f"did you mean {names}?" if names else f"the columns are {list_names(columns)}"
    return TableProblem(f"{text}; {hint}", () if allow_missing is None else ALLOW_MISSING)
