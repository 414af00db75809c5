"""Loading and writing data sets: files in any supported format, and names of the registry."""

import inspect
import os
from collections.abc import Callable, Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any

from spmld._io import StrPath, need, writing
from spmld._validation import did_you_mean
from spmld.datasets.arff import read_arff
from spmld.datasets.dataset import Dataset
from spmld.datasets.frames import from_frame, to_frame
from spmld.datasets.libsvm import read_libsvm
from spmld.datasets.npz import read_npz, write_npz
from spmld.datasets.registry import fetch_dataset, list_datasets
from spmld.tables.reading import TABLE_EXTENSIONS, TABLE_FORMATS, check_options, read_table, table_format
from spmld.tables.roles import TableRoles

_READERS: dict[str, Callable[..., Dataset]] = {
    "arff": read_arff,
    "libsvm": read_libsvm,
    "npz": read_npz,
    "xc": read_libsvm,
}
_EXTENSIONS = {
    **TABLE_EXTENSIONS,
    **{kind: kind for kind in ("arff", "libsvm", "npz")},
    "svm": "libsvm",
    "txt": "xc",
}


def read_dataset(path: StrPath, *, format: str | None = None, **options: Any) -> Dataset:
    r"""Read a data set from a file of any format.

    Parameters
    ----------
    path : str or path-like
        File to read.
    format : {"arff", "csv", "excel", "jsonl", "libsvm", "npz", "parquet", "xc"}, optional
        Format of the file; "xc" is that of the extreme-classification repository. By default, it is chosen by the file
        extension.
    **options
        For tables, the roles of the columns and the options of `from_frame`, such as ``labels``, ``tags``, ``id``,
        ``text`` and ``drop``, and the options of `read_table`, such as ``sep``, ``decimal``, ``encoding`` and
        ``sheet``. For ARFF files, ``labels``, ``xml`` and ``encoding``; see `spmld.datasets.arff`.

    Examples
    --------
    >>> import tempfile
    >>> from spmld.datasets import read_dataset
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     print("pitch,is_sad,is_calm", "0.5,1,0", "0.1,,1", sep="\n", file=file, flush=True)
    ...     data = read_dataset(file.name, prefix="is_")
    >>> data.label_names
    ['sad', 'calm']
    >>> data.Y
    array([[ 1.,  0.],
           [nan,  1.]])
    """
    kind = _find_format(path, format, [*TABLE_FORMATS, *_READERS])
    check_options(options, accepted_options(kind), f"{path} is read as {kind}")
    if kind in _READERS:
        return _READERS[kind](path, **options)
    of_file = {name: value for name, value in options.items() if name in TABLE_FORMATS[kind].options}
    frame = read_table(path, format=kind, **of_file)
    roles = {name: value for name, value in options.items() if name not in of_file or name == "decimal"}
    return from_frame(frame, name=Path(path).name.split(".")[0] or str(path), source=str(path), **roles)


def accepted_options(kind: str) -> list[str]:
    """Return the names of the options of `read_dataset` for a format.

    Examples
    --------
    >>> from spmld.datasets.files import accepted_options
    >>> accepted_options("arff")
    ['labels', 'xml', 'encoding']
    """
    if kind in TABLE_FORMATS:
        return [*TABLE_FORMATS[kind].options, *(item.name for item in fields(TableRoles))]
    return [p.name for p in inspect.signature(_READERS[kind]).parameters.values() if p.kind is p.KEYWORD_ONLY]


def write_dataset(data: Dataset, path: StrPath, *, format: str | None = None) -> None:
    """Write a data set to a file.

    If writing fails, no incomplete file is left and an existing file does not change.

    Parameters
    ----------
    data : Dataset
        Data set to write. Only "npz" stores sparse features, the split and the trusted entries.
    path : str or path-like
        File to write. An existing file is replaced.
    format : {"csv", "npz", "parquet"}, optional
        Format of the file. By default, it is chosen by the file extension. For LIBSVM files, see
        `sklearn.datasets.dump_svmlight_file`.

    Examples
    --------
    >>> import tempfile
    >>> from spmld.datasets import Dataset, read_dataset, write_dataset
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_dataset(Dataset([[0.5], [0.1]], [[1, 0], [1, None]], name="tiny"), folder + "/tiny.csv")
    ...     read_dataset(folder + "/tiny.csv")
    Dataset 'tiny': 2 samples, 1 dense feature, 2 labels, 25.0% of the labels missing
    """
    kind = _find_format(path, format, ("csv", "npz", "parquet"))
    if kind == "npz":
        write_npz(data, path)
        return
    frame = to_frame(data)
    with writing(path) as part:
        if kind == "parquet":
            need("pyarrow")
            frame.to_parquet(part, index=False)
        else:
            sep = "\t" if part.suffix.lower() == ".tsv" else ","
            frame.to_csv(part, sep=sep, index=False, lineterminator="\n")


def file_format(path: StrPath, format: str | None = None) -> str:
    """Return the format of a file: that which is passed, or by its extension, which may be unknown.

    Examples
    --------
    >>> from spmld.datasets.files import file_format
    >>> file_format("songs.svm"), file_format("songs.mp3"), file_format("songs", "csv")
    ('libsvm', 'mp3', 'csv')
    """
    extension = Path(path).suffix.lower().removeprefix(".")
    return format or table_format(path) or _EXTENSIONS.get(extension, extension)


def _find_format(path: StrPath, format: str | None, formats: Iterable[str]) -> str:
    kind = file_format(path, format)
    if kind in formats:
        return kind
    if Path(path).is_dir():
        raise ValueError(f"{path} is a folder, expected a file")
    if format:
        raise ValueError(f"unknown format {format!r}; supported: {', '.join(formats)}")
    extensions = sorted(f".{extension}" for extension, kind in _EXTENSIONS.items() if kind in formats)
    raise ValueError(
        f'unknown file extension "{Path(path).suffix}" of {path}; supported: {", ".join(extensions)}. '
        "Pass format= for other extensions"
    )


def load_dataset(source: StrPath, *, progress: bool = False, **options: Any) -> Dataset:
    """Load a data set from a file or from the registry.

    Parameters
    ----------
    source : str or path-like
        File, or name in the registry. A file has priority over a name.
    progress
        As in `fetch_dataset`.
    **options
        Options of `read_dataset` for a file.

    Examples
    --------
    >>> from spmld.datasets import load_dataset
    >>> load_dataset("songs.csv", prefix="is_")  # doctest: +SKIP
    >>> load_dataset("emotions")  # doctest: +SKIP
    """
    text = os.fspath(source)
    names = [info.name for info in list_datasets()]
    if text.lower() in names and not Path(text).is_file():
        if options:
            accepted = f"{text} is a data set in the registry, which accepts no options"
            raise ValueError(f"{accepted}, got {', '.join(options)}")
        return fetch_dataset(text, progress=progress)
    if not Path(text).exists() and not Path(text).suffix:
        available = f"available data sets: {', '.join(names)}{did_you_mean(text, names)}"
        raise FileNotFoundError(f"{text} is neither an existing file nor a data set; {available}")
    return read_dataset(source, **options)
