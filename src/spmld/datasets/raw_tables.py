"""Reading tables as DataFrames: CSV with any separator, Excel, JSON lines, Parquet, and folders of text files."""

import csv
import gzip
import json
import re
import zipfile
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from spmld._io import StrPath, need, reading
from spmld.datasets.text_folder import read_text_folder

SEPARATORS = (",", ";", "\t", "|")
"""Separators of CSV files to choose from."""
HEAD = 200
"""Number of lines from which the separators are guessed."""
EXTENSIONS = {
    **dict.fromkeys(("csv", "tsv", "csv.gz", "tsv.gz"), "csv"),
    **dict.fromkeys(("xlsx", "xlsm"), "excel"),
    **dict.fromkeys(("jsonl", "ndjson", "jsonl.gz"), "jsonl"),
    **dict.fromkeys(("parquet", "pq"), "parquet"),
}
"""Formats of tables by file extension."""
_COMMA, _POINT = re.compile(r"-?\d+,\d+"), re.compile(r"-?\d+\.\d+")


def read_table(
    path: StrPath,
    *,
    format: str | None = None,
    sep: str | None = None,
    decimal: str | None = None,
    encoding: str = "utf-8",
) -> Any:
    r"""Read a table as a DataFrame, with its columns unchanged.

    Parameters
    ----------
    path : str or path-like
        CSV file (``.csv``, ``.tsv``, ``.csv.gz``), Excel file (``.xlsx``, first sheet), JSON lines (``.jsonl``),
        Parquet file, or folder of text files. The table of a folder has the columns "file" and "text", and "tags" with
        the names of the subfolders; see `spmld.datasets.text_folder`.
    format : {"csv", "excel", "jsonl", "parquet", "folder"}, optional
        Format. By default, it is chosen by the file extension.
    sep : str, optional
        Separator of a CSV file. By default, the one of comma, semicolon, tab and ``|`` that gives the same number of
        columns in all lines.
    decimal : {".", ","}, optional
        Decimal separator of a CSV file. By default, a comma if the separator is not a comma and numbers have one.
    encoding : str, default="utf-8"
        Encoding of a text file.

    Returns
    -------
    DataFrame

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
    with reading(path, name) as file:
        frame = read(file, encoding, sep, decimal) if kind == "csv" else read(file)
        return frame.rename(columns=lambda column: str(column).strip())


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


def _open_text(file: Path, encoding: str) -> TextIO:
    encoding = "utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding
    if file.suffix.lower() == ".gz":
        return gzip.open(file, "rt", encoding=encoding, newline="")
    return file.open(encoding=encoding, newline="")


def _read_csv(file: Path, encoding: str, sep: str | None, decimal: str | None) -> Any:
    pandas = need("pandas")
    if zipfile.is_zipfile(file):
        raise ValueError("it is a zip archive or an Excel file; rename an Excel file to .xlsx")
    with _open_text(file, encoding) as lines:
        head = list(islice(lines, HEAD))
    usual = "\t" if ".tsv" in file.suffixes else ","
    separator = guess_separator(head, usual) if sep is None else sep.replace("\\t", "\t")
    decimal = _guess_decimal(head, separator) if decimal is None else decimal
    # pandas would read the absent fields of a truncated line as missing values.
    with _open_text(file, encoding) as lines:
        rows = csv.reader(lines, delimiter=separator)
        width = len(next(rows))
        for row in rows:
            if row and len(row) != width:
                raise ValueError(
                    f"line {rows.line_num} has {len(row)} values, but there are {width} columns; the separator is "
                    f"{separator!r}"
                )
    with _open_text(file, encoding) as lines:
        return pandas.read_csv(lines, sep=separator, decimal=decimal, low_memory=False)


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
        widths = [len(row) for row in csv.reader(lines, delimiter=separator) if row]
        widths = widths[:-1] if len(lines) == HEAD else widths  # a value of the last row may continue after the head
        quality = bool(widths) and widths[0] > 1 and len(set(widths)) == 1, widths[0] if widths else 0
        if quality > best_quality:
            best, best_quality = separator, quality
    return best


def _guess_decimal(lines: list[str], separator: str) -> str:
    if separator == ",":
        return "."
    fields = [field.strip() for row in csv.reader(lines, delimiter=separator) for field in row]
    commas, points = (sum(bool(pattern.fullmatch(field)) for field in fields) for pattern in (_COMMA, _POINT))
    return "," if commas > points else "."


def _read_excel(file: Path) -> Any:
    need("openpyxl")
    return need("pandas").read_excel(file, engine="openpyxl")


def _read_jsonl(file: Path) -> Any:
    records = []
    with _open_text(file, "utf-8") as lines:
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
    return need("pandas").read_parquet(file)


_READERS: dict[str, tuple[str, Callable[..., Any]]] = {
    "csv": ("a CSV file", _read_csv),
    "excel": ("an Excel file", _read_excel),
    "jsonl": ("a file of JSON lines", _read_jsonl),
    "parquet": ("a Parquet file", _read_parquet),
    "folder": ("a folder of text files", read_text_folder),
}
TABLE_FORMATS = tuple(_READERS)
"""Formats that `read_table` reads."""
