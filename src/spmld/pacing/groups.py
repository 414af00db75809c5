"""Groups of entries, and their losses as columns, which pacing rules weight independently."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld._arrays import to_numpy
from spmld.labels import Labels


def entry_groups(groups: str, labels: Labels, pacing_groups: Any = None) -> tuple[NDArray[np.int64], int]:
    """Return the group of each entry, -1 for missing labels, and the number of groups."""
    n, l = labels.signs.shape
    if pacing_groups is not None:
        index = np.broadcast_to(_group_indices(pacing_groups, n, l), (n, l))
    elif groups == "label_polarity":
        return polarity_index(labels.signs), 2 * l
    else:
        index = np.broadcast_to(np.arange(l) if groups == "label" else 0, (n, l))
    return np.where(labels.observed, index, -1), int(index.max()) + 1


def _group_indices(groups: Any, n: int, l: int) -> NDArray[np.int64]:
    """Return the indices of user-defined groups, of shape (n, 1) or (n, l)."""
    values = np.asarray(to_numpy(groups))
    if values.shape not in ((n,), (n, l)):
        raise ValueError(f"pacing_groups must have shape {(n,)} or {(n, l)}, got {values.shape}")
    try:
        return np.unique(values, return_inverse=True)[1].reshape(n, -1)
    except TypeError as error:
        raise ValueError(f"pacing_groups must contain values of one type: {error}") from None


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
