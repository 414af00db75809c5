"""Conversion between scores and probabilities."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld._arrays import namespace
from spmld.core.losses import LOSSES, logistic

BEND = 0.05
"""Probabilities of losses other than the logistic are linear in the score up to 1 - BEND, see `score_probabilities`."""


def score_probabilities(scores: Any, loss: str = "logistic") -> Any:
    """Convert scores to probabilities.

    For the logistic loss this is the logistic function. For other losses the score is mapped linearly from [-1, 1] to
    [0, 1]. Beyond 0.95 the map bends, with a continuous slope, and approaches 1 without reaching it, so that the order
    of scores is kept.

    Parameters
    ----------
    scores : array
        Scores.
    loss : str, default="logistic"
        Name of the loss that was minimized.

    Returns
    -------
    array of the shape of `scores`

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.estimators.probabilities import score_probabilities
    >>> score_probabilities(np.array([-0.5, 0.0, 0.5, 3.0]), "squared").round(2)
    array([0.25, 0.5 , 0.75, 1.  ])
    """
    if LOSSES[loss].scores_are_log_odds:
        return logistic(scores)
    xp = namespace(scores)
    excess = xp.clip(xp.abs(scores) - (1 - BEND), 0)
    size = xp.where(excess > 0, 1 - BEND**2 / (BEND + excess), xp.abs(scores))
    return 0.5 * (1 + xp.sign(scores) * size)


def log_odds(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log(p / (1 - p)), with probabilities clipped to the open interval (0, 1).

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.estimators.probabilities import log_odds
    >>> log_odds(np.array([0.5, 0.75, 1.0])).round(1)
    array([ 0. ,  1.1, 36. ])
    """
    p = np.clip(p, np.finfo(float).eps, 1 - np.finfo(float).eps)
    return np.log(p) - np.log1p(-p)
