"""Reading and validating the arguments of metrics."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld._arrays import to_dense, to_numpy
from spmld.labels import Labels, read_labels
from spmld.labels.encoding import read_weights

Floats = NDArray[np.float64]
Signs = NDArray[np.int8]


def read_scores(
    Y_true: Any, scores: Any, mask: Any = None, entry_weight: Any = None, *, name: str = "scores"
) -> tuple[NDArray[Any], ...]:
    """Return the signs of the labels, scores of the same shape and, if they are given, weights of the entries."""
    labels = read_labels(Y_true, mask, name="Y_true")
    values = read_matrix(scores, labels, name)
    try:
        values = values.astype(np.float64, copy=False, casting="unsafe" if values.dtype == object else "same_kind")
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be real numbers, got dtype {values.dtype}") from None
    # The sum needs no temporary array. It is NaN if an entry is, or if it has infinities of both signs.
    with np.errstate(invalid="ignore", over="ignore"):
        suspicious = np.isnan(values.sum())
    if suspicious and np.isnan(values).any():
        raise ValueError(
            f"{name} must not contain NaN, not even where labels are missing, "
            f"got {np.isnan(values).sum()} NaN among {values.size} entries"
        )
    signs, weights = weigh(labels.signs, entry_weight)
    return (signs, values) if weights is None else (signs, values, weights)


def read_probabilities(Y_true: Any, probabilities: Any, mask: Any = None) -> tuple[Signs, Floats]:
    """Return the signs of the labels, and probabilities of the same shape."""
    signs, values = read_scores(Y_true, probabilities, mask, name="probabilities")
    if values.size and not (values.min() >= 0 and values.max() <= 1):
        raise ValueError(
            f"probabilities must be in [0, 1], got values from {values.min():.6g} to {values.max():.6g}. "
            "Pass the output of predict_proba, or calibrate the scores first"
        )
    return signs, values


def read_predictions(Y_true: Any, predictions: Any, mask: Any = None) -> tuple[Signs, NDArray[np.bool_]]:
    """Return the signs of the labels, and which entries are predicted positive."""
    labels = read_labels(Y_true, mask, name="Y_true")
    values = read_matrix(predictions, labels, "predictions")
    if values.dtype.kind != "b" and not set(labels.classes.tolist()) <= {-1, 0, 1}:
        # The two classes of a single label may be any values. Predictions then have the same values.
        negative, positive = (values == value for value in labels.classes)
        if not (negative | positive).all():
            raise ValueError(
                f"predictions must be bool or have the values of Y_true, {labels.classes.tolist()}, got other values"
            )
        return labels.signs, positive
    try:
        signs = read_labels(values, name="predictions").signs
    except ValueError as error:
        raise ValueError(f"{error}. Apply a threshold to turn scores into predictions, such as scores > 0") from None
    if not signs.all():
        raise ValueError(f"predictions must not contain missing entries, got {(signs == 0).sum()} among {signs.size}")
    return labels.signs, signs > 0


def weigh(signs: Signs, entry_weight: Any) -> tuple[Signs, Floats | None]:
    """Return the signs, 0 where the weight is 0, and the weights of all entries, 0 where they are missing."""
    if entry_weight is None:
        return signs, None
    weights = read_weights(entry_weight, signs).astype(np.float64)
    return signs * (weights > 0), weights


def read_matrix(values: Any, labels: Labels, name: str) -> NDArray[Any]:
    """Return scores, predictions or probabilities as an array of the shape of the labels."""
    if isinstance(values, np.ma.MaskedArray):
        raise ValueError(f"{name} must not contain missing entries, got a masked array")
    values = to_dense(values, name)
    try:
        values = to_numpy(values)
    except ValueError as error:
        raise ValueError(f"{name} must have the same number of labels in each row: {error}") from None
    shape = labels.signs.shape
    if values.shape == shape:
        return values
    if values.shape == shape[:1] and shape[1] == 1:
        return values[:, None]
    # predict_proba returns both classes of a single label, or a list with such an array for each label.
    if values.shape == (shape[0], 2) and shape[1] == 1:
        return values[:, 1:]
    if values.shape == (shape[1], shape[0], 2):
        return values[:, :, 1].T
    raise ValueError(f"{name} must have the shape of Y_true, {shape}, got {values.shape}")
