"""Opening tables whose fields can be changed, in the format of the file."""

import codecs
import gzip
import io
from itertools import islice
from pathlib import Path

from spmld._io import StrPath, need, reading
from spmld.datasets import read_table
from spmld.datasets.csv_files import HEAD, csv_separator, open_text
from spmld.datasets.tables import TABLE_EXTENSIONS, table_format
from spmld.review.binary_tables import ExcelTable, ParquetTable
from spmld.review.text_tables import BOM, CsvTable, EditableTable, JsonTable


def open_table(
    path: StrPath,
    *,
    encoding: str = "utf-8",
    sep: str | None = None,
    sheet: str | None = None,
    format: str | None = None,
) -> EditableTable | None:
    """Read a table whose fields can be changed; None if the file has another format.

    Parameters
    ----------
    path : str or path-like
        CSV file, which may be compressed, JSON lines, Excel or Parquet file, or folder of text files. A folder is
        converted to a CSV file with the columns file, text and tags.
    encoding : str, default="utf-8"
        Encoding of a text file.
    sep : str, optional
        Separator of a CSV file. By default, it is guessed.
    sheet : str, optional
        Sheet of an Excel file. By default, the first.
    format : {"csv", "jsonl", "excel", "parquet", "folder"}, optional
        Format. By default, it is chosen by the file extension.

    Returns
    -------
    EditableTable or None
        With the columns ``columns`` and the methods ``row``, ``column`` and ``replace``.

    Examples
    --------
    See `apply_annotations`.
    """
    kind = table_format(path, format)
    if kind is None or not Path(path).exists():
        return None
    if kind == "folder":
        return CsvTable(_folder_to_csv(path, encoding))
    with reading(path, "a table") as file:
        table: EditableTable
        if kind == "parquet":
            table = ParquetTable(need("pyarrow.parquet").read_table(file))
        elif kind == "excel":
            table = ExcelTable(file.read_bytes(), sheet)
        else:
            table = _open_text_table(file, kind, encoding, sep)
        table.columns  # noqa: B018, errors of the format are raised here
        return table


def _open_text_table(file: Path, kind: str, encoding: str, sep: str | None) -> EditableTable:
    text, encoding = _decode(file, "utf-8" if kind == "jsonl" else encoding)
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


def check_extension(out: StrPath, path: StrPath, format: str | None = None) -> None:
    """Raise ValueError if a table cannot be written to the file `out`, because its extension is of another format.

    Examples
    --------
    >>> from spmld.review.tables import check_extension
    >>> check_extension("reviewed.xlsx", "songs.csv")
    Traceback (most recent call last):
    ...
    ValueError: labels are written in the format of songs.csv, to a file .csv or .tsv, got reviewed.xlsx
    """
    kind = table_format(path, format)
    kind = "csv" if kind == "folder" else kind
    if kind is None:
        supported = ", ".join(f".{extension}" for extension in TABLE_EXTENSIONS)
        raise ValueError(
            f"labels can be written into a table ({supported}) or a folder of text files, got {path}; convert it "
            "with spmld data convert, and use the converted file"
        )
    suffix = Path(path).suffix.lower()
    extensions = [f".{extension}" for extension in TABLE_EXTENSIONS if TABLE_EXTENSIONS[extension] == kind]
    accepted = [extension for extension in extensions if extension.endswith(".gz") == (suffix == ".gz")]
    if kind == "excel" and suffix in accepted:  # a file with macros is not opened under another extension
        accepted = [suffix]
    if not str(out).lower().endswith(tuple(accepted)):
        folder = Path(path).is_dir()
        what = "a folder is written as a table" if folder else f"labels are written in the format of {path}"
        raise ValueError(f"{what}, to a file {' or '.join(accepted)}, got {out}")


def without_gz(path: StrPath) -> Path:
    """Return a path without the extension .gz.

    Examples
    --------
    >>> from spmld.review.tables import without_gz
    >>> without_gz("songs.csv.gz").name
    'songs.csv'
    """
    file = Path(path)
    return file.with_suffix("") if file.suffix.lower() == ".gz" else file


def _folder_to_csv(path: StrPath, encoding: str) -> str:
    """Return the table of a folder of text files as CSV, with its tags separated by semicolons."""
    frame = read_table(path, format="folder", encoding=encoding)
    if "tags" in frame.columns and frame["tags"].map(lambda tags: isinstance(tags, list)).all():
        frame["tags"] = frame["tags"].map("; ".join)
    return str(frame.to_csv(index=False, lineterminator="\n"))
