"""Reading labels that come in row blocks."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld.labels.encoding import Labels, read_labels, read_values


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
    >>> from spmld.labels.block_reading import summarize_labels
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
