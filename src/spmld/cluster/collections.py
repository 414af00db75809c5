"""Dask arrays and data frames: read as samples, and their lazy predictions."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array

from spmld._arrays import Array, Matrix, check_masked, is_collection
from spmld._io import need
from spmld._validation import check_same_samples
from spmld.cluster.cluster_samples import Chunks, ClusterSamples, EntryCounts, FeatureSummary
from spmld.cluster.engine import DaskEngine, active_client
from spmld.labels.encoding import Labels, observed_signs, read_labels, read_values, read_weights


def as_features(X: Any) -> Matrix:
    """Return a chunk of X as an array of floats or a CSR matrix. Values are not checked, except for masks."""
    check_masked(X)
    return check_array(
        X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=False, ensure_min_samples=0
    )


def feature_names(X: Any) -> list[str] | None:
    """Return the column names of a data frame if all are strings."""
    names = list(getattr(X, "columns", ()))
    return names if names and all(isinstance(name, str) for name in names) else None


def read_collection(X: Any, y: Any, mask: Any = None, entry_weight: Any = None) -> ClusterSamples:
    """Load the chunks of collections on the workers of the active client, and validate them."""
    if y is None:
        raise ValueError("y is required, got None")
    client = active_client()
    X = X.rechunk({1: -1}) if hasattr(X, "rechunk") else X
    engine = DaskEngine(client=client)
    parts = {"X": engine.map(as_features, client.compute(delayed_chunks(X)))}
    for name, part in {"Y": y, "mask": mask, "entry_weight": entry_weight}.items():
        parts[name] = tuple(client.compute(chunks_like(part, X, name))) if is_collection(part) else part
    counts = engine.gather(engine.map(n_rows, parts["X"]))
    filled = [i for i, count in enumerate(counts) if count]
    if not filled:
        raise ValueError("X must have at least one sample, got no rows")
    for name, part in parts.items():
        if isinstance(part, tuple):
            if engine.gather(engine.map(n_rows, part)) != counts:
                raise ValueError(f"X and {name} must have chunks of the same numbers of rows; rechunk {name} like X")
            parts[name] = tuple(part[i] for i in filled)
    sizes = tuple(counts[i] for i in filled)
    return make_samples(engine, parts["X"], parts["Y"], sizes, parts["mask"], parts["entry_weight"], feature_names(X))


def delayed_chunks(A: Any) -> list[Any]:
    """Return the chunks. Optimization could join small partitions of X and not those of Y."""
    return list(np.ravel(A.to_delayed(optimize_graph=not hasattr(A, "map_partitions"))))


def chunks_like(A: Any, X: Any, name: str) -> list[Any]:
    """Return the chunks of a collection, with the same rows as those of X if their numbers are known."""
    known = hasattr(X, "chunks") and not any(np.isnan(X.chunks[0]))
    if known and hasattr(A, "rechunk") and not any(np.isnan(A.chunks[0])):
        check_same_samples(X.shape[0], A.shape[0], name)
        A = A.rechunk((X.chunks[0], *((-1,) * (A.ndim - 1))))
    return delayed_chunks(A)


def n_rows(A: Any) -> int:
    """Return the number of rows of an array, sparse matrix or data frame."""
    return int(A.shape[0])


@dataclass(frozen=True)
class LabelSummary:
    """What determines the encoding of labels, for one chunk or, as a sum, for several.

    Attributes
    ----------
    values : ndarray
        Distinct observed values.
    n_labels : int
        Number of labels.
    names : list or None
        Names of the columns of a DataFrame.
    one_dimensional : bool
        Whether the labels are a vector.

    Examples
    --------
    >>> from spmld.cluster.collections import summarize_labels
    >>> (summarize_labels([[1, 1]]) + summarize_labels([[None, -1]])).form().classes
    array([-1,  1])
    """

    values: NDArray[Any]
    n_labels: int
    names: list[Any] | None
    one_dimensional: bool

    def __add__(self, other: "LabelSummary") -> "LabelSummary":
        if (self.n_labels, self.names, self.one_dimensional) != (other.n_labels, other.names, other.one_dimensional):
            raise ValueError(
                "all chunks of Y must have the same labels, got chunks with "
                f"{self.names or self.n_labels} and {other.names or other.n_labels}"
            )
        parts = [part for part in (self.values, other.values) if part.size]
        values = np.unique(np.concatenate(parts)) if parts else self.values
        return LabelSummary(values, self.n_labels, self.names, self.one_dimensional)

    def form(self) -> Labels:
        """Return labels without samples, in the encoding of all chunks."""
        column = self.values[:, None]
        every = read_labels(column[:, 0] if self.one_dimensional else np.repeat(column, max(1, self.n_labels), axis=1))
        signs = np.zeros((0, self.n_labels), dtype=np.int8)
        return Labels(signs, every.classes, self.names, self.one_dimensional)


def summarize_labels(Y: Any, mask: Any = None) -> LabelSummary:
    """Return the summary of a chunk of labels, in any form that `read_labels` accepts."""
    values, observed, names, one_dimensional = read_values(Y, mask)
    return LabelSummary(np.unique(values[observed]), values.shape[1], names, one_dimensional)


def read_signs(Y: Any, mask: Any, form: Labels) -> NDArray[np.int8]:
    """Return the signs of a chunk of labels, with the encoding of all chunks; 0 where missing."""
    if not summarize_labels(Y, mask).values.size:
        return np.zeros((np.shape(Y)[0], form.signs.shape[1]), dtype=np.int8)
    return read_labels(Y, mask, classes=form.classes).signs


def make_samples(
    engine: DaskEngine,
    X: Chunks,
    Y: Any,
    counts: tuple[int, ...],
    mask: Any = None,
    entry_weight: Any = None,
    names: Sequence[str] | None = None,
) -> ClusterSamples:
    """Validate features and labels in chunks, and read the labels."""
    features = engine.sum(FeatureSummary.of, X).check()
    Y, masks = split(Y, counts, "Y"), split(mask, counts, "mask")
    form = engine.sum(summarize_labels, Y, masks).form()
    signs = engine.map(partial(read_signs, form=form), Y, masks)
    weights: Chunks = engine.map(lambda signs: signs != 0, signs)
    if entry_weight is not None:
        dtype = features.dtype

        def weigh(signs: Any, weight: Any) -> Array:
            return read_weights(weight, signs).astype(dtype)

        weights = engine.map(weigh, signs, split(entry_weight, counts, "entry_weight"))
        signs = engine.map(observed_signs, signs, weights)
    entries = EntryCounts(*engine.sum(EntryCounts.of, signs, weights))
    if not entries.weight:
        raise ValueError("entry_weight must be positive for at least one observed label, got zeros only")
    return ClusterSamples(engine, X, signs, weights, counts, features, form, entries, names)


def split(values: Any, counts: Sequence[int], name: str) -> Chunks:
    """Split an array with one row per sample into chunks; None for each chunk if it is None."""
    if values is None:
        return (None,) * len(counts)
    if isinstance(values, tuple):
        return values
    if not hasattr(values, "shape"):
        values = np.asarray(values)
    values = values.tocsr() if sp.issparse(values) else values
    check_same_samples(sum(counts), values.shape[0], name)
    ends = list(accumulate(counts))
    slices = [slice(end - count, end) for end, count in zip(ends, counts, strict=True)]
    return tuple(values.iloc[s] if hasattr(values, "iloc") else values[s] for s in slices)


def predict_chunks(model: Any, method: str, X: Any) -> Any:
    """Return the predictions of a method of a fitted estimator for a Dask array or data frame."""
    names = list(model.classes_) if model._labels.one_dimensional else model.label_names_
    vector = model._labels.one_dimensional and method != "predict_proba"
    dtype = model.classes_.dtype if method == "predict" else np.dtype(float)
    empty = np.empty(0 if vector else (0, len(names)), dtype=dtype)

    def predict(chunk: Any) -> Array:
        return getattr(model, method)(chunk) if chunk.shape[0] else empty

    if hasattr(X, "map_partitions"):
        frame = need("pandas").Series if vector else partial(need("pandas").DataFrame, columns=names)
        return X.map_partitions(lambda chunk: frame(predict(chunk), index=chunk.index), meta=frame(empty))
    shape = {"drop_axis": 1} if vector else {"chunks": (X.chunks[0], (len(names),))}
    return X.rechunk({1: -1}).map_blocks(predict, dtype=dtype, meta=empty, **shape)
