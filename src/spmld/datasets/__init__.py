"""Data sets."""

from .planted import make_planted

__all__ = ["make_planted"]
