"""ClusterSamples: samples whose chunks are on the workers of a Dask cluster."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spmld._arrays import (
    Matrix,
    check_range,
    count_nonzero,
    in_precision,
    join_rows,
    largest_value,
    move,
    namespace,
    to_numpy,
)
from spmld.cluster.engine import DaskEngine
from spmld.core.problem import Block, Problem, group_sizes
from spmld.core.scaling import scale
from spmld.labels import Labels
from spmld.labels.encoding import observed_signs
from spmld.model_selection.samples import Samples, hash_rows, mostly_zero, move_weights, nearest_center

Chunks = tuple[Any, ...]
"""A future for each chunk."""
MAX_LOADED = 10_000_000
"""Maximum number of values of features and labels that the client loads: messages of their fits would take longer."""


@dataclass(frozen=True)
class FeatureSummary:
    """Properties of the features of one chunk or, as a sum, of several."""

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
        """Return the summary of a chunk."""
        values = X.data if sp.issparse(X) else X
        xp = namespace(values)
        finite = bool(xp.all(xp.isfinite(values)))
        largest = largest_value(X) if finite else np.inf
        sums = to_numpy(X.sum(axis=0, dtype=xp.float64)).ravel()
        n, d = X.shape
        return cls(n, d, X.dtype, finite, largest, count_nonzero(X), sp.issparse(X), sums)

    @property
    def size(self) -> int:
        """Number of values."""
        return self.n_samples * self.n_features

    def __add__(self, other: "FeatureSummary") -> "FeatureSummary":
        if self.n_features != other.n_features:
            raise ValueError(
                f"all chunks of X must have the same features, got {self.n_features} and {other.n_features} features"
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
        check_range(self.largest, self.size, np.finfo(self.dtype))
        return self


class EntryCounts(NamedTuple):
    """Number of observed entries, and the sum of their weights."""

    n_observed: int
    weight: float

    @classmethod
    def of(cls, signs: Any, weights: Any) -> "EntryCounts":
        """Return the counts of a chunk."""
        total = np.count_nonzero(weights) if weights.dtype == bool else weights.sum(dtype=float)
        return cls(int(np.count_nonzero(signs)), float(total))


@dataclass
class ClusterSamples:
    """Validated samples on a cluster, with the operations of `Samples` that linear and latent estimators need.

    Operations after which a fit does not need the features again release them, so that workers store one copy.
    """

    engine: DaskEngine
    X: Chunks
    signs: Chunks
    weights: Chunks
    counts: tuple[int, ...]
    """Number of samples of each chunk."""
    features: FeatureSummary
    labels: Labels
    """Form of the labels, without samples."""
    entries: EntryCounts
    feature_names: Sequence[str] | None = None

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of samples, features and labels."""
        return sum(self.counts), self.features.n_features, self.labels.shape[1]

    @property
    def example(self) -> Matrix:
        """An array without samples, with the features, the format and the precision of X."""
        zeros = np.zeros((0, self.features.n_features), dtype=self.features.dtype)
        return sp.csr_array(zeros) if self.features.sparse else zeros

    @property
    def n_values(self) -> int:
        """Number of stored values of X."""
        return self.features.n_nonzero if self.features.sparse else self.features.size

    @property
    def largest(self) -> float:
        """The largest absolute value of X."""
        return self.features.largest

    @property
    def feature_means(self) -> NDArray[np.float64]:
        """Means of the features."""
        return self.features.sums / self.features.n_samples

    @property
    def n_observed(self) -> int:
        """Number of observed entries."""
        return self.entries.n_observed

    @property
    def total_weight(self) -> float:
        """Sum of the weights of the entries."""
        return self.entries.weight

    def _release(self) -> Chunks:
        """Return the features, and forget them."""
        X = self.X
        self.X = ()
        return X

    def multiply_weights(self, factor: float) -> "ClusterSamples":
        """Return the samples with multiplied entry weights."""
        weights = self.engine.map(partial(np.multiply, factor), self.weights)
        entries = self.entries._replace(weight=self.entries.weight * factor)
        return replace(self, X=self._release(), weights=weights, entries=entries)

    def sparsified(self) -> "ClusterSamples":
        """Return the samples with features that are mostly zero as sparse matrices."""
        if self.features.sparse or not mostly_zero(self.features.n_nonzero, self.features.size):
            return self
        return replace(
            self, X=self.engine.map(sp.csr_array, self._release()), features=replace(self.features, sparse=True)
        )

    def to_device(self, device: str | None) -> "ClusterSamples":
        """Return the samples, which stay on the workers."""
        return self

    def total(self, function: Callable[..., Any], **options: Any) -> Any:
        """Return the sum of a function of the features over the chunks."""
        return self.engine.sum(function, self.X, **options)

    def scaled(self, mean: Any, factor: Any) -> "ClusterSamples":
        """Return the samples with the features minus their means, times their factors."""
        X = self.engine.map(partial(scale, mean=mean, factor=factor), self._release())
        return replace(self, X=X, features=self.engine.sum(FeatureSummary.of, X))

    def transformed(self, transformer: Any, dtype: str | None = None) -> "ClusterSamples":
        """Return the samples with the features of a fitted transformer, in the precision `dtype` if given."""
        X = self.engine.map(partial(_transform, transformer, dtype), self.X)
        return replace(self, X=X, features=self.engine.sum(FeatureSummary.of, X))

    def loaded(self) -> "Samples | ClusterSamples":
        """Return the samples in memory, unless they are large."""
        n, _, l = self.shape
        return self.in_memory(np.arange(n)) if self.n_values + n * l <= MAX_LOADED else self

    def rows(self, index: NDArray[np.intp]) -> "ClusterSamples":
        """Return some samples, given by increasing numbers, on their workers."""
        inside = locate(self.counts, index)
        filled = [i for i, rows in enumerate(inside) if len(rows)]

        def select(chunks: Chunks) -> Chunks:
            return self.engine.map(_select, [chunks[i] for i in filled], [inside[i] for i in filled])

        chosen = replace(
            self,
            X=select(self.X),
            signs=select(self.signs),
            weights=select(self.weights),
            counts=tuple(len(inside[i]) for i in filled),
        )
        return chosen._count()

    def weighted(self, weights: Chunks) -> "ClusterSamples":
        """Return the samples with other entry weights; entries of weight 0 become missing."""
        return replace(self, signs=self.engine.map(observed_signs, self.signs, weights), weights=weights)._count()

    def _count(self) -> "ClusterSamples":
        """Return the samples with the summaries of their chunks."""
        entries = EntryCounts(*self.engine.sum(EntryCounts.of, self.signs, self.weights))
        return replace(self, features=self.engine.sum(FeatureSummary.of, self.X), entries=entries)

    def in_memory(self, rows: NDArray[np.intp]) -> Samples:
        """Return some samples, given by increasing numbers, in memory."""
        X, signs, weights = (self.take(chunks, rows) for chunks in (self.X, self.signs, self.weights))
        return Samples(X, replace(self.labels, signs=signs), weights, self.feature_names)

    def take(self, chunks: Chunks, rows: NDArray[np.intp]) -> Matrix:
        """Return some rows of values in chunks, given by increasing numbers, in memory."""
        inside = locate(self.counts, rows)
        return join_rows(self.engine.gather(self.engine.map(_select, chunks, inside)))

    def gather(self, chunks: Chunks) -> Any:
        """Return the values of all chunks in memory."""
        return join_rows(self.engine.gather(chunks))

    def sample_features(self, rows: NDArray[np.intp]) -> Matrix:
        """Return the features of some samples in memory."""
        return self.take(self.X, rows)

    def groups(self, centers: NDArray[Any]) -> Chunks:
        """Return the index of the nearest center of each sample."""
        return self.engine.map(partial(nearest_center, centers=centers), self.X)

    def hashes(self) -> tuple[str, ...]:
        """Return a hash of the features, labels and weights of each chunk."""
        return tuple(self.engine.gather(self.engine.map(hash_rows, self.X, self.signs, self.weights)))

    def problem(self, fit_intercept: bool, group: Chunks | None = None, n_groups: int = 1, **options: Any) -> Problem:
        """Return the problem to solve, with arrays of the type of the features; options for memory have no effect."""
        like = self.example
        engine = self.engine

        def make_block(X: Any, signs: Any, weights: Any, group: Any) -> Block:
            return Block(X, move(signs, like), move_weights(weights, like), move(group, like))

        if group is None:
            group = engine.map(lambda signs: np.zeros(len(signs), dtype=np.int8), self.signs)
        blocks = engine.map(make_block, self._release(), self.signs, self.weights, group)
        sizes = engine.sum(lambda block: group_sizes(block.group, n_groups, like.dtype), blocks)
        return Problem(blocks, sizes, self.counts, *self.shape[1:], fit_intercept, engine)


def _select(values: Any, index: NDArray[np.intp]) -> Any:
    return values[index]


def _transform(transformer: Any, dtype: str | None, X: Any) -> Matrix:
    return in_precision(transformer.transform(X), dtype)


def locate(counts: Sequence[int], rows: Any) -> list[NDArray[np.int64]]:
    """Return the rows, given by increasing numbers, as positions within the chunks.

    Examples
    --------
    >>> from spmld.cluster.cluster_samples import locate
    >>> [part.tolist() for part in locate([2, 3], [1, 2, 4])]
    [[1], [0, 2]]
    """
    starts = [0, *accumulate(counts)]
    parts = np.split(np.asarray(rows, dtype=np.int64), np.searchsorted(rows, starts[1:-1]))
    return [part - start for part, start in zip(parts, starts[:-1], strict=True)]
