"""Tables with a row for each sample: CSV, Excel, JSON lines, Parquet, and folders of text files."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld._io import StrPath, need, writing
from spmld.datasets.dataset import Dataset
from spmld.datasets.frames import from_frame, select_columns, to_frame
from spmld.datasets.raw_tables import read_table
from spmld.datasets.roles import PREFIX
from spmld.preprocessing.problems import TableError, TableProblem


def read_csv(
    path: StrPath, *, encoding: str = "utf-8", sep: str | None = None, decimal: str | None = None, **roles: Any
) -> Dataset:
    r"""Read a CSV file whose first line names the columns.

    Parameters
    ----------
    path : str or path-like
        File to read, which may be compressed (``.csv.gz``). An empty field is a missing value.
    encoding, sep, decimal
        As in `read_table`.
    **roles
        Roles of the columns, as in `from_frame`, such as ``labels``, ``tags``, ``id``, ``text`` and ``drop``.

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
    frame = read_table(path, format="csv", encoding=encoding, sep=sep, decimal=decimal)
    return from_frame(frame, name=_name(path), source=str(path), decimal=decimal, **roles)


def read_parquet(path: StrPath, **roles: Any) -> Dataset:
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
    return from_frame(read_table(path, format="parquet"), name=_name(path), source=str(path), **roles)


def read_excel(path: StrPath, *, sheet: str | None = None, **roles: Any) -> Dataset:
    """Read a sheet of an Excel file, by default the first; see `read_csv` for the other parameters.

    Examples
    --------
    >>> from spmld.datasets import read_excel
    >>> read_excel("songs.xlsx", sheet="Songs", text="review", tags="tags")  # doctest: +SKIP
    """
    return from_frame(read_table(path, format="excel", sheet=sheet), name=_name(path), source=str(path), **roles)


def read_jsonl(path: StrPath, **roles: Any) -> Dataset:
    r"""Read a file of JSON lines, with one object for each sample; see `read_csv` for the parameters.

    Examples
    --------
    >>> import tempfile
    >>> from spmld.datasets import read_jsonl
    >>> with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
    ...     print('{"pitch": 0.5, "tags": ["sad", "calm"]}', file=file)
    ...     print('{"pitch": 0.1, "tags": []}', file=file, flush=True)
    ...     read_jsonl(file.name, tags="tags").Y
    array([[1, 1],
           [0, 0]])
    """
    return from_frame(read_table(path, format="jsonl"), name=_name(path), source=str(path), **roles)


def read_folder(path: StrPath, *, encoding: str = "utf-8", **roles: Any) -> Dataset:
    """Read a folder of text files; see `spmld.datasets.text_folder`.

    The default roles are ``text="text"``, ``id="file"`` and, if subfolders are labels, ``tags="tags"``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from spmld.datasets import read_folder
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for tag, text in (("sad", "slow and dark"), ("happy", "fast and bright")):
    ...         (pathlib.Path(folder) / tag).mkdir()
    ...         _ = (pathlib.Path(folder) / tag / f"{tag}.txt").write_text(text)
    ...     read_folder(folder).label_names
    ['happy', 'sad']
    """
    frame = read_table(path, format="folder", encoding=encoding)
    return from_frame(frame, name=_name(path), source=str(path), **folder_roles(frame, roles))


def folder_roles(frame: Any, roles: dict[str, Any]) -> dict[str, Any]:
    """Return roles with the defaults of a folder of text files."""
    defaults: dict[str, Any] = {"text": ["text"], "id": "file"}
    if "tags" in frame.columns and not roles.get("labels") and "prefix" not in roles:
        defaults["tags"] = "tags"
    return {**defaults, **roles}


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
    kind : str, default="csv"
        Format of the file, as in `read_table`.
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
    frame = read_table(path, format=kind, encoding=encoding).rename(columns=str)
    columns = set(frame.columns)
    try:
        X = select_columns(frame, {name: name if name in columns else None for name in features}, "feature")
        if labels is None:
            return X, None
        chosen = {name: next((c for c in (prefix + name, name) if c in columns), None) for name in labels}
        return X, Dataset(X, select_columns(frame, chosen, "label"), list(features), list(labels)).Y
    except ValueError as error:
        raise TableError([TableProblem(str(error))], str(path)) from None


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


def _name(path: StrPath) -> str:
    return Path(path).name.split(".")[0] or str(path)


def _separator(file: Path) -> str:
    return "\t" if file.suffix.lower() == ".tsv" else ","
