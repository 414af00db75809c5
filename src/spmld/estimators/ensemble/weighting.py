"""Weights of the views, and weighted means of their scores."""

from collections.abc import Mapping

import numpy as np

from spmld.estimators.ensemble.training_data import Scores

POWER = 8
"""Power of the inverse losses."""


def view_weights(losses: Mapping[str, float]) -> dict[str, float]:
    """Return weights proportional to ``loss ** -8`` that sum to 1.

    Equally good views share the weight, and a view with a 50 % higher loss gets almost none.

    Parameters
    ----------
    losses : mapping
        The positive held-out loss of each view.

    Returns
    -------
    dict
        The weight of each view.

    Examples
    --------
    >>> from spmld.estimators.ensemble import view_weights
    >>> {name: round(weight, 2) for name, weight in view_weights({"linear": 0.2, "kernel": 0.2, "latent": 0.3}).items()}
    {'linear': 0.49, 'kernel': 0.49, 'latent': 0.02}
    """
    lowest = min(losses.values())
    powers = {name: (lowest / loss) ** POWER for name, loss in losses.items()}
    return {name: power / sum(powers.values()) for name, power in powers.items()}


def weighted_scores(scores: Mapping[str, Scores], weights: Mapping[str, float]) -> Scores:
    """Return the weighted sum of the scores of the views.

    Parameters
    ----------
    scores : mapping
        The scores of each view, arrays of the same shape.
    weights : mapping
        The weight of each view.

    Returns
    -------
    ndarray of the shape of the scores

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.estimators.ensemble import weighted_scores
    >>> weighted_scores({"a": np.array([[1.0, 2.0]]), "b": np.array([[3.0, 0.0]])}, {"a": 0.75, "b": 0.25})
    array([[1.5, 1.5]])
    """
    return sum((weights[name] * values for name, values in scores.items()), np.zeros(()))
