"""CSV and Parquet: a row for each sample, label columns told by a prefix or a list."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spmld._io import need, number, reading, writing
from spmld.datasets.dataset import Dataset

__all__ = ["PREFIX", "from_frame", "read_columns", "read_csv", "read_parquet", "write_csv", "write_parquet"]

PREFIX = "label_"


def from_frame(
    frame: Any,
    *,
    labels: Sequence[str] | None = None,
    prefix: str = PREFIX,
    drop: Sequence[str] = (),
    name: str = "",
) -> Dataset:
    """A data set from a DataFrame.

    Parameters
    ----------
    frame : DataFrame
        Numbers and truth values; None, NaN or ``pd.NA`` where missing.
    labels : sequence of str, optional
        Names of the label columns. By default those that start with `prefix`.
    prefix : str, default ``"label_"``
        Start of the names of label columns, which the names of the labels then leave out.
    drop : sequence of str
        Columns to leave out, such as identifiers.
    name : str
        What to call the data set.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import pandas as pd
    >>> from spmld.datasets import from_frame
    >>> data = from_frame(pd.DataFrame({"pitch": [0.5, 0.1], "label_sad": [1, None], "label_calm": [0, 1]}))
    >>> data.label_names
    ['sad', 'calm']
    >>> data.Y
    array([[ 1.,  0.],
           [nan,  1.]])
    """
    frame = frame.rename(columns=str)
    columns = list(frame.columns)
    absent = [column for column in (*drop, *(labels or ())) if column not in columns]
    if absent:
        raise ValueError(f"there is no column {absent[0]!r} among its {len(columns)}: {_some(columns)}")
    columns = [column for column in columns if column not in set(drop)]
    if labels is not None:
        chosen, names = list(labels), list(labels)
    else:
        chosen = [column for column in columns if column.startswith(prefix)]
        names = [column.removeprefix(prefix) for column in chosen]
    if not chosen:
        raise ValueError(
            f"no column starts with {prefix!r}: name the labels or their prefix. Columns: {_some(columns)}"
        )
    others = [column for column in columns if column not in set(chosen)]
    if not others:
        raise ValueError("all columns are labels: there are no features")
    X, Y = (np.column_stack([_numbers(frame[column]) for column in part]) for part in (others, chosen))
    return Dataset(X, Y, others, names, name)


def _some(columns: list[str]) -> str:
    return ", ".join(columns[:5]) + (", ..." if len(columns) > 5 else "")


def _numbers(column: Any) -> NDArray[np.float64]:
    if column.dtype.kind in "biuf" and isinstance(column.dtype, np.dtype):
        return column.to_numpy(dtype=float)
    values = column.astype(object).where(column.notna(), None)
    for value in values:
        try:
            number(value)
        except (TypeError, ValueError):
            raise ValueError(
                f"column {column.name!r} holds {value!r}, which is not a number: encode it, for sample with "
                "pandas.get_dummies, or drop it"
            ) from None
    return np.array([number(value) for value in values])


def read_csv(
    path: str | os.PathLike[str],
    *,
    labels: Sequence[str] | None = None,
    prefix: str = PREFIX,
    drop: Sequence[str] = (),
    encoding: str = "utf-8",
) -> Dataset:
    r"""Read a CSV file with a line of names, or a file ``.tsv`` with tabs.

    Parameters
    ----------
    path : str or path
        The file. An empty cell is a missing value.
    labels, prefix, drop
        As for `from_frame`.
    encoding : str, default="utf-8"
        Of the file.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import tempfile
    >>> from spmld.datasets import read_csv
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     print("pitch,sad,calm", "0.5,1,0", "0.1,,1", sep="\n", file=file, flush=True)
    ...     read_csv(file.name, labels=["sad", "calm"]).Y
    array([[ 1.,  0.],
           [nan,  1.]])
    """
    with reading(path, "a CSV file") as file:
        return from_frame(_csv_frame(file, encoding), labels=labels, prefix=prefix, drop=drop, name=file.stem)


def _csv_frame(file: Path, encoding: str) -> Any:
    pandas = need("pandas")
    separator = _separator(file)
    _check_widths(file, separator, encoding)
    return pandas.read_csv(file, sep=separator, encoding=encoding)


def _separator(file: Path) -> str:
    return "\t" if file.suffix.lower() == ".tsv" else ","


def _check_widths(file: Path, separator: str, encoding: str) -> None:
    """A line that is cut short would be read as missing values."""
    with file.open(encoding=encoding, newline="") as lines:
        rows = csv.reader(lines, delimiter=separator)
        width = len(next(rows))
        for row in rows:
            if row and len(row) != width:
                raise ValueError(f"line {rows.line_num} has {len(row)} values, but {width} columns are named")


def read_parquet(
    path: str | os.PathLike[str],
    *,
    labels: Sequence[str] | None = None,
    prefix: str = PREFIX,
    drop: Sequence[str] = (),
) -> Dataset:
    """Read a Parquet file.

    Parameters
    ----------
    path : str or path
        The file.
    labels, prefix, drop
        As for `from_frame`.

    Returns
    -------
    Dataset

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
        return from_frame(_parquet_frame(file), labels=labels, prefix=prefix, drop=drop, name=file.stem)


