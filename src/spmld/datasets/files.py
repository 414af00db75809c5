"""Loading and writing data sets: NumPy archives, LIBSVM, files in any other format, and names of the registry."""

import codecs
import inspect
import os
import re
import zipfile
from collections.abc import Callable, Iterable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from spmld._io import StrPath, need, reading, writing
from spmld._validation import did_you_mean
from spmld.datasets.arff import read_arff
from spmld.datasets.dataset import Dataset, check_sizes
from spmld.datasets.frames import from_frame, to_frame
from spmld.datasets.registry import fetch_dataset, list_datasets
from spmld.tables.numbers import MAX_EXACT
from spmld.tables.reading import TABLE_EXTENSIONS, TABLE_FORMATS, check_options, read_table, table_format
from spmld.tables.roles import ROLES

_SPARSE = ("data", "indices", "indptr", "shape")


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
        return [*TABLE_FORMATS[kind].options, *ROLES]
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


def read_npz(path: StrPath) -> Dataset:
    """Read a file written by `write_npz`, or any ``.npz`` file with arrays ``X`` and ``Y``, without pickled objects.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from spmld.datasets import read_dataset
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(folder + "/tiny.npz", X=[[0.5], [0.1]], Y=[[1, 0], [1, np.nan]])
    ...     read_dataset(folder + "/tiny.npz")
    Dataset 'tiny': 2 samples, 1 dense feature, 2 labels, 25.0% of the labels missing
    """
    with reading(path, "a NumPy archive") as file:
        if not zipfile.is_zipfile(file):
            raise ValueError("the file is truncated or not a zip archive")
        with np.load(file, allow_pickle=False) as arrays:
            content = dict(arrays)
        if all(f"X_{part}" in content for part in _SPARSE):
            data, indices, indptr, shape = (content[f"X_{part}"] for part in _SPARSE)
            check_sizes(0, int(shape[-1]), 0, file.stat().st_size)
            content["X"] = sp.csr_array((data, indices, indptr), shape=tuple(shape))
        absent = [part for part in ("X", "Y") if part not in content]
        if absent:
            hint = "write features and labels with spmld.datasets.write_dataset(Dataset(X, Y), path)"
            names = ", ".join(sorted(content)) or "none"
            raise ValueError(f"the file has no array {absent[0]!r}; it has {names}; {hint}")
        features, labels = (content.get(names, np.array([])).tolist() for names in ("feature_names", "label_names"))
        name = str(content.get("name", file.stem))
        optional = {part: content.get(part) for part in ("train", "test", "trusted")}
        return Dataset(content["X"], content["Y"], features, labels, name, **optional)


def write_npz(data: Dataset, path: StrPath) -> None:
    """Write a compressed NumPy archive; see `write_dataset`.

    Examples
    --------
    >>> import tempfile
    >>> from spmld.datasets import Dataset, read_dataset, write_dataset
    >>> data = Dataset([[0.5], [0.1]], [[1, 0], [1, 1]], name="tiny", train=[0], test=[1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_dataset(data, folder + "/file.npz")
    ...     read_dataset(folder + "/file.npz")
    Dataset 'tiny': 2 samples (1 train, 1 test), 1 dense feature, 2 labels
    """
    names = {"feature_names": np.array(data.feature_names), "label_names": np.array(data.label_names)}
    content = {"Y": data.Y, "name": np.array(data.name), **names}
    if data.train is not None:
        content |= {"train": data.train, "test": data.test}
    if data.trusted is not None:
        content["trusted"] = data.trusted
    if sp.issparse(data.X):
        content |= {f"X_{part}": np.asarray(getattr(data.X, part)) for part in _SPARSE}
    else:
        content["X"] = data.X
    with writing(path) as part, part.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **content)


def read_libsvm(path: StrPath) -> Dataset:
    r"""Read a LIBSVM or extreme-classification file.

    A line is ``label,label feature:value feature:value``; labels are integers of any size, and those that are not
    listed are negative. If the first
    line is ``n_samples n_features n_labels``, as in the extreme-classification repository, indices start at 0 and the
    sizes are checked. Otherwise the labels are those in the file, named by their numbers, and the indices of features
    start at 1 unless there is a 0. Features are sparse.

    Examples
    --------
    >>> import tempfile
    >>> from spmld.datasets import read_dataset
    >>> with tempfile.NamedTemporaryFile("w", suffix=".svm") as file:
    ...     print("3,7 1:0.5 2:1", "7 2:2", sep="\n", file=file, flush=True)
    ...     data = read_dataset(file.name)
    >>> data.label_names, data.Y.tolist(), data.X.toarray().tolist()
    (['3', '7'], [[1, 1], [0, 1]], [[0.5, 1.0], [0.0, 2.0]])
    """
    with reading(path, "a LIBSVM file") as file:
        X, lines, n_labels = _parse(file)
        labels = sorted({label for line in lines for label in line})
        if n_labels is not None:
            others = [label for label in labels if not 0 <= label < n_labels]
            if others:
                stated = f"the first line specifies {n_labels} labels, from 0 to {n_labels - 1}"
                raise ValueError(f"{stated}, but there is a label {others[-1]}")
        if not labels and n_labels is None:
            raise ValueError("the file has no labels")
        count = len(labels) if n_labels is None else n_labels
        check_sizes(len(lines), X.shape[1], count, file.stat().st_size)
        places = {label: j for j, label in enumerate(labels if n_labels is None else range(n_labels))}
        Y = np.zeros((len(lines), count), dtype=np.int64)
        for i, line in enumerate(lines):
            Y[i, [places[label] for label in line]] = 1
        names = list(map(str, labels)) if n_labels is None else []
        return Dataset(X, Y, label_names=names, name=file.stem)


