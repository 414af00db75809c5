"""Lazy predictions for Dask collections."""

from functools import partial
from typing import Any

import numpy as np

from spmld._io import need


def predict_chunks(model: Any, method: str, X: Any) -> Any:
    """Return the predictions of a method of a fitted estimator for a Dask array or data frame."""
    names = list(model.classes_) if model._labels.one_dimensional else model.label_names_
    vector = model._labels.one_dimensional and method != "predict_proba"
    dtype = model.classes_.dtype if method == "predict" else np.dtype(float)
    empty = np.empty(0 if vector else (0, len(names)), dtype=dtype)

    def predict(chunk: Any) -> Any:
        return getattr(model, method)(chunk) if chunk.shape[0] else empty

    if hasattr(X, "map_partitions"):
        frame = need("pandas").Series if vector else partial(need("pandas").DataFrame, columns=names)
        return X.map_partitions(lambda chunk: frame(predict(chunk), index=chunk.index), meta=frame(empty))
    shape = {"drop_axis": 1} if vector else {"chunks": (X.chunks[0], (len(names),))}
    return X.rechunk({1: -1}).map_blocks(predict, dtype=dtype, meta=empty, **shape)
