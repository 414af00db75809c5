"""Auditors: what studies of the audit compare, as objects with parameters and `error_probability`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from spmld.audit import LabelIssues, find_label_issues

__all__ = ["Audit", "Cleanlab"]


class Audit(BaseEstimator):
    """`spmld.audit.find_label_issues` with the estimator that it uses if none is given.

    Parameters
    ----------
    n_iter : int, default=2
        How often it is fitted.
    random_state : int, default=0
        Seed of the folds.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.datasets import make_planted
    >>> from spmld.studies.auditors import Audit
    >>> from spmld.labels import corrupt_labels
    >>> data = make_planted(n_samples=300, random_state=0)
    >>> Y = corrupt_labels(data.Y, "flip", 0.03, random_state=0)
    >>> error_probability = Audit().error_probability(data.X, Y)
    >>> bool(np.mean(error_probability[Y != data.Y]) > 5 * np.mean(error_probability[Y == data.Y]))
    True
    """

    def __init__(self, *, n_iter: int = 2, random_state: int = 0):
        self.n_iter = n_iter
        self.random_state = random_state

    def issues(self, X: Any, Y: Any) -> LabelIssues:
        """What the audit finds."""
        return find_label_issues(None, X, Y, n_iter=self.n_iter, random_state=self.random_state)

    def error_probability(self, X: Any, Y: Any) -> NDArray[np.float64]:
        """How suspicious each observed label is, NaN elsewhere."""
        return self.issues(X, Y).error_log_odds


class Cleanlab(Audit):
    """cleanlab's label quality scores of each class, from the same out-of-fold probabilities.

    cleanlab (Northcutt, Jiang and Chuang, 2021) knows no missing labels: each class is scored on its observed samples.

    Parameters
    ----------
    method : {"self_confidence", "normalized_margin", "confidence_weighted_entropy"}, default="self_confidence"
        Which of its scores.
    adjust : bool, default=False
        Whether it adjusts probabilities by class.
    n_iter, random_state
        As in `Audit`. One round is a plain cross-validation.
    """

    def __init__(
        self,
        *,
        method: str = "self_confidence",
        adjust: bool = False,
        n_iter: int = 1,
        random_state: int = 0,
    ):
        super().__init__(n_iter=n_iter, random_state=random_state)
        self.method = method
        self.adjust = adjust

    def error_probability(self, X: Any, Y: Any) -> NDArray[np.float64]:
        """Minus the label quality of each observed label, NaN elsewhere."""
        return -label_quality(self.issues(X, Y), self.method, self.adjust)


def label_quality(issues: LabelIssues, method: str, adjust: bool) -> NDArray[np.float64]:
    """The quality by cleanlab of each observed label, NaN elsewhere."""
    from cleanlab.multilabel_classification.rank import get_label_quality_scores_per_class

    quality = np.full(issues.signs.shape, np.nan)
    for j, signs in enumerate(issues.signs.T):
        known = np.flatnonzero(signs)
        positive, p = signs[known] > 0, issues.probabilities[known, j]
        if positive.all() or not positive.any():
            quality[known, j] = np.where(positive, p, 1 - p)  # cleanlab refuses a class of one kind alone
            continue
        given = [[0] if each else [] for each in positive]
        found = get_label_quality_scores_per_class(given, p[:, None], method=method, adjust_pred_probs=adjust)
        quality[known, j] = np.reshape(found, -1)
    return quality
