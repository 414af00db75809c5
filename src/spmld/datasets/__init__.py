"""Data sets: reading and writing files, a registry of public data sets, statistics, and generated data."""

from spmld.datasets.dataset import Dataset, describe
from spmld.datasets.files import load_dataset, read_dataset, write_dataset
from spmld.datasets.frames import from_frame
from spmld.datasets.generated import make_planted, make_songs
from spmld.datasets.hierarchies import read_hierarchy
from spmld.datasets.registry import fetch_dataset, list_datasets

__all__ = [
    "Dataset",
    "describe",
    "fetch_dataset",
    "from_frame",
    "list_datasets",
    "load_dataset",
    "make_planted",
    "make_songs",
    "read_dataset",
    "read_hierarchy",
    "write_dataset",
]
