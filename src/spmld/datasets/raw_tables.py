"""Reading tables as DataFrames: CSV with any separator, Excel, JSON lines, Parquet, and folders of text files."""

import codecs
import csv
import gzip
import json
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from spmld._io import StrPath, need, reading
from spmld._validation import did_you_mean
from spmld.datasets.csv_columns import CsvColumns, long_fields
from spmld.datasets.text_folder import read_text_folder
from spmld.preprocessing.problems import TableProblem, TableWarning

SEPARATORS = (",", ";", "\t", "|")
"""Separators of CSV files to choose from."""
HEAD = 200
"""Number of lines from which the separators are guessed."""
EXTENSIONS = {
    **dict.fromkeys(("csv", "tsv", "csv.gz", "tsv.gz"), "csv"),
    **dict.fromkeys(("xlsx", "xlsm"), "excel"),
    **dict.fromkeys(("jsonl", "ndjson", "json", "jsonl.gz"), "jsonl"),
    **dict.fromkeys(("parquet", "pq"), "parquet"),
}
"""Formats of tables by file extension."""
_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
"""Encodings by the byte order mark at the beginning of a file."""


def read_table(
    path: StrPath,
    *,
    format: str | None = None,
    sep: str | None = None,
    decimal: str | None = None,
    encoding: str = "utf-8",
    sheet: str | None = None,
) -> Any:
    r"""Read a table as a DataFrame, with its columns unchanged.

    Parameters
    ----------
    path : str or path-like
        CSV file (``.csv``, ``.tsv``, ``.csv.gz``), Excel file (``.xlsx``), JSON lines (``.jsonl``), JSON list of
        objects (``.json``), Parquet file, or folder of text files. The table of a folder has the columns "file" and
        "text", and "tags" with the names of the subfolders; see `spmld.datasets.text_folder`.
    format : {"csv", "excel", "jsonl", "parquet", "folder"}, optional
        Format. By default, it is chosen by the file extension.
    sep : str, optional
        Separator of a CSV file. By default, the one of comma, semicolon, tab and ``|`` that gives the same number of
        columns in all lines.
    decimal : {".", ","}, optional
        Decimal separator of a CSV file. By default, a comma if the separator is not a comma and numbers have one.
        Columns whose separators may be those of decimals or of thousands, such as 1,234, are returned as text.
    encoding : str, default="utf-8"
        Encoding of a text file. A byte order mark of UTF-8 or UTF-16 at the beginning of the file takes precedence.
    sheet : str, optional
        Sheet of an Excel file. By default, the first; a TableWarning names the others.

    Returns
    -------
    DataFrame
        Rows without any value are left out. The index counts all rows.

    Examples
    --------
    >>> import tempfile
    >>> from spmld.datasets import read_table
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     print("title;tempo", "Blau;60,5", "Rot;180,0", sep="\n", file=file, flush=True)
    ...     read_table(file.name)
      title  tempo
    0  Blau   60.5
    1   Rot  180.0
    """
    kind = format or table_format(path)
    if kind not in _READERS:
        raise ValueError(f"format must be one of {', '.join(_READERS)}, got {kind!r} for {path}")
    name, read = _READERS[kind]
    if kind == "folder":
        return read_text_folder(path, encoding, read_table)
    if sheet is not None and kind != "excel":
        raise ValueError(f"sheet must be None unless the file is an Excel file, got {sheet!r} for {path}")
    with reading(path, name) as file:
        if kind == "csv":
            frame = read(file, encoding, sep, decimal)
        else:
            frame = read(file, sheet) if kind == "excel" else read(file)
        return with_clean_names(without_blank_rows(frame) if kind in ("csv", "excel") else frame)


