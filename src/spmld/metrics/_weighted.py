"""Area under the ROC curve and average precision of weighted entries."""

from collections.abc import Callable
from typing import Any

import numpy as np

from spmld.metrics._averaging import ratio
from spmld.metrics._inputs import Floats, Signs


def of_columns(metric: Callable[..., Floats], *arrays: Any) -> Floats:
    """Return the metric of each column."""
    return np.array([float(metric(*columns)) for columns in zip(*(array.T for array in arrays), strict=True)])


def weighted_auc(signs: Signs, scores: Floats, weights: Floats) -> Floats:
    """Return the weight of correctly ordered pairs divided by that of all pairs; a tie counts one half."""
    positive, negative = signs > 0, signs < 0
    own, others = weights[positive], (scores[negative], weights[negative])
    below = sum(_weight_before(*others, scores[positive], side) for side in ("left", "right"))
    return ratio(own @ below / 2, own.sum() * weights[negative].sum())


def weighted_average_precision(signs: Signs, scores: Floats, weights: Floats) -> Floats:
    """Return the weighted mean, over the positives, of the weighted precision at their scores."""
    positive, observed = signs > 0, signs != 0
    keys, own = -scores[positive], weights[positive]
    hits = _weight_before(keys, own, keys, "right")
    return ratio(own @ (hits / _weight_before(-scores[observed], weights[observed], keys, "right")), own.sum())


def _weight_before(keys: Floats, weights: Floats, at: Floats, side: Any) -> Floats:
    """Return the weight of the keys that are below (left), or not above (right), each of the given values."""
    order = np.argsort(keys)
    return np.append(0.0, np.cumsum(weights[order]))[np.searchsorted(keys[order], at, side)]
