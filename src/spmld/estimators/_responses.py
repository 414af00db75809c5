"""Scores of any scikit-learn classifier, in one shape."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["label_scores"]


def label_scores(estimator: Any, X: Any, response: str, classes: NDArray[Any], n_labels: int) -> NDArray[np.float64]:
    """Scores of each label, from whatever shape the estimator gives them in.

    Parameters
    ----------
    estimator : fitted estimator
        Its method `response` may give an array of shape (n_samples, n_labels), a vector or two columns for one label,
        or one array of shape (n_samples, n_classes) for each label.
    X : array-like of shape (n_samples, n_features)
        Rows to score.
    response : {"decision_function", "predict_proba"}
        Which scores.
    classes : ndarray of shape (2,)
        How a negative and a positive are written.
    n_labels : int
        Number of labels.

    Returns
    -------
    ndarray of shape (n_samples, n_labels)

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> import numpy as np
    >>> from spmld.estimators._responses import label_scores
    >>> model = LogisticRegression().fit([[0], [1]], [0, 1])
    >>> label_scores(model, [[0], [1]], "predict_proba", np.array([0, 1]), 1).shape
    (2, 1)
    """
    scores = getattr(estimator, response)(X)
    seen = getattr(estimator, "classes_", classes)
    if hasattr(scores, "detach"):
        scores = scores.detach().cpu().numpy()
    if isinstance(scores, list):
        known = zip(scores, seen, strict=True)
        scores = np.column_stack([column[:, values == classes[1]].sum(axis=1) for column, values in known])
    scores = np.asarray(scores, dtype=float)
    if n_labels == 1 and np.ndim(seen) == 1 and len(seen) == 1:
        # Fitted on one class, it is sure of that class, which its scores need not say.
        never = -1.0 if response == "decision_function" else 0.0
        scores = np.full(len(scores), 1.0 if seen[0] == classes[1] else never)
    if scores.ndim == 1:
        scores = scores[:, None]
    if n_labels == 1 and scores.ndim == 2 and scores.shape[1] == 2:
        scores = scores[:, 1:]
    if scores.ndim != 2 or scores.shape[1] != n_labels:
        raise ValueError(
            f"estimator must give one score for each of the {n_labels} labels, got {response} of shape {scores.shape}"
        )
    if not np.isfinite(scores).all():
        raise ValueError(f"estimator must give finite scores, got NaN or infinity from {response}")
    return scores
