"""What any scikit-learn classifier says of samples, in one shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spmld._io import need

__all__ = ["Answers", "answers", "label_scores", "with_names"]


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
    >>> from spmld._response import label_scores
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


@dataclass(frozen=True)
class Answers:
    """What a model says: scores and 0/1 labels of shape (n_samples, n_labels), probabilities where it has them."""

    scores: Any
    positive: Any
    probabilities: Any


def with_names(model: Any, X: Any) -> Any:
    """Features in the order of the model, as a frame if it was fitted on one."""
    if not hasattr(model, "feature_names_in_") or sp.issparse(X):
        return X
    return need("pandas").DataFrame(X, columns=list(model.feature_names_in_))


def answers(model: Any, X: Any) -> Answers:
    """All that a model says of samples, one column for each label."""
    X = with_names(model, X)
    predicted = np.asarray(model.predict(X))
    predicted = predicted[:, None] if predicted.ndim == 1 else predicted
    classes: Any = getattr(model, "classes_", None)
    known = isinstance(classes, np.ndarray) and classes.shape == (2,)
    if not known:  # as for models of scikit-learn for several labels, which list the classes of each
        classes = np.array([0, 1])
    positive = predicted == classes[1] if known else predicted > 0
    said = {
        response: label_scores(model, X, response, classes, predicted.shape[1])
        for response in ("decision_function", "predict_proba")
        if hasattr(model, response)
    }
    probabilities = said.get("predict_proba")
    return Answers(said.get("decision_function", probabilities), positive.astype(int), probabilities)
