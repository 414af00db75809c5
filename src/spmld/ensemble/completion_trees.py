"""Boosted trees that correct the scores of missing labels by the observed labels of the sample."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from spmld.ensemble.formula import Scores
from spmld.estimators.masked_boosting import MaskedBoosting
from spmld.estimators.trees import Trees
from spmld.model_selection.cross_fitting import CrossFit
from spmld.model_selection.folds import Fold
from spmld.noise import NoiseRates

N_PARTS = 4
"""Number of parts of the observed entries; each part is predicted from the others."""
STAGES = (0, 25, 50, 100, 200)
"""Numbers of trees to choose from."""
Correct = Callable[[Scores, NDArray[np.int8]], Scores]
"""Function of the scores and the known labels of all samples, which returns corrected scores."""


@dataclass(kw_only=True, eq=False, repr=False)
class CompletionTrees(BaseEstimator):
    """Boosted trees on the known labels and the scores of all labels of a sample.

    The observed entries are divided at random into four parts. In a copy of the samples for each part, these entries
    are hidden and predicted from the others, so that each entry is predicted once. The trees start from the scores of
    a linear correction, see `DependencyCorrection`. Their number has the lowest log loss of entries that were hidden,
    in samples that the trees were not fitted on. It is 0 where trees do not help.

    Parameters
    ----------
    random_state : int, RandomState or None, default=None
        Seed for the parts and the trees.

    Attributes
    ----------
    trees_ : Trees
        The trees.
    losses_ : dict
        The held-out log loss of each number of trees.
    held_out_scores_ : ndarray of shape (n_samples, n_labels)
        Scores of the observed entries from the other entries, by trees that were not fitted on their fold.

    Examples
    --------
    The second label is the opposite of the first, which scores do not show:

    >>> import numpy as np
    >>> from spmld.ensemble.completion_trees import CompletionTrees
    >>> from spmld.model_selection.cross_fitting import CrossFit
    >>> rng = np.random.default_rng(0)
    >>> signs = np.where(rng.random((600, 1)) < 0.5, [[1, -1]], [[-1, 1]]).astype(np.int8)
    >>> scores, cross = np.zeros(signs.shape), CrossFit.of(np.arange(600) % 2)
    >>> trees = CompletionTrees(random_state=0).fit(scores, signs, signs, np.abs(signs), cross, lambda s, known: s)
    >>> (trees.correct(scores[:2], np.array([[1, 0], [-1, 0]])) > 0).astype(int)[:, 1]
    array([0, 1])
    """

    random_state: Any = None

    def fit(
        self,
        scores: Scores,
        signs: NDArray[np.int8],
        known: NDArray[np.int8],
        entry_weight: Scores,
        cross: CrossFit,
        correct: Correct,
        rates: NoiseRates | None = None,
    ) -> Self:
        """Fit the trees, and choose their number.

        Parameters
        ----------
        scores, entry_weight, rates
            As in `ScoreCorrection.fit`.
        signs : ndarray of shape (n_samples, n_labels)
            Labels to predict: 1, -1, and 0 where missing.
        known : ndarray of shape (n_samples, n_labels)
            Labels that are shown, in the same encoding. Negatives of positive-only labels are predicted, but not shown.
        cross : CrossFit
            Folds.
        correct : callable
            ``correct(scores, known)`` returns scores that are corrected by known labels; a correction must not be
            fitted on the fold of a sample.

        Returns
        -------
        self
        """
        rng = check_random_state(self.random_state)
        n_labels = signs.shape[1]
        part = rng.randint(N_PARTS, size=signs.shape)
        booster = MaskedBoosting(n_estimators=STAGES[-1], random_state=rng.randint(2**31 - 1))
        loss = (NoiseRates(np.zeros(n_labels), np.zeros(n_labels)) if rates is None else rates).loss()
        hidden = [part == k for k in range(N_PARTS)]
        shown = [np.where(hide, 0, known).astype(np.int8) for hide in hidden]
        starts = [correct(scores, labels) for labels in shown]

        def boost(rows: Any) -> Trees:
            X = np.concatenate([_features(scores, labels)[rows] for labels in shown])
            targets = np.concatenate([np.where(hide, signs, 0.0)[rows] for hide in hidden])
            weights = np.concatenate([np.where(hide, entry_weight, 0.0)[rows] for hide in hidden])
            return booster.boost(X, targets, weights, np.concatenate([start[rows] for start in starts]), loss)

        def predict(fold: Fold) -> Scores:
            """Return the scores of the hidden entries of a fold for each number of trees."""
            train, test = fold
            trees = boost(train)
            values = np.zeros((len(test), len(STAGES), n_labels))
            for hide, labels, start in zip(hidden, shown, starts, strict=True):
                features = _features(scores, labels)[test]
                for i, n in enumerate(STAGES):
                    values[:, i] += np.where(hide[test], start[test] + trees.first(n).scores(features), 0.0)
            return values

        predicted = cross.assemble(cross.over(predict, cross.folds))
        held_out = dict(zip(STAGES, np.moveaxis(predicted, 1, 0), strict=True))
        self.losses_ = {
            n: float(np.average(loss.value(signs.astype(float), values), weights=entry_weight * (signs != 0)))
            for n, values in held_out.items()
        }
        n_trees = min(self.losses_, key=lambda n: self.losses_[n])
        self.held_out_scores_ = held_out[n_trees]
        self.trees_ = boost(slice(None)).first(n_trees) if n_trees else Trees.empty(n_labels)
        return self

    def correct(self, scores: Scores, known: NDArray[np.int8]) -> Scores:
        """Return the corrections of the scores, given the signs of known labels."""
        return self.trees_.scores(_features(scores, known))


def _features(scores: Scores, known: NDArray[np.int8]) -> Scores:
    return np.hstack([known, scores])
