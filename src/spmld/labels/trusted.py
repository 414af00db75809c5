"""Verified entries of labels."""

from dataclasses import replace
from typing import Any

import numpy as np

from spmld._arrays import to_numpy
from spmld.labels.encoding import Labels


def mark_trusted(labels: Labels, trusted: Any) -> Labels:
    """Return the labels with their verified entries; missing entries are not verified.

    Parameters
    ----------
    labels : Labels
        Labels.
    trusted : array-like of bool of shape (n_samples, n_labels) or (n_samples,), or None
        Verified entries, or samples of which all observed entries are verified.

    Returns
    -------
    Labels

    Examples
    --------
    >>> from spmld.labels import read_labels
    >>> from spmld.labels.trusted import mark_trusted
    >>> mark_trusted(read_labels([[1, 0], [0, None], [1, 1]]), [False, True, False]).trusted
    array([[False, False],
           [ True, False],
           [False, False]])
    """
    if trusted is None:
        return labels
    mask, shape = np.asarray(to_numpy(trusted)), labels.signs.shape
    if mask.dtype != bool and not np.isin(mask, (0, 1)).all():
        raise ValueError(f"trusted must be an array of bool, got values of type {mask.dtype}")
    if mask.shape not in (shape, (shape[0], 1), (shape[0],)):
        raise ValueError(f"trusted must have shape {shape} or {(shape[0],)}, got {mask.shape}")
    verified = mask.astype(bool).reshape(shape[0], -1) & labels.observed
    return replace(labels, trusted=verified) if verified.any() else labels
