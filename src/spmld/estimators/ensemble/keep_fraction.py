"""Choice of the fraction of entries that trimming keeps, by nested folds."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from spmld.estimators.ensemble.path_search import Recorder
from spmld.estimators.ensemble.training_data import Scores, TrainingData
from spmld.pacing.trimming import trim


def choose_keep_fraction(
    estimator: Any,
    data: TrainingData,
    keep_fractions: Sequence[float],
    untrimmed_scores: Scores,
    record: Recorder | None = None,
) -> float:
    """Return the first fraction whose held-out loss is within two standard errors of the lowest.

    Parameters
    ----------
    estimator : multi-label estimator
        Estimator to fit to the entries that are kept.
    data : TrainingData
        Training data.
    keep_fractions : sequence of float
        Fractions to choose from, in the order of preference; see `spmld.pacing.trimming.trim`.
    untrimmed_scores : ndarray of shape (n_samples, n_labels)
        Out-of-fold scores without trimming, which are those of the fraction 1.
    record : callable, optional
        Called with a dict for each fraction: "part", which is "trimming", "choice" and "loss".

    Returns
    -------
    float

    Examples
    --------
    No label is wrong here, and trimming would only lose information:

    >>> import numpy as np
    >>> from spmld import MaskedLogistic
    >>> from spmld.datasets import make_planted
    >>> from spmld.estimators.ensemble import TrainingData, choose_keep_fraction
    >>> from spmld.model_selection import make_folds
    >>> planted = make_planted(n_samples=300, random_state=0)
    >>> Y = 2.0 * planted.Y - 1
    >>> data = TrainingData(planted.X, Y, np.ones(Y.shape), make_folds(3, planted.X, Y, random_state=0))
    >>> untrimmed = data.cross_fit(MaskedLogistic()).scores
    >>> choose_keep_fraction(MaskedLogistic(), data, [0.8, 1.0], untrimmed)
    1.0
    """
    nested = nested_scores(estimator, data)
    losses = [
        data.loss(data.Y, untrimmed_scores if fraction == 1 else trimmed_scores(estimator, data, fraction, nested))
        for fraction in keep_fractions
    ]
    if record is not None:
        for fraction, loss in zip(keep_fractions, losses, strict=True):
            record({"part": "trimming", "choice": fraction, "loss": float(np.nanmean(loss))})
    return keep_fractions[first_near_best(losses)]


def nested_scores(estimator: Any, data: TrainingData) -> list[Scores]:
    """Return, for each fold, scores of its training samples by models that were not fitted on any of its test samples.

    The training samples of a fold are scored by cross-fitting within the fold, so that quantities computed from these
    scores do not depend on the labels of the test samples. Scores of the test samples are NaN.
    """
    tests = [test for _, test in data.folds]
    return [
        data.cross_fit(
            estimator, folds=[(np.setdiff1d(train, other), other) for other in tests if other is not test]
        ).scores
        for train, test in data.folds
    ]


def trimmed_scores(estimator: Any, data: TrainingData, keep_fraction: float, nested: Sequence[Scores]) -> Scores:
    """Return out-of-fold scores of an estimator that is fitted to the entries that `trim` keeps.

    Parameters
    ----------
    estimator, data
        As in `choose_keep_fraction`.
    keep_fraction : float
        As in `trim`.
    nested : list of ndarray
        Result of `nested_scores`.

    Returns
    -------
    ndarray of shape (n_samples, n_labels)
    """
    scores = np.zeros(data.Y.shape)
    for (train, test), fold_scores in zip(data.folds, nested, strict=True):
        if not np.isnan(data.Y[train]).all():
            weights = np.zeros(data.Y.shape)
            weights[train] = trim(fold_scores[train], data.Y[train], keep_fraction) * data.entry_weight[train]
            (scores[test],) = data.cross_fit(estimator, folds=[(train, test)], entry_weight=weights).fold_scores
    return scores


def first_near_best(losses: Sequence[Scores]) -> int:
    """Return the index of the first array whose mean is within two standard errors of the lowest mean.

    Parameters
    ----------
    losses : sequence of ndarray of shape (n,)
        Paired losses, NaN where undefined.

    Returns
    -------
    int

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.estimators.ensemble.keep_fraction import first_near_best
    >>> first_near_best([np.array([0.9, 0.8, 0.7]), np.array([0.3, 0.1, 0.2]), np.array([0.2, 0.2, 0.1])])
    1
    """
    best = losses[int(np.argmin([np.nanmean(loss) for loss in losses]))]

    def is_near(loss: Scores) -> bool:
        differences = (loss - best)[~np.isnan(loss - best)]
        return bool(differences.mean() <= 2 * differences.std() / len(differences) ** 0.5)

    return next(i for i, loss in enumerate(losses) if is_near(loss))
