"""Samples in blocks of rows, which are read from files when they are needed."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
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
        if isinstance(X, (str, Path)) and _is_parquet(Path(X)):
            self.counts, self._features, self._labels = _open_parquet(Path(X), list(y or ()))
        else:
            self.counts, self._features, self._labels = _open_arrays(_open_array(X), _open_array(y), block_rows)
        if not self.counts:
            raise ValueError("X must have at least one sample, got no rows")
        self.memory, self.shape = memory, (sum(self.counts), int(self.features(0).shape[1]))

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def has_labels(self) -> bool:
        """Whether the blocks contain labels."""
        return bool(self._labels)

    def features(self, i: int) -> Any:
        """Return the features of block i."""
        return self._features[i]()

    def labels(self, i: int) -> Any:
        """Return the labels of block i."""
        return self._labels[i]()

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the features of the blocks."""
        return map(self.features, range(len(self)))


_BlockReaders = tuple[tuple[int, ...], Sequence[Callable[[], Any]], Sequence[Callable[[], Any]]]
"""Number of rows of each block, and functions that read its features and its labels, if there are any."""


def _open_arrays(X: Any, y: Any, block_rows: int | None) -> _BlockReaders:
    """Return slices of arrays."""
    if len(getattr(X, "shape", ())) != 2:
        raise ValueError(f"X must have shape (n_samples, n_features), got {getattr(X, 'shape', X)!r}")
    n = int(X.shape[0])
    if y is not None and y.shape[0] != n:
        raise ValueError(
            f"X and Y must have the same number of samples, got inconsistent numbers: {n} and {y.shape[0]}"
        )
    rows = block_rows or _default_rows(X)
    slices = [slice(i, min(i + rows, n)) for i in range(0, n, rows)]
    features, labels = ([partial(_rows, A, s) for s in slices if A is not None] for A in (X, y))
    return tuple(s.stop - s.start for s in slices), features, labels


def _open_parquet(path: Path, labels: list[str]) -> _BlockReaders:
    """Return the row groups of Parquet files, without empty ones."""
    parquet = need("pyarrow.parquet")
    files = [parquet.ParquetFile(file) for file in (sorted(path.rglob("*.parquet")) if path.is_dir() else [path])]
    names = files[0].schema_arrow.names
    if missing := [name for name in labels if name not in names]:
        raise ValueError(f"y must name columns of {path}, got {missing}; it has {names[:10]}")
    groups = [(file, i) for file in files for i in range(file.num_row_groups)]
    counts = [file.metadata.row_group(i).num_rows for file, i in groups]
    readers = [partial(_read_group, file, i) for (file, i), count in zip(groups, counts, strict=True) if count]
    features = [name for name in names if name not in set(labels)]
    read_labels = [partial(read, labels) for read in readers if labels]
    return tuple(filter(None, counts)), [partial(read, features) for read in readers], read_labels


def _read_group(file: Any, group: int, columns: list[str]) -> Any:
    return file.read_row_group(group, columns=columns).to_pandas(ignore_metadata=True)


def _open_array(X: Any) -> Any:
    if X is None or hasattr(X, "shape"):
        return X.tocsr() if sp.issparse(X) else X
    if not isinstance(X, (str, Path)):
        return np.asarray(X)
    path = Path(X)
    if path.suffix == ".npy":
        return np.load(path, mmap_mode="r")
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
