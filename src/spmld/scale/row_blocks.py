"""Samples in blocks of rows, which are read from files when they are needed."""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from spmld._arrays import to_numpy
from spmld._frames import is_frame
from spmld._io import need

BLOCK_BYTES = 2**25
"""Default size of a block."""


class RowBlocks:
    """Samples and labels in blocks of rows, for data that do not fit into memory.

    `SelfPacedEnsemble`, `MaskedLogistic`, `MaskedRidge`, `SPMLD`, `GLOCAL` and `LEML` accept it in place of X. A fit
    reads the blocks one after the other in each pass over the data, and keeps one block of features in memory. The
    result is that of a fit to the same data in memory.

    Parameters
    ----------
    X : array-like, sparse matrix or path
        Samples: an array, also one that is memory-mapped or of Zarr or h5py; the path of a ``.npy`` file, of a Zarr
        array, or of a Parquet file or a directory of them; or an object with ``shape`` and ``X[start:stop]``.
    y : array-like, path or list of str, optional
        Labels, as in ``fit``: an array, the path of a ``.npy`` file or Zarr array, or the names of the columns of
        Parquet files that are labels; the other columns are features.
    block_rows : int, optional
        Number of rows of a block of an array, by default about 32 MiB. The blocks of Parquet files are their row
        groups.
    memory : int, optional
        Maximum number of bytes for variables of a fit that have one row per sample, such as latent labels. Above it
        they are stored in temporary files. By default, a quarter of the free memory.

    Attributes
    ----------
    counts : tuple of int
        Number of rows of each block.
    shape : tuple of int
        Numbers of samples and features.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld import MaskedLogistic, RowBlocks
    >>> from spmld.datasets import make_planted
    >>> data = make_planted(n_samples=300, observed_fraction=0.5, random_state=0)
    >>> blocks = RowBlocks(data.X, data.Y, block_rows=100)
    >>> blocks.counts
    (100, 100, 100)
    >>> in_blocks, in_memory = MaskedLogistic().fit(blocks), MaskedLogistic().fit(data.X, data.Y)
    >>> bool(np.allclose(in_blocks.coef_, in_memory.coef_))
    True
    """

    def __init__(self, X: Any, y: Any = None, *, block_rows: int | None = None, memory: int | None = None):
        if block_rows is not None and block_rows < 1:
            raise ValueError(f"block_rows must be at least 1, got {block_rows!r}")
        self._reader, self.memory = _open(X, y, block_rows), memory
        self.counts = tuple(count for count in self._reader.counts if count)
        self._blocks = [i for i, count in enumerate(self._reader.counts) if count]
        if not self.counts:
            raise ValueError("X must have at least one sample, got no rows")
        self.shape = (sum(self.counts), int(self.features(0).shape[1]))

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def has_labels(self) -> bool:
        """Whether the blocks contain labels."""
        return self._reader.labels(self._blocks[0]) is not None

    def features(self, i: int) -> Any:
        """Return the features of block i."""
        return self._reader.features(self._blocks[i])

    def labels(self, i: int) -> Any:
        """Return the labels of block i, or None if there are none."""
        return self._reader.labels(self._blocks[i])

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the features of the blocks."""
        return map(self.features, range(len(self)))


class _Arrays:
    """Slices of arrays."""

    def __init__(self, X: Any, y: Any, block_rows: int | None):
        if len(getattr(X, "shape", ())) != 2:
            raise ValueError(f"X must have shape (n_samples, n_features), got {getattr(X, 'shape', X)!r}")
        n = int(X.shape[0])
        if y is not None and y.shape[0] != n:
            raise ValueError(
                f"X and Y must have the same number of samples, got inconsistent numbers: {n} and {y.shape[0]}"
            )
        rows = block_rows or _default_rows(X)
        self._X, self._y = X, y
        self._slices = [slice(i, min(i + rows, n)) for i in range(0, n, rows)]
        self.counts = [s.stop - s.start for s in self._slices]

    def features(self, i: int) -> Any:
        return _rows(self._X, self._slices[i])

    def labels(self, i: int) -> Any:
        return None if self._y is None else _rows(self._y, self._slices[i])


class _NpyFile:
    """An array in a .npy file, of which slices are read without mapping the file."""

    def __init__(self, path: Path):
        with path.open("rb") as file:
            version = np.lib.format.read_magic(file)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            self.shape, fortran_order, self.dtype = read(file)
            self._path, self._start = path, file.tell()
        if fortran_order or self.dtype.hasobject:
            raise ValueError(f"{path} must contain numbers in C order; save them with np.save(path, X.copy(order='C'))")

    def __getitem__(self, s: slice) -> Any:
        width = int(np.prod(self.shape[1:], dtype=int))
        offset = self._start + s.start * width * self.dtype.itemsize
        values = np.fromfile(self._path, self.dtype, (s.stop - s.start) * width, offset=offset)
        return values.reshape((-1, *self.shape[1:]))


class _Parquet:
    """Row groups of Parquet files."""

    def __init__(self, path: Path, y: Any):
        parquet = need("pyarrow.parquet")
        paths = sorted(path.rglob("*.parquet")) if path.is_dir() else [path]
        if not paths:
            raise ValueError(f"{path} contains no .parquet file")
        files = [parquet.ParquetFile(file) for file in paths]
        self._names = list(y) if y is not None else []
        missing = [name for name in self._names if name not in files[0].schema_arrow.names]
        if missing:
            raise ValueError(f"y must name columns of {path}, got {missing}; it has {files[0].schema_arrow.names[:10]}")
        self._groups = [(file, i) for file in files for i in range(file.num_row_groups)]
        self.counts = [file.metadata.row_group(i).num_rows for file, i in self._groups]
        self._features = [name for name in files[0].schema_arrow.names if name not in set(self._names)]

    def _read(self, i: int, columns: Sequence[str]) -> Any:
        file, group = self._groups[i]
        return file.read_row_group(group, columns=list(columns)).to_pandas(ignore_metadata=True)

    def features(self, i: int) -> Any:
        return self._read(i, self._features)

    def labels(self, i: int) -> Any:
        return self._read(i, self._names) if self._names else None


def _open(X: Any, y: Any, block_rows: int | None) -> Any:
    """Return a reader with the attribute `counts` and the methods `features` and `labels`."""
    if isinstance(X, (str, Path)) and _is_parquet(Path(X)):
        return _Parquet(Path(X), y)
    return _Arrays(_open_array(X), _open_array(y), block_rows)


def _open_array(X: Any) -> Any:
    if X is None or hasattr(X, "shape"):
        return X.tocsr() if sp.issparse(X) else X
    if not isinstance(X, (str, Path)):
        return np.asarray(X)
    path = Path(X)
    if path.suffix == ".npy":
        return _NpyFile(path)
    if path.is_dir():
        return need("zarr", "zarr").open_array(str(path), mode="r")
    raise ValueError(f"unknown file extension {path.suffix!r} of {path}; supported: .npy, .parquet and directories")


def _is_parquet(path: Path) -> bool:
    return path.suffix == ".parquet" or (path.is_dir() and next(path.rglob("*.parquet"), None) is not None)


def _default_rows(X: Any) -> int:
    """Return the number of rows of about 32 MiB, a multiple of the chunks of X if it has chunks."""
    row = X.data.nbytes // max(1, X.shape[0]) if sp.issparse(X) else 8 * X.shape[1]
    rows = max(1, BLOCK_BYTES // max(1, row))
    chunk = (getattr(X, "chunks", None) or (1,))[0]
    return int(max(chunk, rows // chunk * chunk))


def _rows(A: Any, s: slice) -> Any:
    """Return rows of an array or data frame."""
    part = A.iloc[s] if hasattr(A, "iloc") else A[s]
    return part if is_frame(part) or sp.issparse(part) else to_numpy(part)


def locate(counts: Sequence[int], rows: Any) -> list[np.ndarray]:
    """Return the rows, given by increasing numbers, as positions within the blocks.

    Examples
    --------
    >>> from spmld.scale.row_blocks import locate
    >>> [part.tolist() for part in locate([2, 3], [1, 2, 4])]
    [[1], [0, 2]]
    """
    starts = [0, *accumulate(counts)]
    parts = np.split(np.asarray(rows, dtype=np.int64), np.searchsorted(rows, starts[1:-1]))
    return [part - start for part, start in zip(parts, starts[:-1], strict=True)]


def join_rows(parts: Sequence[Any]) -> Any:
    """Return the rows of arrays, sparse matrices or data frames as one.

    Data frames whose rows are numbered from 0 are numbered again; others keep their index.

    Examples
    --------
    >>> import pandas as pd
    >>> from spmld.scale.row_blocks import join_rows
    >>> join_rows([pd.Series([5, 6]), pd.Series([7])]).index.tolist()
    [0, 1, 2]
    """
    if len(parts) == 1 and hasattr(parts[0], "shape"):
        return parts[0]
    if sp.issparse(parts[0]):
        return sp.vstack(parts, format="csr")
    if not is_frame(parts[0]):
        return np.concatenate([np.asarray(part) for part in parts])
    if not hasattr(parts[0], "iloc"):
        return need("narwhals").get_native_namespace(parts[0]).concat(parts)
    pandas = need("pandas")
    numbered = all(part.index.equals(pandas.RangeIndex(len(part))) for part in parts)
    return pandas.concat(parts, ignore_index=numbered)
