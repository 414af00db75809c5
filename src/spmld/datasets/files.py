"""Reading and writing data sets in any supported format, chosen by file extension or name."""

import inspect
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import scipy.sparse as sp

from spmld._io import StrPath
from spmld.datasets.arff import read_arff, write_arff
from spmld.datasets.dataset import Dataset
from spmld.datasets.libsvm import read_libsvm, write_libsvm, write_xc
from spmld.datasets.npz import read_npz, write_npz
from spmld.datasets.raw_tables import EXTENSIONS, TABLE_FORMATS, table_format
from spmld.datasets.roles import TableRoles
from spmld.datasets.tables import (
    read_csv,
    read_excel,
    read_folder,
    read_jsonl,
    read_parquet,
    write_csv,
    write_parquet,
)

READERS: dict[str, Callable[..., Dataset]] = {
    "arff": read_arff,
    "csv": read_csv,
    "excel": read_excel,
    "folder": read_folder,
    "jsonl": read_jsonl,
    "libsvm": read_libsvm,
    "npz": read_npz,
    "parquet": read_parquet,
    "xc": read_libsvm,
}
WRITERS: dict[str, Callable[..., None]] = {
    "arff": write_arff,
    "csv": write_csv,
    "libsvm": write_libsvm,
    "npz": write_npz,
    "parquet": write_parquet,
    "xc": write_xc,
}
_EXTENSIONS = {**EXTENSIONS, **{kind: kind for kind in ("arff", "libsvm", "npz")}, "svm": "libsvm", "txt": "xc"}


def read_dataset(path: StrPath, *, format: str | None = None, **options: Any) -> Dataset:
    r"""Read a data set from a file of any format.

    Parameters
    ----------
    path : str or path-like
        File to read, or folder of text files.
    format : {"arff", "csv", "excel", "folder", "jsonl", "libsvm", "npz", "parquet", "xc"}, optional
        Format of the file; "xc" is that of the extreme-classification repository. By default, it is chosen by the file
        extension.
    **options
        Options of the reader: for tables, the roles of the columns, see `TableRoles`, ``sep``, ``decimal`` and
        ``encoding`` of `read_csv`, and ``sheet`` of `read_excel`; ``labels``, ``xml`` and ``encoding`` of `read_arff`.

    Examples
    --------
    >>> import tempfile
    >>> from spmld.datasets import read_dataset
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     print("pitch,is_sad,is_calm", "0.5,1,0", "0.1,1,1", sep="\n", file=file, flush=True)
    ...     read_dataset(file.name, prefix="is_").label_names
    ['sad', 'calm']
    """
    kind = _find_format(path, format, READERS)
    check_options(options, READERS[kind], f"{path} is read as {kind}")
    return READERS[kind](path, **options)


def write_dataset(data: Dataset, path: StrPath, *, format: str | None = None, sparse: bool | None = None) -> None:
    """Write a data set to a file.

    If writing fails, no incomplete file is left and an existing file does not change.

    Parameters
    ----------
    data : Dataset
        Data set to write. Only "npz" stores the split and the trusted entries; "libsvm" and "xc" store no names. If a
        format cannot store something else, it raises a ValueError.
    path : str or path-like
        File to write. An existing file is replaced.
    format : {"arff", "csv", "libsvm", "npz", "parquet", "xc"}, optional
        Format of the file. By default, it is chosen by the file extension.
    sparse : bool, optional
        Whether "arff" and "npz" store the features as sparse. By default, if they are sparse in `data`.

    Examples
    --------
    >>> import tempfile
    >>> from spmld.datasets import Dataset, read_dataset, write_dataset
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_dataset(Dataset([[0.5], [0.1]], [[1, 0], [1, None]], name="tiny"), folder + "/tiny.arff", sparse=True)
    ...     read_dataset(folder + "/tiny.arff")
    Dataset 'tiny': 2 samples, 1 sparse feature, 2 labels, 25.0% of the labels missing
    """
    kind = _find_format(path, format, WRITERS)
    if sparse is not None and sparse != sp.issparse(data.X):
        data = replace(data, X=sp.csr_array(data.X) if sparse else data.X.toarray())
    WRITERS[kind](data, path)


def check_options(options: dict[str, Any], reader: Callable[..., Dataset], source: str) -> None:
    """Raise an error for options that `reader` does not accept."""
    parameters = inspect.signature(reader).parameters.values()
    accepted = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
    if any(p.kind is p.VAR_KEYWORD for p in parameters):  # the roles of the columns of a table
        accepted += [item.name for item in fields(TableRoles)] + ["trusted", "encode"]
    unknown = [name for name in options if name not in accepted]
    if unknown:
        raise ValueError(f"{source}, which accepts {', '.join(accepted) or 'no options'}, got {', '.join(unknown)}")


def table_kind(path: StrPath, format: str | None = None) -> str | None:
    """Return the format of a table, as in `read_table`, or None for other formats.

    Examples
    --------
    >>> from spmld.datasets.files import table_kind
    >>> table_kind("songs.tsv"), table_kind("songs", "parquet"), table_kind("songs.arff")
    ('csv', 'parquet', None)
    """
    kind = format or table_format(path)
    return kind if kind in TABLE_FORMATS else None


def file_format(path: StrPath, format: str | None = None) -> str | None:
    """Return the format of an existing file that can be read; None for other files and for names of data sets.

    Examples
    --------
    >>> from spmld.datasets.files import file_format
    >>> file_format("nothing.svm") is None
    True
    """
    kind = format or _format_of_extension(path)
    return kind if kind in READERS and Path(path).is_file() else None


def _format_of_extension(path: StrPath) -> str:
    if kind := table_format(path):
        return kind
    extension = Path(path).suffix.lower().removeprefix(".")
    return _EXTENSIONS.get(extension, extension)


def _find_format(path: StrPath, format: str | None, formats: dict[str, Any]) -> str:
    kind = format or _format_of_extension(path)
    if kind in formats:
        return kind
    if format:
        raise ValueError(f"unknown format {format!r}; supported: {', '.join(formats)}")
    extensions = sorted(f".{extension}" for extension, kind in _EXTENSIONS.items() if kind in formats)
    raise ValueError(
        f'unknown file extension "{Path(path).suffix}" of {path}; supported: {", ".join(extensions)}. '
        "Pass format= for other extensions"
    )
