"""Weights of entries, and entries that are verified."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld._arrays import check_masked, check_tensor, to_numpy
from spmld._io import shorten
from spmld.labels.encoding import Labels

MAX_WEIGHT = 1e15
"""Maximum entry weight, with which sums of squares are finite in float32."""


def read_weights(entry_weight: Any, signs: NDArray[Any]) -> NDArray[Any]:
    """Return the entry weights, which are 0 for missing entries. An array of bool stays one.

    Parameters
    ----------
    entry_weight : array-like of shape (n_samples, n_labels) or (n_samples,)
        Weights.
    signs : ndarray of shape (n_samples, n_labels)
        Labels: +1, -1, and 0 for missing entries.

    Returns
    -------
    ndarray of shape (n_samples, n_labels)

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.labels.entries import read_weights
    >>> read_weights([2, 0.5], np.array([[1, 0], [-1, 1]]))
    array([[2. , 0. ],
           [0.5, 0.5]])
    """
    if isinstance(entry_weight, np.ndarray) and entry_weight.dtype == bool and entry_weight.shape == signs.shape:
        return entry_weight & (signs != 0)
    check_masked(entry_weight, "entry_weight", "pass entry_weight.filled(0) to ignore these entries")
    check_tensor(entry_weight, "entry_weight")
    try:
        weights = to_numpy(entry_weight)
        if weights.dtype.kind == "c":
            raise ValueError
        weights = np.asarray(weights, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(shorten(f"entry_weight must be an array of real numbers, got {entry_weight!r}")) from None
    weights = np.where(signs != 0, _to_matrix(weights, signs.shape, "entry_weight"), 0.0)
    if not (weights.min() >= 0 and weights.max() <= MAX_WEIGHT):
        raise ValueError(
            f"entry_weight must be in [0, {MAX_WEIGHT:g}] for observed labels, "
            f"got values from {weights.min():.3g} to {weights.max():.3g}"
        )
    return weights


def read_trusted(trusted: Any, observed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the verified entries as a mask, False where a label is missing.

    Parameters
    ----------
    trusted : array-like of bool of shape (n_samples, n_labels) or (n_samples,)
        Verified entries, or samples whose observed entries are all verified.
    observed : ndarray of bool of shape (n_samples, n_labels)
        Observed entries.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.labels.entries import read_trusted
    >>> read_trusted([False, True], np.array([[True, True], [True, False]]))
    array([[False, False],
           [ True, False]])
    """
    check_masked(trusted, "trusted", "pass trusted.filled(False) if these entries are not verified")
    check_tensor(trusted, "trusted")
    mask = to_numpy(trusted)
    if mask.dtype != bool and not np.isin(mask, (0, 1)).all():
        raise ValueError(f"trusted must be an array of bool, got values of type {mask.dtype}")
    return _to_matrix(mask.astype(bool), observed.shape, "trusted") & observed


def _to_matrix(values: NDArray[Any], shape: tuple[int, ...], name: str) -> NDArray[Any]:
    """Return values of entries, or of samples in one column, as a matrix."""
    n, l = shape
    if values.shape not in ((n, l), (n, 1), (n,)):
        raise ValueError(f"{name} must have shape {(n, l)} or {(n,)}, got {values.shape}")
    return values.reshape(n, -1)


def mark_trusted(labels: Labels, trusted: Any) -> Labels:
    """Return the labels with their verified entries, see `read_trusted`; `trusted` stays None if there are none."""
    verified = None if trusted is None else read_trusted(trusted, labels.observed)
    return labels if verified is None or not verified.any() else replace(labels, trusted=verified)


def observed_signs(signs: NDArray[Any], weights: NDArray[Any]) -> NDArray[np.int8]:
    """Return the signs, 0 for entries of weight 0.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.labels.entries import observed_signs
    >>> observed_signs(np.array([[1, -1]]), np.array([[0.5, 0.0]]))
    array([[1, 0]], dtype=int8)
    """
    return np.where(weights > 0, signs, 0).astype(np.int8)
