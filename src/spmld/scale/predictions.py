"""Predictions for row blocks: those of files are read one after the other, those of Dask collections are lazy."""

from collections.abc import Callable
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np

from spmld._io import need
from spmld.labels import Labels
from spmld.scale.inputs import is_collection
from spmld.scale.row_blocks import RowBlocks, join_rows


def predict_blocks(model: Any, method: str, X: Any) -> Any:
    """Return the predictions of a method of a fitted estimator: lazily for Dask collections."""
    if not is_collection(X):
        return map_blocks(getattr(model, method), X)
    names = list(model.classes_) if model._labels.one_dimensional else model.label_names_
    vector = model._labels.one_dimensional and method != "predict_proba"
    dtype = model.classes_.dtype if method == "predict" else np.dtype(float)
    empty = np.empty(0 if vector else (0, len(names)), dtype=dtype)

    def predict(block: Any) -> Any:
        return getattr(model, method)(block) if block.shape[0] else empty

    if hasattr(X, "map_partitions"):
        frame = need("pandas").Series if vector else partial(need("pandas").DataFrame, columns=names)
        return X.map_partitions(lambda block: frame(predict(block), index=block.index), meta=frame(empty))
    shape = {"drop_axis": 1} if vector else {"chunks": (X.chunks[0], (len(names),))}
    return X.rechunk({1: -1}).map_blocks(predict, dtype=dtype, meta=empty, **shape)


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
    >>> from spmld import RowBlocks
    >>> from spmld.scale.predictions import map_blocks
    >>> map_blocks(np.negative, RowBlocks(np.arange(3.0)[:, None], block_rows=2)).ravel()
    array([-0., -1., -2.])
    """
    ends = accumulate(blocks.counts)
    rows = [slice(end - count, end) for end, count in zip(ends, blocks.counts, strict=True)]
    parts = [predict(X) if labels is None else predict(X, labels[s]) for X, s in zip(blocks, rows, strict=True)]
    if isinstance(parts[0], tuple):
        return type(parts[0])(*map(join_rows, zip(*parts, strict=True)))
    return join_rows(parts)


def labels_of(blocks: RowBlocks, y: Any) -> Any:
    """Return y, or the labels of the blocks if it is None."""
    if y is not None or not blocks.has_labels:
        return y
    return join_rows([blocks.labels(i) for i in range(len(blocks))])
