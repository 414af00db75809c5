"""Data sets: reading and writing files, a registry of public data sets, statistics, and generated data."""

from spmld.datasets.arff import read_arff, write_arff
from spmld.datasets.dataset import Dataset, join_split
from spmld.datasets.describe import Description, describe
from spmld.datasets.fetch import fetch_dataset, fetch_files, find_file, load_dataset
from spmld.datasets.files import read_dataset, write_dataset
from spmld.datasets.frames import from_frame
from spmld.datasets.libsvm import read_libsvm, write_libsvm, write_xc
from spmld.datasets.npz import read_npz, write_npz
from spmld.datasets.openml import read_openml
from spmld.datasets.planted import make_planted
from spmld.datasets.raw_tables import read_table
from spmld.datasets.registry import DatasetInfo, RemoteFile, dataset_info, list_datasets
from spmld.datasets.roles import TableRoles
from spmld.datasets.row_blocks import RowBlocks
from spmld.datasets.songs import make_songs
from spmld.datasets.tables import (
    read_columns,
    read_csv,
    read_excel,
    read_folder,
    read_jsonl,
    read_parquet,
    write_csv,
    write_parquet,
)
from spmld.preprocessing.problems import TableError, TableProblem, TableWarning

__all__ = [
    "Dataset",
    "DatasetInfo",
    "Description",
    "RemoteFile",
    "RowBlocks",
    "TableError",
    "TableProblem",
    "TableRoles",
    "TableWarning",
    "dataset_info",
    "describe",
    "fetch_dataset",
    "fetch_files",
    "find_file",
    "from_frame",
    "join_split",
    "list_datasets",
    "load_dataset",
    "make_planted",
    "make_songs",
    "read_arff",
    "read_columns",
    "read_csv",
    "read_dataset",
    "read_excel",
    "read_folder",
    "read_jsonl",
    "read_libsvm",
    "read_npz",
    "read_openml",
    "read_parquet",
    "read_table",
    "write_arff",
    "write_csv",
    "write_dataset",
    "write_libsvm",
    "write_npz",
    "write_parquet",
    "write_xc",
]
