"""Training data in row blocks; data in memory are one block."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple

import joblib
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spmld._arrays import in_precision, move, namespace, numpy_dtype, to_numpy
from spmld._device import to_device
from spmld.core.lazy_matrix import loaded
from spmld.core.problem import Block, Engine, Problem, group_sizes, observed_block
from spmld.labels import Labels
from spmld.scale.row_blocks import join_rows, locate

BlockValues = tuple[Any, ...]
"""A value for each block, known to the engine."""


def largest_value(X: Any) -> float:
    """Return the largest absolute value of X."""
    values = X.data if sp.issparse(X) else X
    xp = namespace(values)
    return max(float(xp.max(values)), -float(xp.min(values))) if values.shape[0] else 0.0


def check_range(largest: float, size: int, limit: float, dtype: Any) -> None:
    """Raise ValueError if the sum of the squares of `size` numbers may exceed the limit."""
    if largest > (limit / size) ** 0.5 / 1e3:
        raise ValueError(f"X contains values too large for {dtype}, got {largest:.3g}; scale the features first")


def count_nonzero(X: Any) -> int:
    """Return the number of nonzeros; of stored values, if X is sparse."""
    xp = namespace(X)
    return int(X.nnz if sp.issparse(X) else xp.sum(xp.astype(X != 0, xp.int64)))


@dataclass(frozen=True)
class FeatureSummary:
    """Properties of the features of one block or, as a sum, of several."""

    n_samples: int
    n_features: int
    dtype: Any
    finite: bool
    largest: float
    n_nonzero: int
    sparse: bool
    sums: NDArray[np.float64]

    @classmethod
    def of(cls, X: Any) -> "FeatureSummary":
        """Return the summary of a block."""
        X = loaded(X)
        values = X.data if sp.issparse(X) else X
        xp = namespace(values)
        finite = bool(xp.isfinite(xp.sum(values))) or bool(xp.all(xp.isfinite(values)))
        largest = largest_value(X) if finite else np.inf
        sums = to_numpy(X.sum(axis=0, dtype=xp.float64)).ravel()
        n, d = X.shape
        return cls(n, d, X.dtype, finite, largest, count_nonzero(X), sp.issparse(X), sums)

    @property
    def mostly_zero(self) -> bool:
        """Whether a sparse matrix suits the features: with 8 % nonzeros, its products are twice as fast."""
        size = self.n_samples * self.n_features
        return size > 100_000 and self.n_nonzero < 0.1 * size

    @property
    def n_values(self) -> int:
        """Number of stored values."""
        return self.n_nonzero if self.sparse else self.n_samples * self.n_features

    def __add__(self, other: "FeatureSummary") -> "FeatureSummary":
        if self.n_features != other.n_features:
            raise ValueError(
                f"all blocks of X must have the same features, got {self.n_features} and {other.n_features} features"
            )
        return FeatureSummary(
            self.n_samples + other.n_samples,
            self.n_features,
            np.result_type(self.dtype, other.dtype),
            self.finite and other.finite,
            max(self.largest, other.largest),
            self.n_nonzero + other.n_nonzero,
            self.sparse and other.sparse,
            self.sums + other.sums,
        )

    def check(self) -> "FeatureSummary":
        """Raise ValueError for NaN, infinity and values whose squares overflow."""
        if not self.finite:
            raise ValueError("X contains NaN or infinity; impute these values or remove the samples first")
        limit = float(np.finfo(self.dtype).max)
        check_range(self.largest, self.n_samples * self.n_features, limit, self.dtype)
        return self


class EntryCounts(NamedTuple):
    """Number of observed entries, and the sum of their weights."""

    n_observed: int
    weight: float

    @classmethod
    def of(cls, signs: Any, weights: Any) -> "EntryCounts":
        """Return the counts of a block."""
        total = np.count_nonzero(weights) if weights.dtype == bool else weights.sum(dtype=float)
        return cls(int(np.count_nonzero(signs)), float(total))


@dataclass
class BlockData:
    """Validated training data in row blocks. An estimator that is fitted to them may release the features."""

    engine: Engine
    X: BlockValues
    signs: BlockValues
    weights: BlockValues
    """Entry weights; boolean if all are 1."""
    counts: tuple[int, ...]
    features: FeatureSummary
    labels: Labels
    """The labels if they are in memory, else their form, without samples."""
    entries: EntryCounts
    feature_names: Sequence[str] | None = None

    @classmethod
    def in_memory(cls, X: Any, labels: Labels, weights: Any, feature_names: Sequence[str] | None = None) -> "BlockData":
        """Return data in memory, which are one block."""
        signs, summary, count = labels.signs, FeatureSummary.of(X), EntryCounts.of(labels.signs, weights)
        return cls(Engine(), (X,), (signs,), (weights,), (X.shape[0],), summary, labels, count, feature_names)

    @property
    def n(self) -> int:
        """Number of samples."""
        return sum(self.counts)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of features and labels."""
        return self.features.n_features, self.labels.signs.shape[1]

    @property
    def example(self) -> Any:
        """An array without samples, with the features, the library, the format and the precision of X."""
        if parts := self.engine.in_memory(self.X):
            return parts[0][:0]
        zeros = np.zeros((0, self.features.n_features), dtype=self.features.dtype)
        return sp.csr_array(zeros) if self.features.sparse else zeros

    def hashes(self) -> tuple[str, ...]:
        """Return a hash of the features, labels and weights of each block."""
        return tuple(self.engine.gather(self.engine.map(hash_rows, self.X, self.signs, self.weights)))

    def release(self) -> None:
        """Forget the features, so that their memory is free unless they are used elsewhere."""
        self.X = ()

    def sparsified(self) -> "BlockData":
        """Return the data with features in memory that are mostly zero as a sparse matrix."""
        if not self.features.mostly_zero or not all(isinstance(X, np.ndarray) for X in self.X):
            return self
        return replace(self.convert(sp.csr_array), features=replace(self.features, sparse=True))

    def to_device(self, device: str | None) -> "BlockData":
        """Return the data with features in memory on a device of torch."""
        return self.convert(partial(to_device, device=device))

    def convert(self, function: Callable[[Any], Any]) -> "BlockData":
        """Return the data with a function of the features, which does not change values, if these are in memory."""
        X = tuple(map(function, self.engine.in_memory(self.X)))
        return replace(self, X=X) if X else self

    def arrays(self, user: Any, alternatives: str) -> tuple[Any, Labels, Any]:
        """Return features, labels and entry weights; raise TypeError if they are not in memory, as `user` requires."""
        parts = self.engine.in_memory(self.X), self.engine.in_memory(self.weights)
        if not all(parts):
            raise TypeError(f"{type(user).__name__} requires X in memory; for row blocks, use {alternatives}")
        (X,), (weights,) = parts
        return X, self.labels, weights

    def sample(self, max_samples: int | None) -> "BlockData":
        """Return at most `max_samples` evenly spaced samples in memory; None for as many as the engine loads."""
        limit = max_samples or self.engine.max_loaded
        if limit is None:
            return self
        rows = np.linspace(0, self.n - 1, limit).astype(np.intp) if self.n > limit else None
        if rows is None and self.engine.in_memory(self.X):
            return self
        X, signs, weights = (take_rows(self.engine, A, self.counts, rows) for A in (self.X, self.signs, self.weights))
        trusted = None if self.labels.trusted is None else self.labels.trusted[rows]
        labels = replace(self.labels, signs=signs, trusted=trusted)
        return BlockData.in_memory(X, labels, weights, self.feature_names)

    def transform(self, transformer: Any, dtype: str | None = None) -> "BlockData":
        """Fit a transformer, and return the data with transformed features, in the precision `dtype` if given."""
        if not hasattr(transformer, "fit_blocks"):
            features, *_ = self.arrays(transformer, "FeatureScaler")
            X: BlockValues = (in_precision(transformer.fit(features).transform(features), dtype),)
            return replace(self, X=X, features=FeatureSummary.of(X[0]))
        transformer.fit_blocks(self.engine, self.X, self.example, self.counts)
        transformer.n_features_in_ = self.features.n_features
        X = self.engine.transform(partial(_transform, transformer, dtype), self.X, keep=transformer.stored)
        return replace(self, X=X, features=self.engine.sum(FeatureSummary.of, X))

    def multiply_weights(self, factor: float) -> "BlockData":
        """Return the data with multiplied entry weights."""
        weights = self.engine.map(partial(np.multiply, factor), self.weights)
        return replace(self, weights=weights, entries=self.entries._replace(weight=self.entries.weight * factor))

    def replace_weights(self, weights: BlockValues) -> "BlockData":
        """Return the data with other entry weights; entries of weight 0 become missing."""
        signs = self.engine.map(observed_signs, self.signs, weights)
        parts = self.engine.in_memory(signs)
        labels = replace(self.labels, signs=parts[0]) if parts else self.labels
        entries = self.engine.sum(EntryCounts.of, signs, weights)
        return replace(self, signs=signs, weights=weights, labels=labels, entries=EntryCounts(*entries))

    def replace_signs(self, signs: NDArray[np.int8], classes: NDArray[Any]) -> "BlockData":
        """Return the data in row blocks with other labels, of weight 1."""
        rows = store(self.engine, signs, self.counts, "Y")
        weights = self.engine.map(lambda part: part != 0, rows)
        return replace(self, signs=rows, weights=weights, labels=Labels(signs[:0], classes))

    def select(self, chosen: BlockValues, counts: tuple[int, ...]) -> "BlockData":
        """Return the data of some samples, given by arrays of bool and by their number in each block."""
        used = [i for i, count in enumerate(counts) if count]
        X, signs, weights, chosen = (tuple(A[i] for i in used) for A in (self.X, self.signs, self.weights, chosen))
        signs, weights = (self.engine.map(lambda A, rows: A[rows], A, chosen) for A in (signs, weights))
        return replace(
            self,
            X=self.engine.select(X, chosen),
            signs=signs,
            weights=weights,
            entries=EntryCounts(*self.engine.sum(EntryCounts.of, signs, weights)),
            counts=tuple(counts[i] for i in used),
            labels=self.labels[rows[0]] if (rows := self.engine.in_memory(chosen)) else self.labels,
        )

    def problem(
        self,
        fit_intercept: bool,
        group: BlockValues | None = None,
        n_groups: int = 1,
        *,
        observed_only: bool = False,
        max_rows: int | None = None,
    ) -> Problem:
        """Return the problem to solve, with arrays of the type of the features; `max_rows` as in `Engine.divide`."""
        like, engine = self.example, self.engine
        dtype, make = like.dtype, observed_block if observed_only else Block

        def make_block(X: Any, signs: Any, weights: Any, group: Any) -> Block:
            return make(X, move(signs, like), move_weights(weights, like), move(group, like))

        if group is None:
            group = engine.map(lambda signs: np.zeros(len(signs), dtype=np.int8), self.signs)
        blocks = engine.map(make_block, self.X, self.signs, self.weights, group)
        blocks, counts = engine.divide(blocks, self.counts, max_rows)
        sizes = engine.sum(lambda block: group_sizes(block.group, n_groups, dtype), blocks)
        return Problem(blocks, sizes, counts, *self.shape, fit_intercept, engine, observed_only)