def with_clean_names(frame: Any) -> Any:
    """Return a table whose column names have no space around them, or raise ValueError if they cannot be used."""
    frame = frame.rename(columns=lambda column: str(column).strip())
    if damaged := [name for name in frame.columns if "\0" in name]:  # NumPy would cut these names
        raise ValueError(f"column names must not contain NUL characters, got {damaged[0]!r}; the file is damaged")
    if not frame.columns.is_unique:
        raise ValueError(f"several columns are named {frame.columns[frame.columns.duplicated()][0]!r}; rename them")
    return frame


def without_blank_rows(frame: Any) -> Any:
    """Return a table without the rows that have no value, with a note about them."""
    blank = frame.isna().all(axis=1)
    n_blank = int(blank.sum())
    if n_blank == 0:
        return frame
    text = f"{n_blank} blank row{'s are' if n_blank > 1 else ' is'} ignored"
    warnings.warn(TableWarning(TableProblem(text)), stacklevel=2)
    return frame[~blank]


def table_format(path: StrPath) -> str | None:
    """Return the format of a table by its extension, or "folder"; None for other formats.

    Examples
    --------
    >>> from spmld.datasets.raw_tables import table_format
    >>> table_format("songs.csv.gz"), table_format("songs.xlsx"), table_format("songs.arff")
    ('csv', 'excel', None)
    """
    file = Path(path)
    if file.is_dir():
        return "folder"
    extensions = [suffix.lower().removeprefix(".") for suffix in file.suffixes[-2:]]
    return EXTENSIONS.get(".".join(extensions)) or EXTENSIONS.get(extensions[-1] if extensions else "")


def open_text(file: Path, encoding: str) -> TextIO:
    """Open a text file, compressed or not; a byte order mark takes precedence over the encoding."""
    open_file: Any = gzip.open if file.suffix.lower() == ".gz" else open
    with open_file(file, "rb") as content:
        start = content.read(3)
    encoding = next((marked for mark, marked in _MARKS.items() if start.startswith(mark)), encoding)
    return open_file(file, "rt", encoding=encoding, newline="")


def _read_csv(file: Path, encoding: str, sep: str | None, decimal: str | None) -> Any:
    options = csv_options(file, encoding, sep, decimal)
    with open_text(file, encoding) as lines:
        return need("pandas").read_csv(lines, **options)


def csv_options(file: Path, encoding: str, sep: str | None, decimal: str | None) -> dict[str, Any]:
    """Return the options with which pandas reads a CSV file, or raise ValueError if a line has too few values."""
    if zipfile.is_zipfile(file):
        raise ValueError("it is a zip archive or an Excel file; rename an Excel file to .xlsx")
    with open_text(file, encoding) as lines:
        head = list(islice(lines, HEAD))
    if any("\0" in line for line in head):
        raise ValueError("it contains NUL characters: pass its encoding, such as --encoding utf-16, or it is damaged")
    usual = "\t" if ".tsv" in file.suffixes else ","
    separator = guess_separator(head, usual) if sep is None else sep.replace("\\t", "\t")
    with open_text(file, encoding) as lines:
        columns = CsvColumns(lines, separator)
    _note_repeated(columns.names)
    unclear: set[int] = set()
    if decimal is None:
        # With a comma between the fields, a point is the decimal separator unless whole numbers have none.
        unclear = columns.unclear & columns.whole if separator == "," else columns.unclear
        shown = list(columns.decimals.values())
        decimal = "," if separator != "," and shown.count(",") > shown.count(".") else "."
    # Older versions of pandas round the last digit by default, and newer ones warn about this option.
    is_exact = tuple(map(int, need("pandas").__version__.split(".")[:2])) >= (3, 1)
    exact = {} if is_exact else {"float_precision": "round_trip"}
    return {"sep": separator, "decimal": decimal, "dtype": dict.fromkeys(unclear, str), "low_memory": False, **exact}


