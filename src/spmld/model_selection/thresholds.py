"""Where to cut scores into positive and negative: the best of all cuts of each label, or the first k of each row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["f1_cuts", "proportional_cuts", "top_k_margins"]

_Floats = NDArray[np.float64]


def f1_cuts(scores: _Floats, signs: NDArray[np.int8]) -> _Floats:
    r"""Thresholds with the best F1 of each label, over its observed entries.

    With P positives of a label, of which T are among the m entries with scores above the threshold,

    .. math:: F_1 = \frac{2 T}{m + P}.

    All thresholds are tried, by sorting once: O(n log n) for each label. Of equally good ones the highest is taken.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_labels)
        Finite scores.
    signs : ndarray of shape (n_samples, n_labels)
        +1, -1, and 0 where unobserved; at least one entry of each label is observed.

    Returns
    -------
    ndarray of shape (n_labels,)
        Halfway between the last score taken in and the first left out; just below the lowest if none is left out.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.model_selection.thresholds import f1_cuts
    >>> f1_cuts(np.array([[4.0], [3.0], [2.0], [1.0]]), np.array([[1], [1], [0], [-1]]))
    array([2.])
    """
    return _best_cuts(scores, signs, lambda hits, taken, positives: 2 * hits / np.maximum(taken + positives, 1))


def proportional_cuts(scores: _Floats, signs: NDArray[np.int8]) -> _Floats:
    """Thresholds with as many scores above them as there are positives, over the observed entries of each label.

    Where equal scores make that impossible, the nearest number is taken, of two the lower.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.model_selection.thresholds import proportional_cuts
    >>> proportional_cuts(np.array([[4.0], [3.0], [2.0], [1.0]]), np.array([[-1], [1], [-1], [-1]]))
    array([3.5])
    """
    return _best_cuts(scores, signs, lambda _, taken, positives: -np.abs(taken - positives).astype(float))


def top_k_margins(scores: _Floats, k: int) -> _Floats:
    """Scores less the k-th largest of their row, positive for exactly k: of equal scores, for those further left.

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


def _best_cuts(scores: _Floats, signs: NDArray[np.int8], worth: Callable[[Any, Any, Any], Any]) -> _Floats:
    """For each label the cut with the greatest `worth`, given the positives taken in, all taken in, and all positives.

    Sorted downwards, with the unobserved at the end, a cut lies after an entry whose successor has a lower score.
    """
    descending = np.where(signs != 0, scores, -np.inf)
    order = np.argsort(-descending, axis=0, kind="stable")
    descending = np.take_along_axis(descending, order, axis=0)
    sorted_signs = np.take_along_axis(signs, order, axis=0)
    successor = np.vstack([descending[1:], np.full((1, scores.shape[1]), -np.inf)])
    hits = np.cumsum(sorted_signs > 0, axis=0)
    taken = np.cumsum(sorted_signs != 0, axis=0)
    worths = np.where(successor < descending, worth(hits, taken, hits[-1]), -np.inf)
    best = np.argmax(worths, axis=0)[None]
    last = np.take_along_axis(descending, best, axis=0)[0]
    first_out = np.take_along_axis(successor, best, axis=0)[0]
    halfway = last / 2 + first_out / 2
    # Halfway between neighbouring floats is one of them, and from minus infinity there is no halfway.
    lowest = np.where(np.isfinite(first_out), first_out, np.nextafter(last, -np.inf))
    return np.where((first_out < halfway) & (halfway < last), halfway, lowest)
