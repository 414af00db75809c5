"""Data sets."""

from .files import find_file, read_mat
from .planted import make_planted

__all__ = ["find_file", "make_planted", "read_mat"]
