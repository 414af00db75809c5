"""Thresholds of scores: the best for each label, or the k largest scores of each sample."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]


def f1_thresholds(scores: _Floats, signs: NDArray[np.int8]) -> _Floats:
    r"""Return the thresholds with the best F1 of each label, over its observed entries.

    With P positives of a label, of which T are among the m entries with scores above the threshold,

    .. math:: F_1 = \frac{2 T}{m + P}.

    All thresholds are evaluated by sorting once, in O(n log n) for each label. If several are
    optimal, the highest is chosen.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_labels)
        Finite scores.
    signs : ndarray of shape (n_samples, n_labels)
        +1, -1, and 0 where missing; at least one entry of each label is observed.

    Returns
    -------
    ndarray of shape (n_labels,)
        The midpoint between the lowest score above and the highest score below the threshold, or a value just below
        the lowest score if there is no score below.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.model_selection.thresholds import f1_thresholds
    >>> f1_thresholds(np.array([[4.0], [3.0], [2.0], [1.0]]), np.array([[1], [1], [0], [-1]]))
    array([2.])
    """
    return _best_thresholds(scores, signs, lambda hits, above, positives: 2 * hits / np.maximum(above + positives, 1))


def proportional_thresholds(scores: _Floats, signs: NDArray[np.int8]) -> _Floats:
    """Return thresholds with as many scores above them as there are positives, over the observed entries of each label.

    If ties make this impossible, the nearest number is chosen; if two are equally near, the lower one.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.model_selection.thresholds import proportional_thresholds
    >>> proportional_thresholds(np.array([[4.0], [3.0], [2.0], [1.0]]), np.array([[-1], [1], [-1], [-1]]))
    array([3.5])
    """
    return _best_thresholds(scores, signs, lambda _, above, positives: -np.abs(above - positives).astype(float))


def top_k_margins(scores: _Floats, k: int) -> _Floats:
    """Return scores minus the k-th largest score of the sample, positive for exactly k labels.

    Among equal scores, those of labels with lower indices are positive.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.model_selection.thresholds import top_k_margins
    >>> top_k_margins(np.array([[1.0, 3.0, 4.0, 3.0]]), 2) > 0
    array([[False,  True,  True, False]])
    """
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    margins = scores - np.take_along_axis(scores, order[:, -1:], axis=1)
    chosen = np.take_along_axis(margins, order, axis=1)
    np.put_along_axis(margins, order, np.maximum(chosen, np.finfo(float).smallest_subnormal), axis=1)
    return margins


def _best_thresholds(scores: _Floats, signs: NDArray[np.int8], objective: Callable[[Any, Any, Any], Any]) -> _Floats:
    """Return the threshold of each label with the largest objective(positives above, entries above, all positives).

    In descending order, with missing entries last, a threshold lies after an entry whose successor has a lower score.
    """
    descending = np.where(signs != 0, scores, -np.inf)
    order = np.argsort(-descending, axis=0, kind="stable")
    descending = np.take_along_axis(descending, order, axis=0)
    sorted_signs = np.take_along_axis(signs, order, axis=0)
    successor = np.vstack([descending[1:], np.full((1, scores.shape[1]), -np.inf)])
    hits = np.cumsum(sorted_signs > 0, axis=0)
    above = np.cumsum(sorted_signs != 0, axis=0)
    values = np.where(successor < descending, objective(hits, above, hits[-1]), -np.inf)
    best = np.argmax(values, axis=0)[None]
    lowest_above = np.take_along_axis(descending, best, axis=0)[0]
    highest_below = np.take_along_axis(successor, best, axis=0)[0]
    midpoint = lowest_above / 2 + highest_below / 2
    # The midpoint of neighboring floats is one of them, and no midpoint with minus infinity exists.
    fallback = np.where(np.isfinite(highest_below), highest_below, np.nextafter(lowest_above, -np.inf))
    return np.where((highest_below < midpoint) & (midpoint < lowest_above), midpoint, fallback)
