"""Labels by several annotators."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spmld.labels.encoding import Labels, read_labels


@dataclass(frozen=True, eq=False)
class AnnotatorLabels:
    """Labels by several annotators: one row of answers for each sample and annotator.

    Attributes
    ----------
    answers : Labels
        Answers, one row for each pair of a sample and an annotator; 0 where the annotator has not answered.
    samples, annotators : ndarray of int of shape (n_rows,)
        Index of the sample and of the annotator of each row.
    n_samples : int
        Number of samples.
    names : list
        Names of the annotators.

    Examples
    --------
    See `read_annotators`.
    """

    ndim: ClassVar[int] = 3
    """As an array with an axis for the annotators."""

    answers: Labels
    samples: NDArray[np.intp]
    annotators: NDArray[np.intp]
    n_samples: int
    names: list[Any]

    @property
    def signs(self) -> NDArray[np.int8]:
        """Answers: +1, -1, and 0 where missing."""
        return self.answers.signs

    def by_sample(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Return the sum of values of the rows for each sample."""
        return _sums(self.samples, values, self.n_samples)

    def by_annotator(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Return the sum of values of the rows for each annotator."""
        return _sums(self.annotators, values, len(self.names))

    def of_label(self, label: int) -> NDArray[np.int8]:
        """Return the answers to a label, of shape (n_samples, n_annotators): +1, -1, and 0 where missing."""
        signs = np.zeros((self.n_samples, len(self.names)), dtype=np.int8)
        signs[self.samples, self.annotators] = self.signs[:, label]
        return signs

    @property
    def counts(self) -> NDArray[np.float64]:
        """Number of answers to each entry."""
        return self.by_sample(self.signs != 0)

    @property
    def agreement(self) -> float:
        """Fraction of the pairs of answers to the same entry that are equal; NaN if no entry has several answers."""
        n = self.counts
        total = self.by_sample(self.signs)  # total**2 - n: twice the equal pairs minus the others
        n_pairs = float((n**2 - n).sum())
        return 0.5 + 0.5 * float((total**2 - n).sum()) / n_pairs if n_pairs else np.nan

    def __getitem__(self, samples: NDArray[np.intp]) -> "AnnotatorLabels":
        """Return the answers to some samples, given by their indices."""
        place = np.full(self.n_samples, -1)
        place[samples] = np.arange(len(samples))
        rows = place[self.samples] >= 0
        parts = self.answers[rows], place[self.samples][rows], self.annotators[rows]
        return AnnotatorLabels(*parts, len(samples), self.names)


def read_annotators(
    Y: Any, samples: Sequence[Any] | None = None, annotators: Sequence[Any] | None = None
) -> AnnotatorLabels:
    """Read labels by several annotators.

    Parameters
    ----------
    Y : array-like of shape (n_samples, n_annotators, n_labels), label matrix, or DataFrame
        Answers, NaN where an annotator has not answered. A matrix has one row for each pair of a sample and an
        annotator. A long table has the columns "sample", "annotator", "label" and "value", and one answer in each row.
    samples : sequence, optional
        Of a matrix: the sample of each row; samples are in the order of their first row. Of a long table: the samples,
        in the order of the rows of X; by default, in the order of their first row.
    annotators : sequence, optional
        Of a matrix: the annotator of each row. Of an array: the names of the annotators. Of a long table: the
        annotators that are accepted.

    Returns
    -------
    AnnotatorLabels

    Examples
    --------
    >>> from spmld.annotators import read_annotators
    >>> labels = read_annotators([[1, 0], [1, 1], [0, None]], ["a", "a", "b"], ["ann", "bob", "ann"])
    >>> labels.n_samples, labels.names, labels.counts
    (2, ['ann', 'bob'], array([[2., 2.],
           [1., 0.]]))
    >>> labels.agreement
    0.5
    """
    if isinstance(Y, AnnotatorLabels):
        return Y
    if hasattr(Y, "columns") and {"sample", "annotator", "label", "value"} == set(Y.columns):
        return _read_long(Y, samples, annotators)
    if np.ndim(Y) == 3:
        values = np.asarray(Y)
        n, a, l = values.shape
        if samples is not None or (annotators is not None and len(annotators) != a):
            got = "samples" if samples is not None else f"{len(annotators or ())} annotators"
            raise ValueError(f"an array of shape {values.shape} accepts the names of its {a} annotators, got {got}")
        rows, columns = np.divmod(np.arange(n * a), a)
        names = list(range(a)) if annotators is None else list(annotators)
        return _without_empty(read_labels(values.reshape(n * a, l)), rows, columns, n, names)
    if samples is None or annotators is None:
        raise ValueError(
            "Y must have shape (n_samples, n_annotators, n_labels), or one row for each sample and annotator, which "
            f"requires samples and annotators, got an array of {np.ndim(Y)} dimensions; pass "
            "read_annotators(Y, samples, annotators)"
        )
    answers = read_labels(Y)
    for name, column in (("samples", samples), ("annotators", annotators)):
        if len(column) != len(answers.signs):
            raise ValueError(f"{name} must have one value for each of the {len(answers.signs)} rows, got {len(column)}")
    _, rows = _index(samples, "sample")
    names, columns = _index(annotators, "annotator")
    pairs, count = np.unique(np.stack([rows, columns]), axis=1, return_counts=True)
    if (count > 1).any():
        i, j = pairs[:, count.argmax()]
        sample = samples[int(np.flatnonzero(rows == i)[0])]
        raise ValueError(f"annotator {names[j]!r} has {count.max()} rows for sample {sample!r}; keep one of them")
    return _without_empty(answers, rows, columns, int(rows.max()) + 1, names)


def _read_long(table: Any, samples: Sequence[Any] | None, annotators: Sequence[Any] | None) -> AnnotatorLabels:
    """Read a table with one answer in each row."""
    sample_names, i = _index(list(table["sample"]), "sample", samples)
    names, a = _index(list(table["annotator"]), "annotator", annotators)
    labels, j = _index(list(table["label"]), "label")
    rows, row = np.unique(i * len(names) + a, return_inverse=True)
    entry, count = np.unique(row * len(labels) + j, return_counts=True)
    if (count > 1).any():
        at = int(np.flatnonzero(row * len(labels) + j == entry[count.argmax()])[0])
        place = f"annotator {names[a[at]]!r}, sample {sample_names[i[at]]!r} and label {labels[j[at]]!r}"
        raise ValueError(f"the table has {count.max()} answers of {place}; keep one of them")
    # Two equal columns: the values of a single label could be any two.
    values = read_labels(np.repeat(np.asarray(table["value"], dtype=object)[:, None], 2, axis=1), name="value")
    signs = np.zeros((len(rows), len(labels)), dtype=np.int8)
    signs[row, j] = values.signs[:, 0]
    answers = Labels(signs, values.classes, [str(name) for name in labels])
    return _without_empty(answers, rows // len(names), rows % len(names), len(sample_names), names)


def _index(values: Sequence[Any], name: str, order: Sequence[Any] | None = None) -> tuple[list[Any], NDArray[np.intp]]:
    """Return the distinct values, in the given order or that of their first row, and the index of each value."""
    items = [None if value is None or value != value or value == "" else value for value in values]
    if None in items:
        raise ValueError(f"each row must have a value of {name!r}, but row {items.index(None)} has none")
    names = list(dict.fromkeys(items if order is None else order))
    places = {value: i for i, value in enumerate(names)}
    unknown = [value for value in items if value not in places]
    if unknown:
        shown = ", ".join(repr(value) for value in names[:5])
        raise ValueError(f"{name} {unknown[0]!r} is unknown; accepted: {shown}{', ...' if len(names) > 5 else ''}")
    return names, np.array([places[value] for value in items], dtype=np.intp)


def _without_empty(answers: Labels, rows: Any, columns: Any, n: int, names: list[Any]) -> AnnotatorLabels:
    """Return labels without the rows that have no answer."""
    keep = (answers.signs != 0).any(axis=1)
    return AnnotatorLabels(answers[keep], rows[keep], columns[keep], n, names)


def _sums(index: NDArray[np.intp], values: NDArray[Any], size: int) -> NDArray[np.float64]:
    indicator = sp.csr_array((np.ones(len(index)), (index, np.arange(len(index)))), shape=(size, len(index)))
    return np.asarray(indicator @ values.astype(float))
