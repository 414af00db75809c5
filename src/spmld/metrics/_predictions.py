"""Metrics of predicted labels: Hamming loss, subset accuracy and F1."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld.labels import Hierarchy, read_labels
from spmld.labels.single_class import ignore_label_warnings
from spmld.metrics._averaging import Average, average_defined, average_entries, count, ratio
from spmld.metrics._inputs import Floats, Signs, read_predictions, weigh


def hamming_loss(
    Y_true: Any, predictions: Any, mask: Any = None, *, entry_weight: Any = None, average: str | None = "mean"
) -> Average:
    r"""Compute the fraction of incorrectly predicted entries.

    .. math:: [\hat y_{ij} \ne y_{ij}]

    averaged over the observed entries.

    Values are in [0, 1]; lower is better. ``average=None`` returns the values of all entries.

    Parameters
    ----------
    Y_true, mask, average
        As in `ranking_loss`.
    predictions : array-like or sparse matrix of shape (n_samples, n_labels)
        Predicted labels as 0/1, -1/+1 or bool.
    entry_weight
        As in `macro_auc`.

    Returns
    -------
    float, or ndarray if `average` is None

    Examples
    --------
    >>> from spmld.metrics import hamming_loss
    >>> hamming_loss([[1, 0], [None, 1]], [[1, 1], [0, 1]])
    0.3333333333333333
    """
    arrays = read_predictions(Y_true, predictions, mask)
    return average_entries(_is_wrong, *arrays, entry_weight, average, "hamming_loss")


def _is_wrong(signs: Signs, predicted: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return predicted != (signs > 0)


def subset_accuracy(Y_true: Any, predictions: Any, mask: Any = None, *, average: str | None = "mean") -> Average:
    r"""Compute the fraction of samples whose observed labels are all predicted correctly.

    .. math:: [\hat y_{ij} = y_{ij} \text{ for all observed } j]

    Values are in [0, 1]; higher is better. Samples without an observed entry are left out.

    The parameters are those of `hamming_loss`, without `entry_weight`.

    Examples
    --------
    >>> from spmld.metrics import subset_accuracy
    >>> subset_accuracy([[1, 0], [None, 1]], [[1, 1], [0, 1]])
    0.5
    """
    signs, predicted = read_predictions(Y_true, predictions, mask)
    correct = ~(_is_wrong(signs, predicted) & (signs != 0)).any(axis=1)
    return average_defined(np.where(signs.any(axis=1), correct, np.nan), average, "subset_accuracy")


def sample_f1(Y_true: Any, predictions: Any, mask: Any = None, *, average: str | None = "mean") -> Average:
    r"""Compute the F1 score of the predicted labels of a sample.

    .. math:: \frac{2 \, TP_i}{2 \, TP_i + FP_i + FN_i}

    over the observed entries of sample `i`.

    Values are in [0, 1]; higher is better. Samples with neither a positive nor a predicted positive among their
    observed entries are left out.

    The parameters are those of `hamming_loss`, without `entry_weight`.

    Examples
    --------
    >>> from spmld.metrics import sample_f1
    >>> sample_f1([[1, 0, None], [0, 1, 1], [0, 0, 0]], [[1, 1, 1], [0, 1, 1], [0, 0, 0]], average=None)
    array([0.66666667, 1.        ,        nan])
    """
    return average_defined(_f1(Y_true, predictions, mask, axis=1), average, "sample_f1")


def macro_f1(
    Y_true: Any, predictions: Any, mask: Any = None, *, entry_weight: Any = None, average: str | None = "mean"
) -> Average:
    r"""Compute the F1 score of the predictions of a label.

    .. math:: \frac{2 \, TP_j}{2 \, TP_j + FP_j + FN_j}

    over the observed entries of label `j`. Values are in [0, 1]; higher is better. Labels with neither a positive nor a
    predicted positive among these entries are left out.

    The parameters are those of `hamming_loss`.

    Examples
    --------
    >>> from spmld.metrics import macro_f1
    >>> macro_f1([[1, 0, None], [0, 1, 1], [0, 0, 0]], [[1, 1, 1], [0, 1, 1], [0, 0, 0]], average=None)
    array([1.        , 0.66666667, 1.        ])
    """
    return average_defined(_f1(Y_true, predictions, mask, 0, entry_weight), average, "macro_f1")


def micro_f1(Y_true: Any, predictions: Any, mask: Any = None, *, entry_weight: Any = None) -> float:
    r"""Compute the F1 score of all entries.

    .. math:: \frac{2 \, TP}{2 \, TP + FP + FN}

    over all observed entries.

    The value is in [0, 1]; higher is better. It is NaN, with a warning, if no observed entry is positive or
    predicted positive.

    The parameters are those of `hamming_loss`, without `average`.

    Examples
    --------
    >>> from spmld.metrics import micro_f1
    >>> micro_f1([[1, 0, None], [0, 1, 1], [0, 0, 0]], [[1, 1, 1], [0, 1, 1], [0, 0, 0]])
    0.8571428571428571
    """
    return float(average_defined(_f1(Y_true, predictions, mask, None, entry_weight), "mean", "micro_f1"))


def hierarchical_f1(Y_true: Any, predictions: Any, mask: Any = None, *, hierarchy: Hierarchy) -> float:
    """Compute the F1 score of all entries, where the ancestors of true and of predicted labels count, too [1]_.

    The value is in [0, 1]; higher is better. It equals `micro_f1` of coherent labels and predictions.

    Parameters
    ----------
    Y_true : labels in any form accepted by `spmld.labels.read_labels`
        True labels. Missing entries that others imply are filled in, and the other missing entries are ignored.
    predictions : array-like or sparse matrix of shape (n_samples, n_labels)
        Predicted labels as 0/1, -1/+1 or bool.
    mask : array-like of bool of shape (n_samples, n_labels), optional
        True where a label is observed. By default, the entries of `Y_true` that are not missing.
    hierarchy : Hierarchy
        The hierarchy, whose labels are the columns of a DataFrame `Y_true`, or else indices.

    Returns
    -------
    float

    References
    ----------
    .. [1] S. Kiritchenko, S. Matwin, R. Nock and A. F. Famili. "Learning and evaluation in the presence of class
       hierarchies." Canadian AI 2006.

    Examples
    --------
    >>> from spmld.labels import Hierarchy
    >>> from spmld.metrics import hierarchical_f1
    >>> hierarchical_f1([[1, 1, 0]], [[0, 0, 1]], hierarchy=Hierarchy({0: [1, 2]}))
    0.5
    """
    labels = read_labels(Y_true, mask, name="Y_true")
    _, predicted = read_predictions(Y_true, predictions, mask)
    ancestors = hierarchy.ancestors(list(range(labels.shape[1])) if labels.names is None else labels.names)
    with ignore_label_warnings():
        truth = hierarchy.infer_labels(labels)
    return micro_f1(truth, predicted.astype(np.float32) @ ancestors.astype(np.float32) > 0)


def _f1(Y_true: Any, predictions: Any, mask: Any, axis: int | None, entry_weight: Any = None) -> Floats:
    """Return F1 of the observed entries of each row (axis=1), of each column (axis=0) or of all."""
    signs, predicted = read_predictions(Y_true, predictions, mask)
    signs, weights = weigh(signs, entry_weight)
    positive = signs > 0
    counted = positive & predicted, predicted & (signs != 0), positive
    n_true_positive, n_predicted, n_positive = (count(chosen, weights, axis) for chosen in counted)
    return ratio(2 * n_true_positive, n_predicted + n_positive)
