"""Row blocks of files, and of Dask arrays and data frames, as training data."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array

from spmld._arrays import check_masked
from spmld.core.lazy_matrix import LazyMatrix
from spmld.core.problem import Engine
from spmld.labels.encoding import Labels, read_labels, read_values
from spmld.labels.entries import read_weights
from spmld.scale.block_data import BlockData, BlockValues, EntryCounts, FeatureSummary, observed_signs, split
from spmld.scale.cluster import DaskEngine, active_client
from spmld.scale.memory import available_memory
from spmld.scale.row_blocks import RowBlocks
from spmld.scale.streaming import StreamEngine


def is_collection(X: Any) -> bool:
    """Return whether X is a Dask array or data frame."""
    return type(X).__module__.startswith("dask") and hasattr(X, "to_delayed")


def is_blocks(X: Any) -> bool:
    """Return whether X is in row blocks. A memory-mapped array is an array, however large it is."""
    return isinstance(X, RowBlocks) or is_collection(X)


def read_blocks(X: Any, y: Any, mask: Any = None, entry_weight: Any = None) -> BlockData:
    """Validate `RowBlocks`, or a Dask collection, and its labels."""
    if isinstance(X, RowBlocks):
        return stream_data(X, y, mask, entry_weight)
    return collect(active_client(), X, y, mask, entry_weight)


def as_features(X: Any, sparse: bool = False) -> Any:
    """Return a block of X as an array of floats or a CSR matrix. Values are not checked, except for masks."""
    check_masked(X)
    X = check_array(
        X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=False, ensure_min_samples=0
    )
    return sp.csr_array(X) if sparse and not sp.issparse(X) else X


def _read_features(blocks: RowBlocks, i: int) -> Any:
    """Return the features of a block, which are read from its file."""
    return as_features(blocks.features(i))


def stream_data(blocks: RowBlocks, y: Any, mask: Any, entry_weight: Any) -> BlockData:
    """Return data whose features are read from the blocks each time they are used."""
    engine = StreamEngine(blocks.memory if blocks.memory is not None else available_memory() / 4)
    shapes = [(n, blocks.shape[1]) for n in blocks.counts]
    X = tuple(LazyMatrix(partial(_read_features, blocks, i), shape, engine.recent) for i, shape in enumerate(shapes))
    if y is not None:
        Y = y
    elif blocks.has_labels:
        Y = engine.map(blocks.labels, range(len(blocks)))
    else:
        raise ValueError("y is required if the blocks have no labels: pass it to fit or to RowBlocks")
    return make_data(engine, X, Y, blocks.counts, mask, entry_weight, feature_names(blocks.features(0)))


def feature_names(X: Any) -> list[str] | None:
    """Return the column names of a data frame if all are strings."""
    names = list(getattr(X, "columns", ()))
    return names if names and all(isinstance(name, str) for name in names) else None


def collect(client: Any, X: Any, y: Any, mask: Any = None, entry_weight: Any = None) -> BlockData:
    """Load the chunks of collections on the workers, where each of them is a block, and validate these."""
    if y is None:
        raise ValueError("y is required, got None")
    X = X.rechunk({1: -1}) if hasattr(X, "rechunk") else X
    engine = DaskEngine(client)
    parts = {"X": engine.map(as_features, client.compute(delayed_blocks(X)))}
    for name, part in {"Y": y, "mask": mask, "entry_weight": entry_weight}.items():
        parts[name] = tuple(client.compute(chunks_like(part, X, name))) if is_collection(part) else part
    counts = engine.gather(engine.map(n_rows, parts["X"]))
    filled = [i for i, count in enumerate(counts) if count]
    if not filled:
        raise ValueError("X must have at least one sample, got no rows")
    for name, part in parts.items():
        if isinstance(part, tuple):
            if engine.gather(engine.map(n_rows, part)) != counts:
                raise ValueError(f"X and {name} must have blocks of the same numbers of rows; rechunk {name} like X")
            parts[name] = tuple(part[i] for i in filled)
    sizes = tuple(counts[i] for i in filled)
    return make_data(engine, parts["X"], parts["Y"], sizes, parts["mask"], parts["entry_weight"], feature_names(X))


def delayed_blocks(A: Any) -> list[Any]:
    """Return the blocks. Optimization could join small partitions of X and not those of Y."""
    return list(np.ravel(A.to_delayed(optimize_graph=not hasattr(A, "map_partitions"))))


def chunks_like(A: Any, X: Any, name: str) -> list[Any]:
    """Return the chunks of a collection, with the same rows as those of X if their numbers are known."""
    known = hasattr(X, "chunks") and not any(np.isnan(X.chunks[0]))
    if known and hasattr(A, "rechunk") and not any(np.isnan(A.chunks[0])):
        if A.shape[0] != X.shape[0]:
            raise ValueError(
                f"X and {name} must have the same number of samples, got inconsistent numbers: "
                f"{X.shape[0]} and {A.shape[0]}"
            )
        A = A.rechunk((X.chunks[0], *((-1,) * (A.ndim - 1))))
    return delayed_blocks(A)


def n_rows(A: Any) -> int:
    """Return the number of rows of an array, sparse matrix or data frame."""
    return int(A.shape[0])


@dataclass(frozen=True)
class LabelSummary:
    """What determines the encoding of labels, for one block or, as a sum, for several.

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
    >>> from spmld.scale.inputs import summarize_labels
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
                "all blocks of Y must have the same labels, got blocks with "
                f"{self.names or self.n_labels} and {other.names or other.n_labels}"
            )
        parts = [part for part in (self.values, other.values) if part.size]
        values = np.unique(np.concatenate(parts)) if parts else self.values
        return LabelSummary(values, self.n_labels, self.names, self.one_dimensional)

    def form(self) -> Labels:
        """Return labels without samples, in the encoding of all blocks."""
        column = self.values[:, None]
        every = read_labels(column[:, 0] if self.one_dimensional else np.repeat(column, max(1, self.n_labels), axis=1))
        signs = np.zeros((0, self.n_labels), dtype=np.int8)
        return Labels(signs, every.classes, self.names, self.one_dimensional)


