"""Samples: validated features, labels and entry weights in memory."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import joblib
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spmld._arrays import (
    Array,
    Matrix,
    count_nonzero,
    in_precision,
    largest_value,
    move,
    n_values,
    namespace,
    numpy_dtype,
    to_device,
    to_numpy,
)
from spmld.core.problem import Problem, make_problem
from spmld.core.scaling import scale
from spmld.labels import Labels
from spmld.labels.encoding import observed_signs

SMALL_MATRIX = 100_000
"""Number of values up to which features stay dense."""
MAX_DENSITY = 0.1
"""Fraction of nonzeros up to which a sparse matrix suits features: with 8 %, its products are twice as fast."""


def mostly_zero(n_nonzero: int, size: int) -> bool:
    """Return whether a sparse matrix suits features."""
    return size > SMALL_MATRIX and n_nonzero < MAX_DENSITY * size


@dataclass(frozen=True)
class Samples:
    """Validated samples in memory.

    Attributes
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        Features.
    labels : Labels
        Labels.
    weights : ndarray of shape (n_samples, n_labels)
        Weights of the entries, 0 where labels are missing; bool if all are 1.
    feature_names : sequence of str or None
        Names of the features.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.labels import read_labels
    >>> from spmld.model_selection.samples import Samples
    >>> labels = read_labels([[1, 0], [None, 1], [0, 1]])
    >>> samples = Samples(np.arange(6.0).reshape(3, 2), labels, labels.observed)
    >>> samples.shape, samples.n_observed, samples.rows([0, 2]).X.tolist()
    ((3, 2, 2), 5, [[0.0, 1.0], [4.0, 5.0]])
    """

    X: Any
    labels: Labels
    weights: NDArray[Any]
    feature_names: Sequence[str] | None = None

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of samples, features and labels."""
        return (*self.X.shape, self.signs.shape[1])

    @property
    def signs(self) -> NDArray[np.int8]:
        """Labels: 1, -1, and 0 where missing."""
        return self.labels.signs

    @property
    def example(self) -> Matrix:
        """An array without samples, with the features, the library, the format and the precision of X."""
        return self.X[:0]

    @property
    def n_values(self) -> int:
        """Number of stored values of X."""
        return n_values(self.X)

    @property
    def largest(self) -> float:
        """The largest absolute value of X."""
        return largest_value(self.X)

    @property
    def feature_means(self) -> NDArray[np.float64]:
        """Means of the features."""
        return to_numpy(self.X.sum(axis=0, dtype=namespace(self.X).float64)).ravel() / self.shape[0]

    @cached_property
    def n_observed(self) -> int:
        """Number of observed entries."""
        return int(np.count_nonzero(self.signs))

    @cached_property
    def total_weight(self) -> float:
        """Sum of the weights of the entries."""
        total = np.count_nonzero(self.weights) if self.weights.dtype == bool else self.weights.sum(dtype=float)
        return float(total)

    def rows(self, index: Any) -> "Samples":
        """Return some samples."""
        return replace(self, X=self.X[index], labels=self.labels[index], weights=self.weights[index])

    def spaced(self, max_samples: int | None) -> "Samples":
        """Return at most `max_samples` evenly spaced samples; all of them if it is None."""
        n = self.shape[0]
        if max_samples is None or n <= max_samples:
            return self
        return self.rows(np.linspace(0, n - 1, max_samples).astype(np.intp))

    def weighted(self, weights: NDArray[Any]) -> "Samples":
        """Return the samples with other entry weights; entries of weight 0 become missing."""
        return replace(self, labels=replace(self.labels, signs=observed_signs(self.signs, weights)), weights=weights)

    def multiply_weights(self, factor: float) -> "Samples":
        """Return the samples with multiplied entry weights."""
        return replace(self, weights=factor * self.weights)

    def sparsified(self) -> "Samples":
        """Return the samples with features that are mostly zero as a sparse matrix."""
        if not isinstance(self.X, np.ndarray) or not mostly_zero(count_nonzero(self.X), self.X.size):
            return self
        return replace(self, X=sp.csr_array(self.X))

    def to_device(self, device: str | None) -> "Samples":
        """Return the samples with features on a device of torch, or unchanged if it is None."""
        return self if device is None else replace(self, X=to_device(self.X, device))

    def total(self, function: Callable[..., Any], **_: Any) -> Any:
        """Return a function of the features whose value is a sum over samples."""
        return function(self.X)

    def scaled(self, mean: Any, factor: Any) -> "Samples":
        """Return the samples with the features minus their means, times their factors."""
        return replace(self, X=scale(self.X, mean, factor))

    def transformed(self, transformer: Any, dtype: str | None = None) -> "Samples":
        """Return the samples with the features of a fitted transformer, in the precision `dtype` if given."""
        return replace(self, X=in_precision(transformer.transform(self.X), dtype))

    def sample_features(self, rows: NDArray[np.intp]) -> Matrix:
        """Return the features of some samples."""
        return self.X[rows]

    def groups(self, centers: NDArray[Any]) -> NDArray[np.intp]:
        """Return the index of the nearest center of each sample."""
        return nearest_center(self.X, centers)

    def hashes(self) -> tuple[str, ...]:
        """Return a hash of the features, labels and weights."""
        return (hash_rows(self.X, self.signs, self.weights),)

    def problem(
        self,
        fit_intercept: bool,
        group: Any = None,
        n_groups: int = 1,
        *,
        observed_only: bool = False,
        **options: Any,
    ) -> Problem:
        """Return the problem to solve, with arrays of the type of the features; options as in `make_problem`.

        Tensors store all entries.
        """
        X = self.X
        n = self.shape[0]
        group = np.zeros(n, dtype=np.int8) if group is None else group
        return make_problem(
            X,
            move(self.signs, X),
            move_weights(self.weights, X),
            move(group, X),
            n_groups,
            dtype=X.dtype,
            fit_intercept=fit_intercept,
            observed_only=observed_only and (isinstance(X, np.ndarray) or sp.issparse(X)),
            **options,
        )


def move_weights(weights: NDArray[Any], X: Any) -> Array:
    """Return entry weights in the library and precision of X; boolean weights stay boolean."""
    return move(weights if weights.dtype == bool else weights.astype(numpy_dtype(X), copy=False), X)


def nearest_center(X: Any, centers: NDArray[Any]) -> NDArray[np.intp]:
    """Return the index of the nearest center of each row."""
    norms = move((centers**2).sum(axis=1), X)
    distances = norms - 2 * (X @ move(centers.T, X))
    return to_numpy(namespace(distances).argmin(distances, axis=1))


def hash_rows(X: Any, signs: Any, weights: Any) -> str:
    """Return a hash of samples.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.model_selection.samples import hash_rows
    >>> X, signs = np.eye(2), np.array([[1], [-1]], dtype=np.int8)
    >>> hash_rows(X, signs, signs != 0) == hash_rows(X, -signs, signs != 0)
    False
    """
    # Sparse matrices remember what is known about their indices, which does not change the data.
    values = (X.shape, X.data, X.indices, X.indptr) if sp.issparse(X) else X
    return str(joblib.hash((values, signs, weights), hash_name="sha1"))
