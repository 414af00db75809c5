"""CSV files: their encoding, separators and decimal separators, which are guessed from the content."""

import codecs
import csv
import gzip
import sys
import warnings
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from spmld._io import need
from spmld.tables.errors import TableProblem, TableWarning
from spmld.tables.numbers import is_missing_word, parse_number

CSV_SEPARATORS = (",", ";", "\t", "|")
"""Separators of CSV files to choose from."""
HEAD = 200
"""Number of lines from which the separators are guessed."""
_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
"""Encodings by the byte order mark at the beginning of a file."""
_MAX_FIELD = 2**31 - 1
_MAX_NUMBER = 50  # characters; no number is longer
_DECIDED = {".", ",", "text"}
"""Signs of a column after which its other values need not be read."""


def open_text(file: Path, encoding: str) -> TextIO:
    """Open a text file, compressed or not; a byte order mark takes precedence over the encoding."""
    open_file: Any = gzip.open if file.suffix.lower() == ".gz" else open
    with open_file(file, "rb") as content:
        start = content.read(3)
    encoding = next((marked for mark, marked in _MARKS.items() if start.startswith(mark)), encoding)
    return open_file(file, "rt", encoding=encoding, newline="")


def csv_separator(lines: list[str], usual: str = ",") -> str:
    """Return the separator that gives the most columns, with the same number in all lines if there is one.

    `lines` are the beginning of the file, and `usual` is the separator to prefer.

    Examples
    --------
    >>> from spmld.tables.csv_files import csv_separator
    >>> csv_separator(["title;review", "Blue;slow, sad and long", "Red;loud"])
    ';'
    """

    def quality(separator: str) -> tuple[bool, int]:
        """Return whether all lines have the same number of columns, above 1, and the number of the first line."""
        with _long_fields():
            widths = [len(row) for row in csv.reader(lines, delimiter=separator) if row]
        widths = widths[:-1] if len(lines) == HEAD else widths  # a value of the last row may continue after the head
        return bool(widths) and widths[0] > 1 and len(set(widths)) == 1, widths[0] if widths else 0

    if usual == "\t" and quality(usual)[0]:  # the extension and the lines agree
        return usual
    best = max((usual, *CSV_SEPARATORS), key=quality)
    return best if quality(best) > (False, 1) else usual


def csv_blocks(
    file: Path,
    n_rows: int | None = None,
    *,
    encoding: str = "utf-8",
    sep: str | None = None,
    decimal: str | None = None,
    dtype: Any = None,
) -> Iterator[Any]:
    """Yield a CSV file as DataFrames of `n_rows` rows, or as one DataFrame if it is None.

    The types of the columns are the same in all blocks: the file is read twice, first for the types. With `dtype`, one
    DataFrame has columns of this type.
    """
    pandas = need("pandas")
    options = _reader_options(file, encoding, sep, decimal)
    options |= {} if dtype is None else {"dtype": dtype}
    try:
        if n_rows is None:
            with open_text(file, encoding) as lines:
                yield pandas.read_csv(lines, **options)
            return
        with open_text(file, encoding) as lines, pandas.read_csv(lines, chunksize=n_rows, **options) as blocks:
            options["dtype"] = options["dtype"] | _common_types(blocks)
        with open_text(file, encoding) as lines, pandas.read_csv(lines, chunksize=n_rows, **options) as blocks:
            yield from blocks
    except ValueError as error:
        if "EOF inside string" in str(error):
            with open_text(file, encoding) as lines:
                line = [start for start, _, _ in _numbered_rows(lines, options["sep"])][-1]
            raise ValueError(f"a quote in line {line} is not closed; close it, or double quotes in a value") from None
        raise


def _common_types(blocks: Iterable[Any]) -> dict[str, type]:
    """Return the types of the columns whose blocks have several, except truth values, which a block may lack."""
    types: dict[str, set[Any]] = {}
    for block in blocks:
        for name, dtype in block.dtypes.items():
            types.setdefault(name, set()).add(dtype)
    common: dict[str, type] = {}
    for name, dtypes in types.items():
        kinds = {getattr(dtype, "kind", "O") for dtype in dtypes}
        if len(dtypes) > 1 and kinds != {"b", "f"}:
            common[name] = float if kinds <= set("iuf") else str
    return common


