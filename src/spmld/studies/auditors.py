"""Methods that find label errors, for studies of the audit."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from spmld.audit import LabelIssues, find_label_issues


class Audit(BaseEstimator):
    """`spmld.audit.find_label_issues` with its default estimator.

    Parameters
    ----------
    random_state : int, default=0
        Seed for the folds.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.datasets import make_planted
    >>> from spmld.studies.auditors import Audit
    >>> from spmld.labels import corrupt_labels
    >>> data = make_planted(n_samples=300, random_state=0)
    >>> Y = corrupt_labels(data.Y, "flip", 0.03, random_state=0)
    >>> scores = Audit().error_scores(data.X, Y)
    >>> bool(np.mean(scores[Y != data.Y]) > np.mean(scores[Y == data.Y]))
    True
    """

    def __init__(self, *, random_state: int = 0):
        self.random_state = random_state

    def issues(self, X: Any, Y: Any) -> LabelIssues:
        """Return the result of the audit."""
        return find_label_issues(None, X, Y, random_state=self.random_state)

    def error_scores(self, X: Any, Y: Any) -> NDArray[np.float64]:
        """Return scores of observed entries, higher for likely errors; NaN where labels are missing."""
        return self.issues(X, Y).error_log_odds


class Cleanlab(Audit):
    """cleanlab's label quality scores of each class, from out-of-fold probabilities of the audit's tuned model.

    cleanlab (Northcutt, Jiang and Chuang, 2021) does not support missing labels. Each class is scored on the samples
    whose label is observed.

    Parameters
    ----------
    method : {"self_confidence", "normalized_margin", "confidence_weighted_entropy"}, default="self_confidence"
        Label quality score.
    adjust : bool, default=False
        Whether to adjust the probabilities by class.
    random_state
        As in `Audit`.
    """

    def __init__(self, *, method: str = "self_confidence", adjust: bool = False, random_state: int = 0):
        super().__init__(random_state=random_state)
        self.method = method
        self.adjust = adjust

    def error_scores(self, X: Any, Y: Any) -> NDArray[np.float64]:
        """Return the negative label quality of observed entries; NaN where labels are missing."""
        return -label_quality(self.issues(X, Y), self.method, self.adjust)


def label_quality(issues: LabelIssues, method: str, adjust: bool) -> NDArray[np.float64]:
    """Return cleanlab's label quality of each observed entry; NaN where labels are missing."""
    from cleanlab.multilabel_classification.rank import get_label_quality_scores_per_class

    quality = np.full(issues.signs.shape, np.nan)
    for j, signs in enumerate(issues.signs.T):
        observed = np.flatnonzero(signs)
        positive, p = signs[observed] > 0, issues.probabilities[observed, j]
        if positive.all() or not positive.any():
            quality[observed, j] = np.where(positive, p, 1 - p)  # cleanlab needs two values per class
            continue
        labels = [[0] if is_positive else [] for is_positive in positive]
        scores = get_label_quality_scores_per_class(labels, p[:, None], method=method, adjust_pred_probs=adjust)
        quality[observed, j] = np.reshape(scores, -1)
    return quality
