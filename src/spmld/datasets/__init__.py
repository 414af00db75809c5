"""Data sets."""

from spmld.datasets.files import find_file, read_mat
from spmld.datasets.planted import make_planted

__all__ = ["find_file", "make_planted", "read_mat"]