def read_libsvm_features(path: StrPath, n_features: int) -> sp.csr_matrix:
    r"""Return the features of a LIBSVM or extreme-classification file as a sparse matrix. Labels are ignored.

    Features that do not occur in a LIBSVM file are 0.

    Examples
    --------
    >>> import tempfile
    >>> from spmld.datasets.files import read_libsvm_features
    >>> with tempfile.NamedTemporaryFile("w", suffix=".svm") as file:
    ...     print("3,7 1:0.5 2:1", "7 2:2", sep="\n", file=file, flush=True)
    ...     read_libsvm_features(file.name, 3).toarray().tolist()
    [[0.5, 1.0, 0.0], [0.0, 2.0, 0.0]]
    """
    with reading(path, "a LIBSVM file") as file:
        return _parse(file, n_features)[0]


def _parse(file: Path, n_features: int | None = None) -> tuple[sp.csr_matrix, list[list[int]], int | None]:
    """Return the features, the labels of each sample, and the number of labels, if the first line has it."""
    lines = file.read_bytes().removeprefix(codecs.BOM_UTF8).split(b"\n")
    sizes = re.fullmatch(rb"\s*(\d+)\s+(\d+)\s+(\d+)\s*", lines[0])
    if sizes:
        n, d, l = map(int, sizes.groups())
        if n_features not in (None, d):
            raise ValueError(f"the first line specifies {d} features, expected {n_features}")
        check_sizes(n, d, l, sum(map(len, lines[1:])) + len(lines) - 2)
        n_features = d
        # Empty lines are samples without labels and features, which load_svmlight_file would skip.
        samples = lines[1:-1] if lines[-1] == b"" else lines[1:]
        lines = [b"", *(line if line.strip() else b" 0:0" for line in samples)]
    filled = ((number, line) for number, line in enumerate(lines, start=1) if line.partition(b"#")[0].strip())
    labels = [_read_labels(number, line) for number, line in filled]
    if not labels:
        raise ValueError("the file has no samples")
    X = _read_features(lines, n_features, True if sizes else "auto")
    if sizes and len(labels) != n:
        raise ValueError(f"the first line specifies {n} samples, but the file has {len(labels)}")
    return X, labels, l if sizes else None


def _read_labels(number: int, line: bytes) -> list[int]:
    """Return the labels at the beginning of a line, which load_svmlight_file would round."""
    field = line.partition(b"#")[0].split(None, 1)[0].decode(errors="replace")
    if ":" in field:
        return []
    try:
        return [_read_integer(text) for text in field.split(",")]
    except ValueError:
        raise ValueError(f"line {number}: labels must be integers separated by commas, got {field[:80]!r}") from None


def _read_integer(text: str) -> int:
    """Return an integer, which may be written as a float such as 3.0 or 1e+09 if floats of its size are exact."""
    if text.lstrip("+-").isdecimal():
        return int(text)
    number = float(text)
    if "_" in text or not number.is_integer() or abs(number) > MAX_EXACT:
        raise ValueError
    return int(number)


def _read_features(lines: Sequence[bytes], n_features: int | None, zero_based: bool | Literal["auto"]) -> sp.csr_matrix:
    """Return the features; an error names the first line that cannot be read."""

    def load(part: Sequence[bytes]) -> sp.csr_matrix:
        content = BytesIO(b"\n".join(part))
        return load_svmlight_file(content, n_features=n_features, multilabel=True, zero_based=zero_based)[0]

    try:
        return load(lines)
    except (ArithmeticError, ValueError):
        for number, line in enumerate(lines, start=1):
            try:
                load([line])
            except (ArithmeticError, ValueError) as error:
                shown = line.decode(errors="replace")[:80]
                raise ValueError(f"line {number}: expected labels and index:value, got {shown!r} ({error})") from None
        raise


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
