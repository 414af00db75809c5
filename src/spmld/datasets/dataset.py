"""The class Dataset: features, labels with missing entries, names, the official split, and its statistics."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array

from spmld._arrays import check_masked, check_sparse
from spmld._validation import check_same_samples, plural
from spmld.labels import read_labels
from spmld.labels.encoding import read_trusted

MAX_SIZE = 10**6
"""Number of features, labels or entries up to which a file need not be longer than they are many."""


def _samples(array: str, part: str) -> property:
    """Return a property: features or labels of the training or test samples."""
    return property(lambda data: getattr(data, array)[data._indices(part)], doc=f"{array} of the {part} samples.")


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Features, labels and names of a multi-label data set.

    The arguments are validated and converted to one form.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Features. They become a dense array or a CSR array of floats.
    Y : array-like or sparse matrix of shape (n_samples, n_labels)
        Labels in any form accepted by `spmld.labels.read_labels`. They become 0 and 1, NaN where missing.
    feature_names, label_names : sequence of str, optional
        Names of the features and labels. By default x0, x1, ... and y0, y1, ...
    name : str, default=""
        Name of the data set.
    train, test : array-like of int, optional
        Indices of the training and test samples of the official split.
    trusted : array-like of bool of shape (n_samples, n_labels) or (n_samples,), optional
        True for entries, or samples, whose labels are verified to be correct. It becomes a matrix, False where the
        label is missing.
    sample_names : sequence, optional
        Names of the samples, such as the values of an identifier column.
    answers : AnnotatorLabels, optional
        Labels by several annotators. Y has their majority, and is missing where there is none.
    encoder : TableEncoder, optional
        The fitted encoder that made X from the columns of a table.
    roles : TableRoles, optional
        Roles of the columns of the table.
    columns : dict, optional
        Kind of each feature column of the table, and how its values are read.
    hierarchy : Hierarchy, optional
        Hierarchy of the labels.

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
    trusted: Any = None
    sample_names: Any = None
    answers: Any = None
    encoder: Any = None
    roles: Any = None
    columns: Any = None
    hierarchy: Any = None

    def __post_init__(self) -> None:
        check_masked(self.X)
        if sp.issparse(self.X):
            check_sparse(self.X)
        X = check_array(
            self.X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            order="C",
            ensure_all_finite=False,
            ensure_min_features=1 if self.answers is None else 0,  # a consensus needs no features
            input_name="X",
        )
        signs = read_labels(self.Y, name="Y").signs
        if np.ndim(self.Y) != 2:
            raise ValueError(f"Y must have shape (n_samples, n_labels), got {np.shape(self.Y)}")
        Y = (signs > 0).astype(np.int64) if (signs != 0).all() else np.where(signs == 0, np.nan, signs > 0)
        check_same_samples(X.shape[0], Y.shape[0])
        if (self.train is None) != (self.test is None):
            raise ValueError("train and test must be passed together, got only one of them")
        train, test = (_check_indices(getattr(self, part), X.shape[0], part) for part in ("train", "test"))
        if train is not None and test is not None and np.intersect1d(train, test).size:
            raise ValueError("train and test must not have samples in common")
        if self.sample_names is not None and len(self.sample_names) != X.shape[0]:
            raise ValueError(f"sample_names must have {X.shape[0]} names, got {len(self.sample_names)}")
        if self.answers is not None and self.answers.n_samples != X.shape[0]:
            raise ValueError(f"answers must be about {X.shape[0]} samples, got {self.answers.n_samples}")
        fields = {
            "X": sp.csr_array(X) if sp.issparse(X) else X,
            "Y": Y,
            "feature_names": _check_names(self.feature_names, X.shape[1], "x", "feature"),
            "label_names": _check_names(self.label_names, Y.shape[1], "y", "label"),
            "train": train,
            "test": test,
            "trusted": None if self.trusted is None else read_trusted(self.trusted, ~np.isnan(Y)),
        }
        for field, value in fields.items():
            object.__setattr__(self, field, value)

    def part(self, which: Literal["train", "test", "all"]) -> "Dataset":
        """Return the training samples, the test samples or all samples as a data set."""
        if which == "all":
            return self
        samples = self._indices(which)
        rows = {"X": self.X[samples], "Y": self.Y[samples]}
        for name in ("trusted", "answers"):
            values = getattr(self, name)
            rows[name] = None if values is None else values[samples]
        names = None if self.sample_names is None else [self.sample_names[i] for i in samples]
        return replace(self, **rows, sample_names=names, train=None, test=None)

    X_train = _samples("X", "train")
    Y_train = _samples("Y", "train")
    X_test = _samples("X", "test")
    Y_test = _samples("Y", "test")

    def _indices(self, which: str) -> NDArray[np.intp]:
        if which not in ("train", "test"):
            raise ValueError(f"part must be 'train', 'test' or 'all', got {which!r}")
        indices: NDArray[np.intp] | None = getattr(self, which)
        if indices is None:
            raise ValueError(
                f"{self.name or 'the data set'} has no official split; split it with spmld.model_selection"
            )
        return indices

    def __repr__(self) -> str:
        n, l = self.Y.shape
        split = "" if self.train is None else f" ({len(self.train)} train, {len(self.test)} test)"
        kind = "sparse" if sp.issparse(self.X) else "dense"
        sizes = f"{plural(n, 'sample')}{split}, {plural(self.X.shape[1], f'{kind} feature')}, {plural(l, 'label')}"
        fraction = np.isnan(self.Y).mean()
        missing = f", {fraction:.1%} of the labels missing" if fraction else ""
        return f"Dataset{f' {self.name!r}' if self.name else ''}: {sizes}{missing}"


def join_split(train: Dataset, test: Dataset, name: str = "") -> Dataset:
    """Join training and test data, with the same features and labels in the same order, into one data set.

    Examples
    --------
    >>> from spmld.datasets.dataset import Dataset, join_split
    >>> join_split(Dataset([[1.0], [2.0]], [[0, 1], [1, 0]]), Dataset([[3.0]], [[1, 1]]), "joined")
    Dataset 'joined': 3 samples (2 train, 1 test), 1 dense feature, 2 labels
    """
    for kind in ("feature", "label"):
        names, others = (getattr(part, f"{kind}_names") for part in (train, test))
        for first, second in zip_longest(names, others):
            if first != second:
                raise ValueError(f"a {kind} is {first!r} in the training data but {second!r} in the test data")
    sparse = sp.issparse(train.X) or sp.issparse(test.X)
    X = sp.vstack([train.X, test.X], format="csr") if sparse else np.vstack([train.X, test.X])
    Y = np.vstack([train.Y, test.Y])
    rows = np.split(np.arange(X.shape[0]), [train.X.shape[0]])
    return Dataset(X, Y, train.feature_names, train.label_names, name, rows[0], rows[1], hierarchy=train.hierarchy)


def _check_names(names: Sequence[str], count: int, letter: str, kind: str) -> list[str]:
    names = [str(name) for name in names] if len(names) else [f"{letter}{i}" for i in range(count)]
    if len(names) != count:
        raise ValueError(f"{kind}_names must have {count} names, one for each {kind}, got {len(names)}")
    if len(set(names)) < count:
        repeated = next(name for name, times in Counter(names).items() if times > 1)
        raise ValueError(f"{kind}_names must be unique, got {repeated!r} more than once")
    return names


def _check_indices(indices: Any, n_samples: int, part: str) -> NDArray[np.intp] | None:
    if indices is None:
        return None
    indices = np.asarray(indices)
    if indices.size and indices.dtype.kind not in "iu":
        text = f"{part} must be a list of integers, got values of type {indices.dtype}"
        raise ValueError(f"{text}; np.flatnonzero returns the indices of an array of bool")
    indices = indices.astype(np.intp)
    if indices.ndim != 1 or (indices.size and (indices.min() < 0 or indices.max() >= n_samples)):
        raise ValueError(f"{part} must be a list of indices from 0 to {n_samples - 1}")
    return indices


def check_sizes(n_samples: int, n_features: int, n_labels: int, n_bytes: int) -> None:
    """Raise ValueError if a file is too short for the data set that it describes.

    Features without values and labels without positives take memory but no space in a sparse file. Such a file of any
    size may have a million features, labels and entries of Y. Beyond that, it needs a byte for each feature and each
    label, and for 100 entries of Y.

    Examples
    --------
    >>> from spmld.datasets.dataset import check_sizes
    >>> check_sizes(1, 10**9, 1, n_bytes=30)
    Traceback (most recent call last):
    ValueError: 1000000000 features are too many for a file of 30 bytes, expected at most 1000030
    """
    for size, limit, noun in (
        (n_features, MAX_SIZE + n_bytes, "features"),
        (n_labels, MAX_SIZE + n_bytes, "labels"),
        (n_samples * n_labels, MAX_SIZE + 100 * n_bytes, "entries of Y"),
    ):
        if size > limit:
            raise ValueError(f"{size} {noun} are too many for a file of {n_bytes} bytes, expected at most {limit}")


class Description:
    r"""Statistics of a data set; see `describe`.

    ``f_i`` is the frequency of label i, the fraction of positives among its observed entries:

    .. math:: \text{cardinality} = \sum_i f_i, \quad \text{density} = \text{cardinality} / l, \quad
              \text{imbalance}_i = \max_j f_j / f_i

    Without missing labels, the cardinality is the mean number of positives of a sample. With labels missing at random,
    it is an estimate of this number.

    Attributes
    ----------
    name : str
        Name of the data set.
    n_samples, n_train, n_test, n_features, n_labels : int
        Sizes; `n_train` and `n_test` are None without an official split.
    feature_density : float
        Fraction of the features that are not 0.
    cardinality, density : float
        See above.
    label_sets : int
        Number of distinct label sets of samples.
    mean_imbalance : float
        Mean of `imbalance` over the labels with a positive.
    missing : float
        Fraction of the labels that are missing.
    label_names : list of str
        Names of the labels.
    positives, observed : ndarray of shape (n_labels,)
        Numbers of positive and of observed entries of each label.
    frequencies, imbalance : ndarray of shape (n_labels,)
        See above; NaN if no entry of the label is observed. The imbalance of a label without a positive is infinite.
    positives_per_sample : ndarray of shape (n_samples,)
        Number of observed positives of each sample.
    columns : dict
        Kind of each feature column of a table, and how its values are read; empty for other formats.

    Examples
    --------
    See `describe`.
    """

    def __init__(self, data: Dataset):
        self.name = data.name
        self.label_names = list(data.label_names)
        self.columns = dict(data.columns or {})
        self.n_samples, self.n_labels = data.Y.shape
        self.n_features = data.X.shape[1]
        self.n_train, self.n_test = (None if part is None else len(part) for part in (data.train, data.test))
        n_nonzero = data.X.count_nonzero() if sp.issparse(data.X) else np.count_nonzero(data.X)
        self.feature_density = float(n_nonzero / max(self.n_samples * self.n_features, 1))
        missing = np.isnan(data.Y)
        positive = data.Y == 1
        self.missing = float(missing.mean())
        self.label_sets = len(np.unique(np.where(missing, -1, data.Y), axis=0))
        self.positives = positive.sum(axis=0)
        self.observed = self.n_samples - missing.sum(axis=0)
        self.positives_per_sample = positive.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            self.frequencies = self.positives / self.observed
            relative = np.nanmax(self.frequencies) / self.frequencies
        self.cardinality = float(np.nansum(self.frequencies))
        self.density = self.cardinality / self.n_labels
        self.imbalance = np.where(self.frequencies == 0, np.inf, relative)
        finite = self.imbalance[np.isfinite(self.imbalance)]
        self.mean_imbalance = float(finite.mean()) if finite.size else np.nan

    @property
    def positive_only(self) -> NDArray[np.bool_]:
        """Which labels have observed positives, missing entries and no observed negative."""
        return (self.positives > 0) & (self.positives == self.observed) & (self.observed < self.n_samples)

    def summary(self) -> dict[str, Any]:
        """Return the printed statistics of the whole data set by name."""
        split = {} if self.n_train is None else {"train": self.n_train, "test": self.n_test}
        n_positive_only = int(self.positive_only.sum())
        return {
            "samples": self.n_samples,
            **split,
            "features": self.n_features,
            "feature density": self.feature_density,
            "labels": self.n_labels,
            "labels without a positive": int((self.positives == 0).sum()),
            **({"positive-only labels": n_positive_only} if n_positive_only else {}),
            "label sets": self.label_sets,
            "cardinality": self.cardinality,
            "density": self.density,
            "mean imbalance": self.mean_imbalance,
            "missing": self.missing,
        }

    def per_label(self) -> list[dict[str, Any]]:
        """Return the statistics of each label as a dictionary, the most frequent label first."""
        order = np.argsort(-np.nan_to_num(self.frequencies, nan=-1.0), kind="stable")
        return [
            {
                "label": self.label_names[i],
                "positives": int(self.positives[i]),
                "frequency": float(self.frequencies[i]),
                "imbalance": float(self.imbalance[i]),
                "missing": 1 - float(self.observed[i]) / self.n_samples,
            }
            for i in order
        ]

    def __str__(self) -> str:
        lines = [self.name or "data set"]
        for name, value in self.summary().items():
            lines.append(f"  {name:<26}{f'{value:.4g}' if isinstance(value, float) else value}")
        return "\n".join(lines)


def describe(data: Dataset) -> Description:
    """Compute statistics of a data set.

    Parameters
    ----------
    data : Dataset
        Data set. Missing labels count as neither positive nor negative.

    Examples
    --------
    >>> from spmld.datasets import Dataset, describe
    >>> description = describe(Dataset([[0.5], [0.0]], [[1, 0], [1, 1]], label_names=["sad", "calm"], name="tiny"))
    >>> print(description)
    tiny
      samples                   2
      features                  1
      feature density           0.5
      labels                    2
      labels without a positive 0
      label sets                2
      cardinality               1.5
      density                   0.75
      mean imbalance            1.5
      missing                   0
    >>> description.imbalance
    array([1., 2.])
    """
    return Description(data)
