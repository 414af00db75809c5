"""One door for all formats: the ending of the name, or a word, says which."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import scipy.sparse as sp

from spmld.datasets.arff import read_arff, write_arff
from spmld.datasets.arrays import read_npz, write_npz
from spmld.datasets.dataset import Dataset
from spmld.datasets.libsvm import read_libsvm, write_libsvm, write_xc
from spmld.datasets.matlab import read_mat
from spmld.datasets.tables import read_csv, read_parquet, write_csv, write_parquet

__all__ = ["READERS", "WRITERS", "read_dataset", "table_kind", "write_dataset"]

READERS: dict[str, Callable[..., Dataset]] = {
    "arff": read_arff,
    "csv": read_csv,
    "libsvm": read_libsvm,
    "mat": read_mat,
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
_OTHER_ENDINGS = {"tsv": "csv", "svm": "libsvm", "txt": "xc", "pq": "parquet"}


def read_dataset(path: str | os.PathLike[str], *, format: str | None = None, **options: Any) -> Dataset:
    r"""Read a data set from a file of any format.

    Parameters
    ----------
    path : str or path
        The file.
    format : str, optional
        One of arff, csv, libsvm, mat, npz, parquet and xc (the extreme-classification repository's). By default what
        the ending of the name says.
    **options
        Passed to the reader of the format: ``labels``, ``xml`` and ``encoding`` for `read_arff`; ``labels``,
        ``prefix``, ``drop`` and ``encoding`` for `read_csv`; those but the encoding for `read_parquet`.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import tempfile
    >>> from spmld.datasets import read_dataset
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     print("pitch,is_sad,is_calm", "0.5,1,0", "0.1,1,1", sep="\n", file=file, flush=True)
    ...     read_dataset(file.name, prefix="is_").label_names
    ['sad', 'calm']
    """
    kind = _kind(path, format, READERS)
    refuse_unknown(options, READERS[kind], f"{path} is read as {kind}")
    return READERS[kind](path, **options)


def write_dataset(
    data: Dataset, path: str | os.PathLike[str], *, format: str | None = None, sparse: bool | None = None
) -> None:
    """Write a data set to a file, which is complete or absent.

    Parameters
    ----------
    data : Dataset
        What to write. Only npz keeps the split, and libsvm and xc keep no names; a format that cannot hold something
        else refuses it.
    path : str or path
        The file. One that is there is replaced.
    format : str, optional
        One of arff, csv, libsvm, npz, parquet and xc. By default what the ending of the name says.
    sparse : bool, optional
        Whether arff and npz store features sparsely. By default if they are sparse in `data`.

    Examples
    --------
    >>> import tempfile
    >>> from spmld.datasets import Dataset, read_dataset, write_dataset
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_dataset(Dataset([[0.5], [0.1]], [[1, 0], [1, None]], name="tiny"), folder + "/tiny.arff", sparse=True)
    ...     read_dataset(folder + "/tiny.arff")
    Dataset 'tiny': 2 samples, 1 sparse feature, 2 labels, 25.0% of the labels missing
    """
    kind = _kind(path, format, WRITERS)
    if sparse is not None and sparse != sp.issparse(data.X):
        data = replace(data, X=sp.csr_array(data.X) if sparse else data.X.toarray())
    WRITERS[kind](data, path)


def refuse_unknown(options: dict[str, Any], reader: Callable[..., Dataset], what: str) -> None:
    """An error for options that `reader` does not take."""
    accepted = [p.name for p in inspect.signature(reader).parameters.values() if p.kind is p.KEYWORD_ONLY]
    unknown = [name for name in options if name not in accepted]
    if unknown:
        raise ValueError(f"{what}, which takes {', '.join(accepted) or 'no options'}, not {', '.join(unknown)}")


def table_kind(path: str | os.PathLike[str], format: str | None = None) -> str | None:
    """Whether a file is a table, and of which format: csv, parquet or None for anything else.

    Examples
    --------
    >>> from spmld.datasets.files import table_kind
    >>> table_kind("songs.tsv"), table_kind("songs", "parquet"), table_kind("songs.arff")
    ('csv', 'parquet', None)
    """
    ending = Path(path).suffix.lower().removeprefix(".")
    kind = format or _OTHER_ENDINGS.get(ending, ending)
    return kind if kind in ("csv", "parquet") else None


def _kind(path: str | os.PathLike[str], format: str | None, known: dict[str, Any]) -> str:
    ending = Path(path).suffix.lower().removeprefix(".")
    kind = format or _OTHER_ENDINGS.get(ending, ending)
    if kind not in known:
        given = f"format {format!r}" if format else f"ending of {path}"
        raise ValueError(
            f"the {given} is none that is known: {', '.join(sorted(known))}. Give format= if it is another"
        )
    return kind
