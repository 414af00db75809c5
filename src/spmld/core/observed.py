"""Arrays with one number for each entry of a row block: of all entries, or of the observed entries only.

Scores, slopes and weights of entries have the shape (n, l), or (number of observed entries,) in the order of a CSR
matrix. Everything that depends on the positions of the entries is an operation of `AllEntries` or `ObservedEntries`.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from spmld._arrays import CACHE, namespace, row_slices
from spmld.core.losses import Array


class AllEntries:
    """All entries, in arrays of shape (n, l)."""

    def scores(self, V: Array, U: Array, b: Array | float = 0.0) -> Array:
        """Return V U^T + 1 b^T at the entries."""
        return V @ U.T + b

    def spread(self, b: Array) -> Array:
        """Return a number for each label as an array that broadcasts with the entries."""
        return b

    def times(self, D: Array, U: Array) -> Array:
        """Return D U."""
        return D @ U

    def transposed_times(self, D: Array, V: Array) -> Array:
        """Return D^T V."""
        return D.T @ V

    def column_sums(self, D: Array) -> Array:
        """Return D^T 1."""
        return namespace(D).sum(D, axis=0)

    def second_moments(self, D: Array) -> Array:
        """Return D^T D."""
        return D.T @ D

    def part(self, s: slice) -> tuple[Self, Any]:
        """Return the entries of some rows, and the index of these entries."""
        return self, (s, slice(None))


ALL_ENTRIES = AllEntries()


@dataclass(frozen=True)
class ObservedEntries:
    """Some entries, ordered by rows. Other entries count as 0 in sums and are never computed.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.core.observed import ObservedEntries
    >>> entries = ObservedEntries.at(np.array([0, 1]), np.array([1, 0]), (2, 2))
    >>> entries.scores(np.array([[1.0], [2.0]]), np.array([[10.0], [20.0]]))
    array([20., 20.])
    """

    columns: Array
    """Label of each entry."""
    starts: Array
    """(n + 1,) index of the first entry of each row."""
    n_labels: int

    @classmethod
    def at(cls, rows: Array, columns: Array, shape: tuple[int, int]) -> "ObservedEntries":
        """Return the entries at some positions, which are ordered by rows."""
        starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=shape[0]))])
        return cls(columns.astype(np.int32), starts.astype(np.int64), shape[1])

    @property
    def rows(self) -> Array:
        """Row of each entry."""
        return np.repeat(np.arange(len(self.starts) - 1, dtype=np.int32), np.diff(self.starts))

    def matrix(self, D: Array) -> sp.csr_array:
        """Return numbers of the entries as a sparse matrix."""
        return sp.csr_array((D, self.columns, self.starts), shape=(len(self.starts) - 1, self.n_labels))

    def scores(self, V: Array, U: Array, b: Array | float = 0.0) -> Array:
        """Return V U^T + 1 b^T at the entries, in slices that fit into the cache."""
        rows = self.rows
        scores = np.empty(len(self.columns), dtype=U.dtype)
        for s in row_slices(len(rows), U.shape[1], CACHE):
            np.einsum("ek,ek->e", V[rows[s]], U[self.columns[s]], out=scores[s])
        return scores + (b if isinstance(b, float) else self.spread(b))

    def spread(self, b: Array) -> Array:
        """Return the number of the label of each entry."""
        return b[self.columns]

    def times(self, D: Array, U: Array) -> Array:
        """Return D U."""
        return self.matrix(D) @ U

    def transposed_times(self, D: Array, V: Array) -> Array:
        """Return D^T V."""
        return self.matrix(D).T @ V

    def column_sums(self, D: Array) -> Array:
        """Return D^T 1."""
        return np.bincount(self.columns, D, self.n_labels).astype(D.dtype, copy=False)

    def second_moments(self, D: Array) -> Array:
        """Return D^T D."""
        matrix = self.matrix(D)
        return (matrix.T @ matrix).toarray()

    def part(self, s: slice) -> tuple["ObservedEntries", slice]:
        """Return the entries of some rows, and the index of these entries."""
        starts = self.starts[s.start : s.stop + 1]
        inside = slice(int(starts[0]), int(starts[-1]))
        return ObservedEntries(self.columns[inside], starts - starts[0], self.n_labels), inside


Entries = AllEntries | ObservedEntries


def few_for_factors(n_observed: int, n_entries: int) -> bool:
    """Return whether updates of two factors are faster on the observed entries, see `benchmarks.observed`."""
    return n_observed < 0.1 * n_entries


def few_for_single_labels(n: int, d: int, n_values: int, observed_fraction: float, sparse: bool) -> bool:
    """Return whether the labels of a linear model are fitted faster on their observed rows only.

    Compares the time of a product in nanoseconds, as fitted to `benchmarks.observed`, for (n, d) features with a number
    of stored values: entries of X, vectors of features and vectors of rows cost less if many labels share them, but
    missing entries cost as much as observed ones. Calls of functions cost less with sparse features, see
    `spmld.core.label_stack`.
    """
    calls = 30_000 if sparse else 300_000
    return observed_fraction * (3.5 * n_values + 10 * n) + 5 * d + calls < 0.8 * n_values + 20 * d + 10 * n
