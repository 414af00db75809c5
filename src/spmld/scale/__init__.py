"""Data that do not fit into memory, and Dask clusters.

Estimators accept `spmld.RowBlocks`, which are read block by block, and Dask arrays and data frames, whose
blocks stay on the workers of the active ``distributed.Client``. Dask needs ``pip install "spmld[dask]"``.
"""

from spmld.scale.cluster import use_cluster
from spmld.scale.evaluation import evaluate
from spmld.scale.parquet import DaskTable, read_parquet
from spmld.scale.row_blocks import RowBlocks

__all__ = ["DaskTable", "RowBlocks", "evaluate", "read_parquet", "use_cluster"]
