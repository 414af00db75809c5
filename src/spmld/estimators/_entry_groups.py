"""Groups of observed entries by name, and their mean weights."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld._arrays import to_numpy
from spmld.core.problem import Engine
from spmld.estimators._inputs import cluster_samples
from spmld.labels import Labels
from spmld.pacing import EntryGroups
from spmld.pacing.groups import polarity_groups

GROUPS = ("label_polarity", "label", "cluster", "all")


def entry_groups(groups: Any, X: Any, labels: Labels, n_clusters: int, rng: np.random.RandomState) -> EntryGroups:
    """Return groups of the observed entries, from one of `GROUPS` or an array of shape (n,) or (n, l)."""
    n, l = labels.signs.shape
    index = np.zeros((n, l), dtype=np.int64)
    if not isinstance(groups, str):
        index += _group_indices(groups, n, l)
    elif groups == "label_polarity":
        return polarity_groups(labels.signs)
    elif groups == "label":
        index += np.arange(l)
    elif groups == "cluster":
        index += to_numpy(cluster_samples(Engine(), (X,), (n,), min(n_clusters, n), rng)[0])[:, None]
    count = int(index.max()) + 1
    return EntryGroups((np.where(labels.observed, index, count),), count)


def _group_indices(groups: Any, n: int, l: int) -> NDArray[np.int64]:
    """Return the indices of user-defined groups, of shape (n, 1) or (n, l)."""
    values = np.asarray(to_numpy(groups))
    if values.shape not in ((n,), (n, l)):
        raise ValueError(f"groups must have shape {(n,)} or {(n, l)}, got {values.shape}")
    try:
        return np.unique(values, return_inverse=True)[1].reshape(n, -1)
    except TypeError as error:
        raise ValueError(f"groups must contain values of one type: {error}") from None


def mean_weights(P: NDArray[Any], labels: Labels) -> dict[str, Any]:
    """Return the mean weights of observed entries: of all, per label, and of positives and negatives."""

    def mean(chosen: NDArray[np.bool_], axis: int | None = None) -> Any:
        count = chosen.sum(axis=axis)
        return np.where(count > 0, np.where(chosen, P, 0).sum(axis=axis) / np.maximum(count, 1), 1.0)

    return {
        "mean_weight": float(mean(labels.observed)),
        "mean_weight_per_label": [float(value) for value in mean(labels.observed, axis=0)],
        "mean_weight_positive": float(mean(labels.signs > 0)),
        "mean_weight_negative": float(mean(labels.signs < 0)),
    }
