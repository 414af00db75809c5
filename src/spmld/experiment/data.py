"""The data sets of the studies."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from spmld.datasets import find_file, make_planted, read_mat

__all__ = ["describe", "load"]


@lru_cache(maxsize=2)
def load(name: str) -> Any:
    """A data set in its own split into training and test samples: X_train, Y_train, X_test, Y_test.

    Parameters
    ----------
    name : str
        A name that `spmld.datasets` knows, or "planted" for a small generated data set.

    Examples
    --------
    >>> from spmld.experiment.data import load
    >>> load("planted").Y_test.shape
    (200, 8)
    """
    if name == "planted":
        made = make_planted(n_samples=400, n_features=15, n_labels=8, random_state=0)
        # Samples come group by group, so every other one is a fair half.
        return Bunch(X_train=made.X[::2], Y_train=made.Y[::2], X_test=made.X[1::2], Y_test=made.Y[1::2])
    return read_mat(find_file(f"{name}.mat"))


def describe(name: str) -> dict[str, Any]:
    """The row of a data set in Table 1, and the share of its test samples in which all features are 0.

    Examples
    --------
    >>> from spmld.experiment.data import describe
    >>> describe("planted")
    {'train': 200, 'test': 200, 'features': 15, 'labels': 8, 'cardinality': 1.225, 'empty': 0.0}
    """
    data = load(name)
    (train, features), (test, labels) = data.X_train.shape, data.Y_test.shape
    positives = (data.Y_train > 0).sum() + (data.Y_test > 0).sum()
    return {
        "train": train,
        "test": test,
        "features": features,
        "labels": labels,
        "cardinality": float(positives / (train + test)),
        "empty": float(np.mean(abs(data.X_test).sum(axis=1) == 0)),
    }