def summarize_labels(Y: Any, mask: Any = None) -> LabelSummary:
    """Return the summary of a block of labels, in any form that `read_labels` accepts."""
    values, observed, names, one_dimensional = read_values(Y, mask)
    return LabelSummary(np.unique(values[observed]), values.shape[1], names, one_dimensional)


def read_signs(Y: Any, mask: Any, form: Labels) -> NDArray[np.int8]:
    """Return the signs of a block of labels, with the encoding of all blocks; 0 where missing."""
    if not summarize_labels(Y, mask).values.size:
        return np.zeros((np.shape(Y)[0], form.signs.shape[1]), dtype=np.int8)
    return read_labels(Y, mask, classes=form.classes).signs


def make_data(
    engine: Engine,
    X: BlockValues,
    Y: Any,
    counts: tuple[int, ...],
    mask: Any = None,
    entry_weight: Any = None,
    names: Sequence[str] | None = None,
) -> BlockData:
    """Validate features and labels in row blocks, and read the labels."""
    features = engine.sum(FeatureSummary.of, X).check()
    if features.mostly_zero:
        X = engine.transform(partial(as_features, sparse=True), X)
    Y, masks = split(Y, counts, "Y"), split(mask, counts, "mask")
    form = engine.sum(summarize_labels, Y, masks).form()
    signs = engine.map(partial(read_signs, form=form), Y, masks)
    weights: BlockValues = engine.map(lambda signs: signs != 0, signs)
    if entry_weight is not None:
        dtype = features.dtype

        def weigh(signs: Any, weight: Any) -> Any:
            return read_weights(weight, signs).astype(dtype)

        weights = engine.map(weigh, signs, split(entry_weight, counts, "entry_weight"))
        signs = engine.map(observed_signs, signs, weights)
    entries = EntryCounts(*engine.sum(EntryCounts.of, signs, weights))
    if not entries.weight:
        raise ValueError("entry_weight must be positive for at least one observed label, got zeros only")
    return BlockData(engine, X, signs, weights, counts, features, form, entries, names)
