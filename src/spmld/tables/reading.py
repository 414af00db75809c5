"""Reading tables as DataFrames: CSV with any separator, Excel with notes about absent values, JSON lines, Parquet."""

import json
import re
import warnings
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from spmld._frames import DataFrame, Series
from spmld._io import StrPath, need, reading
from spmld._validation import did_you_mean, list_names, plural
from spmld.tables.csv_files import csv_blocks, open_text, warn_of_repeated
from spmld.tables.errors import TableProblem, TableWarning

BLOCK_ROWS = 20_000
"""Number of rows of a block."""


def read_table(path: StrPath, *, format: str | None = None, **options: Any) -> DataFrame:
    r"""Read a table as a DataFrame, with its columns unchanged.

    Parameters
    ----------
    path : str or path-like
        CSV file (``.csv``, ``.tsv``, ``.csv.gz``), Excel file (``.xlsx``), JSON lines (``.jsonl``), JSON list of
        objects (``.json``), or Parquet file.
    format : {"csv", "excel", "jsonl", "parquet"}, optional
        Format. By default, it is chosen by the file extension.
    sep : str, optional
        Separator of a CSV file. By default, the one of comma, semicolon, tab and ``|`` that gives the same number of
        columns in all lines.
    decimal : {".", ","}, optional
        Decimal separator of a CSV file. By default, a comma if the separator is not a comma and numbers have one.
        Columns whose separators may be those of decimals or of thousands, such as 1,234, are returned as text.
    encoding : str, optional
        Encoding of a CSV file, by default UTF-8. A byte order mark of UTF-8 or UTF-16 takes precedence.
    sheet : str, optional
        Sheet of an Excel file. By default, the first; a TableWarning names the others.

    Returns
    -------
    DataFrame
        Rows without any value are left out. The index counts all rows.

    Examples
    --------
    >>> import tempfile
    >>> from spmld.tables import read_table
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     print("title;tempo", "Blau;60,5", "Rot;180,0", sep="\n", file=file, flush=True)
    ...     read_table(file.name)
      title  tempo
    0  Blau   60.5
    1   Rot  180.0
    """
    (frame,) = read_table_blocks(path, format=format, n_rows=None, **options)
    return frame


def read_table_blocks(
    path: StrPath, *, format: str | None = None, n_rows: int | None = BLOCK_ROWS, **options: Any
) -> Iterator[Any]:
    r"""Yield a table in blocks of rows. Other formats than CSV and Parquet are read whole and are one block.

    Parameters
    ----------
    path, format, **options
        As in `read_table`.
    n_rows : int or None, default=20000
        Number of rows of a block; None reads one block.

    Yields
    ------
    DataFrame

    Examples
    --------
    >>> import tempfile
    >>> from spmld.tables.reading import read_table_blocks
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     print("title,tempo", "Blue,60", "Red,80", "Green,", sep="\n", file=file, flush=True)
    ...     [block.tempo.tolist() for block in read_table_blocks(file.name, n_rows=2)]
    [[60.0, 80.0], [nan]]
    """
    kind = table_format(path, format)
    if kind is None:
        raise ValueError(f"format must be one of {', '.join(TABLE_FORMATS)}, got {format!r} for {path}")
    form = TABLE_FORMATS[kind]
    check_options(options, form.options, f"{path} is read as {kind}")
    with reading(path, form.content) as file:
        for frame in form.read(file, n_rows, **options):
            yield with_clean_names(_without_blank_rows(frame) if kind in ("csv", "excel") else frame)


def check_options(options: Iterable[str], accepted: Iterable[str], source: str) -> None:
    """Raise ValueError for names of options that a reader does not accept."""
    accepted = list(accepted)
    if unknown := [name for name in options if name not in accepted]:
        raise ValueError(f"{source}, which accepts {', '.join(accepted) or 'no options'}, got {', '.join(unknown)}")


