"""Tables with output as aligned text, tab-separated values, Markdown, HTML and CSV."""

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

EMPTY = "-"
_FORMULA_STARTS = frozenset("=+-@\uff1d\uff0b\uff0d\uff20\t\n")
_MARKDOWN = {"bold": "**", "italic": "*"}


def format_number(value: Any, digits: int = 4) -> str:
    """Return a value as text, "-" for None and NaN.

    Floats have `digits` decimals, or `digits` - 1 significant digits if they are very small or very large.

    Examples
    --------
    >>> from spmld._table import format_number
    >>> format_number(0.123456), format_number(float("nan")), format_number(1234), format_number(1e-7)
    ('0.1235', '-', '1234', '1e-07')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return EMPTY
    if isinstance(value, bool) or not isinstance(value, float):
        return str(value)
    usual = value == 0 or 10.0 ** (1 - digits) <= abs(value) < 10.0 ** (digits - 1)
    return f"{value:.{digits}f}" if usual else f"{value:.{digits - 1}g}"


def format_rate(value: float, digits: int = 4) -> str:
    """Return a probability or a rate as text with at most `digits` decimals, without exponents.

    Examples
    --------
    >>> from spmld._table import format_rate
    >>> format_rate(0.123456), format_rate(8.9e-05), format_rate(8.9e-06)
    ('0.1235', '0.0001', '<0.0001')
    """
    return f"<{10.0**-digits:.{digits}f}" if 0 < value < 0.5 * 10.0**-digits else f"{value:.{digits}f}"


def csv_text(value: Any) -> Any:
    """Return text for a CSV file, without NUL and carriage returns; numbers and other values are unchanged.

    Spreadsheets run text that starts with =, +, -, @, also of full width, a tab or a line break as a formula. Unless it
    is a number, it gets an apostrophe in front, which `from_csv_text` removes.

    Examples
    --------
    >>> from spmld._table import csv_text
    >>> csv_text("=1+1"), csv_text("-1.5"), csv_text("-"), csv_text(-1.5), csv_text("calm")
    ("'=1+1", '-1.5', '-', -1.5, 'calm')
    """
    if not isinstance(value, str):
        return value
    value = "\n".join(without_nul(value).replace("\r\n", "\n").split("\r"))  # csv does not quote carriage returns
    if value[:1] not in _FORMULA_STARTS or value == EMPTY:
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value


def from_csv_text(value: Any) -> Any:
    """Return text of a table without the apostrophe that `csv_text` adds; other values are unchanged.

    Examples
    --------
    >>> from spmld._table import from_csv_text
    >>> from_csv_text("'=1+1"), from_csv_text("'calm'"), from_csv_text(2.5)
    ('=1+1', "'calm'", 2.5)
    """
    escaped = isinstance(value, str) and value.startswith("'") and csv_text(value[1:]) == value
    return value[1:] if escaped else value


def without_nul(text: str) -> str:
    """Return text with the replacement character in place of NUL, which neither CSV nor HTML can contain."""
    return text.replace("\0", "\ufffd")


@dataclass(frozen=True)
class TableCell:
    """Cell of a table with custom text.

    Attributes
    ----------
    text : str
        Text to show.
    value : float or None
        Number to sort by.
    mark : {"", "good", "bad", "bold", "italic"}
        Emphasis.
    """

    text: str
    value: float | None = None
    mark: str = ""


@dataclass(frozen=True)
class TextTable:
    r"""Table of values.

    Attributes
    ----------
    columns : sequence of str
        Names of the columns.
    rows : sequence of sequences
        Values. A `TableCell` replaces the text of `format_number`.
    title, note : str
        Text above and below the table.

    Examples
    --------
    >>> from spmld._table import TextTable
    >>> table = TextTable(["method", "loss"], [["SPMLD", 0.25]])
    >>> print(table.to_text())
    method    loss
    SPMLD   0.2500
    >>> print(table.to_markdown())
    | method | loss |
    | :--- | ---: |
    | SPMLD | 0.2500 |
    >>> table.to_csv()
    'method,loss\nSPMLD,0.25\n'
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]] = field(default_factory=tuple)
    title: str = ""
    note: str = ""

    @classmethod
    def from_records(cls, records: Sequence[Mapping[str, Any]], title: str = "", note: str = "") -> Self:
        """Return a table with one row for each mapping; the keys of the first are the columns."""
        return cls(list(records[0]) if records else [], [list(record.values()) for record in records], title, note)

    @classmethod
    def from_frame(cls, frame: Any, title: str = "", note: str = "") -> Self:
        """Return a table with the rows of a DataFrame, without its index."""
        return cls(list(frame.columns), list(frame.itertuples(index=False, name=None)), title, note)

    @property
    def cells(self) -> list[list[TableCell]]:
        """All values as cells."""
        return [[_cell(value) for value in row] for row in self.rows]

    @property
    def numeric(self) -> list[bool]:
        """Whether each column holds numbers; empty cells are ignored."""
        columns = list(zip(*self.cells, strict=True)) or [()] * len(self.columns)
        filled = [[cell for cell in column if cell.text not in (EMPTY, "")] for column in columns]
        return [bool(cells) and all(cell.value is not None for cell in cells) for cells in filled]

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self) -> str:
        """Return aligned columns, numbers to the right, with the title above and the note below."""
        lines = [list(self.columns), *self._texts()]
        signs = [">" if number else "<" for number in self.numeric]
        formats = [
            f"{sign}{max(map(len, column))}" for sign, column in zip(signs, zip(*lines, strict=True), strict=True)
        ]
        aligned = ["  ".join(map(format, line, formats)).rstrip() for line in lines]
        return "\n".join([*filter(None, [self.title]), *aligned, *filter(None, [self.note])])

    def to_tsv(self) -> str:
        """Return the shown text as tab-separated lines, with the column names in the first line."""
        return "\n".join("\t".join(line) for line in [list(self.columns), *self._texts()])

    def to_markdown(self) -> str:
        """Return a Markdown table; all columns but the first are aligned to the right."""
        body = [
            [f"{_MARKDOWN.get(cell.mark, '')}{cell.text}{_MARKDOWN.get(cell.mark, '')}" for cell in row]
            for row in self.cells
        ]
        rule = [":---", *["---:"] * (len(self.columns) - 1)]
        return "\n".join("| " + " | ".join(line) + " |" for line in [list(self.columns), rule, *body])

    def to_html(self) -> str:
        """Return an HTML table without style, as notebooks show it."""

        def line(tag: str, texts: Sequence[str]) -> str:
            return "<tr>" + "".join(f"<{tag}>{escape(without_nul(text))}</{tag}>" for text in texts) + "</tr>"

        above, below = (f"<p>{escape(without_nul(text))}</p>" if text else "" for text in (self.title, self.note))
        body = "".join(line("td", texts) for texts in self._texts())
        return f"{above}<table><thead>{line('th', list(self.columns))}</thead><tbody>{body}</tbody></table>{below}"

    def to_csv(self, *, delimiter: str = ",", digits: int | None = None, header: bool = True) -> str:
        """Return CSV text. Floats have all digits, or `digits` significant ones; a `TableCell` has its text.

        Text that a spreadsheet would run as a formula starts with an apostrophe, see `csv_text`.
        """
        columns = [_csv_column(values, digits) for values in zip(*self.rows, strict=True)]
        return _csv_lines(self.columns if header else (), zip(*columns, strict=True), delimiter)

    def _texts(self) -> list[list[str]]:
        return [[cell.text for cell in row] for row in self.cells]


