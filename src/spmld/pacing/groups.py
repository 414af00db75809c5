"""Groups of entries as columns, which pacing rules weight independently."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def group_positions(index: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Return the positions of the entries of each group, in columns that are padded with the number of all entries.

    Entries with a negative index belong to no group.
    """
    order = np.argsort(index, axis=None, kind="stable")
    order = order[np.count_nonzero(index < 0) :]
    groups = index.ravel()[order]
    sizes = np.bincount(groups, minlength=count)
    first = np.cumsum(sizes) - sizes
    positions = np.full((max(1, sizes.max()), count), index.size)
    positions[np.arange(len(order)) - first[groups], groups] = order
    return positions


def gather(values: NDArray[Any], positions: NDArray[np.int64]) -> NDArray[Any]:
    """Return the values of the entries of each group as columns, padded with NaN."""
    return np.append(values, np.nan)[positions]


def scatter(columns: NDArray[Any], positions: NDArray[np.int64], shape: tuple[int, ...]) -> NDArray[Any]:
    """Return an array of entries from the columns of their groups; 0 for entries outside all groups."""
    values = np.zeros(np.prod(shape) + 1, dtype=columns.dtype)
    values[positions] = columns
    return values[:-1].reshape(shape)


def polarity_index(signs: NDArray[Any]) -> NDArray[np.int64]:
    """Return the group of each entry: 2 j for negatives of label j, 2 j + 1 for positives, -1 for missing labels."""
    return np.where(signs == 0, -1, 2 * np.arange(signs.shape[1]) + (signs > 0))