def table_format(path: StrPath, format: str | None = None) -> str | None:
    """Return the format of a table: that which is passed, or by its extension; None for other formats.

    Examples
    --------
    >>> from spmld.tables.reading import table_format
    >>> table_format("songs.csv.gz"), table_format("songs", "excel"), table_format("songs.arff")
    ('csv', 'excel', None)
    """
    if format is not None:
        return format if format in TABLE_FORMATS else None
    extensions = [suffix.lower().removeprefix(".") for suffix in Path(path).suffixes[-2:]]
    return TABLE_EXTENSIONS.get(".".join(extensions)) or TABLE_EXTENSIONS.get(extensions[-1] if extensions else "")


def with_clean_names(frame: Any) -> DataFrame:
    """Return a table whose column names have no space around them, or raise ValueError if they cannot be used."""
    frame = frame.set_axis([str(column).strip() for column in frame.columns], axis=1)
    if damaged := [name for name in frame.columns if "\0" in name]:  # NumPy would cut these names
        raise ValueError(f"column names must not contain NUL characters, got {damaged[0]!r}; the file is damaged")
    if not frame.columns.is_unique:
        raise ValueError(f"several columns are named {frame.columns[frame.columns.duplicated()][0]!r}; rename them")
    return frame


def _without_blank_rows(frame: Any) -> DataFrame:
    """Return a table without the rows that have no value, with a note about them."""
    blank = frame.isna().all(axis=1)
    n_blank = int(blank.sum())
    if n_blank == 0:
        return frame
    text = f"{n_blank} blank row{'s are' if n_blank > 1 else ' is'} ignored"
    warnings.warn(TableWarning(TableProblem(text)), stacklevel=2)
    return frame[~blank]


def _read_jsonl(file: Path, n_rows: int | None) -> Iterator[Any]:
    """Read JSON lines, or a JSON list of objects."""
    with open_text(file, "utf-8") as lines:
        text = lines.read()
    records = dict(_list_items(text) if text.lstrip().startswith("[") else _lines(text))
    has_escapes = "\\ud" in text or "\\uD" in text  # only an escape can be half of a character
    for place, record in records.items():
        if not isinstance(record, dict):
            raise ValueError(f"{place} must be a JSON object, got {type(record).__name__}")
        if has_escapes:
            try:
                json.dumps(record, ensure_ascii=False).encode()
            except UnicodeEncodeError as error:
                half = f"{place} has {error.object[error.start]!a}, which is half of a character"
                raise ValueError(f"{half}; remove it or add the other half") from None
    yield need("pandas").DataFrame(list(records.values()))


def _lines(text: str) -> Iterator[tuple[str, Any]]:
    """Yield the place and the value of each line that is not blank."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield f"line {number}", _DECODER.decode(line)
            except json.JSONDecodeError as error:
                raise ValueError(f"line {number} is not JSON: {error}") from None
            except ValueError as error:
                raise ValueError(f"line {number}: {error}") from None


def _list_items(text: str) -> Iterator[tuple[str, Any]]:
    """Yield the place and the value of each item of a JSON list."""
    json.loads(text)  # its errors name the line and the column
    end = text.index("[") + 1
    number = 0
    while text[start := _BETWEEN_ITEMS.match(text, end).end()] != "]":  # type: ignore[union-attr]
        number += 1
        try:
            record, end = _DECODER.raw_decode(text, start)
        except ValueError as error:
            line = text.count("\n", 0, start) + 1
            raise ValueError(f"item {number}, which begins in line {line}: {error}") from None
        yield f"item {number}", record


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; raise ValueError for a repeated key, because `dict` would keep only its last value."""
    record = dict(pairs)
    if len(record) < len(pairs):
        key, count = Counter(key for key, _ in pairs).most_common(1)[0]
        raise ValueError(f"an object has {count} values of the key {key!r}; keep one of them")
    return record


_DECODER = json.JSONDecoder(object_pairs_hook=_unique_keys)
_BETWEEN_ITEMS = re.compile(r"[\s,]*")