def _parquet_frame(file: Path) -> Any:
    pandas = need("pandas")
    need("pyarrow")
    return pandas.read_parquet(file)


def read_columns(
    path: str | os.PathLike[str],
    features: Sequence[str],
    labels: Sequence[str] | None = None,
    *,
    prefix: str = PREFIX,
    kind: str = "csv",
    encoding: str = "utf-8",
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    r"""Read the columns that a model needs, in its order, from a table that may have others.

    Parameters
    ----------
    path : str or path
        The file.
    features : sequence of str
        Names of the feature columns.
    labels : sequence of str, optional
        Names of the labels; their columns may have the `prefix` before. None reads none.
    prefix : str, default ``"label_"``
        Start of the names of label columns.
    kind : {"csv", "parquet"}
        Format of the file.
    encoding : str, default="utf-8"
        Of a CSV file.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    Y : ndarray of shape (n_samples, n_labels) or None
        0 and 1, NaN where missing.

    Examples
    --------
    >>> import tempfile
    >>> from spmld.datasets import read_columns
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     print("id,label_sad,loud,pitch", "a,1,3,0.5", "b,,4,0.1", sep="\n", file=file, flush=True)
    ...     X, Y = read_columns(file.name, ["pitch", "loud"], ["sad"])
    >>> X
    array([[0.5, 3. ],
           [0.1, 4. ]])
    >>> Y
    array([[ 1.],
           [nan]])
    """
    with reading(path, "a CSV file" if kind == "csv" else "a Parquet file") as file:
        frame = _csv_frame(file, encoding) if kind == "csv" else _parquet_frame(file)
        frame = frame.rename(columns=str)
        there = set(frame.columns)
        X = _matrix(frame, [(name, name if name in there else None) for name in features], "feature")
        if labels is None:
            return X, None
        places = [
            (name, next((column for column in (prefix + name, name) if column in there), None)) for name in labels
        ]
        return X, Dataset(X, _matrix(frame, places, "label"), list(features), list(labels)).Y


def _matrix(frame: Any, places: list[tuple[str, str | None]], what: str) -> NDArray[np.float64]:
    """The columns of names, or an error that says which are absent."""
    absent = [name for name, column in places if column is None]
    if absent:
        columns = list(frame.columns)
        raise ValueError(
            f"it lacks {len(absent)} of the {len(places)} {what}s, {_some(absent)}, among its {len(columns)} columns: "
            f"{_some(columns)}"
        )
    if frame.shape[0] == 0:
        raise ValueError("there are no samples")
    return np.column_stack([_numbers(frame[column]) for _, column in places])


def write_csv(data: Dataset, path: str | os.PathLike[str]) -> None:
    r"""Write a CSV file, or with tabs one ``.tsv``: features, then labels as ``label_...``. The split is not kept.

    Parameters
    ----------
    data : Dataset
        What to write.
    path : str or path
        The file, which is complete or absent.

    Examples
    --------
    >>> import tempfile
    >>> from spmld.datasets import Dataset, write_csv
    >>> with tempfile.NamedTemporaryFile("r", suffix=".csv") as file:
    ...     write_csv(Dataset([[0.5], [0.1]], [[1, 0], [1, None]]), file.name)
    ...     open(file.name).read()
    'x0,label_y0,label_y1\n0.5,1,0\n0.1,1,\n'
    """
    frame = _to_frame(data)
    with writing(path) as part:
        frame.to_csv(part, sep=_separator(Path(path)), index=False, lineterminator="\n")


def write_parquet(data: Dataset, path: str | os.PathLike[str]) -> None:
    """Write a Parquet file: features, then labels as ``label_...``. The split is not kept.

    Parameters
    ----------
    data : Dataset
        What to write.
    path : str or path
        The file, which is complete or absent.

    Examples
    --------
    See `read_parquet`.
    """
    need("pyarrow")
    frame = _to_frame(data)
    with writing(path) as part:
        frame.to_parquet(part, index=False)


def _to_frame(data: Dataset) -> Any:
    pandas = need("pandas")
    X = data.X.toarray() if sp.issparse(data.X) else data.X
    taken = [name for name in data.feature_names if name.startswith(PREFIX)]
    if taken:
        raise ValueError(f"the feature {taken[0]!r} would be read back as a label, since it starts with {PREFIX!r}")
    labels = pandas.DataFrame(data.Y, columns=[PREFIX + name for name in data.label_names]).astype("Int8")
    return pandas.concat([pandas.DataFrame(X, columns=list(data.feature_names)), labels], axis=1)
