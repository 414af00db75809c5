"""Data sets of the studies."""

from functools import lru_cache
from typing import Any

import numpy as np

from spmld.datasets import Dataset, describe, fetch_dataset, make_planted


@lru_cache(maxsize=2)
def load(name: str) -> Dataset:
    """Return a data set with its official split into training and test samples.

    Parameters
    ----------
    name : str
        Name of `spmld.datasets.list_datasets`, or "planted" for a small generated data set.

    Examples
    --------
    >>> from spmld.studies.data import load
    >>> load("planted")
    Dataset 'planted': 400 samples (200 train, 200 test), 15 dense features, 8 labels
    """
    if name != "planted":
        return fetch_dataset(name)
    data = make_planted(n_samples=400, n_features=15, n_labels=8, random_state=0)
    # Samples are sorted by group, so that every second sample is a stratified half.
    return Dataset(data.X, data.Y, name=name, train=np.arange(0, 400, 2), test=np.arange(1, 400, 2))


def size(name: str) -> dict[str, Any]:
    """Return the row of a data set in Table 1 and the fraction of its test samples whose features are all zero.

    Examples
    --------
    >>> from spmld.studies.data import size
    >>> size("planted")
    {'samples': 400, 'features': 15, 'labels': 8, 'cardinality': 1.225, 'empty': 0.0}
    """
    data = load(name)
    description = describe(data)
    return {
        "samples": description.n_samples,
        "features": description.n_features,
        "labels": description.n_labels,
        "cardinality": description.cardinality,
        "empty": float(np.mean(abs(data.X_test).sum(axis=1) == 0)),
    }
