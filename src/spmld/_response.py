"""Scores, probabilities and labels of any classifier, one column for each label."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from spmld._arrays import to_numpy
from spmld._io import need


def label_scores(
    estimator: Any, X: Any, response_method: str, classes: NDArray[Any], n_labels: int
) -> NDArray[np.float64]:
    """Return the scores of a fitted estimator as one column for each label.

    The method `response_method` of the estimator may return an array of shape (n_samples, n_labels), a vector or two
    columns for one label, or one array of shape (n_samples, n_classes) for each label. `classes` are the negative and
    the positive one.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> import numpy as np
    >>> from spmld._response import label_scores
    >>> model = LogisticRegression().fit([[0], [1]], [0, 1])
    >>> label_scores(model, [[0], [1]], "predict_proba", np.array([0, 1]), 1).shape
    (2, 1)
    """
    scores = getattr(estimator, response_method)(X)
    fitted_classes = getattr(estimator, "classes_", classes)
    if isinstance(scores, list):
        scores = select_positive(scores, fitted_classes, classes)
    scores = np.asarray(to_numpy(scores), dtype=float)
    if n_labels == 1 and np.ndim(fitted_classes) == 1 and len(fitted_classes) == 1:
        # The scores of an estimator fitted on one class need not favor this class.
        negative = -1.0 if response_method == "decision_function" else 0.0
        scores = np.full(len(scores), 1.0 if fitted_classes[0] == classes[1] else negative)
    if scores.ndim == 1:
        scores = scores[:, None]
    if n_labels == 1 and scores.ndim == 2 and scores.shape[1] == 2:
        scores = scores[:, 1:]
    if scores.ndim != 2 or scores.shape[1] != n_labels:
        raise ValueError(
            f"{response_method} of the estimator must return one score for each of the {n_labels} labels, "
            f"got shape {scores.shape}"
        )
    if not np.isfinite(scores).all():
        raise ValueError(f"{response_method} of the estimator must return finite scores, got NaN or infinity")
    return scores


def select_positive(scores: list[Any], fitted_classes: Any, classes: NDArray[Any]) -> NDArray[Any]:
    """Return the scores of the positive class of each label, of a list with the scores of all classes of each label.

    A label that was fitted on one class has one column. `classes` are the negative and the positive one.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld._response import select_positive
    >>> select_positive([np.array([[0.2, 0.8]]), np.ones((1, 1))], [np.array([0, 1]), np.array([0])], np.array([0, 1]))
    array([[0.8, 0. ]])
    """
    by_label = zip(scores, fitted_classes, strict=True)
    return np.column_stack([column[:, values == classes[1]].sum(axis=1) for column, values in by_label])


@dataclass(frozen=True)
class Predictions:
    """Predictions of a model.

    Attributes
    ----------
    scores : ndarray of shape (n_samples, n_labels) or None
        `decision_function`, or else `predict_proba`.
    positive : ndarray of int of shape (n_samples, n_labels)
        `predict`, 1 for positive and 0 for negative.
    probabilities : ndarray of shape (n_samples, n_labels) or None
        `predict_proba`.
    """

    scores: Any
    positive: Any
    probabilities: Any


def as_frame(model: Any, X: Any) -> Any:
    """Return X as a DataFrame with the feature names of the model; unchanged if there are none or X is sparse."""
    if not hasattr(model, "feature_names_in_") or sp.issparse(X):
        return X
    return need("pandas").DataFrame(X, columns=list(model.feature_names_in_))


def predict_all(model: Any, X: Any) -> Predictions:
    """Return the scores, labels and probabilities that a model predicts; estimators of this library evaluate once."""
    X = as_frame(model, X)
    if isinstance(model, Pipeline) and len(model) > 1:
        return predict_all(model[-1], model[:-1].transform(X))
    if hasattr(model, "_predict_all"):
        predictions: Predictions = model._predict_all(X)
        return predictions
    predicted = to_numpy(model.predict(X))
    predicted = predicted[:, None] if predicted.ndim == 1 else predicted
    classes: Any = getattr(model, "classes_", None)
    binary = isinstance(classes, np.ndarray) and classes.shape == (2,)
    if not binary:  # scikit-learn's multi-label estimators have a list with the classes of each label
        classes = np.array([0, 1])
    positive = predicted == classes[1] if binary else predicted > 0
    scores = {
        response_method: label_scores(model, X, response_method, classes, predicted.shape[1])
        for response_method in ("decision_function", "predict_proba")
        if hasattr(model, response_method)
    }
    probabilities = scores.get("predict_proba")
    return Predictions(scores.get("decision_function", probabilities), positive.astype(int), probabilities)
