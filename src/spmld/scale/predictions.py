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
    dtype = model.classes_.dtype if method == "predict" else np.dtype(float)
    vector = model._labels.one_dimensional and method != "predict_proba"
    names = list(model.classes_) if model._labels.one_dimensional else model.label_names_
    predict = partial(_predict_block, model, method, len(names), vector, dtype)
    if hasattr(X, "map_partitions"):
        pandas = need("pandas")
        meta = pandas.Series(dtype=dtype) if vector else pandas.DataFrame(columns=names, dtype=dtype)
        return X.map_partitions(partial(_predict_frame, predict, names, vector), meta=meta)
    X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    if vector:
        return X.map_blocks(predict, drop_axis=1, dtype=dtype, meta=np.empty(0, dtype=dtype))
    chunks = (X.chunks[0], (len(names),))
    return X.map_blocks(predict, chunks=chunks, dtype=dtype, meta=np.empty((0, 0), dtype=dtype))


def complete_collection(model: Any, X: Any, y: Any, mask: Any) -> tuple[Any, Any]:
    """Return the completed labels of Dask arrays and their confidences, lazily."""
    if mask is not None or model._labels.one_dimensional or not hasattr(y, "rechunk"):
        raise ValueError("y must be a Dask array of shape (n_samples, n_labels) with NaN where missing, without mask")
    X, y, l = X.rechunk({1: -1}), y.rechunk((X.chunks[0], -1)), model.n_labels_
    chunks = (X.chunks[0], (2 * l,))
    both = X.map_blocks(partial(_complete_block, model), y, chunks=chunks, dtype=float, meta=np.empty((0, 0)))
    return both[:, :l].astype(model.classes_.dtype), both[:, l:]


def _predict_block(model: Any, method: str, width: int, vector: bool, dtype: Any, X: Any) -> Any:
    """Return the predictions of a block, which may be empty."""
    if X.shape[0] == 0:
        return np.empty((0,) if vector else (0, width), dtype=dtype)
    return getattr(model, method)(X)


def _predict_frame(predict: Any, names: list[Any], vector: bool, X: Any) -> Any:
    """Return the predictions of a data frame as a data frame or a series."""
    pandas, values = need("pandas"), predict(X)
    return pandas.Series(values, index=X.index) if vector else pandas.DataFrame(values, index=X.index, columns=names)


def _complete_block(model: Any, X: Any, Y: Any) -> Any:
    """Return completed labels and confidences side by side."""
    if X.shape[0] == 0:
        return np.empty((0, 2 * model.n_labels_))
    if not np.isnan(Y).all():
        return np.hstack(model.complete(X, Y))
    p = model.predict_proba(X)
    return np.hstack([model.classes_[(p > 0.5).astype(int)], np.maximum(p, 1 - p)])


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
