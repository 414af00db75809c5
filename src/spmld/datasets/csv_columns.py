"""Columns of CSV files: numbers of fields, and decimal separators, found in one pass over the file."""

import csv
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from spmld.preprocessing.numbers import is_missing, parse_number

_MAX_FIELD = 2**31 - 1
_MAX_NUMBER = 50  # characters; no number is longer


@contextmanager
def long_fields() -> Iterator[None]:
    """Let the csv module read fields of any length in the block."""
    limit = csv.field_size_limit(_MAX_FIELD)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


class CsvColumns:
    """Names of the columns, and how their numbers are written.

    Parameters
    ----------
    lines : iterable of str
        Lines of the file.
    separator : str
        Separator of the fields.

    Attributes
    ----------
    names : list of str
        Names of the columns.
    decimals : dict
        Decimal separator that a value of a column of numbers shows, by the index of the column.
    unclear : set of int
        Columns of numbers whose separators may be those of decimals or of thousands, as in 1,234.
    whole : set of int
        Columns with whole numbers without a separator.

    Raises
    ------
    ValueError
        If a line has another number of fields than the first one. pandas would read absent fields as missing values.

    Examples
    --------
    >>> from spmld.datasets.csv_columns import CsvColumns
    >>> columns = CsvColumns(["a;b;c", "1,5;1.000;x", "2;900;1,5"], ";")
    >>> columns.decimals, columns.unclear, columns.whole
    ({0: ','}, {1}, {1})
    """

    def __init__(self, lines: Iterable[str], separator: str) -> None:
        with long_fields():
            rows = csv.reader(lines, delimiter=separator)
            self.names = next(rows)
            self.decimals: dict[int, str] = {}
            self.unclear: set[int] = set()
            self.whole: set[int] = set()
            width, unknown = len(self.names), list(range(len(self.names)))
            for row in rows:
                if not row:
                    continue
                if len(row) != width:
                    raise ValueError(
                        f"line {rows.line_num} has {len(row)} values, but there are {width} columns; the separator is "
                        f"{separator!r} (--sep for another one)"
                    )
                unknown = [j for j in unknown if not self._is_known(j, row[j])]

    def _is_known(self, column: int, field: str) -> bool:
        """Read a field; return whether it shows the decimal separator of a column, or that it is not of numbers."""
        if field.isdigit():
            self.whole.add(column)
            return False
        if not field or field[1:].isdigit():
            return False
        number = parse_number(field) if len(field) <= _MAX_NUMBER else None
        if number is None:
            if is_missing(field):
                return False
            self.unclear.discard(column)
            return True
        if number.decimal == "?":
            self.unclear.add(column)
        elif number.decimal:
            self.unclear.discard(column)
            self.decimals[column] = number.decimal
            return True
        return False
