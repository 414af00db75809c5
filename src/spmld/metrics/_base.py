"""What the metrics share: reading what is judged, working in blocks, and averaging over what is defined."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

from spmld.labels import Labels, read_labels

Floats = NDArray[np.float64]
Signs = NDArray[np.int8]

# Entries in a block. A handful of eight-byte temporaries of this size stay far under 64 MB, and near the cache.
_BLOCK = 2**18


def read_scores(Y_true: Any, scores: Any, mask: Any = None, *, name: str = "scores") -> tuple[Signs, Floats]:
    """Signs of the labels and scores of the same shape."""
    labels = _read_truth(Y_true, mask)
    values = _read_values(scores, labels, name)
    try:
        values = values.astype(np.float64, copy=False, casting="unsafe" if values.dtype == object else "same_kind")
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be real numbers, got dtype {values.dtype}") from None
    # One pass without a temporary: a sum is NaN if an entry is, or if infinities of both signs met.
    with np.errstate(invalid="ignore", over="ignore"):
        suspicious = np.isnan(values.sum())
    if suspicious and np.isnan(values).any():
        raise ValueError(
            f"{name} must be numbers everywhere, also where labels are unobserved, "
            f"got {np.isnan(values).sum()} NaN among {values.size} entries"
        )
    return labels.signs, values


def read_probabilities(Y_true: Any, probabilities: Any, mask: Any = None) -> tuple[Signs, Floats]:
    """Signs of the labels and probabilities of the same shape."""
    signs, values = read_scores(Y_true, probabilities, mask, name="probabilities")
    if values.size and not (values.min() >= 0 and values.max() <= 1):
        raise ValueError(
            f"probabilities must lie in [0, 1], got values from {values.min():.6g} to {values.max():.6g}. "
            "Give the output of predict_proba, or calibrate the scores first"
        )
    return signs, values


def read_predictions(Y_true: Any, predictions: Any, mask: Any = None) -> tuple[Signs, NDArray[np.bool_]]:
    """Signs of the labels, and where a positive is predicted."""
    labels = _read_truth(Y_true, mask)
    values = _read_values(predictions, labels, "predictions")
    if values.dtype.kind != "b" and not set(labels.classes.tolist()) <= {-1, 0, 1}:
        # A single label may be written with any two values; it is then predicted in the same ones.
        negative, positive = (values == value for value in labels.classes)
        if not (negative | positive).all():
            raise ValueError(f"predictions must be {labels.classes.tolist()} as Y_true is, or bool, got others")
        return labels.signs, positive
    try:
        signs = read_labels(values, name="predictions").signs
    except ValueError as error:
        raise ValueError(f"{error}. Scores become predictions through a threshold, as scores > 0") from None
    if not signs.all():
        raise ValueError(f"predictions must not be missing, got {(signs == 0).sum()} missing of {signs.size}")
    return labels.signs, signs > 0


def _read_truth(Y_true: Any, mask: Any) -> Labels:
    """Labels; those read already are taken as they are, so that many metrics can share one reading."""
    return Y_true if isinstance(Y_true, Labels) else read_labels(Y_true, mask, name="Y_true")


def _read_values(given: Any, labels: Labels, name: str) -> NDArray[Any]:
    """What is judged as an array of the shape of the labels."""
    if sp.issparse(given):
        given = given.toarray()
    if hasattr(given, "detach"):
        given = given.detach().cpu().numpy()
    if isinstance(given, np.ma.MaskedArray):
        raise ValueError(f"{name} must be given for every entry, got a masked array")
    try:
        values = np.asarray(given)
    except ValueError as error:
        raise ValueError(f"{name} must be rectangular, with as many labels in each row: {error}") from None
    shape = labels.signs.shape
    if values.shape == shape:
        return values
    if values.shape == shape[:1] and shape[1] == 1:
        return values[:, None]
    # predict_proba gives both classes of a single label, and of several labels one such array each.
    if values.shape == (shape[0], 2) and shape[1] == 1:
        return values[:, 1:]
    if values.shape == (shape[1], shape[0], 2):
        return values[:, :, 1].T
    raise ValueError(f"{name} must have the shape of Y_true, {shape}, got {values.shape}")


def by_rows(metric: Callable[..., Any], signs: Signs, *others: NDArray[Any]) -> Floats:
    """The metric of each row, computed in blocks of rows."""
    out = np.empty(len(signs))
    for rows in _blocks(*signs.shape):
        out[rows] = metric(*(np.ascontiguousarray(array[rows]) for array in (signs, *others)))
    return out


def by_columns(metric: Callable[..., Any], signs: Signs, *others: NDArray[Any]) -> Floats:
    """The metric of each column, computed in blocks of columns."""
    return by_rows(metric, signs.T, *(array.T for array in others))


def _blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    step = max(1, _BLOCK // max(1, n_columns))
    return (slice(start, start + step) for start in range(0, n_rows, step))


def read_k(k: Any) -> int:
    """How far down the ranked labels to look."""
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
        raise ValueError(f"k must be an integer of at least 1, got {k!r}")
    return int(k)


def ratio(numerator: Any, denominator: Any) -> Floats:
    """Quotient, NaN where it is undefined: where the denominator is 0."""
    numerator, denominator = np.broadcast_arrays(numerator, denominator)
    out = np.full(denominator.shape, np.nan)
    np.divide(numerator, denominator, out=out, where=denominator != 0)
    return out


def average_defined(values: Floats, average: str | None, name: str) -> Any:
    """The mean over the entries that are not NaN, or the values themselves.

    This is the one rule for undefined cases: they are left out. Every metric ends here.
    """
    if average is None:
        return values
    if average != "mean":
        raise ValueError(f'average must be "mean" or None, got {average!r}')
    defined = values[~np.isnan(values)]
    if defined.size == 0:
        warnings.warn(
            f"{name} is undefined for all {values.size} cases, the result is nan", UndefinedMetricWarning, stacklevel=3
        )
        return float("nan")
    return float(defined.mean())


def average_entries(
    loss: Callable[..., Any],
    signs: Signs,
    values: NDArray[Any],
    over: str,
    average: str | None,
    name: str,
) -> Any:
    """The mean of a loss of single entries over all observed ones, or of its means over samples or labels.

    `loss` takes signs and values, and whatever it gives for an unobserved entry is not used.
    """

    def totals(signs: Signs, values: NDArray[Any]) -> Any:
        return np.sum(loss(signs, values), axis=1, where=signs != 0)

    if over == "samples":
        means = ratio(by_rows(totals, signs, values), np.count_nonzero(signs, axis=1))
    elif over == "labels":
        means = ratio(by_columns(totals, signs, values), np.count_nonzero(signs, axis=0))
    elif over != "entries":
        raise ValueError(f'over must be "entries", "samples" or "labels", got {over!r}')
    elif average is None:
        return np.where(signs != 0, loss(signs, values), np.nan)
    else:
        means = ratio(by_rows(totals, signs, values).sum(), np.count_nonzero(signs))
    return average_defined(means, average, name)
