"""Estimators for Dask collections: the same fits, with row blocks on the workers of a Dask cluster.

The estimators accept Dask arrays and data frames. They need ``pip install "spmld[dask]"`` and an active
``distributed.Client``.
"""

from spmld.dask.audit import find_label_issues
from spmld.dask.estimators import (
    DaskGLOCAL,
    DaskLEML,
    DaskMaskedLogistic,
    DaskMaskedRidge,
    DaskSelfPacedEnsemble,
    DaskSPMLD,
)
from spmld.dask.evaluation import evaluate
from spmld.dask.parallel import use_cluster
from spmld.dask.tables import DaskTable, read_parquet

__all__ = [
    "DaskGLOCAL",
    "DaskLEML",
    "DaskMaskedLogistic",
    "DaskMaskedRidge",
    "DaskSPMLD",
    "DaskSelfPacedEnsemble",
    "DaskTable",
    "evaluate",
    "find_label_issues",
    "read_parquet",
    "use_cluster",
]
