"""Data that do not fit into memory, and Dask clusters.

Estimators accept `spmld.RowBlocks`, which are read block by block, and Dask arrays and data frames, whose
blocks stay on the workers of the active ``distributed.Client``. Dask needs ``pip install "spmld[dask]"``.
"""

from spmld.scale.row_blocks import RowBlocks

__all__ = ["RowBlocks"]
