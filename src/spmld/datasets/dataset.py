"""A data set in memory: features, labels with gaps, names, and the official split if there is one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spmld.labels import read_labels

__all__ = ["Dataset", "join_split"]


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Features, labels and names of a multi-label data set.

    What is given is checked and brought to one form, so that every reader answers alike.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Features: kept as a dense array or as CSR, of floats.
    Y : array-like or sparse matrix of shape (n_samples, n_labels)
        Labels in any form that `spmld.labels.read_labels` takes: kept as 0 and 1, with NaN where missing.
    feature_names, label_names : sequence of str, optional
        By default x0, x1, ... and y0, y1, ...
    name : str
        What to call the data set.
    train, test : array-like of int, optional
        Rows of the official split, both or neither.

    Examples
    --------
    >>> from spmld.datasets import Dataset
    >>> data = Dataset([[0.5], [1.5], [2.5]], [[1, -1], [-1, None], [1, 1]], name="tiny", train=[0, 1], test=[2])
    >>> data
    Dataset 'tiny': 3 samples (2 train, 1 test), 1 dense feature, 2 labels, 16.7% of the labels missing
    >>> data.Y_train
    array([[ 1.,  0.],
           [ 0., nan]])
    """

    X: Any
    Y: NDArray[Any]
    feature_names: Sequence[str] = ()
    label_names: Sequence[str] = ()
    name: str = ""
    train: Any = None
    test: Any = None

    def __post_init__(self) -> None:
        X = self.X.tocsr() if sp.issparse(self.X) else np.asarray(self.X)
        if X.ndim != 2:
            raise ValueError(f"X must have shape (n_samples, n_features), got {X.shape}")
        if X.shape[0] == 0:
            raise ValueError("there are no samples")
        X = sp.csr_array(X) if sp.issparse(X) else np.ascontiguousarray(X)
        keep = {
            "X": X if X.dtype in (np.float32, np.float64) else X.astype(float),
            "Y": _zeros_and_ones(self.Y),
        }
        if keep["Y"].shape[0] != X.shape[0]:
            raise ValueError(f"there are {X.shape[0]} samples but {keep['Y'].shape[0]} rows of labels")
        keep["feature_names"] = _names(self.feature_names, X.shape[1], "x", "feature")
        keep["label_names"] = _names(self.label_names, keep["Y"].shape[1], "y", "label")
        if (self.train is None) != (self.test is None):
            raise ValueError("train and test must be given both or neither")
        for part in ("train", "test"):
            keep[part] = _rows(getattr(self, part), X.shape[0], part)
        if self.train is not None and np.intersect1d(keep["train"], keep["test"]).size:
            raise ValueError("train and test must have no row in common")
        for field, value in keep.items():
            object.__setattr__(self, field, value)

    def part(self, which: Literal["train", "test", "all"]) -> Dataset:
        """Training rows, test rows or all rows, as a data set of its own."""
        if which == "all":
            return self
        rows = self._split(which)
        return Dataset(self.X[rows], self.Y[rows], self.feature_names, self.label_names, self.name)

    @property
    def X_train(self) -> Any:
        """Features of the official training rows."""
        return self.X[self._split("train")]

    @property
    def Y_train(self) -> NDArray[Any]:
        """Labels of the official training rows."""
        return self.Y[self._split("train")]

    @property
    def X_test(self) -> Any:
        """Features of the official test rows."""
        return self.X[self._split("test")]

    @property
    def Y_test(self) -> NDArray[Any]:
        """Labels of the official test rows."""
        return self.Y[self._split("test")]

    def _split(self, which: str) -> Any:
        if which not in ("train", "test"):
            raise ValueError(f"the part must be 'train', 'test' or 'all', got {which!r}")
        rows = getattr(self, which)
        if rows is None:
            raise ValueError(
                f"{self.name or 'the data set'} has no official split; see spmld.model_selection to make one"
            )
        return rows

    def __repr__(self) -> str:
        n, l = self.Y.shape
        split = "" if self.train is None else f" ({len(self.train)} train, {len(self.test)} test)"
        kind = "sparse" if sp.issparse(self.X) else "dense"
        features = f"{_count(n, 'sample')}{split}, {_count(self.X.shape[1], f'{kind} feature')}, {_count(l, 'label')}"
        missing = np.isnan(self.Y).mean()
        gaps = f", {missing:.1%} of the labels missing" if missing else ""
        return f"Dataset{f' {self.name!r}' if self.name else ''}: {features}{gaps}"


def join_split(train: Dataset, test: Dataset, name: str = "") -> Dataset:
    """One data set with an official split, from its two parts.

    Parameters
    ----------
    train, test : Dataset
        The parts, with the same features and labels in the same order.
    name : str
        What to call the data set.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from spmld.datasets import Dataset, join_split
    >>> join_split(Dataset([[1.0], [2.0]], [[0, 1], [1, 0]]), Dataset([[3.0]], [[1, 1]]), "joined")
    Dataset 'joined': 3 samples (2 train, 1 test), 1 dense feature, 2 labels
    """
    for what in ("feature", "label"):
        ours, theirs = (list(getattr(part, f"{what}_names")) for part in (train, test))
        if len(ours) != len(theirs):
            raise ValueError(f"the training part has {len(ours)} {what}s but the test part {len(theirs)}")
        differing = [pair for pair in zip(ours, theirs, strict=True) if pair[0] != pair[1]]
        if differing:
            raise ValueError(f"the parts call a {what} differently: {differing[0][0]!r} and {differing[0][1]!r}")
    sparse = sp.issparse(train.X) or sp.issparse(test.X)
    X = sp.vstack([train.X, test.X], format="csr") if sparse else np.vstack([train.X, test.X])
    rows = np.arange(X.shape[0])
    first = train.X.shape[0]
    Y = np.vstack([train.Y, test.Y])
    return Dataset(X, Y, train.feature_names, train.label_names, name, rows[:first], rows[first:])


def _zeros_and_ones(Y: Any) -> NDArray[Any]:
    signs = read_labels(Y, name="the label matrix").signs
    if np.ndim(Y) != 2:
        raise ValueError(f"Y must have shape (n_samples, n_labels), got {np.shape(Y)}")
    if (signs != 0).all():
        return (signs > 0).astype(np.int64)
    return np.where(signs == 0, np.nan, signs > 0)


def _names(given: Sequence[str], count: int, letter: str, what: str) -> list[str]:
    if len(given) == 0:
        return [f"{letter}{i}" for i in range(count)]
    names = [str(name) for name in given]
    if len(names) != count:
        raise ValueError(f"there are {count} {what}s but {len(names)} {what} names")
    if len(set(names)) < count:
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"two {what}s are called {twice!r}")
    return names


def _rows(given: Any, n: int, part: str) -> Any:
    if given is None:
        return None
    rows = np.asarray(given, dtype=np.intp)
    if rows.ndim != 1 or (rows.size and (rows.min() < 0 or rows.max() >= n)):
        raise ValueError(f"{part} must be a list of rows from 0 to {n - 1}")
    return rows


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"
