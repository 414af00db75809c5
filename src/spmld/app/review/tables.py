"""Opening tables whose fields can be changed, in the format of the file."""

import codecs
import gzip
import io
from itertools import islice
from pathlib import Path

from spmld._io import StrPath, reading
from spmld.app.review.binary_tables import ExcelTable, ParquetTable
from spmld.app.review.text_tables import BOM, CsvTable, EditableTable, JsonTable
from spmld.tables.csv_files import HEAD, csv_separator, open_text
from spmld.tables.reading import TABLE_EXTENSIONS, table_format

_SUPPORTED = ", ".join(f".{extension}" for extension in TABLE_EXTENSIONS)


def open_table(
    path: StrPath,
    *,
    encoding: str = "utf-8",
    sep: str | None = None,
    sheet: str | None = None,
    format: str | None = None,
) -> EditableTable:
    """Read a table whose fields can be changed.

    Parameters
    ----------
    path : str or path-like
        CSV file or JSON lines, which may be compressed, JSON list of objects, Excel or Parquet file.
    encoding : str, default="utf-8"
        Encoding of a CSV file.
    sep : str, optional
        Separator of a CSV file. By default, it is guessed.
    sheet : str, optional
        Sheet of an Excel file. By default, the first.
    format : {"csv", "jsonl", "excel", "parquet"}, optional
        Format. By default, it is chosen by the file extension.

    Returns
    -------
    EditableTable
        With the columns ``columns`` and the methods ``row``, ``column``, ``set`` and ``content``.

    Examples
    --------
    See `apply_annotations`.
    """
    kind = table_format(path, format)
    with reading(path, "a table") as file:
        if kind == "parquet":
            return ParquetTable(file.read_bytes())
        if kind == "excel":
            return ExcelTable(file.read_bytes(), sheet)
        if kind not in ("csv", "jsonl"):
            raise ValueError(f'unknown file extension "{file.suffix}"; supported: {_SUPPORTED}')
        text, encoding = _decode(file, encoding if kind == "csv" else "utf-8")
        compressed = file.suffix.lower() == ".gz"
        if kind == "jsonl":
            return JsonTable(text, encoding, compressed)
        if sep is None:
            lines = islice(io.StringIO(text.removeprefix(BOM), newline=""), HEAD)
            sep = csv_separator(list(lines), "\t" if ".tsv" in file.suffixes else ",")
        return CsvTable(text, encoding, compressed, sep.replace("\\t", "\t"))


def _decode(file: Path, encoding: str) -> tuple[str, str]:
    """Return the text of a file, and the encoding that gives its bytes again."""
    content = file.read_bytes()
    content = gzip.decompress(content) if file.suffix.lower() == ".gz" else content
    with open_text(file, encoding) as lines:
        encoding = lines.encoding
    wide = "utf-16-be" if content.startswith(codecs.BOM_UTF16_BE) else "utf-16-le"
    encoding = {"utf-8-sig": "utf-8", "utf-16": wide}.get(encoding.lower(), encoding)
    text = content.decode(encoding)
    if text.encode(encoding) != content:
        raise ValueError(f"its text in the encoding {encoding} has several forms; save a copy as UTF-8")
    return text, encoding


def check_table(path: StrPath, format: str | None = None) -> None:
    """Raise ValueError if a file is not a table."""
    if table_format(path, format) is None:
        raise ValueError(
            f"labels can be written into a table ({_SUPPORTED}), got {path}; convert it with spmld data convert, and "
            "use the converted file"
        )


def check_extension(out: StrPath, path: StrPath, format: str | None = None) -> None:
    """Raise ValueError if a copy of a table cannot be written to the file `out`.

    Examples
    --------
    >>> from spmld.app.review.tables import check_extension
    >>> check_extension("reviewed.xlsx", "songs.csv")
    Traceback (most recent call last):
    ...
    ValueError: labels are written in the format of songs.csv, to a file .csv, got reviewed.xlsx
    """
    check_table(path, format)
    extension = str(path).lower().removeprefix(str(without_gz(path).with_suffix("")).lower())
    if not str(out).lower().endswith(extension):
        raise ValueError(f"labels are written in the format of {path}, to a file {extension}, got {out}")


def without_gz(path: StrPath) -> Path:
    """Return a path without the extension .gz.

    Examples
    --------
    >>> from spmld.app.review.tables import without_gz
    >>> without_gz("songs.csv.gz").name
    'songs.csv'
    """
    file = Path(path)
    return file.with_suffix("") if file.suffix.lower() == ".gz" else file
