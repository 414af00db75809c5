"""CSV and Parquet files with a row for each sample and a column for each feature and label."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld._io import StrPath, need, reading, writing
from spmld.datasets.dataset import Dataset
from spmld.datasets.frames import PREFIX, from_frame, select_columns, to_frame


def read_csv(
    path: StrPath,
    *,
    labels: Sequence[str] | None = None,
    prefix: str = PREFIX,
    drop: Sequence[str] = (),
    encoding: str = "utf-8",
) -> Dataset:
    r"""Read a CSV file whose first line names the columns. Files ``.tsv`` are separated by tabs.

    Parameters
    ----------
    path : str or path-like
        File to read. An empty field is a missing value.
    labels, prefix, drop
        As in `from_frame`.
    encoding : str, default="utf-8"
        Encoding of the file.

    Examples
    --------
    >>> from spmld.datasets import read_csv
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     print("pitch,sad,calm", "0.5,1,0", "0.1,,1", sep="\n", file=file, flush=True)
    ...     read_csv(file.name, labels=["sad", "calm"]).Y
    array([[ 1.,  0.],
           [nan,  1.]])
    """
    with reading(path, "a CSV file") as file:
        return from_frame(_read_csv(file, encoding), labels=labels, prefix=prefix, drop=drop, name=file.stem)


def read_parquet(
    path: StrPath, *, labels: Sequence[str] | None = None, prefix: str = PREFIX, drop: Sequence[str] = ()
) -> Dataset:
    """Read a Parquet file; see `read_csv` for the parameters.

    Examples
    --------
    >>> import tempfile
    >>> from spmld.datasets import Dataset, read_parquet, write_parquet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_parquet(Dataset([[0.5], [0.1]], [[1, 0], [1, None]]), folder + "/tiny.parquet")
    ...     read_parquet(folder + "/tiny.parquet").Y
    array([[ 1.,  0.],
           [ 1., nan]])
    """
    with reading(path, "a Parquet file") as file:
        return from_frame(_read_parquet(file), labels=labels, prefix=prefix, drop=drop, name=file.stem)


def read_columns(
    path: StrPath,
    features: Sequence[str],
    labels: Sequence[str] | None = None,
    *,
    prefix: str = PREFIX,
    kind: str = "csv",
    encoding: str = "utf-8",
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    r"""Read the columns that a model needs, in the order that it expects. Other columns are ignored.

    Parameters
    ----------
    path : str or path-like
        File to read.
    features : sequence of str
        Names of the feature columns.
    labels : sequence of str, optional
        Names of the labels. Their columns have these names, with or without `prefix`. By default, no labels are read.
    prefix : str, optional
        Prefix of the names of label columns; by default ``label_``.
    kind : {"csv", "parquet"}, default="csv"
        Format of the file.
    encoding : str, default="utf-8"
        Encoding of a CSV file.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Features.
    Y : ndarray of shape (n_samples, n_labels) or None
        Labels as 0 and 1, NaN where missing.

    Examples
    --------
    >>> import tempfile
    >>> from spmld.datasets import read_columns
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     print("id,label_sad,loud,pitch", "a,1,3,0.5", "b,,4,0.1", sep="\n", file=file, flush=True)
    ...     X, Y = read_columns(file.name, ["pitch", "loud"], ["sad"])
    >>> X.tolist(), Y.tolist()
    ([[0.5, 3.0], [0.1, 4.0]], [[1.0], [nan]])
    """
    with reading(path, "a CSV file" if kind == "csv" else "a Parquet file") as file:
        frame = (_read_csv(file, encoding) if kind == "csv" else _read_parquet(file)).rename(columns=str)
        columns = set(frame.columns)
        X = select_columns(frame, {name: name if name in columns else None for name in features}, "feature")
        if labels is None:
            return X, None
        chosen = {name: next((c for c in (prefix + name, name) if c in columns), None) for name in labels}
        return X, Dataset(X, select_columns(frame, chosen, "label"), list(features), list(labels)).Y


def write_csv(data: Dataset, path: StrPath) -> None:
    r"""Write a CSV file, or with tabs a file ``.tsv``; see `write_dataset`.

    Examples
    --------
    >>> import tempfile
    >>> from spmld.datasets import Dataset, write_csv
    >>> with tempfile.NamedTemporaryFile("r", suffix=".csv") as file:
    ...     write_csv(Dataset([[0.5], [0.1]], [[1, 0], [1, None]]), file.name)
    ...     open(file.name).read()
    'x0,label_y0,label_y1\n0.5,1,0\n0.1,1,\n'
    """
    frame = to_frame(data)
    with writing(path) as part:
        frame.to_csv(part, sep=_separator(part), index=False, lineterminator="\n")


def write_parquet(data: Dataset, path: StrPath) -> None:
    """Write a Parquet file; see `write_dataset`.

    Examples
    --------
    See `read_parquet`.
    """
    need("pyarrow")
    frame = to_frame(data)
    with writing(path) as part:
        frame.to_parquet(part, index=False)


def _read_csv(file: Path, encoding: str) -> Any:
    pandas = need("pandas")
    separator = _separator(file)
    # pandas would read the absent fields of a truncated line as missing values.
    with file.open(encoding=encoding, newline="") as lines:
        rows = csv.reader(lines, delimiter=separator)
        width = len(next(rows))
        for row in rows:
            if row and len(row) != width:
                raise ValueError(f"line {rows.line_num} has {len(row)} values, but there are {width} columns")
    return pandas.read_csv(file, sep=separator, encoding=encoding)


def _read_parquet(file: Path) -> Any:
    need("pyarrow")
    return need("pandas").read_parquet(file)


def _separator(file: Path) -> str:
    return "\t" if file.suffix.lower() == ".tsv" else ","
