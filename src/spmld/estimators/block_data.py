"""Training data in row blocks: validation, labels, scaling and groups, as functions of blocks and sums over them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from typing import Any

import joblib
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array

from spmld._arrays import check_masked
from spmld.core.lazy_matrix import LazyMatrix, SelectedRows, loaded
from spmld.core.problem import Block, Problem, observed_block
from spmld.datasets.row_blocks import RowBlocks
from spmld.estimators._inputs import check_range, draw_samples, fit_clusters, largest_value
from spmld.estimators._memory import available_memory
from spmld.estimators._row_samples import take_rows
from spmld.estimators._streaming import StreamEngine
from spmld.estimators.progress import warn_caller
from spmld.labels import Labels, LabelWarning
from spmld.labels.block_reading import read_signs, summarize_labels
from spmld.labels.entries import read_weights
from spmld.labels.single_class import SingleClassLabels, list_labels, single_class_messages

Rows = tuple[Any, ...]
"""A value for each block, known to the engine."""


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
        finite = bool(np.isfinite(values.sum()) or np.isfinite(values).all())
        largest = largest_value(X) if finite else np.inf
        n_nonzero = X.nnz if sp.issparse(X) else np.count_nonzero(X)
        sums = np.asarray(X.sum(axis=0, dtype=float)).ravel()
        n, d = X.shape
        return cls(n, d, X.dtype, finite, largest, int(n_nonzero), sp.issparse(X), sums)

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


@dataclass
class BlockData:
    """Validated training data in row blocks. An estimator that is fitted to them may release the features."""

    engine: Any
    X: Rows
    signs: Rows
    weights: Rows
    """Entry weights; boolean if all are 1."""
    counts: tuple[int, ...]
    features: FeatureSummary
    labels: Labels
    """The form of the labels, without samples."""
    total_weight: float
    n_observed: int
    feature_names: list[str] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of features and labels."""
        return self.features.n_features, self.labels.signs.shape[1]

    @property
    def example(self) -> NDArray[Any]:
        """An array without samples, with the features and the precision of X."""
        return np.zeros((0, self.features.n_features), dtype=self.features.dtype)

    def hashes(self) -> tuple[str, ...]:
        """Return a hash of the features, labels and weights of each block."""
        return tuple(self.engine.gather(self.engine.map(hash_rows, self.X, self.signs, self.weights)))

    def release(self) -> None:
        """Forget the features, so that their memory is free unless they are used elsewhere."""
        self.X = ()

    def name_features(self, names: list[str] | None) -> "BlockData":
        """Return the data with names of the features."""
        return replace(self, feature_names=names)

    def transform(self, transformer: Any) -> "BlockData":
        """Fit a transformer, and return the data with transformed features."""
        like = sp.csr_array(self.example) if self.features.sparse else self.example
        transformer.fit_blocks(self.engine, self.X, like, self.counts)
        transformer.n_features_in_ = self.features.n_features
        X = self.engine.transform(transformer._transform, self.X, keep=transformer.stored)
        return replace(self, X=X, features=self.engine.sum(FeatureSummary.of, X))

    def multiply_weights(self, factor: float) -> "BlockData":
        """Return the data with multiplied entry weights."""
        weights = self.engine.map(partial(np.multiply, factor), self.weights)
        return replace(self, weights=weights, total_weight=self.total_weight * factor)

    def replace_weights(self, weights: Rows) -> "BlockData":
        """Return the data with other entry weights; entries of weight 0 become missing."""
        signs = self.engine.map(_observed_signs, self.signs, weights)
        return replace(self, signs=signs, weights=weights)._count_entries()

    def select(self, chosen: Rows, counts: tuple[int, ...]) -> "BlockData":
        """Return the data of some samples, given by arrays of bool and by their number in each block."""
        used = [i for i, count in enumerate(counts) if count]
        X, signs, weights, chosen = (tuple(A[i] for i in used) for A in (self.X, self.signs, self.weights, chosen))
        part = replace(
            self,
            X=self.engine.map(SelectedRows, X, chosen),
            signs=self.engine.map(_take, signs, chosen),
            weights=self.engine.map(_take, weights, chosen),
            counts=tuple(counts[i] for i in used),
        )
        return part._count_entries()

    def _count_entries(self) -> "BlockData":
        positive, negative, total = self.engine.sum(_count, self.signs, self.weights)
        return replace(self, total_weight=float(total), n_observed=int(positive.sum() + negative.sum()))

    def clusters(self, count: int, rng: np.random.RandomState) -> Rows:
        """Return the index of the cluster of each sample."""
        sample = take_rows(self.engine, self.X, self.counts, draw_samples(sum(self.counts), rng))
        means = fit_clusters(sample, count, rng, copy=len(self.counts) == 1)
        del sample
        return self.engine.map(lambda X: means.predict(loaded(X)).astype(np.int64), self.X)

    def problem(self, fit_intercept: bool, group: Rows | None = None, n_groups: int = 1, few: bool = False) -> Problem:
        """Return the problem to solve; with `few`, only the observed entries are stored."""
        if group is None:
            group = self.engine.map(lambda signs: np.zeros(len(signs), dtype=np.int8), self.signs)
        dtype, make = self.features.dtype, observed_block if few else Block
        sizes = self.engine.sum(lambda index: np.bincount(index, minlength=n_groups).astype(dtype), group)
        blocks = self.engine.map(make, self.X, self.signs, self.weights, group)
        return Problem(blocks, sizes, self.counts, *self.shape, fit_intercept, self.engine)


