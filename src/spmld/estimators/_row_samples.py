"""Some rows of values in row blocks."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spmld.core.lazy_matrix import loaded
from spmld.core.problem import Engine
from spmld.datasets.row_blocks import locate


def take_rows(engine: Engine, blocks: Sequence[Any], counts: Sequence[int], rows: NDArray[np.intp] | None) -> Any:
    """Return some rows, given by increasing numbers, in the memory of this process; all of them if they are None.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.core.problem import Engine
    >>> from spmld.estimators._row_samples import take_rows
    >>> take_rows(Engine(), (np.arange(3), np.arange(3, 5)), (3, 2), np.array([1, 4]))
    array([1, 4])
    """
    inside: list[Any] = [slice(None)] * len(counts) if rows is None else locate(counts, rows)
    parts = engine.gather(engine.map(lambda A, rows: loaded(A)[rows], blocks, inside))
    if len(parts) == 1:
        return parts[0]
    return sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.concatenate(parts)
