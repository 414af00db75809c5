"""Labels in torch tensors, converted to signs on their device."""

from typing import Any

import numpy as np
from array_api_compat import is_torch_array
from numpy.typing import NDArray

from spmld._arrays import namespace, to_numpy


def read_tensor(Y: Any) -> tuple[NDArray[np.int8], NDArray[Any]] | None:
    """Return the signs of a matrix of 0/1 or -1/+1, with NaN where missing, and the two classes; None for other labels.

    A sign takes an eighth of the memory of a number, or less, so that large tensors leave their device quickly.

    Examples
    --------
    >>> import torch
    >>> from spmld.labels.tensors import read_tensor
    >>> read_tensor(torch.tensor([[1.0, 0.0], [torch.nan, 1.0]]))
    (array([[ 1, -1],
           [ 0,  1]], dtype=int8), array([0, 1]))
    """
    if not is_torch_array(Y) or Y.ndim != 2 or not Y.dtype.is_floating_point:
        return None
    xp = namespace(Y)
    positive, missing = Y == 1, xp.isnan(Y)
    for negative in (0, -1):
        at = xp.equal(Y, negative)
        if bool(xp.all(positive | missing | at)) and bool(xp.any(positive | at)):
            signs = xp.astype(positive, xp.int8) - xp.astype(at, xp.int8)
            return to_numpy(signs), np.array([negative, 1])
    return None
