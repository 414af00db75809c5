"""Predictions for row blocks, which are read one after the other."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from spmld._frames import is_frame
from spmld._io import need
from spmld.datasets.row_blocks import RowBlocks
from spmld.labels import Labels


def map_blocks(predict: Callable[..., Any], blocks: RowBlocks, labels: Labels | None = None) -> Any:
    """Return the predictions of all blocks: an array, a data frame or series, or a named tuple of them.

    Parameters
    ----------
    predict : callable
        ``predict(X)`` returns the predictions of a block, or ``predict(X, labels)`` if its labels are given.
    blocks : RowBlocks
        Samples.
    labels : Labels, optional
        Labels of all samples.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.datasets import RowBlocks
    >>> from spmld.estimators._block_predictions import map_blocks
    >>> map_blocks(np.negative, RowBlocks(np.arange(3.0)[:, None], block_rows=2)).ravel()
    array([-0., -1., -2.])
    """
    n, start, joined = blocks.shape[0], 0, None
    for X, count in zip(blocks, blocks.counts, strict=True):
        rows = slice(start, start + count)
        part = predict(X) if labels is None else predict(X, labels[rows])
        fields = part if isinstance(part, tuple) else (part,)
        joined = [_Joined(field, n) for field in fields] if joined is None else joined
        for values, field in zip(joined, fields, strict=True):
            values.put(rows, field)
        start += count
    results = [values.result() for values in joined or ()]
    return type(part)(*results) if isinstance(part, tuple) else results[0]


def labels_of(blocks: RowBlocks, y: Any) -> Any:
    """Return y, or the labels of the blocks if it is None."""
    if y is not None or not blocks.has_labels:
        return y
    return join_rows([blocks.labels(i) for i in range(len(blocks))])


def join_rows(parts: list[Any]) -> Any:
    """Return the rows of arrays, sparse matrices or data frames as one.

    Data frames whose rows are numbered from 0 are numbered again; others keep their index.

    Examples
    --------
    >>> import pandas as pd
    >>> from spmld.estimators._block_predictions import join_rows
    >>> join_rows([pd.Series([5, 6]), pd.Series([7])]).index.tolist()
    [0, 1, 2]
    """
    if sp.issparse(parts[0]):
        return sp.vstack(parts, format="csr")
    if not is_frame(parts[0]):
        return np.concatenate([np.asarray(part) for part in parts])
    if not hasattr(parts[0], "iloc"):
        return need("narwhals").get_native_namespace(parts[0]).concat(parts)
    pandas = need("pandas")
    numbered = all(part.index.equals(pandas.RangeIndex(len(part))) for part in parts)
    return pandas.concat(parts, ignore_index=numbered)


class _Joined:
    """Rows of blocks: an array for all of them, or the data frames of the blocks."""

    def __init__(self, part: Any, n: int):
        self._frames: list[Any] = []
        self._array = None if is_frame(part) else np.empty((n, *part.shape[1:]), dtype=part.dtype)

    def put(self, rows: slice, part: Any) -> None:
        """Add the rows of a block."""
        if self._array is None:
            self._frames.append(part)
        else:
            self._array[rows] = part

    def result(self) -> Any:
        """Return all rows."""
        return join_rows(self._frames) if self._array is None else self._array