def _transform(transformer: Any, dtype: str | None, X: Any) -> Any:
    return in_precision(transformer._transform(X), dtype)


def move_weights(weights: np.ndarray, X: Any) -> Any:
    """Return entry weights in the library and precision of X; boolean weights stay boolean."""
    return move(weights if weights.dtype == bool else weights.astype(numpy_dtype(X), copy=False), X)


def take_rows(engine: Engine, blocks: Sequence[Any], counts: Sequence[int], rows: NDArray[np.intp] | None) -> Any:
    """Return some rows, given by increasing numbers, in the memory of this process; all of them if they are None.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.core.problem import Engine
    >>> from spmld.scale.block_data import take_rows
    >>> take_rows(Engine(), (np.arange(3), np.arange(3, 5)), (3, 2), np.array([1, 4]))
    array([1, 4])
    """
    inside: list[Any] = [slice(None)] * len(counts) if rows is None else locate(counts, rows)
    return join_rows(engine.gather(engine.map(lambda A, rows: loaded(A)[rows], blocks, inside)))


def hash_rows(X: Any, signs: Any, weights: Any) -> str:
    """Return a hash of the samples of a block, or of all samples.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.scale.block_data import hash_rows
    >>> X, signs = np.eye(2), np.array([[1], [-1]], dtype=np.int8)
    >>> hash_rows(X, signs, signs != 0) == hash_rows(X, -signs, signs != 0)
    False
    """
    X = loaded(X)
    # Sparse matrices remember what is known about their indices, which does not change the data.
    values = (X.shape, X.data, X.indices, X.indptr) if sp.issparse(X) else X
    return str(joblib.hash((values, signs, weights), hash_name="sha1"))


def observed_signs(signs: Any, weights: Any) -> Any:
    """Return the signs, 0 for entries of weight 0."""
    return np.where(weights > 0, signs, 0).astype(np.int8)


def store(engine: Engine, values: Any, counts: Sequence[int], name: str) -> BlockValues:
    """Split an array with one row per sample into blocks, and store these with the engine."""
    return engine.map(lambda value: value, split(values, counts, name))


def split(values: Any, counts: Sequence[int], name: str) -> BlockValues:
    """Split an array with one row per sample into blocks; None for each block if it is None."""
    if values is None:
        return (None,) * len(counts)
    if isinstance(values, tuple):
        return values
    if not hasattr(values, "shape"):
        values = np.asarray(values)
    values = values.tocsr() if sp.issparse(values) else values
    if values.shape[0] != sum(counts):
        raise ValueError(
            f"X and {name} must have the same number of samples, got inconsistent numbers: "
            f"{sum(counts)} and {values.shape[0]}"
        )
    ends = list(accumulate(counts))
    slices = [slice(end - count, end) for end, count in zip(ends, counts, strict=True)]
    return tuple(values.iloc[s] if hasattr(values, "iloc") else values[s] for s in slices)