def _reader_options(file: Path, encoding: str, sep: str | None, decimal: str | None) -> dict[str, Any]:
    """Return the options with which pandas reads a CSV file, or raise ValueError if a line has too few values."""
    if zipfile.is_zipfile(file):
        raise ValueError("it is a zip archive or an Excel file; rename an Excel file to .xlsx")
    with open_text(file, encoding) as lines:
        head = list(islice(lines, HEAD))
    if any("\0" in line for line in head):
        raise ValueError("it contains NUL characters: pass its encoding, such as --encoding utf-16, or it is damaged")
    usual = "\t" if ".tsv" in file.suffixes else ","
    separator = csv_separator(head, usual) if sep is None else sep.replace("\\t", "\t")
    with open_text(file, encoding) as lines:
        names, signs = number_signs(lines, separator)
    warn_of_repeated(names)
    unclear: list[int] = []
    if decimal is None:
        unclear = [j for j, shown in enumerate(signs) if "?" in shown and not shown & _DECIDED]
        if separator == ",":  # a point is then the decimal separator, unless whole numbers have none
            unclear = [j for j in unclear if "whole" in signs[j]]
        commas, points = (sum(sign in shown for shown in signs) for sign in ",.")
        decimal = "," if separator != "," and commas > points else "."
    # Older versions of pandas round the last digit by default, and newer ones warn about this option.
    is_exact = tuple(map(int, need("pandas").__version__.split(".")[:2])) >= (3, 1)
    exact = {} if is_exact else {"float_precision": "round_trip"}
    codes = [j for j, shown in enumerate(signs) if "code" in shown and not shown & {".", ","}]  # they keep their zeros
    return {
        "sep": separator,
        "decimal": decimal,
        "dtype": dict.fromkeys(unclear + codes, str),
        "low_memory": False,
        **exact,
    }


def warn_of_repeated(names: Iterable[str]) -> None:
    """Warn about columns of the same name, which pandas renames."""
    repeated = [name for name, count in Counter(map(str.strip, names)).items() if count > 1 and name]
    if repeated:
        text = f"several columns are named {', '.join(map(repr, repeated))}; the second is used as '{repeated[0]}.1'"
        warnings.warn(TableWarning(TableProblem(f"{text}, and so on")), stacklevel=2)


@contextmanager
def _long_fields() -> Iterator[None]:
    """Let the csv module read fields of any length in the block."""
    limit = csv.field_size_limit(_MAX_FIELD)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def number_signs(lines: Iterable[str], separator: str) -> tuple[list[str], list[set[str]]]:
    """Return the names of the columns, and how the numbers of each column are written, in one pass over the file.

    A value shows a decimal separator, "." or ","; "?" for a separator that may be that of decimals or of thousands, as
    in 1,234; "whole" for digits only, "code" if the first of several is 0, as in 007, or if floats would round them;
    "text" if it is not a number; "" otherwise. A column is read up to the first decimal separator or text. A line with
    another number of fields than the first one is an error, since pandas would read absent fields as missing values.

    Examples
    --------
    >>> from spmld.tables.csv_files import number_signs
    >>> number_signs(["a;b", "1,5;1.000", "2;900"], ";")[1] == [{","}, {"?", "whole"}]
    True
    """
    rows = _numbered_rows(lines, separator)
    _, _, names = next(rows, (0, 0, []))
    if not names:
        raise ValueError("it has no line with the names of the columns")
    signs: list[set[str]] = [set() for _ in names]
    unknown = list(range(len(names)))
    for start, end, row in rows:
        if len(row) != len(names):
            several = f"the row in lines {start} to {end}, in which a quote may not be closed,"
            raise ValueError(
                f"{several if start < end else f'line {start}'} has {len(row)} values, but there are {len(names)} "
                f"columns; the separator is {separator!r} (--sep for another one)"
            )
        shown = [(j, sign) for j in unknown if (sign := _sign(row[j])) not in signs[j]]
        for j, sign in shown:
            signs[j].add(sign)
        if shown:
            unknown = [j for j in unknown if not signs[j] & _DECIDED]
    return names, signs


def _numbered_rows(lines: Iterable[str], separator: str) -> Iterator[tuple[int, int, list[str]]]:
    """Yield the numbers of the first and the last line, and the fields, of each row that is not blank.

    A row of several lines in which a quote is followed by text is an error: an open quote has swallowed other rows.
    """
    read: list[str] = []

    def remembered() -> Iterator[str]:
        for line in lines:
            read.append(line)
            yield line

    with _long_fields():
        rows = csv.reader(remembered(), delimiter=separator)
        start = 1
        for row in rows:
            if start < rows.line_num and _has_text_after_quote(read, separator):
                raise ValueError(f"a quote in line {start} is not closed; close it, or double quotes in a value")
            if len(row) > 1 or any(map(str.strip, row)):
                yield start, rows.line_num, row
            start = rows.line_num + 1
            read.clear()


def _has_text_after_quote(lines: list[str], separator: str) -> bool:
    """Return whether a quote that ends a value is not followed by a separator or the end of the line."""
    try:
        list(csv.reader(lines, delimiter=separator, strict=True))
    except csv.Error as error:
        return "expected after" in str(error)
    return False


def _sign(field: str) -> str:
    """Return what a field shows about its column, see `number_signs`; "" if it shows nothing."""
    if field.isdigit():
        is_code = (field[0] == "0" and len(field) > 1) or len(field) > sys.float_info.dig
        return "code" if is_code else "whole"
    if not field or field[1:].isdigit():
        return ""
    number = parse_number(field) if len(field) <= _MAX_NUMBER else None
    if number is None:
        return "" if is_missing_word(field) else "text"
    return number.decimal
