"""Decoding of labels in which a number means missing."""

from typing import Any, Literal

import numpy as np

from spmld._arrays import to_dense
from spmld._frames import frame_like


def decode_missing(Y: Any, missing: Literal[0, -1] = 0) -> Any:
    """Convert labels in {-1, 0, 1}, one of which means missing, to labels with NaN.

    Parameters
    ----------
    Y : array-like, DataFrame or sparse matrix
        Labels in {-1, 0, 1}.
    missing : {0, -1}, default=0
        The value that means missing. With 0 the classes are -1 and +1, with -1 they are 0 and 1.

    Returns
    -------
    ndarray or DataFrame of float
        Labels as 0 and 1, NaN where missing.

    Examples
    --------
    >>> from spmld.labels import decode_missing
    >>> decode_missing([[1, 0], [-1, 1]], missing=0)
    array([[ 1., nan],
           [ 0.,  1.]])
    """
    if missing not in (0, -1):
        raise ValueError(f"missing must be 0 or -1, got {missing!r}")
    values = np.asarray(to_dense(Y, "Y"), dtype=float)
    if not np.isin(values, (-1.0, 0.0, 1.0)).all():
        raise ValueError("Y must contain only -1, 0 and 1")
    return frame_like(Y, np.where(values == missing, np.nan, (values == 1).astype(float)))