def guess_separator(lines: list[str], usual: str = ",") -> str:
    """Return the separator that gives the most columns, with the same number in all lines if there is one.

    Parameters
    ----------
    lines : list of str
        The beginning of the file.
    usual : str, default=","
        The separator to prefer.

    Examples
    --------
    >>> from spmld.datasets.raw_tables import guess_separator
    >>> guess_separator(["title;review", "Blue;slow, sad and long", "Red;loud"])
    ';'
    """
    best, best_quality = usual, (False, 1)
    for separator in (usual, *SEPARATORS):
        with long_fields():
            widths = [len(row) for row in csv.reader(lines, delimiter=separator) if row]
        widths = widths[:-1] if len(lines) == HEAD else widths  # a value of the last row may continue after the head
        quality = bool(widths) and widths[0] > 1 and len(set(widths)) == 1, widths[0] if widths else 0
        if quality > best_quality:
            best, best_quality = separator, quality
    return best


def _note_repeated(names: list[str]) -> None:
    """Warn about columns of the same name, which pandas renames."""
    repeated = [name for name, count in Counter(map(str.strip, names)).items() if count > 1 and name]
    if repeated:
        text = f"several columns are named {', '.join(map(repr, repeated))}; the second is used as '{repeated[0]}.1'"
        warnings.warn(TableWarning(TableProblem(f"{text}, and so on")), stacklevel=2)


def _read_excel(file: Path, sheet: str | None) -> Any:
    need("openpyxl")
    pandas = need("pandas")
    with pandas.ExcelFile(file, engine="openpyxl") as book:
        names = [str(name) for name in book.sheet_names]
        if sheet is not None and sheet not in names:
            hint = did_you_mean(sheet, names) or f"; the sheets are {', '.join(names)}"
            raise ValueError(f"sheet {sheet!r} does not exist{hint}")
        if sheet is None and len(names) > 1:
            text = f"sheet {names[0]!r} is used; the other sheets are {', '.join(map(repr, names[1:]))}"
            warnings.warn(TableWarning(TableProblem(text, (("sheet", names[1]),))), stacklevel=2)
        sheet = names[0] if sheet is None else sheet
        head = pandas.read_excel(book, sheet_name=sheet, header=None, nrows=1)
        if len(head) == 0:
            raise ValueError(f"sheet {sheet!r} is empty")
        _note_repeated(["" if name != name else str(name) for name in head.iloc[0]])
        return pandas.read_excel(book, sheet_name=sheet)


def _read_jsonl(file: Path) -> Any:
    """Read JSON lines, or a JSON list of objects."""
    records: list[Any] = []
    with open_text(file, "utf-8") as lines:
        is_list = next((line.lstrip()[0] for line in lines if line.strip()), "") == "["
        lines.seek(0)
        if is_list:
            records = json.load(lines)
            if others := [record for record in records if not isinstance(record, dict)]:
                raise ValueError(f"the items of the list must be JSON objects, got {type(others[0]).__name__}")
            return need("pandas").DataFrame(records)
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
            except json.JSONDecodeError as error:
                raise ValueError(f"line {number} is not JSON: {error}") from None
            if not isinstance(record, dict):
                raise ValueError(f"line {number} must be a JSON object, got {type(record).__name__}")
            records.append(record)
    return need("pandas").DataFrame(records)


def _read_parquet(file: Path) -> Any:
    need("pyarrow")
    with sizes_of_parquet():
        return need("pandas").read_parquet(file)


@contextmanager
def sizes_of_parquet() -> Iterator[None]:
    """Raise ValueError if a Parquet file describes more data than fits into memory, as damaged files do."""
    try:
        yield
    except MemoryError as error:
        raise ValueError(f"it is damaged, or needs more memory than is available: {error}") from error


_READERS: dict[str, tuple[str, Callable[..., Any]]] = {
    "csv": ("a CSV file", _read_csv),
    "excel": ("an Excel file", _read_excel),
    "jsonl": ("JSON lines, or a JSON list of objects", _read_jsonl),
    "parquet": ("a Parquet file", _read_parquet),
    "folder": ("a folder of text files", read_text_folder),
}
TABLE_FORMATS = tuple(_READERS)
"""Formats that `read_table` reads."""