def _read_parquet(file: Path, n_rows: int | None) -> Iterator[Any]:
    with need("pyarrow.parquet").ParquetFile(file) as table:
        whole = n_rows is None or table.metadata.num_rows == 0
        for batch in [table.read()] if whole else table.iter_batches(n_rows):
            frame = batch.to_pandas()
            yield frame.apply(_decode) if "binary" in map(str, batch.schema.types) else frame


def _decode(column: Any) -> Series:
    """Return a column whose bytes are text."""
    try:
        return column.map(lambda value: value.decode() if isinstance(value, bytes) else value)
    except UnicodeDecodeError:
        raise ValueError(f"column {column.name!r} has bytes that are not UTF-8 text; write it as text") from None


def read_excel(file: Path, n_rows: int | None, *, sheet: str | None = None) -> Iterator[Any]:
    """Yield a sheet of an Excel file as a DataFrame, by default the first one."""
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
        warn_of_repeated("" if name != name else str(name) for name in head.iloc[0])
        for text in _absent_values(book.book[sheet]):
            warnings.warn(TableWarning(TableProblem(text)), stacklevel=2)
        yield pandas.read_excel(book, sheet_name=sheet, dtype=object).infer_objects()  # text such as 007 is no number


def _absent_values(sheet: Any) -> list[str]:
    """Return notes about formulas without values, errors and merged cells, which pandas reads as missing."""
    formulas: list[str] = []
    errors: list[str] = []
    merged: list[str] = []
    with sheet._get_source() as source:  # openpyxl returns either the formulas or their values, not both
        for _, element in ET.iterparse(source):  # nosec B314
            kind = element.tag.rpartition("}")[2]
            place = element.get("r", "a cell")
            if kind == "mergeCell":
                merged.append(element.get("ref", ""))
            if kind == "c":
                formula = element.find("{*}f")
                value = element.findtext("{*}v")
                content = element.get("t")
                if content == "e" and value != "#N/A":
                    errors.append(f"{place} ({value})")
                if formula is not None and not value and content != "str":  # "str" is the empty text
                    formulas.append(f"{place} (={(formula.text or '...')[:80]})")
            if kind in ("c", "row"):
                element.clear()
    of_sheet = f"of sheet {sheet.title!r}"
    notes = []
    if formulas:
        text = f"{_missing_cells(formulas, 'formula', of_sheet)}, since the file does not store their values"
        notes.append(f"{text}; open it in a spreadsheet program and save it")
    if errors:
        notes.append(_missing_cells(errors, "error", of_sheet))
    if merged:
        text = f"all but the first of the merged cells {list_names(merged)} {of_sheet} are treated as missing"
        notes.append(f"{text}; unmerge them and fill in their values")
    return notes


def _missing_cells(cells: list[str], kind: str, of_sheet: str) -> str:
    verb = "is" if len(cells) == 1 else "are"
    return f"{plural(len(cells), kind)} {of_sheet} {verb} treated as missing, such as {cells[0]}"


class TableFormat(NamedTuple):
    """Reader of a format, what it reads, the options that it accepts, and file extensions."""

    read: Callable[..., Iterator[Any]]
    content: str
    options: tuple[str, ...]
    extensions: tuple[str, ...]


TABLE_FORMATS = {
    "csv": TableFormat(csv_blocks, "a CSV file", ("encoding", "sep", "decimal"), ("csv", "tsv", "csv.gz", "tsv.gz")),
    "excel": TableFormat(read_excel, "an Excel file", ("sheet",), ("xlsx", "xlsm")),
    "jsonl": TableFormat(_read_jsonl, "JSON lines, or a list of objects", (), ("jsonl", "ndjson", "json", "jsonl.gz")),
    "parquet": TableFormat(_read_parquet, "a Parquet file", (), ("parquet", "pq")),
}
TABLE_EXTENSIONS = {extension: kind for kind, form in TABLE_FORMATS.items() for extension in form.extensions}
"""Formats of tables by file extension."""