@dataclass(frozen=True)
class ArrayTable:
    r"""Table of arrays with many numbers, which are written to CSV files as those of a `TextTable`.

    Attributes
    ----------
    columns : sequence of str
        Names of the columns.
    arrays : sequence of ndarray of shape (n_rows, n_columns)
        Numbers, with the columns of all arrays side by side.
    names : sequence or None
        Values of a column before them.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld._table import ArrayTable
    >>> table = ArrayTable(["sample", "calm", "probability"], [np.array([[1], [0]]), np.array([[0.75], [0.5]])], "ab")
    >>> table.to_csv()
    'sample,calm,probability\na,1,0.75\nb,0,0.5\n'
    """

    columns: Sequence[str]
    arrays: Sequence[NDArray[Any]]
    names: Sequence[Any] | None = None

    @property
    def rows(self) -> Iterator[tuple[Any, ...]]:
        """The rows, with numbers of Python."""
        return self._join(self.arrays, self.names)

    def to_csv(self, *, delimiter: str = ",", header: bool = True) -> str:
        """Return CSV text, see `TextTable`."""
        names = None if self.names is None else _csv_column(self.names, None)
        rows = self._join(map(_number_texts, self.arrays), names)
        return _csv_lines(self.columns if header else (), rows, delimiter)

    def _join(self, arrays: Iterable[NDArray[Any]], names: Sequence[Any] | None) -> Iterator[tuple[Any, ...]]:
        """Return the rows of arrays, after their names."""
        columns = [column for A in arrays for column in A.T.tolist()]
        return zip(*columns, strict=True) if names is None else zip(names, *columns, strict=True)


def _number_texts(A: NDArray[Any]) -> NDArray[Any]:
    """Return numbers as text. Each distinct one is formatted once, because this takes most of the time."""
    distinct, index = np.unique(A, return_inverse=True)
    return np.array(list(map(str, distinct.tolist())), dtype=object)[index.reshape(A.shape)]


def _cell(value: Any) -> TableCell:
    if isinstance(value, TableCell):
        return value
    number = isinstance(value, (int, float)) and not isinstance(value, bool) and not math.isnan(value)
    return TableCell(format_number(value), float(value) if number else None)


def _csv_lines(names: Iterable[str], rows: Iterable[Sequence[Any]], delimiter: str) -> str:
    """Return the names of the columns, if there are any, and rows of values as lines of a CSV file."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator="\n")
    if names:
        writer.writerow([csv_text(name) for name in names])
    writer.writerows(rows)
    return buffer.getvalue()


def _csv_column(values: Sequence[Any], digits: int | None) -> Sequence[Any]:
    """Return the values of a column as CSV files have them; numbers with all digits are written as they are."""
    types = set(map(type, values))
    if digits is None and types <= {int, float}:
        return values
    return [_csv_value(value, digits) for value in values]


def _csv_value(value: Any, digits: int | None) -> Any:
    if isinstance(value, TableCell):
        return value.text if value.value is not None else csv_text(value.text)
    return f"{value:.{digits}g}" if digits is not None and isinstance(value, float) else csv_text(value)