def hash_rows(X: Any, signs: Any, weights: Any) -> str:
    """Return a hash of the samples of a block, or of all samples.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.estimators.block_data import hash_rows
    >>> X, signs = np.eye(2), np.array([[1], [-1]], dtype=np.int8)
    >>> hash_rows(X, signs, signs != 0) == hash_rows(X, -signs, signs != 0)
    False
    """
    X = loaded(X)
    # Sparse matrices remember what is known about their indices, which does not change the data.
    values = (X.shape, X.data, X.indices, X.indptr) if sp.issparse(X) else X
    return str(joblib.hash((values, signs, weights), hash_name="sha1"))


def as_features(X: Any, sparse: bool = False) -> Any:
    """Return a block of X as an array of floats or a CSR matrix. Values are not checked, except for masks."""
    check_masked(X)
    X = check_array(
        X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=False, ensure_min_samples=0
    )
    return sp.csr_array(X) if sparse and not sp.issparse(X) else X


class _ReadFeatures:
    """Reads the features of one block."""

    def __init__(self, blocks: RowBlocks, i: int):
        self._blocks, self._i = blocks, i

    def __call__(self) -> Any:
        return as_features(self._blocks.features(self._i))


def is_streamed(X: Any) -> bool:
    """Return whether X is read block by block. A memory-mapped array is an array, however large it is."""
    if type(X).__module__.startswith("dask"):
        raise TypeError(
            'X is a Dask collection; use the estimators of spmld.dask, which need: pip install "spmld[dask]"'
        )
    return isinstance(X, RowBlocks)


def stream_data(blocks: RowBlocks, y: Any, mask: Any, entry_weight: Any) -> BlockData:
    """Return data whose features are read from the blocks each time they are used."""
    engine = StreamEngine(blocks.memory if blocks.memory is not None else available_memory() / 4)
    shapes = [(n, blocks.shape[1]) for n in blocks.counts]
    X = tuple(LazyMatrix(_ReadFeatures(blocks, i), shape, engine.recent) for i, shape in enumerate(shapes))
    if y is not None:
        Y = y
    elif blocks.has_labels:
        Y = engine.map(blocks.labels, range(len(blocks)))
    else:
        raise ValueError("y is required if the blocks have no labels: pass it to fit or to RowBlocks")
    data = make_data(engine, X, Y, blocks.counts, mask, entry_weight)
    return data.name_features(feature_names(blocks.features(0)))


def feature_names(X: Any) -> list[str] | None:
    """Return the column names of a data frame if all are strings."""
    names = list(getattr(X, "columns", ()))
    return names if names and all(isinstance(name, str) for name in names) else None


def make_data(
    engine: Any, X: Rows, Y: Any, counts: tuple[int, ...], mask: Any = None, entry_weight: Any = None
) -> BlockData:
    """Validate features and labels in row blocks, and read the labels."""
    features = engine.sum(FeatureSummary.of, X).check()
    size = features.n_samples * features.n_features
    if size > 100_000 and features.n_nonzero < 0.1 * size:
        X = engine.transform(partial(as_features, sparse=True), X)
    Y, masks = split(Y, counts, "Y"), split(mask, counts, "mask")
    form = engine.sum(summarize_labels, Y, masks).form()
    signs = engine.map(partial(read_signs, form=form), Y, masks)
    weights: Rows = engine.map(lambda signs: signs != 0, signs)
    if entry_weight is not None:
        dtype = features.dtype

        def weigh(signs: Any, weight: Any) -> Any:
            return read_weights(weight, signs).astype(dtype)

        weights = engine.map(weigh, signs, split(entry_weight, counts, "entry_weight"))
        signs = engine.map(_observed_signs, signs, weights)
    positive, negative, total = engine.sum(_count, signs, weights)
    if not total:
        raise ValueError("entry_weight must be positive for at least one observed label, got zeros only")
    _warn_of_single_class(form, positive, negative, features.n_samples)
    n_observed = int(positive.sum() + negative.sum())
    return BlockData(engine, X, signs, weights, counts, features, form, float(total), n_observed)


def _observed_signs(signs: Any, weights: Any) -> Any:
    return np.where(weights > 0, signs, 0).astype(np.int8)


def _take(A: Any, rows: Any) -> Any:
    return A[rows]


def _count(signs: Any, weights: Any) -> tuple[Any, ...]:
    """Return the numbers of positives and negatives of each label, and the sum of the weights."""
    return (signs > 0).sum(axis=0), (signs < 0).sum(axis=0), weights.sum(dtype=float)


def _warn_of_single_class(form: Labels, positive: Any, negative: Any, n: int) -> None:
    one_class = (positive > 0) & (negative == 0)
    single = SingleClassLabels(
        unobserved=(positive == 0) & (negative == 0),
        negative=(positive == 0) & (negative > 0),
        positive=one_class & (positive == n),
        positive_only=one_class & (positive < n),
    )
    messages = single_class_messages(form, single)
    if single.positive_only.any():
        messages.append(
            f"{list_labels(form, single.positive_only)}: no observed negative, so that only positives can be learned. "
            "Missing entries are used as weak negatives only if X is in memory; see positive_unlabeled"
        )
    for message in messages:
        warn_caller(message, LabelWarning)


def split(values: Any, counts: Sequence[int], name: str) -> Rows:
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
